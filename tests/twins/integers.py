"""Integer arithmetic as the device does it: truncation, wrapping, widths."""

import numpy as np
import triton
import triton.language as tl

from twins.cases import finds, numbers, register

case = register(globals())

MEBI = 1 << 20


# -- // and % truncate towards zero ----------------------------------------------------------------------


@triton.jit
def ring(x, y, n, B: tl.constexpr):
    """Reads x[(i - 3) mod n], with a remainder that keeps the sign of i - 3."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    at = (i - 3) % n
    v = tl.load(x + at, mask=i < n)  # BUG: out-of-bounds load x
    tl.store(y + i, v, mask=i < n)


@triton.jit
def ring_right(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    at = (i - 3 + n) % n
    tl.store(y + i, tl.load(x + at, mask=i < n), mask=i < n)


@case(finds("out-of-bounds load x", program=(0, 0, 0), element=[0], index=[-3], past=-12, elements=3,
            programs=1, because=["at"]))
def negative_remainder(run):
    run(ring)[(2,)](numbers(30), numbers(30), 30, B=16)


@case()
def remainder_made_positive(run):
    x, y = numbers(30), numbers(30)
    run(ring_right)[(2,)](x, y, 30, B=16)
    assert (y == np.roll(x, 3)).all()


@triton.jit
def halves(x, y, B: tl.constexpr):
    """(i - 1) // 2 is 0 for i = 0, not -1."""
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + (i - 1) // 2))


@triton.jit
def halves_by_shift(x, y, B: tl.constexpr):
    """(i - 1) >> 1 is -1 for i = 0."""
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + ((i - 1) >> 1)))  # BUG: out-of-bounds load x


@case()
def negative_quotient_truncates(run):
    y = numbers(32)
    run(halves)[(1,)](numbers(16), y, B=32)
    assert y[0] == 0 and y[31] == 15


@case(finds("out-of-bounds load x", element=[0], index=[-1], past=-4, elements=1))
def arithmetic_shift_rounds_down(run):
    run(halves_by_shift)[(1,)](numbers(16), numbers(32), B=32)


# -- casts that wrap ---------------------------------------------------------------------------------------


@triton.jit
def low_byte(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i.to(tl.uint8).to(tl.int32)))


