"""Faults that are no bounds: pointers to nowhere, alignment, asserts, undefined arithmetic, limits."""

import numpy as np
import triton
import triton.language as tl

from twins.cases import finds, ints, numbers, register

case = register(globals())


# -- pointers --------------------------------------------------------------------------------------------


@triton.jit
def experts(table, y, weights, B: tl.constexpr):
    """An expert that is absent has address 0."""
    pid = tl.program_id(0)
    base = tl.load(table + pid).to(tl.pointer_type(tl.float32))
    v = tl.load(base + tl.arange(0, B))  # BUG: null-pointer load
    tl.store(y + pid * B + tl.arange(0, B), v)


@triton.jit
def experts_guarded(table, y, weights, B: tl.constexpr):
    pid = tl.program_id(0)
    address = tl.load(table + pid)
    base = address.to(tl.pointer_type(tl.float32))
    v = tl.load(base + tl.arange(0, B), mask=address != 0, other=0.0)
    tl.store(y + pid * B + tl.arange(0, B), v)


@case(finds("null-pointer load", program=(1, 0, 0), element=[0], elements=16, programs=1))
def null_pointer_from_a_table(run):
    w = numbers(16)
    run(experts)[(2,)](np.array([w.ctypes.data, 0]), numbers(32), w, B=16)


@case()
def null_pointer_guarded(run):
    w, y = numbers(16), numbers(32)
    run(experts_guarded)[(2,)](np.array([w.ctypes.data, 0]), y, w, B=16)
    assert (y[:16] == w).all() and (y[16:] == 0).all()


@triton.jit
def follow(table, y, B: tl.constexpr):
    base = tl.load(table).to(tl.pointer_type(tl.float32))
    tl.store(base + tl.arange(0, B), 1.0)  # BUG: foreign-pointer store
    tl.store(y + tl.arange(0, B), 1.0)


@case(finds("foreign-pointer store", program=(0, 0, 0), element=[0], elements=16, programs=1))
def pointer_to_nothing_known(run):
    y = np.zeros(16, np.float32)
    run(follow)[(1,)](np.array([0x1234_5678_9ABC_0000]), y, B=16)
    assert (y == 1).all()


# -- alignment -------------------------------------------------------------------------------------------


@triton.jit
def words_of_bytes(x, y, start, B: tl.constexpr):
    words = (x + start).to(tl.pointer_type(tl.int32))
    v = tl.load(words + tl.arange(0, B))  # BUG: misaligned load x
    tl.store(y + tl.arange(0, B), v)


@case(finds("misaligned load x", program=(0, 0, 0), element=[0], elements=8, programs=1))
def words_at_an_odd_byte(run):
    run(words_of_bytes)[(1,)](numbers(64, dtype=np.int8), np.zeros(8, np.int32), 2, B=8)


@case()
def words_at_a_word(run):
    y = np.zeros(8, np.int32)
    run(words_of_bytes)[(1,)](numbers(64, dtype=np.int8), y, 4, B=8)
    assert y[0] == int.from_bytes(bytes([4, 5, 6, 7]), "little")


