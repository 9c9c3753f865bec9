"""The tracer's records in Python."""

import numpy as np
import pytest
import triton
import triton.language as tl

import tilesight as ts


@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.atomic_add(y_ptr + pid, tl.sum(x))
    tl.store(x_ptr + offs, x + 1, mask=offs < n)


@pytest.fixture
def trace():
    x, y = np.ones(100, np.float32), np.zeros(2, np.float32)
    report = ts.check(kernel, client="tracer")[(2,)](x, y, 100, BLOCK=64)
    assert y.tolist() == [64, 36]
    return report.trace


def test_records_are_in_program_order(trace):
    kinds = [record.kind for record in trace]
    assert kinds == ["load", "reduce", "atomic_rmw", "store"] * 2
    assert [record.program for record in trace] == [(0, 0, 0)] * 4 + [(1, 0, 0)] * 4
    assert len(trace.of((1,))) == 4 and trace[-1].kind == "store"


def test_accesses_have_shape_mask_and_place(trace):
    load = trace[4]
    assert load.argument == "x_ptr" and load.shape == (64,) and load.strides == (4,)
    assert load.element_bytes == 4 and load.active == 36 and load.faults == []
    assert load.file == __file__ and load.line == 15
    assert load.base - trace[0].base == 64 * 4
    assert repr(load).startswith("<load x_ptr by program (1, 0, 0)")


def test_columns_are_arrays(trace):
    assert trace.columns["active"][trace.columns["kind"] == 0].tolist() == [64, 36]


def test_without_the_tracer_there_is_no_trace():
    report = ts.check(kernel)[(1,)](np.ones(64, np.float32), np.zeros(1, np.float32), 64, BLOCK=64)
    with pytest.raises(ts.Error, match="was not traced"):
        len(report.trace)


def test_faults_have_names():
    @triton.jit
    def fill(x_ptr, BLOCK: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)

    x = np.zeros(6, np.float32)
    x.flags.writeable = False
    report = ts.check(fill, client="tracer")[(1,)](x, BLOCK=8)
    (store,) = [record for record in report.trace if record.kind == "store"]
    assert sorted(store.faults) == ["out-of-bounds", "read-only-write"]