@triton.jit
def low_byte_signed(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    at = i.to(tl.int8).to(tl.int32)
    tl.store(y + i, tl.load(x + at))  # BUG: out-of-bounds load x


@case()
def uint8_wraps(run):
    """512 indices into a table of 256: the cast keeps the low byte."""
    y = numbers(512)
    run(low_byte)[(1,)](numbers(256), y, B=512)
    assert (y == np.arange(512) % 256).all()


@case(finds("out-of-bounds load x", element=[128], index=[-128], past=-512, elements=256,
            because=["at"]))
def int8_wraps_to_negative(run):
    run(low_byte_signed)[(1,)](numbers(256), numbers(512), B=512)


@triton.jit
def short_index(x, y, step, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    at = (i * step).to(tl.int16)
    tl.store(y + i, tl.load(x + at))  # BUG: out-of-bounds load x


@triton.jit
def long_index(x, y, step, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    at = i * step
    tl.store(y + i, tl.load(x + at))


@case(finds("out-of-bounds load x", program=(2, 0, 0), element=[0], index=[-32768], past=-65536,
            elements=16, programs=1, because=["at"]))
def int16_wraps(run):
    run(short_index)[(3,)](numbers(48 * 1024, dtype=np.int16), numbers(48, dtype=np.int16), 1024, B=16)


@case()
def int32_does_not_wrap(run):
    run(long_index)[(3,)](numbers(48 * 1024, dtype=np.int16), numbers(48, dtype=np.int16), 1024, B=16)


@triton.jit
def unsigned_difference(x, y, n, B: tl.constexpr):
    """i - 1 in uint32 is 2**32 - 1 for i = 0, which the comparison lets through nowhere."""
    i = tl.arange(0, B).to(tl.uint32)
    before = i - 1
    tl.store(y + tl.arange(0, B), tl.load(x + tl.arange(0, B) - 1, mask=before < n.to(tl.uint32), other=-1.0))


@case()
def unsigned_comparison_excludes_minus_one(run):
    y = numbers(16)
    run(unsigned_difference)[(1,)](numbers(16), y, 16, B=16)
    assert y.tolist() == [-1.0] + list(range(15))


# -- products that wrap ---------------------------------------------------------------------------------------


@triton.jit
def row_heads(x, y, stride):
    """First element of each row: row * stride in int32."""
    row = tl.program_id(0)
    v = tl.load(x + row * stride)  # BUG: out-of-bounds load x
    tl.store(y + row, v)


@triton.jit
def row_heads_wide(x, y, stride):
    row = tl.program_id(0).to(tl.int64)
    v = tl.load(x + row * stride)
    tl.store(y + row, v)


@case(finds("out-of-bounds load x", program=(2, 0, 0), element=[], index=[-(1 << 31)], past=-(1 << 31),
            elements=1, programs=1, because=["row"]))
def int32_product_wraps(run):
    """Row 2 of rows of 2**30 bytes begins at 2**31."""
    x = np.zeros(2 * (1 << 30) + 16, dtype=np.int8)
    run(row_heads)[(3,)](x, np.zeros(3, np.int8), 1 << 30)


@case()
def int64_product(run):
    x = np.zeros(2 * (1 << 30) + 16, dtype=np.int8)
    x[2 << 30] = 7
    y = np.zeros(3, np.int8)
    run(row_heads_wide)[(3,)](x, y, 1 << 30)
    assert y.tolist() == [0, 0, 7]


@triton.jit
def scores(x, y, H, T, K, B: tl.constexpr):
    """Row ((b * T) + t) * H + h of rows of K: all in int32."""
    b = tl.program_id(0)
    h = tl.program_id(1)
    base = ((b * T + T - 1) * H + h) * K
    v = tl.load(x + base + tl.arange(0, B))  # BUG: out-of-bounds load x
    tl.store(y + (b * H + h) * B + tl.arange(0, B), v)


@triton.jit
def scores_wide(x, y, H, T, K, B: tl.constexpr):
    b = tl.program_id(0).to(tl.int64)
    h = tl.program_id(1)
    base = ((b * T + T - 1) * H + h) * K
    v = tl.load(x + base + tl.arange(0, B))
    tl.store(y + (b * H + h) * B + tl.arange(0, B), v)


@case(finds("out-of-bounds load x", program=(1, 0, 0), element=[0], elements=32, programs=2,
            because=["base"]))
def batch_head_product_wraps(run):
    B, T, H, K = 2, 4097, 2, 131072  # the last row begins past 2**31 elements
    x = np.zeros(B * T * H * K, dtype=np.int8)
    run(scores)[(B, H)](x, np.zeros(B * H * 16, np.int8), H, T, K, B=16)


@case()
def batch_head_product_wide(run):
    B, T, H, K = 2, 4097, 2, 131072
    x = np.zeros(B * T * H * K, dtype=np.int8)
    run(scores_wide)[(B, H)](x, np.zeros(B * H * 16, np.int8), H, T, K, B=16)


@triton.jit
def paged(pages, table, y, page_bytes, B: tl.constexpr):
    """A page number from a table times the page's size."""
    pid = tl.program_id(0)
    page = tl.load(table + pid)
    v = tl.load(pages + page * page_bytes + tl.arange(0, B))  # BUG: out-of-bounds load pages
    tl.store(y + pid * B + tl.arange(0, B), v)


@triton.jit
def paged_wide(pages, table, y, page_bytes, B: tl.constexpr):
    pid = tl.program_id(0)
    page = tl.load(table + pid).to(tl.int64)
    v = tl.load(pages + page * page_bytes + tl.arange(0, B))
    tl.store(y + pid * B + tl.arange(0, B), v)


@case(finds("out-of-bounds load pages", program=(2, 0, 0), element=[0], index=[-(1 << 31)],
            past=-(1 << 31), elements=16, programs=1, because=["page"]))
def loaded_page_number_wraps(run):
    pages = np.zeros(2049 * MEBI, dtype=np.int8)
    table = np.array([0, 2047, 2048, 5], dtype=np.int32)
    run(paged)[(4,)](pages, table, np.zeros(64, np.int8), MEBI, B=16)


@case()
def loaded_page_number_wide(run):
    pages = np.zeros(2049 * MEBI, dtype=np.int8)
    pages[2048 * MEBI + 1] = 9
    table = np.array([0, 2047, 2048, 5], dtype=np.int32)
    y = np.zeros(64, np.int8)
    run(paged_wide)[(4,)](pages, table, y, MEBI, B=16)
    assert y[33] == 9


@triton.jit
def hashed(x, y, n, B: tl.constexpr):
    """A multiplicative hash: the product wraps on purpose."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    h = (i.to(tl.uint32) * 2654435761) >> 24
    tl.store(y + i, tl.load(x + h), mask=i < n)


@case()
def wrapping_hash_stays_inside(run):
    run(hashed)[(4,)](numbers(256), numbers(64), 64, B=16)


# -- widths -----------------------------------------------------------------------------------------------------


@triton.jit
def pairs(x, y, n, B: tl.constexpr):
    """Reads int32 pairs as int64: the index must be halved, and is not."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    wide = x.to(tl.pointer_type(tl.int64))
    v = tl.load(wide + i, mask=i < n)  # BUG: out-of-bounds load x
    tl.store(y + i, v, mask=i < n)


@triton.jit
def pairs_halved(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    wide = x.to(tl.pointer_type(tl.int64))
    v = tl.load(wide + i, mask=i < n // 2)
    tl.store(y + i, v, mask=i < n // 2)


@case(finds("out-of-bounds load x", program=(1, 0, 0), element=[4], past=160, elements=20, programs=2))
def wide_access_through_a_narrow_pointer(run):
    run(pairs)[(3,)](numbers(40, dtype=np.int32), np.zeros(40, np.int64), 40, B=16)


@case()
def wide_access_halved(run):
    run(pairs_halved)[(3,)](numbers(40, dtype=np.int32), np.zeros(40, np.int64), 40, B=16)


@triton.jit
def last_pair(x, y, n):
    """One aligned int64 whose first half is the tensor's last element."""
    v = tl.load((x + n - 1).to(tl.pointer_type(tl.int64)))  # BUG: out-of-bounds load x
    tl.store(y, v)


@case(finds("out-of-bounds load x", element=[], index=[32], past=4, elements=1))
def wide_access_across_the_end(run):
    """The access begins inside: its width is what leaves."""
    run(last_pair)[(1,)](numbers(33, dtype=np.int32), np.zeros(1, np.int64), 33)
