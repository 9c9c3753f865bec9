"""Prefix sums and running maxima of strided columns in three passes: blocks, block totals, and the rest;
also in reverse."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def block_scan_kernel(X, Sum, Max, BlockSum, BlockMax, N, C, stride_n, REVERSE: tl.constexpr, BLOCK: tl.constexpr,
                      BLOCK_C: tl.constexpr):
    block = tl.program_id(0)
    i = block * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask = (i[:, None] < N) & (c[None, :] < C)
    x = tl.load(X + i[:, None] * stride_n + c[None, :], mask=mask, other=0.0)
    running = tl.cumsum(x, 0, reverse=REVERSE)
    highest = tl.associative_scan(tl.where(mask, x, -float("inf")), 0, larger, reverse=REVERSE)
    tl.store(Sum + i[:, None] * C + c[None, :], running, mask=mask)
    tl.store(Max + i[:, None] * C + c[None, :], highest, mask=mask)
    tl.store(BlockSum + block * C + c, tl.sum(x, 0), mask=c < C)
    tl.store(BlockMax + block * C + c, tl.max(tl.where(mask, x, -float("inf")), 0), mask=c < C)


@triton.jit
def block_totals_kernel(BlockSum, BlockMax, blocks, C, REVERSE: tl.constexpr, BLOCK: tl.constexpr):
    c = tl.program_id(0)
    b = tl.arange(0, BLOCK)
    mask = b < blocks
    s = tl.load(BlockSum + b * C + c, mask=mask, other=0.0)
    m = tl.load(BlockMax + b * C + c, mask=mask, other=-float("inf"))
    before = tl.cumsum(s, 0, reverse=REVERSE) - s
    highest = tl.associative_scan(m, 0, larger, reverse=REVERSE)
    tl.store(BlockSum + b * C + c, before, mask=mask)
    tl.store(BlockMax + b * C + c, highest, mask=mask)


@triton.jit
def block_add_kernel(Sum, Max, BlockSum, BlockMax, N, C, blocks, REVERSE: tl.constexpr, BLOCK: tl.constexpr,
                     BLOCK_C: tl.constexpr):
    block = tl.program_id(0)
    i = block * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask = (i[:, None] < N) & (c[None, :] < C)
    at = i[:, None] * C + c[None, :]
    before = tl.load(BlockSum + block * C + c, mask=c < C, other=0.0)
    earlier = block + 1 if REVERSE else block - 1
    exists = (earlier >= 0) & (earlier < blocks)
    highest = tl.load(BlockMax + earlier * C + c, mask=exists & (c < C), other=-float("inf"))
    s = tl.load(Sum + at, mask=mask, other=0.0)
    m = tl.load(Max + at, mask=mask, other=0.0)
    tl.store(Sum + at, s + before[None, :], mask=mask)
    tl.store(Max + at, tl.maximum(m, highest[None, :]), mask=mask)


@triton.jit
def segment_add(flag_a, value_a, flag_b, value_b):
    return flag_a | flag_b, tl.where(flag_b != 0, value_b, value_a + value_b)


@triton.jit
def segmented_scan_kernel(X, Flags, Y, N, stride, BLOCK: tl.constexpr):
    """Sums that begin anew at each flag, in a loop of blocks with a carry."""
    carry = 0.0
    for start in range(0, N, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(X + i * stride, mask=i < N, other=0.0)
        flag = tl.load(Flags + i, mask=i < N, other=0).to(tl.int32)
        seen, total = tl.associative_scan((flag, x), 0, segment_add)
        total += tl.where(seen == 0, carry, 0.0)
        tl.store(Y + i, total, mask=i < N)
        carry = tl.sum(tl.where(tl.arange(0, BLOCK) == BLOCK - 1, total, 0.0), 0)


@triton.jit
def compact_count_kernel(X, Counts, N, stride, threshold, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(X + i * stride, mask=i < N, other=threshold)
    tl.store(Counts + tl.program_id(0), tl.sum((x > threshold).to(tl.int32), 0))


@triton.jit
def compact_write_kernel(X, Counts, Values, Places, N, stride, threshold, BLOCK: tl.constexpr, BLOCKS: tl.constexpr):
    """What is above the threshold, in order, and where it was."""
    block = tl.program_id(0)
    b = tl.arange(0, BLOCKS)
    base = tl.sum(tl.load(Counts + b, mask=b < block, other=0), 0)
    i = block * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(X + i * stride, mask=i < N, other=threshold)
    keep = x > threshold
    place = base + tl.cumsum(keep.to(tl.int32), 0) - 1
    tl.store(Values + place, x, mask=keep)
    tl.store(Places + place, i, mask=keep)


@triton.jit
def segment_totals_kernel(Scanned, Flags, Totals, N, BLOCK: tl.constexpr):
    """The last sum of each segment, by the segment's number."""
    before = 0
    for start in range(0, N, BLOCK):
        i = start + tl.arange(0, BLOCK)
        flag = tl.load(Flags + i, mask=i < N, other=0).to(tl.int32)
        number = before + tl.cumsum(flag, 0)
        next_flag = tl.load(Flags + i + 1, mask=i + 1 < N, other=1)
        tl.store(Totals + number, tl.load(Scanned + i, mask=i < N), mask=(i < N) & (next_flag != 0))
        before += tl.sum(flag, 0)


