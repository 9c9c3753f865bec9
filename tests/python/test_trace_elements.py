"""Elements of traced accesses: written out where they have a formula, computed again where not."""

import numpy as np
import pytest
import triton
import triton.language as tl

import tilesight as ts


@triton.jit
def gather(x, index, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    r = tl.arange(0, 4)
    at = tl.load(index + i, mask=i < n, other=0)
    value = tl.load(x + at[:, None] * r[None, :], mask=at[:, None] > r[None, :], other=0.0)
    tl.store(y + i, tl.sum(value, axis=1), mask=i < n)


def traced():
    index = np.array([3, 0, 5, 1, 7, 2, 6, 4, 9, 8, 1, 3], np.int32)
    x = np.arange(40, dtype=np.float32)
    y = np.zeros(12, np.float32)
    report = ts.check(gather, client=["tracer", "sanitizer"])[(2,)](x, index, y, 12, B=8)
    return report, index


def test_addresses_and_masks():
    report, index = traced()
    trace = report.trace
    loads = [record for record in trace.of((1,)) if record.kind == "load"]
    first, second = loads
    assert first.argument == "index" and second.argument == "x"
    base = first.addresses()[0]
    assert (first.addresses() - base == 4 * np.arange(8)).all()
    assert first.mask().tolist() == [True] * 4 + [False] * 4
    at = np.concatenate([index[8:], np.zeros(4, np.int32)])
    r = np.arange(4)
    addresses = second.addresses()
    assert (addresses - addresses.min() == 4 * at[:, None] * r[None, :]).all()
    assert (second.mask() == (at[:, None] > r[None, :])).all()
    assert second.active == second.mask().sum()


def test_a_reduction_has_no_addresses():
    report, _ = traced()
    (reduction,) = [record for record in report.trace.of((0,)) if record.kind == "reduce"]
    with pytest.raises(ts.Error, match="reduce has no addresses"):
        reduction.addresses()
