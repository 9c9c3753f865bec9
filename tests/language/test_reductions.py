"""Reductions and scans: ties, NaN, extremes, axes of one element, directions, several operands, masks."""

import math

import numpy as np
import pytest

from launch import clean, kernel

FIND = """
@triton.jit
def kernel(x, values, indices, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, K: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    v, at = tl.{op}(tl.load(x + i * N + j), AXIS, return_indices=True, return_indices_tie_break_left={left})
    tl.store(values + tl.arange(0, K), v)
    tl.store(indices + tl.arange(0, K), at)
    only = tl.arg{op}(tl.load(x + i * N + j), AXIS, tie_break_left={left})
    tl.device_assert(only == at)
"""


@pytest.mark.parametrize("op", ["max", "min"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.int8, np.uint32, np.int64])
@pytest.mark.parametrize("shape, axis", [((4, 32), 1), ((32, 4), 0), ((1, 16), 0), ((16, 1), 1)])
def test_which_of_equal_elements_is_found(op, dtype, shape, axis, tmp_path, collect):
    """The first one, if the tie is to be broken to the left."""
    function = kernel(tmp_path, FIND.format(op=op, left=True))
    rng = np.random.default_rng(len(op))
    info = np.iinfo(dtype) if np.issubdtype(dtype, np.integer) else np.finfo(dtype)
    x = rng.choice(np.array([info.min, 0, 3, info.max], dtype), shape)
    kept = shape[1 - axis]
    values, indices = np.zeros(kept, dtype), np.full(kept, -1, np.int32)
    clean(function, x, values, indices, M=shape[0], N=shape[1], AXIS=axis, K=kept, debug=True)
    assert (values == getattr(x, op)(axis)).all()
    assert (indices == getattr(x, f"arg{op}")(axis)).all()


@pytest.mark.parametrize("op", ["max", "min"])
def test_any_of_equal_elements(op, tmp_path, collect):
    function = kernel(tmp_path, FIND.format(op=op, left=False))
    x = np.random.default_rng(1).integers(0, 3, (4, 32)).astype(np.int32)
    values, indices = np.zeros(4, np.int32), np.zeros(4, np.int32)
    clean(function, x, values, indices, M=4, N=32, AXIS=1, K=4)
    assert (x[np.arange(4), indices] == values).all() and (values == getattr(x, op)(1)).all()


REDUCE = """
@triton.jit
def kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + i * N + j)
    tl.store(out + tl.arange(0, M), {op})
"""


def test_not_a_number_is_left_out_of_a_maximum(tmp_path, collect):
    """As fmax does; propagating it is asked for elementwise."""
    x = np.array([[1, np.nan, 3, -2], [np.nan] * 4, [np.inf, np.nan, 0, 1], [-np.inf, -0.0, -5, np.nan]], np.float32)
    for op, expected in [("tl.max(v, 1)", [3, np.nan, np.inf, -0.0]), ("tl.min(v, 1)", [-2, np.nan, 0, -np.inf])]:
        out = np.zeros(4, np.float32)
        clean(kernel(tmp_path, REDUCE.format(op=op)), x, out, M=4, N=4)
        assert np.array_equal(out, np.array(expected, np.float32), equal_nan=True), (op, out)
    out = np.zeros(4, np.float32)
    clean(kernel(tmp_path, REDUCE.format(op="tl.sum(v, 1)")), x, out, M=4, N=4)
    assert np.isnan(out).all()


@pytest.mark.parametrize("dtype, wide", [(np.int8, np.int32), (np.uint8, np.uint32), (np.int16, np.int32), (np.int32, np.int32),
                                         (np.int64, np.int64)])
def test_sums_of_integers(dtype, wide, tmp_path, collect):
    """Narrow ones are added as 32 bits, wide ones wrap."""
    function, info = kernel(tmp_path, REDUCE.format(op="tl.sum(v, 1)")), np.iinfo(dtype)
    x = np.random.default_rng(2).integers(info.min, info.max, (8, 64), dtype, endpoint=True)
    x[0], x[1] = info.min, info.max
    out = np.zeros(8, wide)
    clean(function, x, out, M=8, N=64)
    with np.errstate(over="ignore"):
        assert (out == x.astype(wide).sum(1, dtype=wide)).all()


