"""The faulty access is in a function that the kernel calls."""

import numpy as np
import triton
import triton.language as tl

from twins.cases import finds, numbers, register

case = register(globals())


@triton.jit
def read_block(ptr, start, B: tl.constexpr):
    return tl.load(ptr + start + tl.arange(0, B))  # BUG: out-of-bounds load x


@triton.jit
def read_block_masked(ptr, start, n, B: tl.constexpr):
    offs = start + tl.arange(0, B)
    return tl.load(ptr + offs, mask=offs < n, other=0.0)


@triton.jit
def sum_blocks(ptr, n, B: tl.constexpr):
    total = 0.0
    for k in range(0, n, B):
        total += tl.sum(read_block(ptr, k, B), axis=0)
    return total


@triton.jit
def sum_blocks_masked(ptr, n, B: tl.constexpr):
    total = 0.0
    for k in range(0, n, B):
        total += tl.sum(read_block_masked(ptr, k, n, B), axis=0)
    return total


@triton.jit
def total(x, y, n, B: tl.constexpr):
    tl.store(y + tl.program_id(0), sum_blocks(x, n, B))


@triton.jit
def total_masked(x, y, n, B: tl.constexpr):
    tl.store(y + tl.program_id(0), sum_blocks_masked(x, n, B))


@case(finds("out-of-bounds load x", program=(0, 0, 0), element=[4], index=[36], past=48, elements=24,
            programs=2, iterations=[("k", 32)]))
def helper_with_a_loop(run):
    run(total)[(2,)](numbers(36), numbers(2), 36, B=16)


@case()
def helper_with_a_loop_masked(run):
    y = numbers(2)
    run(total_masked)[(2,)](numbers(36), y, 36, B=16)
    assert (y == sum(range(36))).all()


@triton.jit
def put(ptr, offs, values):
    tl.store(ptr + offs, values)  # BUG: out-of-bounds store y


@triton.jit
def shift_right(x, y, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    values = tl.load(x + offs, mask=offs < n, other=0.0)
    put(y, offs + 1, values)


@triton.jit
def put_if(ptr, offs, values, keep):
    tl.store(ptr + offs, values, mask=keep)


@triton.jit
def shift_right_kept(x, y, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    values = tl.load(x + offs, mask=offs < n, other=0.0)
    put_if(y, offs + 1, values, offs + 1 < n)


@case(finds("out-of-bounds store y", program=(3, 0, 0), element=[15], index=[64], past=4, elements=1,
            programs=1))
def helper_that_stores(run):
    run(shift_right)[(4,)](numbers(64), numbers(64), 64, B=16)


@case()
def helper_that_stores_masked(run):
    y = np.zeros(64, np.float32)
    run(shift_right_kept)[(4,)](numbers(64), y, 64, B=16)
    assert (y[1:] == numbers(63)).all()


@triton.jit
def first_or(ptr, count, default):
    """Returns early; the access is guarded."""
    if count <= 0:
        return default
    return tl.load(ptr + count - 1)


@triton.jit
def lasts(x, counts, y):
    pid = tl.program_id(0)
    count = tl.load(counts + pid)
    tl.store(y + pid, first_or(x, count, -1.0))


@case()
def helper_with_an_early_return(run):
    counts = np.array([0, 3, -5, 64], dtype=np.int32)
    y = np.zeros(4, np.float32)
    run(lasts)[(4,)](numbers(64), counts, y)
    assert y.tolist() == [-1, 2, -1, 63]
