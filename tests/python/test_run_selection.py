"""`tilesight run`: which launches are checked and saved, under which numbers, and what is said of it."""

import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import tilesight as ts
from paths import ROOT
from tilesight import run_options

THREE_AND_ONE = {"p.py": "import kernels\nfor _ in range(3): kernels.run_buggy()\nkernels.run_clean()\n"}


def said(done):
    return " ".join(done.stderr.split())


def saved_launches(path):
    """(kernel, number) of every launch in a bundle, in its order."""
    with zipfile.ZipFile(path) as bundle:
        names = sorted(name for name in bundle.namelist() if name.endswith("launch.json"))
        documents = [json.loads(bundle.read(name)) for name in names]
    return [(document["kernel"], document["launch"]) for document in documents]


def test_launches_left_out_are_not_saved(tilesight_run, tmp_path):
    done = tilesight_run("--save", "run.tsb", "--save-all", "--launch-skip", "1", "--launch-count", "2", "p.py",
                         files=THREE_AND_ONE)
    assert "saved 2 launches to run.tsb" in said(done)
    assert saved_launches(tmp_path / "run.tsb") == [("buggy", 1), ("buggy", 2)]
    tilesight_run("--save", "kept", "--save-all", "--kernel-name", "clean", "p.py")
    assert [name.split("-")[0] for name in os.listdir(tmp_path / "kept")] == ["clean"]


def test_bundles_hold_launches_in_the_order_they_ran(tilesight_run, tmp_path):
    files = {"p.py": """
        import os, subprocess, sys, kernels
        kernels.run_clean()
        subprocess.run([sys.executable, "-c", "import kernels; kernels.run_buggy()"], check=True)
        if os.fork() == 0:
            kernels.run_clean()
            os._exit(0)
        os.wait()
        kernels.run_buggy()
    """}
    done = tilesight_run("--save", "run.tsb", "--save-all", "p.py", files=files)
    assert done.returncode == 1, done.stderr
    assert saved_launches(tmp_path / "run.tsb") == [("clean", 0), ("buggy", 1), ("clean", 2), ("buggy", 3)]


def test_nothing_saved_is_said(tilesight_run, tmp_path):
    done = tilesight_run("--save", "run.tsb", "p.py", files={"p.py": "import kernels; kernels.run_clean()"})
    assert "nothing was saved: no launch had findings" in said(done)
    assert not (tmp_path / "run.tsb").exists()


def test_no_launch_matches(tilesight_run):
    done = tilesight_run("--kernel-name", "nope", "p.py", files=THREE_AND_ONE)
    assert done.returncode == 3
    assert "no launch matches --kernel-name nope (kernels seen: buggy, clean)" in done.stderr
    assert "leave no launch" in tilesight_run("--launch-skip", "9", "p.py").stderr


@pytest.mark.parametrize("option", ["--save", "--json"])
@pytest.mark.parametrize("path, message", [("missing/x.tsb", "there is no folder"), (".", "")])
def test_places_that_cannot_be_written(tilesight_run, option, path, message):
    if (option, path) == ("--save", "."):
        path, message = "p.py/kept", "is no folder"
    done = tilesight_run(option, path, "p.py", files={"p.py": "print('started')"})
    assert done.returncode == 2 and done.stdout == ""
    assert message in done.stderr and done.stderr.count("error:") == 1


@pytest.mark.parametrize("path", ["out/x.tsb", "out/kept"])
def test_a_place_that_goes_away_does_not_cost_the_report(tilesight_run, path, tmp_path):
    (tmp_path / "out").mkdir()
    program = "import kernels, os; os.rmdir('out'); open('out', 'w'); kernels.run_buggy(); print('went on')"
    done = tilesight_run("--save", path, "p.py", files={"p.py": program})
    assert done.returncode == 2 and done.stdout == "went on\n"
    assert "out-of-bounds: load from x_ptr" in done.stderr
    assert done.stderr.count(" error: error:") == 0 and path in done.stderr


@pytest.mark.parametrize("variable, value, message", [
    ("TILESIGHT_CLIENT", "nope", "nope"), ("TILESIGHT_THREADS", "abc", "whole number"),
    ("TILESIGHT_ON_FINDING", "shout", "collect")])
def test_the_environment_is_checked_first(tilesight_run, variable, value, message):
    done = tilesight_run("p.py", files={"p.py": "print('started')"}, env={variable: value})
    assert done.returncode == 2 and done.stdout == ""
    assert variable in done.stderr and message in done.stderr and done.stderr.count("\n") == 1


def test_settings_are_checked_at_once():
    with pytest.raises(ts.Error, match="nonesuch"):
        ts.config.client = "nonesuch"
    ts.config.client = "sanitizer,tracer"
    ts.config.client = "off"