@pytest.mark.parametrize("op, numpy", [("tl.xor_sum(v, 1)", np.bitwise_xor), ("tl.reduce_or(v, 1)", np.bitwise_or)])
def test_bits(op, numpy, tmp_path, collect):
    x, out = np.random.default_rng(3).integers(0, 1 << 31, (8, 16)).astype(np.int32), np.zeros(8, np.int32)
    clean(kernel(tmp_path, REDUCE.format(op=op)), x, out, M=8, N=16)
    assert (out == numpy.reduce(x, 1)).all()


SCAN = """
@triton.jit
def kernel(x, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + p, tl.{op}(tl.load(x + p), AXIS, reverse=REVERSE))
"""


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("op", ["cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
@pytest.mark.parametrize("shape, axis", [((4, 16), 1), ((16, 4), 0), ((1, 8), 0), ((8, 1), 1)])
def test_scans(reverse, op, dtype, shape, axis, tmp_path, collect):
    x, out = np.random.default_rng(4).integers(-3, 4, shape).astype(dtype), np.zeros(shape, dtype)
    clean(kernel(tmp_path, SCAN.format(op=op)), x, out, M=shape[0], N=shape[1], AXIS=axis, REVERSE=reverse)
    turned = np.flip(x, axis) if reverse else x
    expected = getattr(np, op)(turned, axis)
    assert (out == (np.flip(expected, axis) if reverse else expected)).all()


LINEAR = """
@triton.jit
def step(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def kernel(a, b, out, N: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, N)
    _, h = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, step, reverse=REVERSE)
    tl.store(out + i, h)
"""


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_of_two_operands_that_do_not_commute(reverse, tmp_path, collect):
    """h[i] = a[i] * h[i-1] + b[i]."""
    rng = np.random.default_rng(5)
    a, b, out = rng.integers(-2, 3, 32), rng.integers(-5, 6, 32), np.zeros(32, np.int64)
    clean(kernel(tmp_path, LINEAR), a, b, out, N=32, REVERSE=reverse)
    h, expected = 0, np.zeros(32, np.int64)
    for i in (reversed(range(32)) if reverse else range(32)):
        h = expected[i] = a[i] * h + b[i]
    assert (out == expected).all()


MOMENTS = """
@triton.jit
def combine(na, ma, sa, nb, mb, sb):
    n = na + nb
    d = mb - ma
    return n, ma + d * nb / n, sa + sb + d * d * na * nb / n


@triton.jit
def kernel(x, out, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    n, m, s = tl.reduce((tl.full((N,), 1.0, tl.float64), v, v * 0), 0, combine)
    tl.store(out, m)
    tl.store(out + 1, s / n)
"""


def test_a_reduction_of_three_operands(tmp_path, collect):
    x, out = np.random.default_rng(6).standard_normal(64), np.zeros(2)
    clean(kernel(tmp_path, MOMENTS), x, out, N=64)
    assert math.isclose(out[0], x.mean(), abs_tol=1e-14) and math.isclose(out[1], x.var(), rel_tol=1e-12)


SORT = """
@triton.jit
def kernel(x, out, top, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, DOWN: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + i * N + j)
    tl.store(out + i * N + j, tl.sort(v, descending=DOWN))
    tl.store(top + i * K + tl.arange(0, K)[None, :], tl.topk(v, K))
"""


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int8, np.uint16, np.float16])
@pytest.mark.parametrize("shape", [(4, 16), (1, 32), (8, 2)])
def test_sorting(dtype, shape, tmp_path, collect):
    info = np.iinfo(dtype) if np.issubdtype(dtype, np.integer) else np.finfo(dtype)
    x = np.random.default_rng(7).integers(0, 100, shape).astype(dtype)
    x[0, 0], x[-1, -1] = info.max, info.min
    for down in (False, True):
        out, top = np.zeros(shape, dtype), np.zeros((shape[0], 2), dtype)
        clean(kernel(tmp_path, SORT), x, out, top, M=shape[0], N=shape[1], K=2, DOWN=down)
        assert (out == np.sort(x, 1)[:, ::-1 if down else 1]).all()
        assert (top == np.sort(x, 1)[:, ::-1][:, :2]).all()


@pytest.mark.parametrize("shape, axis", [((4, 8), 1), ((4, 8), 0), ((1, 8), 0), ((8, 1), 1)])
def test_flip(shape, axis, tmp_path, collect):
    function = kernel(tmp_path, """
@triton.jit
def kernel(x, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + p, tl.flip(tl.load(x + p), AXIS))
""")
    x, out = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape), np.zeros(shape, np.int32)
    clean(function, x, out, M=shape[0], N=shape[1], AXIS=axis)
    assert (out == np.flip(x, axis)).all()