@triton.jit
def double(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # BUG: misaligned load x
    tl.store(y + i, v * 2, mask=i < n)


@case(finds("misaligned load x", element=[0], elements=10, programs=1))
def tensor_at_an_odd_address(run):
    """A record's header of two bytes, then floats."""
    packed = np.zeros(2 + 40, dtype=np.uint8)
    x = packed[2:].view(np.float32)
    run(double)[(1,)](x, numbers(10), 10, B=16)


# -- asserts -----------------------------------------------------------------------------------------------


@triton.jit(debug=True)
def checked_gather(x, index, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    at = tl.load(index + i)
    tl.device_assert(at < n, "index out of range")  # BUG: assert-failed assert
    tl.store(y + i, tl.load(x + at, mask=at < n, other=0.0))


@case(finds("assert-failed assert", program=(1, 0, 0), element=[3], elements=1, programs=1))
def device_assert_fails(run):
    index = np.arange(32, dtype=np.int32)
    index[19] = 77
    run(checked_gather)[(2,)](numbers(32), index, numbers(32), 32, B=16)


@case()
def device_assert_holds(run):
    run(checked_gather)[(2,)](numbers(32), numbers(32, dtype=np.int32), numbers(32), 32, B=16)


# -- histograms --------------------------------------------------------------------------------------------


@triton.jit
def count(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    bins = tl.histogram(tl.load(x + i), 8)  # BUG: invalid-index histogram
    tl.store(y + tl.arange(0, 8), bins)


@triton.jit
def count_masked(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    bins = tl.histogram(v, 8, mask=(i < n) & (v >= 0) & (v < 8))
    tl.store(y + tl.arange(0, 8), bins)


@case(finds("invalid-index histogram", element=[0], elements=8, programs=1), oracle=False)
def value_without_a_bin(run):
    run(count)[(1,)](ints(0, 1, 2, 3, 4, 5, 6, 8), np.zeros(8, np.int32), 8, B=8)


@case(finds("invalid-index histogram", element=[0], elements=8, programs=1), oracle=False)
def negative_value(run):
    run(count)[(1,)](ints(0, 1, 2, 3, 4, 5, 6, -1), np.zeros(8, np.int32), 8, B=8)


@case()
def values_within_the_bins(run):
    y = np.zeros(8, np.int32)
    run(count)[(1,)](ints(0, 1, 1, 3, 7, 7, 7, 0), y, 8, B=8)
    assert y.tolist() == [2, 2, 0, 1, 0, 0, 0, 3]


@case()
def values_without_a_bin_masked(run):
    y = np.zeros(8, np.int32)
    run(count_masked)[(1,)](ints(0, 1, 8, -1, 7, 7, 99, 0), y, 8, B=8)
    assert y.tolist() == [2, 1, 0, 0, 0, 0, 0, 2]


# -- undefined integer arithmetic -----------------------------------------------------------------------------


@triton.jit
def ratio(a, b, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(a + i) // tl.load(b + i))  # BUG: division-by-zero div


@triton.jit
def ratio_masked(a, b, y, n, B: tl.constexpr):
    """Masked elements divide by 0, and go nowhere."""
    i = tl.arange(0, B)
    mask = i < n
    q = tl.load(a + i, mask=mask, other=0) // tl.load(b + i, mask=mask, other=0)
    tl.store(y + i, q, mask=mask)


@triton.jit
def ratio_selected(a, b, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    d = tl.load(b + i)
    q = tl.where(d == 0, -1, tl.load(a + i) // d)
    tl.store(y + i, q)


def divisors():
    b = np.full(16, 3, dtype=np.int32)
    b[5] = 0
    return b


@case(finds("division-by-zero div", program=(0, 0, 0), element=[5], elements=1, programs=1))
def division_by_zero_stored(run):
    run(ratio)[(1,)](numbers(16, dtype=np.int32), divisors(), np.zeros(16, np.int32), 16, B=16)


@case()
def division_by_zero_masked(run):
    y = np.zeros(10, np.int32)
    run(ratio_masked)[(1,)](numbers(10, dtype=np.int32), np.full(10, 3, np.int32), y, 10, B=16)
    assert (y == np.arange(10) // 3).all()


@case()
def division_by_zero_selected_away(run):
    y = np.zeros(16, np.int32)
    run(ratio_selected)[(1,)](numbers(16, dtype=np.int32), divisors(), y, 16, B=16)
    assert y[5] == -1 and y[15] == 5


@triton.jit
def ratio_of_short(a, b, y, n, B: tl.constexpr):
    """Divides by what a faulty load left behind: one mistake, not two."""
    i = tl.arange(0, B)
    d = tl.load(b + i)  # BUG: out-of-bounds load b
    tl.store(y + i, tl.load(a + i) // d)


@case(finds("out-of-bounds load b", program=(0, 0, 0), element=[12], index=[12], past=16, elements=4,
            programs=1))
def division_by_what_a_fault_left(run):
    run(ratio_of_short)[(1,)](numbers(16, dtype=np.int32), np.full(12, 3, np.int32), np.zeros(16, np.int32), 16,
                              B=16)


@triton.jit
def rest(a, b, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(a + i) % tl.load(b + i))  # BUG: division-by-zero rem


@case(finds("division-by-zero rem", program=(0, 0, 0), element=[5], elements=1, programs=1))
def remainder_by_zero_stored(run):
    run(rest)[(1,)](numbers(16, dtype=np.int32), divisors(), np.zeros(16, np.int32), 16, B=16)


@triton.jit
def bits(x, y, shift, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i) << tl.load(shift + i))  # BUG: invalid-shift shl


@case(finds("invalid-shift shl", program=(0, 0, 0), element=[9], elements=1, programs=1))
def shift_past_the_width(run):
    shift = np.arange(16, dtype=np.int32)
    shift[9] = 32
    run(bits)[(1,)](np.ones(16, np.int32), np.zeros(16, np.int32), shift, B=16)


@case()
def shift_within_the_width(run):
    y = np.zeros(16, np.int32)
    run(bits)[(1,)](np.ones(16, np.int32), y, np.arange(16, 32, dtype=np.int32), B=16)
    assert y[3] == 1 << 19


# -- limits of a launch ------------------------------------------------------------------------------------------


@triton.jit
def one_each(y, n):  # BUG: launch-limit grid
    pid = tl.program_id(1)
    tl.store(y + pid, 1, mask=pid < n)


@case(finds("launch-limit grid"), oracle=False)
def grid_y_too_large(run):
    """Axes y and z hold 65535 programs at most; batch times heads is often put there."""
    run(one_each)[(1, 65536)](np.zeros(8, np.int8), 8)


@case(oracle=False)
def grid_y_at_its_limit(run):
    run(one_each)[(1, 65535)](np.zeros(8, np.int8), 8)


@triton.jit
def one_each_x(y, n):
    pid = tl.program_id(0)
    tl.store(y + pid, 1, mask=pid < n)


@case(oracle=False)
def grid_x_is_larger(run):
    run(one_each_x)[(70000,)](np.zeros(8, np.int8), 8)
