"""One pass after another of a stable radix sort: digits counted by blocks, offsets by a scan, and keys put in
their places."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def radix_count_kernel(Keys, Counts, N, blocks, shift, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    at = block * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(Keys + at, mask=at < N, other=0)
    digit = ((key >> shift) & 15).to(tl.int32)
    counts = tl.histogram(digit, 16, mask=at < N)
    tl.store(Counts + tl.arange(0, 16) * blocks + block, counts)


@triton.jit
def radix_offsets_kernel(Counts, n, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    counts = tl.load(Counts + i, mask=i < n, other=0)
    tl.store(Counts + i, tl.cumsum(counts, 0) - counts, mask=i < n)


@triton.jit
def radix_place_kernel(Keys, Values, OutKeys, OutValues, Offsets, N, blocks, shift, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    at = block * BLOCK + tl.arange(0, BLOCK)
    mask = at < N
    key = tl.load(Keys + at, mask=mask, other=0)
    value = tl.load(Values + at, mask=mask, other=0)
    digit = ((key >> shift) & 15).to(tl.int32)
    one_hot = (digit[:, None] == tl.arange(0, 16)[None, :]) & mask[:, None]
    ranks = tl.cumsum(one_hot.to(tl.int32), 0)
    rank = tl.sum(tl.where(one_hot, ranks - 1, 0), 1)
    place = tl.load(Offsets + digit * blocks + block, mask=mask, other=0) + rank
    tl.store(OutKeys + place, key, mask=mask)
    tl.store(OutValues + place, value, mask=mask)


def main():
    N, BLOCK = 777, 128
    rng = np.random.default_rng(33)
    keys = rng.integers(0, 2**16, N).astype(np.uint32)
    keys[::3] = keys[0]
    blocks = triton.cdiv(N, BLOCK)
    a, b = [keys.copy(), np.arange(N, dtype=np.int32)], [np.zeros_like(keys), np.zeros(N, np.int32)]
    for shift in range(0, 16, 4):
        counts = np.zeros(16 * blocks, np.int32)
        radix_count_kernel[(blocks,)](a[0], counts, N, blocks, shift, BLOCK=BLOCK)
        radix_offsets_kernel[(1,)](counts, 16 * blocks, SIZE=triton.next_power_of_2(16 * blocks))
        radix_place_kernel[(blocks,)](*a, *b, counts, N, blocks, shift, BLOCK=BLOCK)
        a, b = b, a
    order = np.argsort(keys, kind="stable")
    error = max(np.abs(a[0].astype(np.float64) - keys[order]).max(), np.abs(a[1] - order).max())
    print(f"sort_radix: max error {error:.1e}")
    assert error == 0


if __name__ == "__main__":
    main()
