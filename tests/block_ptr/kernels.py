"""Kernels on the block pointers of `bp`, which flavours.py puts here: triton.language, or the library."""

import triton
import triton.language as tl


@triton.jit
def read(x, y, origin, shape, strides, offsets, step, STEPS: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr,
         ORDER: tl.constexpr, CHECK: tl.constexpr, PAD: tl.constexpr):
    """The blocks at offsets, offsets + step.., one after the other into y."""
    p = bp.make_block_ptr(x + origin, shape, strides, offsets, BLOCK, ORDER)
    for k in range(0, STEPS):
        tile = bp.load(p, boundary_check=CHECK, padding_option=PAD)
        tl.store(y + k * N + tl.arange(0, N), tl.reshape(tile, (N, )))
        p = bp.advance(p, step)


@triton.jit
def write(x, y, origin, shape, strides, offsets, step, STEPS: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr,
          ORDER: tl.constexpr, CHECK: tl.constexpr):
    """The elements of y, N at a time, into the blocks at offsets, offsets + step.."""
    p = bp.make_block_ptr(x + origin, shape, strides, offsets, BLOCK, ORDER)
    for k in range(0, STEPS):
        tile = tl.reshape(tl.load(y + k * N + tl.arange(0, N)), BLOCK)
        bp.store(p, tile, boundary_check=CHECK)
        p = bp.advance(p, step)


@triton.jit
def fill(x, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """A scalar is written to all of a block."""
    p = bp.make_block_ptr(x, (M, N), (N, 1), (tl.program_id(0) * BM, tl.program_id(1) * BN), (BM, BN), (1, 0))
    bp.store(p, tl.full((BM, BN), 3, x.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def _chosen(p, q, which):
    if which > 0:
        r = p
    else:
        r = q
    return r


@triton.jit
def _sum_of(p, n, BN: tl.constexpr):
    total = bp.load(p, boundary_check=(0, 1), padding_option="zero")
    p = bp.advance(p, (0, BN))
    for k in tl.range(BN, n, BN):
        total += bp.load(p, boundary_check=(0, 1), padding_option="zero")
        p = bp.advance(p, (0, BN))
    return total, p


@triton.jit
def values(x, z, y, M, N, which, BM: tl.constexpr, BN: tl.constexpr):
    """A block pointer chosen by `if`, passed to a function and back, carried through `for` and `while`."""
    p = bp.make_block_ptr(x, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    q = bp.make_block_ptr(z, (M, N), (1, M), (tl.program_id(0) * BM, 0), (BM, BN), (0, 1))
    r = _chosen(p, q, which)
    total, r = _sum_of(r, N, BN)
    k = 0
    while k < 3:
        r = bp.advance(r, (0, -BN))
        if k == 1:
            r = bp.advance(r, (1, 0))
        total += bp.load(r, boundary_check=(0, 1), padding_option="zero")
        k += 1
    out = bp.make_block_ptr(y, (M, BN), (BN, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    bp.store(out, total, boundary_check=(0, ))


@triton.jit
def matmul(a, b, c, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    pa = bp.make_block_ptr(a, (M, K), (am, ak), (m, 0), (BM, BK), (1, 0))
    pb = bp.make_block_ptr(b, (K, N), (bk, bn), (0, n), (BK, BN), (0, 1))
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = bp.load(pa, boundary_check=(0, 1), padding_option="zero")
        y = bp.load(pb, boundary_check=(0, 1), padding_option="zero")
        total += tl.dot(x, y, input_precision="ieee")
        pa = bp.advance(pa, (0, BK))
        pb = bp.advance(pb, (BK, 0))
    pc = bp.make_block_ptr(c, (M, N), (N, 1), (m, n), (BM, BN), (1, 0))
    bp.store(pc, total.to(pc.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def rows_unchecked(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """Reads past the last row, which no boundary check guards."""
    p = bp.make_block_ptr(x, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    q = bp.make_block_ptr(y, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    for k in range(0, N, BN):
        bp.store(q, bp.load(p, boundary_check=(1, )), boundary_check=(0, 1))
        p = bp.advance(p, (0, BN))
        q = bp.advance(q, (0, BN))


@triton.jit
def before_the_first(x, y, n, B: tl.constexpr):
    """Reads in front of the first element, where only a guarded block would stop."""
    p = bp.make_block_ptr(x, (n, ), (1, ), (-3, ), (B, ), (0, ))
    tl.store(y + tl.arange(0, B), bp.load(p))


@triton.jit
def writes_past(x, n, m, B: tl.constexpr):
    """The extent given is larger than the tensor."""
    p = bp.make_block_ptr(x, (m, ), (1, ), (0, ), (B, ), (0, ))
    bp.store(p, tl.arange(0, B).to(tl.float32), boundary_check=(0, ))
