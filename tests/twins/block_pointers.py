"""Block pointers, which Triton had up to 3.8."""

import numpy as np
import triton
import triton.language as tl

from twins.cases import finds, numbers, register

case = register(globals())
RELEASES = ("3.6", "3.7", "3.8")


@triton.jit
def copy_block(x, y, rows, cols, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * R
    c = tl.program_id(1) * C
    src = tl.make_block_ptr(x, (rows, cols), (cols, 1), (r, c), (R, C), (1, 0))
    dst = tl.make_block_ptr(y, (rows, cols), (cols, 1), (r, c), (R, C), (1, 0))
    tile = tl.load(src, boundary_check=(1,))  # BUG: out-of-bounds load x
    tl.store(dst, tile, boundary_check=(0, 1))


@triton.jit
def copy_block_checked(x, y, rows, cols, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * R
    c = tl.program_id(1) * C
    src = tl.make_block_ptr(x, (rows, cols), (cols, 1), (r, c), (R, C), (1, 0))
    dst = tl.make_block_ptr(y, (rows, cols), (cols, 1), (r, c), (R, C), (1, 0))
    tile = tl.load(src, boundary_check=(0, 1))
    tl.store(dst, tile, boundary_check=(0, 1))


@case(finds("out-of-bounds load x", program=(1, 0, 0), element=[4, 0], past=12 * 20 * 4,
            elements=12 * 20, programs=2), triton=RELEASES)
def block_pointer_rows_unchecked(run):
    run(copy_block)[(2, 2)](numbers(20, 20), numbers(20, 20), 20, 20, R=16, C=16)


@case(triton=RELEASES)
def block_pointer_checked(run):
    x, y = numbers(20, 20), np.zeros((20, 20), np.float32)
    run(copy_block_checked)[(2, 2)](x, y, 20, 20, R=16, C=16)
    assert (x == y).all()


@triton.jit
def sum_advancing(x, y, n, B: tl.constexpr):
    p = tl.make_block_ptr(x, (n,), (1,), (0,), (B,), (0,))
    acc = tl.zeros((B,), dtype=tl.float32)
    for k in range(0, n, B):
        acc += tl.load(p)  # BUG: out-of-bounds load x
        p = tl.advance(p, (B,))
    tl.store(y + tl.arange(0, B), acc)


@triton.jit
def sum_advancing_checked(x, y, n, B: tl.constexpr):
    p = tl.make_block_ptr(x, (n,), (1,), (0,), (B,), (0,))
    acc = tl.zeros((B,), dtype=tl.float32)
    for k in range(0, n, B):
        acc += tl.load(p, boundary_check=(0,), padding_option="zero")
        p = tl.advance(p, (B,))
    tl.store(y + tl.arange(0, B), acc)


@case(finds("out-of-bounds load x", element=[4], index=[100], past=48, elements=12,
            iterations=[("k", 96)]), triton=RELEASES)
def block_pointer_advanced(run):
    run(sum_advancing)[(1,)](numbers(100), numbers(16), 100, B=16)


@case(triton=RELEASES)
def block_pointer_advanced_checked(run):
    y = numbers(16)
    run(sum_advancing_checked)[(1,)](numbers(100), y, 100, B=16)
    assert y.sum() == sum(range(100))


@triton.jit
def tail_rows(x, y, heads, time, width, R: tl.constexpr, C: tl.constexpr):
    """One head's rows of a packed tensor: the extent is the whole tensor's, not the head's."""
    h = tl.program_id(0)
    base = x + h * time * width
    src = tl.make_block_ptr(base, (heads * time, width), (width, 1), (tl.program_id(1) * R, 0), (R, C), (1, 0))
    tile = tl.load(src, boundary_check=(0, 1))  # BUG: out-of-bounds load x
    out = y + h * time * width
    dst = tl.make_block_ptr(out, (time, width), (width, 1), (tl.program_id(1) * R, 0), (R, C), (1, 0))
    tl.store(dst, tile, boundary_check=(0, 1))


@case(finds("out-of-bounds load x", program=(2, 1, 0), element=[4, 0], past=12 * 16 * 4,
            elements=12 * 16, programs=1), triton=RELEASES)
def block_pointer_with_the_wrong_extent(run):
    x = numbers(3, 20, 16)
    run(tail_rows)[(3, 2)](x, np.zeros_like(x), 3, 20, 16, R=16, C=16)
