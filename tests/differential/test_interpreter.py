"""The engine against Triton's own interpreter; against numpy where a case says that the interpreter is wrong."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import triton

import engine_run
from case import differences
from table import CASES

RELEASE = tuple(int(x) for x in triton.__version__.split(".")[:2])
INTERPRETED = [name for name, case in CASES.items() if case.interpreter is None]


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory):
    """The arrays after each launch of the cases, `case/argument`; what a case raised is `case`."""
    out = tmp_path_factory.mktemp("interpreter") / "out.npz"
    subprocess.run([sys.executable, Path(__file__).with_name("interpreted.py"), out, *CASES], check=True, timeout=300)
    with np.load(out) as file:
        return dict(file)


def engine_result(name):
    after, before, report = engine_run.run(CASES[name])
    assert not report.unknowns, report.unknowns
    assert {f["kind"] for f in report.findings} <= set(CASES[name].finds), [f["message"] for f in report.findings]
    return after, before


@pytest.mark.parametrize("name", INTERPRETED)
def test_as_the_interpreter(name, interpreter, collect):
    if RELEASE < CASES[name].since:
        pytest.skip(f"the interpreter of Triton {triton.__version__} is wrong here")
    if name in interpreter and RELEASE < (3, 9):
        pytest.skip(f"the interpreter of Triton {triton.__version__} fails: {str(interpreter[name]).splitlines()[-1]}")
    assert name not in interpreter, str(interpreter[name])
    after, before = engine_result(name)
    expected = {k: interpreter[f"{name}/{k}"] for k, v in before.items() if isinstance(v, np.ndarray)}
    apart = differences(CASES[name], after, expected, before)
    assert not apart, "\n".join(apart)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.reference])
def test_as_numpy(name, collect):
    after, before = engine_result(name)
    with np.errstate(all="ignore"):
        expected = CASES[name].reference(dict(before))
    apart = differences(CASES[name], after, expected, before)
    assert not apart, "\n".join(apart)


@pytest.mark.skipif(RELEASE != (3, 9), reason="what is said of the interpreter is said of that of 3.9")
@pytest.mark.parametrize("name", [name for name in CASES if name not in INTERPRETED])
def test_the_interpreter_is_no_reference(name, interpreter):
    """It fails, or differs from numpy: else it should be the reference."""
    case = CASES[name]
    if name not in interpreter:
        before = case.arguments()
        with np.errstate(all="ignore"):
            expected = case.reference(dict(before))
            got = {k: interpreter[f"{name}/{k}"] for k, v in before.items() if isinstance(v, np.ndarray)}
            assert differences(case, got, {k: expected[k] for k in got}, before)


def test_enough_kernels():
    assert len({case.kernel.fn for case in CASES.values()}) >= 80
