"""Pointers that are only read: `tl.const`."""

import numpy as np
import pytest

import tilesight as ts
from launch import check, clean, kernel

COPY = """
@triton.jit
def helper(p, i):
    return tl.load(p + i)


@triton.jit
def kernel(x: tl.const, y, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + i, mask=i < n, other=0) + helper(x, 1)
    if n > 3:
        x += 2
    for k in range(2):
        v += tl.load(x)
        x += 1
    tl.store(y + i, v, mask=i < n)
"""


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.float16, np.int64])
def test_constant_pointers(dtype, tmp_path, collect):
    x, y = np.arange(20, dtype=dtype), np.zeros(20, dtype)
    clean(kernel(tmp_path, COPY), x, y, 20, grid=(2,), N=16)
    assert (y == x + 1 + 2 + 3).all()


def test_constant_pointers_have_bounds(tmp_path, collect):
    report = check(kernel(tmp_path, COPY), np.ones(16, np.float32), np.zeros(20, np.float32), 20, grid=(2,), N=16)
    (finding,) = report.findings
    assert finding["kind"] == "out-of-bounds" and finding["operand"]["argument"] == "x"
    assert finding["counts"]["elements"] == 4


def test_a_store_through_one_cannot_be_written(tmp_path, collect):
    function = kernel(tmp_path, """
@triton.jit
def kernel(x: tl.const):
    tl.store(x, 1.0)
""")
    with pytest.raises(Exception, match="(?i)const"):
        ts.check(function)[(1,)](np.ones(4, np.float32))


def test_tables_of_constants(tmp_path, collect):
    a, b, y = np.arange(8, dtype=np.float32), np.arange(8, 16, dtype=np.float32), np.zeros(16, np.float32)
    table = np.array([a.ctypes.data, b.ctypes.data])
    function = kernel(tmp_path, """
@triton.jit
def kernel(table: tl.const, a: tl.const, b: tl.const, y, N: tl.constexpr):
    i = tl.arange(0, N)
    p = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(y + tl.program_id(0) * N + i, tl.load(p + i))
""")
    clean(function, table, a, b, y, grid=(2,), N=8)
    assert (y == np.arange(16)).all()
