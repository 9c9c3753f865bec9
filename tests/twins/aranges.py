"""Two ranges of equal size in one address or one mask: they are two variables, not one."""

import triton
import triton.language as tl

from twins.cases import finds, numbers, register

case = register(globals())


@triton.jit
def lags(x, y, B: tl.constexpr):
    a = tl.arange(0, B)
    b = tl.arange(0, B)
    at = a[:, None] - b[None, :]
    tile = tl.load(x + at)  # BUG: out-of-bounds load x
    tl.store(y + a[:, None] * B + b[None, :], tile)


@triton.jit
def lags_masked(x, y, B: tl.constexpr):
    a = tl.arange(0, B)
    b = tl.arange(0, B)
    at = a[:, None] - b[None, :]
    tile = tl.load(x + at, mask=a[:, None] >= b[None, :], other=0.0)
    tl.store(y + a[:, None] * B + b[None, :], tile)


@case(finds("out-of-bounds load x", program=(0, 0, 0), element=[0, 1], index=[-1], past=-60,
            elements=120, programs=1, because=["at"]))
def difference_of_two_ranges(run):
    run(lags)[(1,)](numbers(16), numbers(256), B=16)


@case()
def difference_under_its_mask(run):
    run(lags_masked)[(1,)](numbers(16), numbers(256), B=16)


@triton.jit
def sums(x, y, B: tl.constexpr):
    a = tl.arange(0, B)
    b = tl.arange(0, B)
    tile = tl.load(x + a[:, None] + b[None, :])  # BUG: out-of-bounds load x
    tl.store(y + a[:, None] * B + b[None, :], tile)


@case(finds("out-of-bounds load x", element=[1, 15], index=[16], past=60, elements=120, programs=1,
            because=["a", "b"]))
def sum_of_two_ranges(run):
    run(sums)[(1,)](numbers(16), numbers(256), B=16)


@case()
def sum_of_two_ranges_that_fits(run):
    run(sums)[(1,)](numbers(31), numbers(256), B=16)


@triton.jit
def off_diagonal(x, y, B: tl.constexpr):
    """The mask leaves all pairs but equal ones: their sum still goes past the end."""
    a = tl.arange(0, B)
    b = tl.arange(0, B)
    keep = a[:, None] != b[None, :]
    tile = tl.load(x + a[:, None] + b[None, :], mask=keep, other=0.0)  # BUG: out-of-bounds load x
    tl.store(y + a[:, None] * B + b[None, :], tile)


@case(finds("out-of-bounds load x", element=[1, 15], index=[16], past=56, programs=1,
            elements=120 - 8))
def mask_of_unequal_pairs(run):
    run(off_diagonal)[(1,)](numbers(16), numbers(256), B=16)


@case()
def mask_of_unequal_pairs_that_fits(run):
    """30 is 15 + 15, the pair that the mask excludes."""
    run(off_diagonal)[(1,)](numbers(30), numbers(256), B=16)


@triton.jit
def causal_gather(x, y, n, B: tl.constexpr):
    """Reads row a of a packed lower triangle: b < a. The bound on a is missing."""
    a = tl.program_id(0) * B + tl.arange(0, B)
    b = tl.arange(0, B)
    keep = a[:, None] > b[None, :]
    at = a[:, None] * (a[:, None] - 1) // 2 + b[None, :]
    tile = tl.load(x + at, mask=keep, other=0.0)  # BUG: out-of-bounds load x
    tl.store(y + tl.arange(0, B)[:, None] * B + b[None, :], tile)


@triton.jit
def causal_gather_bounded(x, y, n, B: tl.constexpr):
    a = tl.program_id(0) * B + tl.arange(0, B)
    b = tl.arange(0, B)
    keep = (a[:, None] > b[None, :]) & (a[:, None] < n)
    at = a[:, None] * (a[:, None] - 1) // 2 + b[None, :]
    tile = tl.load(x + at, mask=keep, other=0.0)
    tl.store(y + tl.arange(0, B)[:, None] * B + b[None, :], tile)


@case(finds("out-of-bounds load x", program=(0, 0, 0), element=[11, 0], index=[55],
            past=(15 * 14 // 2 + 14 - 55 + 1) * 4, elements=11 + 12 + 13 + 14 + 15, programs=1))
def causal_without_the_row_bound(run):
    """11 rows of a packed triangle hold 55 elements; rows 11 to 15 are past it."""
    run(causal_gather)[(1,)](numbers(55), numbers(256), 11, B=16)


@case()
def causal_with_the_row_bound(run):
    run(causal_gather_bounded)[(1,)](numbers(55), numbers(256), 11, B=16)


@triton.jit
def causal_scores(q, k, out, n, B: tl.constexpr):
    """A causal mask stops the columns after the row, and nothing else: rows past n still load."""
    row = tl.program_id(0) * B + tl.arange(0, B)
    col = tl.program_id(1) * B + tl.arange(0, B)
    causal = row[:, None] >= col[None, :]
    kv = tl.load(k + col[None, :] + 0 * row[:, None], mask=causal, other=0.0)  # BUG: out-of-bounds load k
    qv = tl.load(q + row, mask=row < n, other=0.0)
    tl.store(out + row[:, None] * n + col[None, :], qv[:, None] * kv, mask=(row[:, None] < n) & causal)


@case(finds("out-of-bounds load k", program=(1, 1, 0), element=[4, 4], index=[20], past=48,
            elements=12 * 13 // 2, programs=1, because=["col"]))
def causal_mask_is_no_bound(run):
    run(causal_scores)[(2, 2)](numbers(20), numbers(20), numbers(400), 20, B=16)


@case()
def causal_mask_on_whole_tiles(run):
    run(causal_scores)[(2, 2)](numbers(32), numbers(32), numbers(1024), 32, B=16)
