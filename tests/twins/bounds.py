"""Masks and bounds: the ways a tail is forgotten."""

import numpy as np
import triton
import triton.language as tl

from twins.cases import finds, register

case = register(globals())


def floats(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


# -- a mask that is built and not passed -----------------------------------------------------------


@triton.jit
def copy_load_unmasked(x, y, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    values = tl.load(x + offs)  # BUG: out-of-bounds load x
    tl.store(y + offs, values, mask=mask)


@triton.jit
def copy_store_unmasked(x, y, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    values = tl.load(x + offs, mask=mask)
    tl.store(y + offs, values)  # BUG: out-of-bounds store y


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(y + offs, tl.load(x + offs, mask=mask), mask=mask)


@case(finds("out-of-bounds load x", program=(3, 0, 0), element=[232], index=[1000], past=96,
            elements=24, programs=1, because=["offs"]))
def load_past_the_tail(run):
    run(copy_load_unmasked)[(4,)](floats(1000), floats(1000), 1000, BLOCK=256)


@case(finds("out-of-bounds store y", program=(3, 0, 0), element=[232], index=[1000], past=96,
            elements=24, programs=1, because=["offs"]))
def store_past_the_tail(run):
    run(copy_store_unmasked)[(4,)](floats(1000), floats(1000), 1000, BLOCK=256)


@case()
def masked_tail(run):
    x, y = floats(1000), floats(1000, seed=1)
    run(copy)[(4,)](x, y, 1000, BLOCK=256)
    assert (y == x).all()


@case()
def unmasked_but_whole_blocks(run):
    run(copy_load_unmasked)[(4,)](floats(1024), floats(1024), 1024, BLOCK=256)


@case(finds("out-of-bounds load x", program=(4, 0, 0), element=[0], index=[1024], past=1024,
            elements=256, programs=1))
def one_program_too_many(run):
    run(copy_load_unmasked)[(5,)](floats(1024), floats(1024), 1024, BLOCK=256)


@triton.jit
def copy_bound_by_other(x, y, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    values = tl.load(x + offs, mask=mask)  # BUG: out-of-bounds load x
    tl.store(y + offs, values, mask=mask)


@case(finds("out-of-bounds load x", program=(2, 0, 0), element=[88], index=[600], past=4 * 400,
            elements=400, programs=2))
def the_other_tensors_size(run):
    """The bound is that of the output; the input is shorter."""
    run(copy_bound_by_other)[(4,)](floats(600), floats(1000), 1000, BLOCK=256)


@triton.jit
def load_in_vain(x, y, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ahead = tl.load(x + offs + BLOCK)  # BUG: out-of-bounds load x
    tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)


@case(finds("out-of-bounds load x", program=(3, 0, 0), element=[0], index=[256], past=256, elements=64,
            programs=1, severity="warning"))
def load_that_nothing_uses(run):
    """The compiler removes it, so it is a warning."""
    run(load_in_vain)[(4,)](floats(256), floats(256), 256, BLOCK=64)


# -- off by one --------------------------------------------------------------------------------------


@triton.jit
def copy_inclusive(x, y, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs <= n
    values = tl.load(x + offs, mask=mask)  # BUG: out-of-bounds load x
    tl.store(y + offs, values, mask=offs < n)


@case(finds("out-of-bounds load x", program=(3, 0, 0), element=[232], index=[1000], past=4,
            elements=1, programs=1, because=["offs"]))
def inclusive_bound(run):
    run(copy_inclusive)[(4,)](floats(1000), floats(1000), 1000, BLOCK=256)


@triton.jit
def difference(x, y, n, BLOCK: tl.constexpr):
    """y[i] = x[i] - x[i - 1]; the select comes too late for the load of x[-1]."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    before = tl.load(x + i - 1, mask=mask)  # BUG: out-of-bounds load x
    before = tl.where(i == 0, 0.0, before)
    tl.store(y + i, tl.load(x + i, mask=mask) - before, mask=mask)


@triton.jit
def difference_guarded(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    before = tl.load(x + i - 1, mask=mask & (i > 0), other=0.0)
    tl.store(y + i, tl.load(x + i, mask=mask) - before, mask=mask)


@case(finds("out-of-bounds load x", program=(0, 0, 0), element=[0], index=[-1], past=-4, elements=1,
            programs=1, because=["i"]))
def select_after_the_load(run):
    run(difference)[(2,)](floats(100), floats(100), 100, BLOCK=64)


@case()
def mask_before_the_load(run):
    x, y = floats(100), floats(100)
    run(difference_guarded)[(2,)](x, y, 100, BLOCK=64)
    assert (y[1:] == x[1:] - x[:-1]).all() and y[0] == x[0]


# -- block-local index against a global bound --------------------------------------------------------


@triton.jit
def copy_local_mask(x, y, n, BLOCK: tl.constexpr):
    local = tl.arange(0, BLOCK)
    offs = tl.program_id(0) * BLOCK + local
    values = tl.load(x + offs, mask=local < n)  # BUG: out-of-bounds load x
    tl.store(y + offs, values, mask=offs < n)


@case(finds("out-of-bounds load x", program=(3, 0, 0), element=[232], index=[1000], past=96,
            elements=24, programs=1, because=["offs"]))
def local_index_in_the_mask(run):
    run(copy_local_mask)[(4,)](floats(1000), floats(1000), 1000, BLOCK=256)


# -- rows: the tail of one row is the start of the next ------------------------------------------------


@triton.jit
def scale_rows(x, y, rows, cols, stride, BR: tl.constexpr, BC: tl.constexpr):
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    c = tl.arange(0, BC)
    mask = (r[:, None] < rows) & (c[None, :] < cols)
    at = r[:, None] * stride + c[None, :]
    tile = tl.load(x + at, mask=c[None, :] < cols)  # BUG: out-of-bounds load x
    tl.store(y + at, tile * 2, mask=mask)


@triton.jit
def scale_rows_guarded(x, y, rows, cols, stride, BR: tl.constexpr, BC: tl.constexpr):
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    c = tl.arange(0, BC)
    mask = (r[:, None] < rows) & (c[None, :] < cols)
    at = r[:, None] * stride + c[None, :]
    tl.store(y + at, tl.load(x + at, mask=mask) * 2, mask=mask)


@case(finds("out-of-bounds load x", program=(1, 0, 0), element=[2, 0], past=2 * 50 * 4,
            elements=100, programs=1, because=["r"]))
def rows_unmasked(run):
    """6 rows in tiles of 4: the second tile's last two rows are not there."""
    run(scale_rows)[(2,)](floats(6, 50), floats(6, 50), 6, 50, 50, BR=4, BC=64)


@case()
def rows_masked(run):
    x, y = floats(6, 50), floats(6, 50)
    run(scale_rows_guarded)[(2,)](x, y, 6, 50, 50, BR=4, BC=64)
    assert (y == 2 * x).all()


# -- matmul: the tail of K ----------------------------------------------------------------------------


@triton.jit
def matmul_k_tail(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                  EVEN_K: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        if EVEN_K:
            at = tl.load(a + m[:, None] * K + k[None, :], mask=m[:, None] < M, other=0.0)  # BUG: out-of-bounds load a
            bt = tl.load(b + k[:, None] * N + n[None, :], mask=n[None, :] < N, other=0.0)  # BUG: out-of-bounds load b
        else:
            at = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
            bt = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc += tl.dot(at, bt, input_precision="ieee")
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@case(finds("out-of-bounds load a", program=(1, 0, 0), element=[4, 10], past=6 * 4,
            iterations=[("k0", 32)], because=["k"]),
      finds("out-of-bounds load b", program=(0, 0, 0), element=[10, 0], iterations=[("k0", 32)],
            because=["k"]))
def even_k_from_the_wrong_number(run):
    """EVEN_K must come from K % BK, not from K % 2."""
    M, N, K = 21, 19, 42
    run(matmul_k_tail)[(2, 2)](floats(M, K), floats(K, N), floats(M, N), M, N, K, BM=16, BN=16, BK=16,
                               EVEN_K=K % 2 == 0)


@case()
def even_k_from_the_tile(run):
    M, N, K = 21, 19, 42
    a, b, c = floats(M, K), floats(K, N), floats(M, N)
    run(matmul_k_tail)[(2, 2)](a, b, c, M, N, K, BM=16, BN=16, BK=16, EVEN_K=K % 16 == 0)
    assert np.abs(c - a.astype(np.float64) @ b).max() < 1e-4