def test_the_environment_s_error_names_the_variable(monkeypatch):
    monkeypatch.setenv("TILESIGHT_CLIENT", "nonesuch")
    with pytest.raises(ts.Error, match="TILESIGHT_CLIENT: there is no client"):
        ts.config.client


@pytest.mark.parametrize("text", ["x", "0", "-1", "inf", "nan"])
def test_a_time_limit_is_a_number_of_seconds(text):
    with pytest.raises(ts.Error, match="--timeout is .* it must be a number of seconds above 0"):
        run_options.parse(["--timeout", text, "script.py"])


# --- whose data a bundle carries

GATHER = """
    from kernels import *

    @triton.jit
    def gather(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
        offs = tl.arange(0, BLOCK)
        i = tl.load(index_ptr + offs)
        tl.store(out_ptr + offs, tl.load(x_ptr + i))

    index = np.full(64, 7, np.int32)
    index[3] = 100
    gather[(1,)](np.full(100, 1234.5, np.float32), index, np.zeros(64, np.float32), BLOCK=64)
    """


def checked(folder, *arguments):
    return subprocess.run([sys.executable, "-m", "tilesight", "check", *arguments], cwd=folder, text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, timeout=120)


@pytest.mark.parametrize("data, status", [("all", 1), ("indices", 1), ("none", 0)])
def test_data(tilesight_run, tmp_path, data, status):
    done = tilesight_run("--data", data, "--save", "r.tsb", "p.py", files={"p.py": GATHER})
    assert done.returncode == 1, done.stderr
    floats = np.float32(1234.5).tobytes()
    with zipfile.ZipFile(tmp_path / "r.tsb") as bundle:
        contents = b"".join(bundle.read(name) for name in bundle.namelist())
    assert (floats.hex().encode() in contents or floats in contents) == (data == "all")
    again = checked(tmp_path, "r.tsb")
    assert again.returncode == status, again.stderr  # the wrong index is data
    assert ("1 launch was saved without data (--data)" in " ".join(again.stderr.split())) == (data != "all")
    shown = subprocess.run([sys.executable, "-m", "tilesight", "info", "r.tsb"], cwd=tmp_path, text=True,
                           capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    assert shown.stdout.count("data not saved") == {"all": 0, "indices": 2, "none": 3}[data]


@pytest.mark.parametrize("arguments, message", [
    (["--data", "some", "--save", "r.tsb"], "--data is 'some'; it can be all, indices or none"),
    (["--data", "none"], "--data needs --save or --trace"),
])
def test_wrong_data(tilesight_run, arguments, message):
    done = tilesight_run(*arguments, "p.py", files={"p.py": ""})
    assert done.returncode == 2 and message in done.stderr


def test_the_tracer_says_how_much_it_recorded(tilesight_run, tmp_path):
    done = tilesight_run("--client", "tracer", "--json", "r.json", "--save-all", "--save", "r.tsb", "p.py",
                         files={"p.py": "from kernels import *\nrun_clean()\nrun_clean()\n"})
    assert done.returncode == 0
    assert "clean: 2 launches, executed, bounds not checked" in done.stderr
    assert "traced: 4 records" in done.stderr  # two programs with one store each, twice
    assert 'ts.load("run.tsb", client="tracer")' in " ".join(done.stderr.split())
    assert json.loads((tmp_path / "r.json").read_text())["kernels"][0]["trace_records"] == 4
    again = checked(tmp_path, "r.tsb", "--client", "tracer,sanitizer")
    assert "traced: 4 records" in again.stderr and 'ts.load("r.tsb", client="tracer")' in " ".join(again.stderr.split())


def test_kernels_of_one_name_in_two_files_are_two(tilesight_run, tmp_path):
    module = """
        import triton, triton.language as tl
        @triton.jit
        def clean(x_ptr, BLOCK: tl.constexpr):
            tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)
        """
    program = "from kernels import *\nimport other\nrun_clean()\nother.clean[(1,)](x, BLOCK=128)\n"
    done = tilesight_run("--json", "r.json", "p.py", files={"p.py": program, "other.py": module})
    assert done.returncode == 1
    assert "clean (kernels.py): 1 launch, ok" in done.stderr
    assert "clean (other.py): 1 launch, 1 error" in done.stderr
    kernels = json.loads((tmp_path / "r.json").read_text())["kernels"]
    assert [(k["kernel"], k["file"].rpartition("/")[2], k["verdict"]) for k in kernels] == \
        [("clean", "kernels.py", "ok"), ("clean", "other.py", "finding")]
