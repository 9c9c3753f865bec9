"""Runs suites of tests under `pytest --tilesight`, in a process of their own."""

import json
import os
import pathlib
import textwrap

import pytest

import tilesight

PACKAGE = pathlib.Path(tilesight.__file__).resolve().parents[1]
PROJECT = pathlib.Path(__file__).resolve().parents[2]

KERNELS = """
import numpy as np
import pytest
import triton
import triton.language as tl

@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)  # no mask: wrong where n is no multiple of BLOCK
    tl.store(y_ptr + offs, x, mask=offs < n)

def launch(n, block=64):
    x, y = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    copy[(triton.cdiv(n, block),)](x, y, n, BLOCK=block)
    return x, y

def clean():
    return launch(128)

def buggy():
    return launch(100)
"""


class Suite:
    """What came of a run: pytester's result, and the JSON report."""

    def __init__(self, result, report):
        self.result = result
        self.out = result.stdout.str()
        self.err = result.stderr.str()
        self._report = report

    @property
    def report(self):
        return json.loads(self._report.read_text())

    def section(self, title):
        """The lines below a heading of pytest's, up to the next."""
        lines = self.out.splitlines()
        headings = [at for at, line in enumerate(lines) if line.startswith(("===", "___"))]
        start = next(at for at in headings if lines[at].strip("=_ ") == title)
        end = next((at for at in headings if at > start), len(lines))
        return "\n".join(lines[start + 1:end])

    def counts(self, **expected):
        self.result.assert_outcomes(**expected)


@pytest.fixture
def check(pytester, monkeypatch, tmp_path_factory):
    """check(*options, **files) runs pytest on the files (tests="..." is test_it.py) with --tilesight."""
    for name in [name for name in os.environ if name.startswith(("TILESIGHT_", "PYTEST_", "TRITON_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TILESIGHT_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE))

    def run(*options, on=True, kernels=KERNELS, **files):
        (pytester.path / "kernels.py").write_text(kernels)
        for name, text in files.items():
            name, start = ("test_it.py", "from kernels import *\n") if name == "tests" else (f"{name}.py", "")
            (pytester.path / name).write_text(start + textwrap.dedent(text))
        report = pytester.path / "report.json"
        given = ["--tilesight", f"--tilesight-json={report}"] if on else []
        return Suite(pytester.runpytest_subprocess("-p", "tilesight.pytest_plugin", "-p", "no:cacheprovider",
                                                   *given, *options, timeout=120), report)

    run.folder = pytester.path
    return run
