"""Clients in shared libraries: `--client LIB:NAME`, `--plugin LIB`, and names in Python."""

import json
import subprocess
import sys

import numpy as np
import pytest

from paths import ROOT

import tilesight as ts

triton = pytest.importorskip("triton")
import triton.language as tl


@triton.jit
def copy(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(x + i))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The plugin of tests/plugins/clients, built as its users would."""
    path = tmp_path_factory.mktemp("plugin") / "clients.so"
    subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{ROOT / 'include'}",
                    str(ROOT / "tests/plugins/clients/clients.cpp"), "-o", str(path)], check=True)
    return path


PROGRAM = {"p.py": "import os, kernels; os.chdir('/'); kernels.run_clean(); print('done')"}


def kinds(path):
    return {(finding["client"], finding["kind"]) for finding in json.loads(path.read_text())["findings"]}


def test_run_takes_a_client_of_a_library(tilesight_run, library, tmp_path):
    (tmp_path / "mine.so").write_bytes(library.read_bytes())
    done = tilesight_run("--client", "sanitizer,mine.so:wide", "--json", "report.json", "p.py", files=PROGRAM)
    assert done.returncode == 0, done.stderr
    assert "done\n" in done.stdout and " bytes in " in done.stdout
    assert kinds(tmp_path / "report.json") == {("wide", "wide-access")}
    assert "kernels.py:" in done.stderr and "bytes at once" in done.stderr


def test_run_and_check_take_a_plugin_and_the_name_alone(tilesight_run, library, tmp_path):
    done = tilesight_run("--client", "wide", "--plugin", str(library), "--json", "run.json", "--save-all", "--save", "run.tsb", "p.py",
                         files={"p.py": "import kernels; kernels.run_clean()"})
    assert done.returncode == 0, done.stderr
    checked = subprocess.run([sys.executable, "-m", "tilesight", "check", "run.tsb", "--plugin", library, "--client", "wide", "--json",
                              "check.json"], cwd=tmp_path, env={"PYTHONPATH": str(ROOT / "python")}, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    assert kinds(tmp_path / "run.json") == kinds(tmp_path / "check.json") == {("wide", "wide-access")}


def test_a_client_that_fails_makes_the_report_incomplete_and_no_more(tilesight_run, library):
    done = tilesight_run("--client", f"{library}:gives-up", "p.py", files=PROGRAM)
    assert done.returncode == 3 and done.stdout == "done\n"
    assert "the client gives-up failed: no room for more than 0 stores" in done.stderr


@pytest.mark.parametrize("arguments, message", [
    (["--client", "LIB:wied"], 'the plugin has no client "wied"; did you mean wide?'),
    (["--client", "no.so:wide"], "no.so: error: plugin refused: there is no such file"),
    (["--plugin", "p.py"], "--plugin p.py: a library with clients is needed; passes in Python are for `tilesight opt` and `check --pass`"),
    (["--plugin", "LIB", "--client", "wied"], 'there is no client "wied"; did you mean wide?'),
])
def test_what_is_wrong_with_a_client_is_one_line(tilesight_run, library, arguments, message):
    done = tilesight_run(*(argument.replace("LIB", str(library)) for argument in arguments), "p.py", files=PROGRAM)
    assert done.returncode == 2 and done.stdout == ""
    assert message in done.stderr and len(done.stderr.strip().splitlines()) <= 2, done.stderr


def test_python_takes_the_name_of_a_library_and_a_client(library):
    x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
    report = ts.check(copy, client=["sanitizer", f"{library}:wide"])[(1,)](x, y, N=64)
    assert {finding.message for finding in report.findings} == {"reads 256 bytes at once", "writes 256 bytes at once"}
    assert (y == 1).all()
