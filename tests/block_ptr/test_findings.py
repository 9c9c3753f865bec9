"""What is out of bounds on Triton's own block pointers is so on the library's: the same kind, program, element and
bytes; on a Triton without, as it was."""

import numpy as np
import pytest

import tilesight as ts

from flavours import FLAVOURS, kernels


def zeros(*shape):
    return np.zeros(shape, np.float32)


CASES = {
    "rows_unchecked": ((2,), lambda: (zeros(20, 40), zeros(20, 40), 20, 40), dict(BM=16, BN=16),
                       "load from x reads up to 1,920 bytes past its end (3,200 bytes)", [1, 0, 0], [4, 0]),
    "before_the_first": ((1,), lambda: (zeros(8), zeros(8), 8), dict(B=8),
                         "load from x reads up to 12 bytes before its start", [0, 0, 0], [0]),
    "writes_past": ((1,), lambda: (zeros(10), 10, 12), dict(B=16),
                    "store to x writes up to 8 bytes past its end (40 bytes)", [0, 0, 0], [10]),
}


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("name", CASES)
def test_the_same_finding(name, flavour, collect):
    grid, arguments, constants, said, program, element = CASES[name]
    report = ts.check(getattr(kernels(flavour), name))[grid](*arguments(), **constants)
    assert [f.kind for f in report.findings] == ["out-of-bounds"], report.text()
    finding = report.findings[0]
    assert said in finding.message, finding.message
    assert (finding.program, finding.element) == (program, element)
    if flavour == "library":  # the user's line is told, too
        assert f"in {name}" in report.text() and "kernels.py" in report.text()
