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


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("name", BY_HAND)
def test_read(name, flavour, collect):
    same(*BY_HAND[name].read(on_engine(flavour)))


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("name", BY_HAND)
def test_write(name, flavour, collect):
    if BY_HAND[name].dtype == "bool" and flavour == "triton":
        pytest.skip("a block pointer to int1 is one to int8: Triton up to 3.7 stores no int1 there")
    same(*BY_HAND[name].write(on_engine(flavour)))


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("seed", SEEDS)
def test_at_random(seed, flavour, collect):
    case = at_random(seed)
    print(f"seed {seed}: {case}")
    if case.refused(flavour, RELEASE):
        pytest.skip(case.refused(flavour, RELEASE))
    same(*case.read(on_engine(flavour)))
    same(*case.write(on_engine(flavour)))