@triton.jit
def expand_kernel(Values, Places, Y, n, BLOCK: tl.constexpr):
    """Compacted values back in their places."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.load(Places + i, mask=i < n, other=0)
    tl.store(Y + place, tl.load(Values + i, mask=i < n), mask=i < n)


def main():
    N, C, BLOCK = 333, 5, 64
    rng = np.random.default_rng(29)
    x = rng.standard_normal((N, C + 2), dtype=np.float32)[:, 1:C + 1]
    blocks = triton.cdiv(N, BLOCK)
    error = 0.0
    for reverse in (False, True):
        total, highest = np.full((N, C), np.nan, np.float32), np.full((N, C), np.nan, np.float32)
        block_sum, block_max = np.zeros((blocks, C), np.float32), np.zeros((blocks, C), np.float32)
        grid = (blocks, triton.cdiv(C, 4))
        block_scan_kernel[grid](x, total, highest, block_sum, block_max, N, C, C + 2, REVERSE=reverse,
                                BLOCK=BLOCK, BLOCK_C=4)
        block_totals_kernel[(C,)](block_sum, block_max, blocks, C, REVERSE=reverse, BLOCK=8)
        block_add_kernel[grid](total, highest, block_sum, block_max, N, C, blocks, REVERSE=reverse,
                               BLOCK=BLOCK, BLOCK_C=4)
        way = slice(None, None, -1 if reverse else 1)
        wanted = np.cumsum(x[way].astype(np.float64), 0)[way]
        assert (highest == np.maximum.accumulate(x[way], 0)[way]).all()
        error = max(error, np.abs(total - wanted).max())
    column = x[:, 2]
    flags, segmented = (rng.uniform(size=N) < 0.05).astype(np.uint8), np.full(N, np.nan, np.float32)
    flags[0] = 0  # the first segment begins by itself
    segmented_scan_kernel[(1,)](column, flags, segmented, N, C + 2, BLOCK=BLOCK)
    pieces = np.split(column.astype(np.float64), np.nonzero(flags)[0])
    error = max(error, np.abs(segmented - np.concatenate([np.cumsum(piece) for piece in pieces])).max())
    counts, values, places = np.zeros(blocks, np.int32), np.zeros(N, np.float32), np.zeros(N, np.int64)
    compact_count_kernel[(blocks,)](column, counts, N, C + 2, 0.5, BLOCK=BLOCK)
    compact_write_kernel[(blocks,)](column, counts, values, places, N, C + 2, 0.5, BLOCK=BLOCK, BLOCKS=8)
    kept = np.nonzero(column > 0.5)[0]
    assert counts.sum() == len(kept) and (places[:len(kept)] == kept).all() and (values[:len(kept)] == column[kept]).all()
    totals = np.full(len(pieces), np.nan, np.float32)
    segment_totals_kernel[(1,)](segmented, flags, totals, N, BLOCK=BLOCK)
    error = max(error, np.abs(totals - [piece.sum() for piece in pieces]).max())
    back = np.zeros(N, np.float32)
    expand_kernel[(triton.cdiv(len(kept), BLOCK),)](values, places, back, len(kept), BLOCK=BLOCK)
    assert (back == np.where(column > 0.5, column, 0)).all()
    print(f"scan_three_pass: max error {error:.2e}")
    assert error < 1e-4


if __name__ == "__main__":
    main()
