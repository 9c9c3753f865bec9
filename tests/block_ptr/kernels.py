"""Kernels on block pointers. `make_block_ptr`, `advance`, `load` and `store` are put here by flavours.py."""

import triton
import triton.language as tl


@triton.jit
def read(x, y, origin, shape, strides, offsets, step, steps, N: tl.constexpr, BLOCK: tl.constexpr, ORDER: tl.constexpr,
         CHECK: tl.constexpr, PAD: tl.constexpr):
    """The blocks at offsets, offsets + step.., one after the other into y."""
    p = make_block_ptr(x + origin, shape, strides, offsets, BLOCK, ORDER)
    for k in range(0, steps):
        tile = load(p, boundary_check=CHECK, padding_option=PAD)
        tl.store(y + k * N + tl.arange(0, N), tl.reshape(tile, (N, )))
        p = advance(p, step)


@triton.jit
def write(x, y, origin, shape, strides, offsets, step, steps, N: tl.constexpr, BLOCK: tl.constexpr,
          ORDER: tl.constexpr, CHECK: tl.constexpr):
    """The elements of y, N at a time, into the blocks at offsets, offsets + step.."""
    p = make_block_ptr(x + origin, shape, strides, offsets, BLOCK, ORDER)
    for k in range(0, steps):
        tile = tl.reshape(tl.load(y + k * N + tl.arange(0, N)), BLOCK)
        store(p, tile, boundary_check=CHECK)
        p = advance(p, step)


@triton.jit
def fill(x, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """A scalar is written to all of a block."""
    p = make_block_ptr(x, (M, N), (N, 1), (tl.program_id(0) * BM, tl.program_id(1) * BN), (BM, BN), (1, 0))
    store(p, tl.full((BM, BN), 3, x.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def _chosen(p, q, which):
    if which > 0:
        r = p
    else:
        r = q
    return r


@triton.jit
def _sum_of(p, n, BN: tl.constexpr):
    total = load(p, boundary_check=(0, 1), padding_option="zero")
    p = advance(p, (0, BN))
    for k in tl.range(BN, n, BN):
        total += load(p, boundary_check=(0, 1), padding_option="zero")
        p = advance(p, (0, BN))
    return total, p


@triton.jit
def values(x, z, y, M, N, which, BM: tl.constexpr, BN: tl.constexpr):
    """A block pointer chosen by `if`, passed to a function and back, carried through `for` and `while`."""
    p = make_block_ptr(x, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    q = make_block_ptr(z, (M, N), (1, M), (tl.program_id(0) * BM, 0), (BM, BN), (0, 1))
    r = _chosen(p, q, which)
    total, r = _sum_of(r, N, BN)
    k = 0
    while k < 3:
        r = advance(r, (0, -BN))
        if k == 1:
            r = advance(r, (1, 0))
        total += load(r, boundary_check=(0, 1), padding_option="zero")
        k += 1
    out = make_block_ptr(y, (M, BN), (BN, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    store(out, total, boundary_check=(0, ))


@triton.jit
def matmul(a, b, c, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    pa = make_block_ptr(a, (M, K), (am, ak), (m, 0), (BM, BK), (1, 0))
    pb = make_block_ptr(b, (K, N), (bk, bn), (0, n), (BK, BN), (0, 1))
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = load(pa, boundary_check=(0, 1), padding_option="zero")
        y = load(pb, boundary_check=(0, 1), padding_option="zero")
        total += tl.dot(x, y, input_precision="ieee")
        pa = advance(pa, (0, BK))
        pb = advance(pb, (BK, 0))
    pc = make_block_ptr(c, (M, N), (N, 1), (m, n), (BM, BN), (1, 0))
    store(pc, total.to(c.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def rows_unchecked(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """Reads past the last row, which no boundary check guards."""
    p = make_block_ptr(x, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    q = make_block_ptr(y, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    for k in range(0, N, BN):
        store(q, load(p, boundary_check=(1, )), boundary_check=(0, 1))
        p = advance(p, (0, BN))
        q = advance(q, (0, BN))


@triton.jit
def before_the_first(x, y, n, B: tl.constexpr):
    """Reads in front of the first element, where only a guarded block would stop."""
    p = make_block_ptr(x, (n, ), (1, ), (-3, ), (B, ), (0, ))
    tl.store(y + tl.arange(0, B), load(p))


@triton.jit
def writes_past(x, n, m, B: tl.constexpr):
    """The extent given is larger than the tensor."""
    p = make_block_ptr(x, (m, ), (1, ), (0, ), (B, ), (0, ))
    store(p, tl.arange(0, B).to(tl.float32), boundary_check=(0, ))
