"""Kernels and bounds are right: the cases under the interpreter, judged by the oracle too."""

import pytest

from oracle import Oracle
from tutorials.suite import parameters


@pytest.fixture(scope="module")
def oracle():
    worker = Oracle(seconds=120)
    yield worker
    worker.close()


@pytest.mark.parametrize("case", parameters())
def test_result_and_bounds(case, oracle):
    answer = oracle.run(case.module.__name__, case.name)
    assert answer["launches"] > 0
    assert answer["faults"] == []
