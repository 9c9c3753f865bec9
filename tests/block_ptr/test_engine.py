"""The numbers of both flavours on the engine."""

import numpy as np
import pytest

import tilesight as ts

from cases import BY_HAND, at_random
from flavours import FLAVOURS, RELEASE, kernels

SEEDS = range(40)


def on_engine(flavour):
    def run(kernel, arguments):
        report = ts.check(getattr(kernels(flavour), kernel))[(1,)](**arguments)
        assert report.verdict == "ok", report.text()
    return run


def same(values, expected, defined=None):
    defined = np.ones(expected.shape, bool) if defined is None else defined
    np.testing.assert_array_equal(values[defined], expected[defined])


def cases(names, case_of):
    """Parameters (case, flavour): with descriptors too where the case suits them."""
    for name in names:
        case = case_of(name)
        for flavour in [*FLAVOURS, *(["descriptors"] if case.suits_descriptors else [])]:
            refusal = case.refused(flavour, RELEASE)
            yield pytest.param(case, flavour, id=f"{name}-{flavour}",
                               marks=pytest.mark.skip(refusal) if refusal else [])


@pytest.mark.parametrize("case, flavour", [*cases(BY_HAND, BY_HAND.get)])
def test_read(case, flavour, collect):
    same(*case.read(on_engine(flavour)))


@pytest.mark.parametrize("case, flavour", [*cases(BY_HAND, BY_HAND.get)])
def test_write(case, flavour, collect):
    if case.dtype == "bool" and flavour == "triton":
        pytest.skip("a block pointer to int1 is one to int8: Triton up to 3.7 stores no int1 there")
    same(*case.write(on_engine(flavour)))


@pytest.mark.parametrize("case, flavour", [*cases(SEEDS, at_random)])
def test_at_random(case, flavour, collect):
    print(case)
    same(*case.read(on_engine(flavour)))
    same(*case.write(on_engine(flavour)))
