"""Generated kernels: the engine agrees with their meaning in numpy, and with itself in every form and with any number
of threads. A failure names its seed."""

import numpy as np
import pytest

import nodes
import nodes_memory
from compare import disagreement
from launches import Launcher, NotRun

FAST, SLOW = 400, 20000


@pytest.fixture(scope="module", params=["x86-64-v3", "x86-64-v4", "aarch64"])
def each(request):
    try:
        launcher = Launcher(request.param)
    except NotRun as reason:
        pytest.skip(f"not run: {reason}")
    yield launcher
    launcher.close()


@pytest.fixture(scope="module")
def launcher():
    try:
        launcher = Launcher()
    except NotRun as reason:
        pytest.skip(f"not run: {reason}")
    yield launcher
    launcher.close()


def check(seeds, launcher):
    found = [d for seed in seeds if (d := disagreement(seed, launcher, approximate=seed % 5 == 4))]
    assert not found, "\n".join(found)


def test_some(each):
    check(range(FAST), each)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FAST, SLOW, 1400))
def test_many(first, launcher):
    check(range(first, first + 1400), launcher)


TABLES = {name: table for name, table in {**vars(nodes), **vars(nodes_memory)}.items() if name.isupper() and isinstance(table, dict) and name not in ("APPROXIMATE", "NARROW", "INTEGERS", "FLOATS")}


@pytest.mark.slow
@pytest.mark.parametrize("table, op", [(name, op) for name, table in TABLES.items() for op in table])
def test_a_wrong_meaning_is_seen(table, op, launcher, monkeypatch):
    """The comparison can fail: whatever operation means something else, a kernel says so."""
    right = TABLES[table][op]

    def wrong(*operands):
        result = np.asarray(right(*operands))
        return ~result if result.dtype == bool else (result + 1).astype(result.dtype)

    monkeypatch.setitem(TABLES[table], op, wrong)
    assert any(disagreement(seed, launcher) for seed in range(400))
