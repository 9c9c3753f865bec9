"""Values on demand against an execution that stored everything: a client keeps all that the launch loads, stores and
updates; each is asked for again, of its program alone, and must have the same bits."""

import collections
import random

import numpy as np
import pytest
import tilesight as ts
import triton

from twins.findings import Run
from twins.random_kernels import source
from twins.suite import all_cases, named
from twins.test_mutations import loaded
from twins.test_replay import LARGE

ASKED = 12  # values a launch: any of them


class Storing(ts.Client):
    """(program, op) -> what its accesses moved, in order: (operand or None, array)."""

    name = "storing"
    needs = {"addresses", "values"}

    def __init__(self):
        self.moved = collections.defaultdict(list)

    def launch_begin(self, launch):
        self.moved.clear()

    def _keep(self, batch, operand, values):
        for row in range(len(batch)):
            self.moved[int(batch.program[row]), int(batch.op[row])].append((operand, values(row)))

    def on_load(self, batch):
        self._keep(batch, None, batch.values)

    def on_store(self, batch):
        self._keep(batch, 1, batch.values)

    def on_atomic(self, batch):
        self._keep(batch, None, batch.before)


def bits(array):
    return np.ascontiguousarray(array).tobytes()


def compare(storing, report, seed):
    """Asks for some of what was stored; how many were compared."""
    chosen = [(key, number) for key, moved in storing.moved.items() for number in range(len(moved))]
    random.Random(seed).shuffle(chosen)
    compared = 0
    for (linear, op), number in chosen[:ASKED]:
        operand, stored = storing.moved[linear, op][number]
        if stored is None:
            continue
        x, y, _ = report.grid
        program = (linear % x, linear // x % y, linear // (x * y))
        try:
            value = report.trace.at(op=op, program=program, operand=operand, occurrence=number)
        except ts.Error as error:
            if "has no result" in str(error) or "has no values" in str(error):  # scatters, descriptors' reductions
                continue
            raise
        if isinstance(value, str):  # the operand is a descriptor
            continue
        if hasattr(value, "addresses"):
            value = np.asarray(value.addresses)
        value = np.asarray(value).reshape(-1)
        stored = np.asarray(stored).reshape(-1)
        if stored.dtype.kind == "u" and value.dtype == np.float32:  # formats that numpy lacks
            assert value.size == stored.size
            if stored.dtype == np.uint16:
                assert bits(value) == bits((stored.astype(np.uint32) << 16).view(np.float32)) or np.isnan(value).any()
            continue
        assert bits(value.astype(stored.dtype)) == bits(stored), (program, op, number)
        compared += 1
    return compared


class Storer(Run):
    """As Run, and compares each launch."""

    def __init__(self, seed=0):
        super().__init__([Storing()])
        self.compared = 0
        self.seed = seed

    def check(self, kernel):
        launcher = super().check(kernel)
        storer = self

        class Comparing:
            def __getitem__(_, grid):
                def launch(*args, **kwargs):
                    report = launcher[grid](*args, **kwargs)
                    if not report.unknowns and report.native.has_inputs:
                        storer.compared += compare(storer.client[0], report, storer.seed)
                    return report
                return launch

        return Comparing()


@pytest.fixture(autouse=True)
def settings(collect):
    ts.config.keep_inputs = 16 << 20


@pytest.mark.parametrize("case", named(c for c in all_cases() if c.name not in LARGE))
def test_twins(case):
    case.launch(Storer().check)


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_random_kernels(first, tmp_path):
    compared = 0
    for seed in range(first, first + 40):
        path = tmp_path / f"stored_{seed}.py"
        path.write_text(source(seed))
        with loaded(f"stored_{seed}", path) as module:
            storer = Storer(seed)
            try:
                module.CASES[0].launch(storer.check)
            except triton.compiler.errors.CompilationError:
                continue
            compared += storer.compared
    assert compared > 100
