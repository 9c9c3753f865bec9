"""Operations that rearrange tiles, axes of one element among them, on floats that no arithmetic keeps (NaN, -0)."""

import numpy as np
import pytest

from launch import clean, kernel

SHAPES = [(4, 8), (1, 8), (8, 1), (1, 1)]
KERNEL = """
@triton.jit
def kernel(x, y, out, M: tl.constexpr, N: tl.constexpr, SIZE: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    a, b = tl.load(x + p), tl.load(y + p)
    tl.store(out + tl.arange(0, SIZE), tl.reshape({op}, (SIZE,)))
"""
OPERATIONS = {
    "join": ("tl.join(a, b)", lambda a, b: np.stack([a, b], -1)),
    "interleave": ("tl.interleave(a, b)", lambda a, b: np.stack([a, b], -1).reshape(a.shape[0], -1)),
    "split": ("tl.join(tl.split(tl.join(a, b))[1], a)", lambda a, b: np.stack([b, a], -1)),
    "trans": ("tl.trans(a)", lambda a, b: a.T),
    "permute": ("tl.permute(tl.join(a, b), (2, 0, 1))", lambda a, b: np.stack([a, b])),
    "expand_dims": ("tl.permute(tl.expand_dims(a, (0, 3)), (3, 2, 1, 0))", lambda a, b: a.T),
    "broadcast_to": ("tl.broadcast_to(a[None, :, :], (2, M, N))", lambda a, b: np.stack([a, a])),
    "ravel": ("tl.ravel(tl.trans(b))", lambda a, b: b.T.ravel()),
    "view": ("tl.reshape(a, (N, M))", lambda a, b: a.reshape(b.T.shape)),
    "where": ("tl.where(a.to(tl.float32) > 0, a, b)", lambda a, b: np.where(a.astype(np.float32) > 0, a, b)),
    "gather": ("tl.gather(a, tl.broadcast_to(M - 1 - tl.arange(0, M)[:, None], (M, N)), 0)", lambda a, b: a[::-1]),
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.int64, np.float64])
def test_rearranging(shape, name, dtype, tmp_path, collect):
    op, expected = OPERATIONS[name]
    rng = np.random.default_rng(0)
    x, y = rng.integers(-100, 100, (2, *shape)).astype(dtype)
    if np.issubdtype(dtype, np.floating):
        x[0, 0], y[-1, -1] = np.nan, -0.0
    else:
        x[0, 0], y[-1, -1] = np.iinfo(dtype).min, np.iinfo(dtype).max
    wanted = np.ascontiguousarray(expected(x, y))
    out = np.zeros(wanted.size, dtype)
    clean(kernel(tmp_path, KERNEL.format(op=op)), x, y, out, M=shape[0], N=shape[1], SIZE=wanted.size)
    assert out.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("bins", [1, 2, 16, 64])
@pytest.mark.parametrize("n", [1, 8, 256])
def test_histograms(bins, n, tmp_path, collect):
    function = kernel(tmp_path, """
@triton.jit
def kernel(x, keep, out, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + tl.arange(0, BINS), tl.histogram(v, BINS))
    tl.store(out + BINS + tl.arange(0, BINS), tl.histogram(v * 99, BINS, mask=(v == 0) & (tl.load(keep + i) != 0)))
""")
    rng = np.random.default_rng(n)
    x, keep = rng.integers(0, bins, n).astype(np.int32), rng.integers(0, 2, n).astype(np.int8)
    out = np.zeros(2 * bins, np.int32)
    clean(function, x, keep, out, N=n, BINS=bins)
    assert (out[:bins] == np.bincount(x, minlength=bins)).all()
    assert out[bins] == ((x == 0) & (keep != 0)).sum() and (out[bins + 1:] == 0).all()
