"""Values on demand against an execution that stored everything: a client keeps all that the launch loads, stores and
updates; each is asked for again, of its program alone, and must have the same bits."""

import collections
import random

import ml_dtypes
import numpy as np
import pytest
import tilesight as ts
import triton

from twins import random_floats, random_kernels
from twins.findings import Run
from twins.suite import all_cases, named
from twins.test_mutations import loaded
from twins.test_replay import LARGE

ASKED = 12  # values a launch: any of them
# Formats that numpy lacks: clients get their bits, and trace.at their values as f32.
FORMATS = {"bf16": ml_dtypes.bfloat16, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
           "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz}


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
    """Asks for some of what was stored; how many were compared, by element type (of tiles)."""
    chosen = [(key, number) for key, moved in storing.moved.items() for number in range(len(moved))]
    random.Random(seed).shuffle(chosen)
    compared = collections.Counter()
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
        element, value = getattr(value, "element", None), np.asarray(value).reshape(-1)
        stored = np.asarray(stored).reshape(-1)
        if element in FORMATS:
            stored = stored.view(FORMATS[element]).astype(np.float32)
            none = np.isnan(stored)  # what of a NaN beyond that it is one is lost in f32
            assert (np.isnan(value) == none).all(), (program, op, number)
            value, stored = value[~none], stored[~none]
        assert bits(value.astype(stored.dtype)) == bits(stored), (program, op, number)
        compared[element] += 1
    return compared


class Storer(Run):
    """As Run, and compares each launch."""

    def __init__(self, seed=0):
        super().__init__([Storing()])
        self.compared = collections.Counter()
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


def compare_random(source, seeds, tmp_path):
    compared = collections.Counter()
    for seed in seeds:
        path = tmp_path / f"stored_{seed}.py"
        path.write_text(source(seed))
        with loaded(f"stored_{seed}", path) as module:
            storer = Storer(seed)
            try:
                module.CASES[0].launch(storer.check)
            except triton.compiler.errors.CompilationError:
                continue
            compared += storer.compared
    return compared


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_random_kernels(first, tmp_path):
    assert compare_random(random_kernels.source, range(first, first + 40), tmp_path).total() > 100


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_kernels_of_narrow_floats(first, tmp_path):
    compared = compare_random(random_floats.source, range(first, first + 20), tmp_path)
    assert all(compared[element] > 10 for element in ("bf16", "f8E4M3FN", "f8E5M2")), compared
