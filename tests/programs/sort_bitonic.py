"""Sorting keys with their values: blocks by hand-made bitonic steps, then merges of sorted runs by binary
search; and tl.sort on its own."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def bitonic_step(key, value, index, size: tl.constexpr, distance: tl.constexpr, BLOCK: tl.constexpr):
    partner = index ^ distance
    other_key = tl.gather(key, partner, 0)
    other_value = tl.gather(value, partner, 0)
    ascending = (index & size) == 0
    lower = (index & distance) == 0
    # The smaller of the two belongs to the lower place of an ascending run.
    wants_small = ascending == lower
    other_smaller = (other_key < key) | ((other_key == key) & (other_value < value))
    take = tl.where(wants_small, other_smaller, (other_smaller == 0) & ((other_key != key) | (other_value != value)))
    return tl.where(take, other_key, key), tl.where(take, other_value, value)


@triton.jit
def bitonic_block_kernel(Keys, OutKeys, OutValues, N, LOG: tl.constexpr, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    at = tl.program_id(0) * BLOCK + index
    key = tl.load(Keys + at, mask=at < N, other=0x7FFFFFFF)
    value = at
    for phase in tl.static_range(1, LOG + 1):
        for step in tl.static_range(0, phase):
            key, value = bitonic_step(key, value, index, 1 << phase, 1 << (phase - 1 - step), BLOCK)
    tl.store(OutKeys + at, key, mask=at < N)
    tl.store(OutValues + at, value, mask=at < N)


@triton.jit
def merge_runs_kernel(Keys, Values, OutKeys, OutValues, N, run, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    """Each element finds its place: its own, and how many of the other run come before it."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < N
    key = tl.load(Keys + at, mask=mask, other=0)
    value = tl.load(Values + at, mask=mask, other=0)
    own = at // run
    is_left = own % 2 == 0
    begin = (own ^ 1) * run
    low = tl.minimum(begin, N)
    high = tl.minimum(begin + run, N)
    other_begin = low
    for _ in range(STEPS):
        active = mask & (low < high)
        middle = (low + high) // 2
        probe = tl.load(Keys + middle, mask=active, other=0)
        before = (probe < key) | ((probe == key) & (is_left == 0))
        low = tl.where(active & before, middle + 1, low)
        high = tl.where(active & (before == 0), middle, high)
    place = own // 2 * 2 * run + (at - own * run) + (low - other_begin)
    tl.store(OutKeys + place, key, mask=mask)
    tl.store(OutValues + place, value, mask=mask)


@triton.jit
def sort_rows_kernel(X, Y, N, stride, DESCENDING: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    edge = -float("inf") if DESCENDING else float("inf")
    x = tl.load(X + row * stride + cols, mask=cols < N, other=edge)
    tl.store(Y + row * N + cols, tl.sort(x, descending=DESCENDING), mask=cols < N)


@triton.jit
def unique_count_kernel(Keys, Counts, N, BLOCK: tl.constexpr):
    """How many keys of each block differ from the one before."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(Keys + at, mask=at < N, other=0)
    before = tl.load(Keys + at - 1, mask=(at > 0) & (at < N), other=0)
    first = (at < N) & ((at == 0) | (key != before))
    tl.store(Counts + tl.program_id(0), tl.sum(first.to(tl.int32), 0))


@triton.jit
def unique_write_kernel(Keys, Order, Counts, Unique, Starts, Inverse, N, BLOCK: tl.constexpr, BLOCKS: tl.constexpr):
    """The different keys, where each begins, and for every input its key's number."""
    block = tl.program_id(0)
    b = tl.arange(0, BLOCKS)
    base = tl.sum(tl.load(Counts + b, mask=b < block, other=0), 0)
    at = block * BLOCK + tl.arange(0, BLOCK)
    mask = at < N
    key = tl.load(Keys + at, mask=mask, other=0)
    before = tl.load(Keys + at - 1, mask=(at > 0) & mask, other=0)
    first = mask & ((at == 0) | (key != before))
    number = base + tl.cumsum(first.to(tl.int32), 0) - 1
    tl.store(Unique + number, key, mask=first)
    tl.store(Starts + number, at, mask=first)
    tl.store(Inverse + tl.load(Order + at, mask=mask, other=0), number, mask=mask)


@triton.jit
def take_rows_kernel(X, Order, Y, C, stride, BLOCK_C: tl.constexpr):
    """Rows in sorted order."""
    row = tl.program_id(0)
    source = tl.load(Order + row)
    c = tl.arange(0, BLOCK_C)
    x = tl.load(X + source * stride + c, mask=c < C)
    tl.store(Y + row * C + c, x, mask=c < C)


@triton.jit
def run_lengths_kernel(Starts, Lengths, count, N, BLOCK: tl.constexpr):
    """How often each key comes."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    begin = tl.load(Starts + i, mask=i < count, other=0)
    end = tl.load(Starts + i + 1, mask=i + 1 < count, other=N)
    tl.store(Lengths + i, end - begin, mask=i < count)


def main():
    N, BLOCK = 421, 64
    rng = np.random.default_rng(32)
    keys = rng.integers(-50, 50, N).astype(np.int32)
    a = [np.zeros(N, np.int32), np.zeros(N, np.int32)]
    b = [np.zeros(N, np.int32), np.zeros(N, np.int32)]
    grid = (triton.cdiv(N, BLOCK),)
    bitonic_block_kernel[grid](keys, *a, N, LOG=6, BLOCK=BLOCK)
    run = BLOCK
    while run < N:
        merge_runs_kernel[grid](*a, *b, N, run, STEPS=10, BLOCK=BLOCK)
        a, b, run = b, a, run * 2
    order = np.argsort(keys, kind="stable")
    assert (a[1] == order).all()
    error = np.abs(a[0].astype(np.float64) - keys[order]).max()
    x = rng.standard_normal((6, 107), dtype=np.float32)[:, 4:]
    for descending in (False, True):
        y = np.zeros(x.shape, np.float32)
        sort_rows_kernel[(6,)](x, y, x.shape[1], 107, DESCENDING=descending, BLOCK=128)
        wanted = np.sort(x, -1)[:, ::-1] if descending else np.sort(x, -1)
        error = max(error, np.abs(y - wanted).max())
    counts, starts, inverse = np.zeros(len(range(0, N, BLOCK)), np.int32), np.zeros(N, np.int32), np.full(N, -1, np.int32)
    unique = np.zeros(N, np.int32)
    unique_count_kernel[grid](a[0], counts, N, BLOCK=BLOCK)
    unique_write_kernel[grid](*a, counts, unique, starts, inverse, N, BLOCK=BLOCK, BLOCKS=8)
    wanted = np.unique(keys, return_inverse=True)
    assert (unique[:counts.sum()] == wanted[0]).all() and (inverse == wanted[1]).all()
    assert (keys[order][starts[:counts.sum()]] == wanted[0]).all()
    table, taken = rng.standard_normal((N, 9), dtype=np.float32), np.zeros((N, 7), np.float32)
    take_rows_kernel[(N,)](table[:, 2:], a[1], taken, 7, 9, BLOCK_C=8)
    error = max(error, np.abs(taken - table[order, 2:]).max())
    lengths = np.zeros(counts.sum(), np.int32)
    run_lengths_kernel[(triton.cdiv(len(lengths), 32),)](starts, lengths, len(lengths), N, BLOCK=32)
    assert (lengths == np.unique(keys, return_counts=True)[1]).all()
    print(f"sort_bitonic: max error {error:.1e}")
    assert error == 0


if __name__ == "__main__":
    main()
