"""Atomics are accesses like any other."""

import numpy as np
import triton
import triton.language as tl

from twins.cases import finds, numbers, register

case = register(globals())


@triton.jit
def histogram(x, bins, n, width, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    bin = tl.load(x + i, mask=mask, other=0) // width
    tl.atomic_add(bins + bin, 1, mask=mask)  # BUG: out-of-bounds atomic_add bins


@triton.jit
def histogram_checked(x, bins, n, width, count, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    bin = tl.load(x + i, mask=mask, other=0) // width
    tl.atomic_add(bins + bin, 1, mask=mask & (bin < count))


@case(finds("out-of-bounds atomic_add bins", program=(1, 0, 0), element=[14], index=[3], past=4,
            elements=10, programs=2, because=["bin"]))
def atomic_add_past_the_end(run):
    """40 values in bins of 10, and three bins."""
    x = np.arange(40, dtype=np.int32)
    run(histogram)[(3,)](x, np.zeros(3, np.int32), 40, 10, B=16)


@case()
def atomic_add_inside(run):
    bins = np.zeros(3, np.int32)
    run(histogram_checked)[(3,)](np.arange(40, dtype=np.int32), bins, 40, 10, 3, B=16)
    assert bins.tolist() == [10, 10, 10]


@triton.jit
def claim(slots, keys, B: tl.constexpr):
    """Linear probing from the key's hash, one probe: slot count instead of count - 1."""
    pid = tl.program_id(0)
    key = tl.load(keys + pid)
    tl.atomic_cas(slots + key % (B + 1), 0, key)  # BUG: out-of-bounds atomic_cas slots


@triton.jit
def claim_right(slots, keys, B: tl.constexpr):
    pid = tl.program_id(0)
    key = tl.load(keys + pid)
    tl.atomic_cas(slots + key % B, 0, key)


@case(finds("out-of-bounds atomic_cas slots", program=(2, 0, 0), element=[], index=[8], past=4,
            elements=1, programs=1))
def atomic_cas_past_the_end(run):
    run(claim)[(4,)](np.zeros(8, np.int32), np.array([1, 9, 17, 3], np.int32), B=8)


@case()
def atomic_cas_inside(run):
    slots = np.zeros(8, np.int32)
    run(claim_right)[(4,)](slots, np.array([1, 9, 17, 3], np.int32), B=8)
    assert slots.tolist() == [0, 1, 0, 3, 0, 0, 0, 0]


@triton.jit
def row_max(x, out, rows, cols, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.program_id(1) * B + tl.arange(0, B)
    v = tl.load(x + r * cols + c, mask=c < cols, other=-1000)
    tl.atomic_max(out + r + 1, tl.max(v, axis=0))  # BUG: out-of-bounds atomic_max out


@triton.jit
def row_max_right(x, out, rows, cols, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.program_id(1) * B + tl.arange(0, B)
    v = tl.load(x + r * cols + c, mask=c < cols, other=-1000)
    tl.atomic_max(out + r, tl.max(v, axis=0))


@case(finds("out-of-bounds atomic_max out", program=(2, 0, 0), element=[], index=[3], past=4,
            elements=2, programs=2))
def atomic_max_past_the_end(run):
    x = np.arange(60, dtype=np.int32).reshape(3, 20)
    run(row_max)[(3, 2)](x, np.zeros(3, np.int32), 3, 20, B=16)


@case()
def atomic_max_inside(run):
    x, out = np.arange(60, dtype=np.int32).reshape(3, 20), np.zeros(3, np.int32)
    run(row_max_right)[(3, 2)](x, out, 3, 20, B=16)
    assert out.tolist() == [19, 39, 59]


@triton.jit
def locked_sum(x, lock, total, n, B: tl.constexpr):
    """A spin lock around a read and a write."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    part = tl.sum(tl.load(x + i, mask=i < n, other=0.0), axis=0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + part)
    tl.atomic_xchg(lock, 0)


@triton.jit
def locked_sum_wrong_lock(x, lock, total, n, B: tl.constexpr):
    """Takes lock 0 and gives back the one after it."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    part = tl.sum(tl.load(x + i, mask=i < n, other=0.0), axis=0)
    while tl.atomic_cas(lock + tl.program_id(0), 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + part)
    tl.atomic_xchg(lock + tl.program_id(0) + 1, 0)  # BUG: out-of-bounds atomic_xchg lock


@case()
def spin_lock(run):
    total, lock = np.zeros(1, np.float32), np.zeros(1, np.int32)
    run(locked_sum)[(4,)](numbers(64), lock, total, 64, B=16)
    assert total[0] == sum(range(64)) and lock[0] == 0


@case(finds("out-of-bounds atomic_xchg lock", program=(3, 0, 0), element=[], index=[4], past=4,
            elements=1, programs=1))
def atomic_xchg_past_the_end(run):
    run(locked_sum_wrong_lock)[(4,)](numbers(64), np.zeros(4, np.int32), np.zeros(1, np.float32), 64, B=16)


@triton.jit
def split_k(a, out, n, K, B: tl.constexpr):
    """Partial sums by float atomics; the tail of n is not masked."""
    k = tl.program_id(0)
    i = tl.program_id(1) * B + tl.arange(0, B)
    v = tl.load(a + k * n + i, mask=i < n, other=0.0)
    tl.atomic_add(out + i, v)  # BUG: out-of-bounds atomic_add out


@triton.jit
def split_k_masked(a, out, n, K, B: tl.constexpr):
    k = tl.program_id(0)
    i = tl.program_id(1) * B + tl.arange(0, B)
    v = tl.load(a + k * n + i, mask=i < n, other=0.0)
    tl.atomic_add(out + i, v, mask=i < n)


@case(finds("out-of-bounds atomic_add out", program=(0, 1, 0), element=[4], index=[20], past=48,
            elements=36, programs=3))
def float_atomic_past_the_end(run):
    run(split_k)[(3, 2)](numbers(60), np.zeros(20, np.float32), 20, 3, B=16)


@case()
def float_atomic_masked(run):
    a, out = numbers(60).reshape(3, 20), np.zeros(20, np.float32)
    run(split_k_masked)[(3, 2)](a, out, 20, 3, B=16)
    assert (out == a.sum(axis=0)).all()
