"""Promises to the compiler: multiple_of, max_contiguous, max_constancy, assume. Kept, broken, and broken
where it does not matter."""

import numpy as np
import triton
import triton.language as tl

from twins.cases import finds, ints, numbers, register

case = register(globals())


# -- multiple_of -----------------------------------------------------------------------------------------


@triton.jit
def segments(x, starts, y, B: tl.constexpr):
    """Each program copies from where a table says."""
    pid = tl.program_id(0)
    start = tl.multiple_of(tl.load(starts + pid), 8)  # BUG: hint-violation hint
    i = tl.arange(0, B)
    tl.store(y + pid * B + i, tl.load(x + start + i))


@case(finds("hint-violation hint", severity="error", program=(2, 0, 0), element=[0], elements=16, programs=1,
            because=["start"]), oracle=False)
def segment_in_the_middle_of_a_vector(run):
    """Element 4 of float16 is 8 bytes in, and 16 are loaded at once."""
    y = np.zeros(48, np.float16)
    run(segments)[(3,)](numbers(64, dtype=np.float16), ints(8, 24, 4), y, B=16)
    assert (y[32:] == np.arange(4, 20)).all()


@case(finds("hint-violation hint", severity="warning", program=(1, 0, 0), element=[0], elements=32, programs=2),
      oracle=False)
def segment_that_is_aligned_all_the_same(run):
    """Element 4 of float32 is where 16 bytes begin."""
    run(segments)[(3,)](numbers(64), ints(8, 4, 20), numbers(48), B=16)


@case()
def segments_that_begin_where_they_should(run):
    run(segments)[(3,)](numbers(64, dtype=np.float16), ints(8, 0, 40), numbers(48, dtype=np.float16), B=16)


@triton.jit
def segments_guarded(x, starts, y, n, B: tl.constexpr):
    """A segment that is not there has start -1."""
    pid = tl.program_id(0)
    start = tl.multiple_of(tl.load(starts + pid), 8)
    i = tl.arange(0, B)
    v = tl.load(x + start + i, mask=(start >= 0) & (i < n), other=0)
    tl.store(y + pid * B + i, v)


@case()
def segment_that_is_masked_off(run):
    y = numbers(48)
    run(segments_guarded)[(3,)](numbers(64), ints(8, -1, 40), y, 16, B=16)
    assert (y[16:32] == 0).all() and y[0] == 8


@triton.jit
def rows_of_table(x, rows, y, stride, N: tl.constexpr, M: tl.constexpr):
    r = tl.multiple_of(tl.load(rows + tl.arange(0, M)), 2)  # BUG: hint-violation hint
    c = tl.arange(0, N)
    at = r[:, None] * stride + c[None, :]
    tl.store(y + tl.arange(0, M)[:, None] * N + c[None, :], tl.load(x + at))


@case(finds("hint-violation hint", severity="warning", element=[2, 0], elements=8, programs=1, because=["r"]),
      oracle=False)
def odd_row(run):
    """One of four rows: the access along the columns is as it should be."""
    run(rows_of_table)[(1,)](numbers(64), ints(0, 2, 3, 6), numbers(32), 8, N=8, M=4)


@case()
def even_rows(run):
    run(rows_of_table)[(1,)](numbers(64), ints(0, 2, 4, 6), numbers(32), 8, N=8, M=4)


@case()
def rows_that_follow_each_other(run):
    """Only the first of a contiguous group need be a multiple."""
    run(rows_of_table)[(1,)](numbers(64), ints(2, 3, 4, 5), numbers(32), 8, N=8, M=4)


@triton.jit
def pointer_promise(x, y, start, N: tl.constexpr):
    i = tl.arange(0, N)
    p = tl.multiple_of(x + start, 16)  # BUG: hint-violation hint
    tl.store(y + i, tl.load(p + i))


@case(finds("hint-violation hint", severity="error", element=[0], elements=8, programs=1, because=["p"]),
      oracle=False)
def pointer_at_the_second_element(run):
    """Pointers count in bytes."""
    run(pointer_promise)[(1,)](numbers(16), numbers(8), 2, N=8)


@case()
def pointer_at_the_fourth_element(run):
    run(pointer_promise)[(1,)](numbers(16), numbers(8), 4, N=8)


@triton.jit
def in_a_loop(x, y, step, n, N: tl.constexpr):
    i = tl.arange(0, N)
    acc = tl.zeros((N,), tl.float32)
    at = step * 0
    for k in range(n):  # BUG: hint-violation hint
        at = tl.multiple_of(at, 4)
        acc += tl.load(x + at + i)
        at += step
    tl.store(y + i, acc)


@case(finds("hint-violation hint", severity="error", iterations=[("k", 1)], elements=16, programs=1), oracle=False)
def step_that_breaks_a_promise(run):
    """0, 2, 4, 6."""
    run(in_a_loop)[(1,)](numbers(64), numbers(8), 2, 4, N=8)


@case()
def step_that_keeps_it(run):
    run(in_a_loop)[(1,)](numbers(64), numbers(8), 4, 4, N=8)


@triton.jit
def ragged(x, sizes, y, N: tl.constexpr):
    n = tl.multiple_of(tl.load(sizes), 8)  # BUG: hint-violation hint
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(x + i), mask=i < n)


@case(finds("hint-violation hint", severity="error", elements=16, programs=1, because=["n"]), oracle=False)
def size_within_a_vector(run):
    """One bit of the mask for four elements: element 7 is stored too."""
    run(ragged)[(1,)](numbers(16), ints(7), numbers(7), N=16)


@case()
def size_between_vectors(run):
    """A size may also be what a mask is there to catch: nothing is said where it does no harm."""
    run(ragged)[(1,)](numbers(16), ints(4), numbers(4), N=16)


@case()
def size_as_promised(run):
    run(ragged)[(1,)](numbers(16), ints(8), numbers(8), N=16)


@triton.jit
def divided(x, divisors, y, start, N: tl.constexpr):
    i = tl.arange(0, N)
    d = tl.load(divisors + i)
    q = tl.multiple_of(i // d + start, 8)  # BUG: hint-violation hint
    v = tl.load(x + q, mask=d != 0, other=0)  # BUG: out-of-bounds load x
    tl.store(y + i, v)


@case(finds("hint-violation hint", severity="warning", element=[8], elements=21, programs=1), oracle=False)
def division_by_zero_that_is_masked_off(run):
    """Nothing is wrong about the active elements but their promise."""
    run(divided)[(1,)](numbers(36), ints(*[0] * 8, *[1] * 24), numbers(32), 4, N=32)


@case(finds("hint-violation hint", severity="warning", element=[8], elements=21, programs=1),
      finds("out-of-bounds load x", element=[8], elements=24, programs=1), oracle=False)
def promise_and_bounds_broken_beside_a_division_by_zero(run):
    run(divided)[(1,)](numbers(12), ints(*[0] * 8, *[1] * 24), numbers(32), 4, N=32)


@case(finds("hint-violation hint", severity="warning", element=[8], elements=7, programs=1),
      finds("out-of-bounds load x", element=[8], elements=7, programs=1), oracle=False)
def every_element_out_of_bounds_breaks_its_promise_too(run):
    """0 // 0 in the first 8, values 12 to 15 and 17 to 19 past the end; 16 is a multiple, and masked off."""
    divisors = [0] * 8 + [1] * 4 + [0] + [1] * 3
    run(divided)[(1,)](numbers(12), ints(*divisors), numbers(16), 4, N=16)


# -- max_contiguous ----------------------------------------------------------------------------------------


@triton.jit
def gather(x, index, y, N: tl.constexpr):
    i = tl.arange(0, N)
    at = tl.max_contiguous(tl.load(index + i), 4)  # BUG: hint-violation hint
    tl.store(y + i, tl.load(x + at))


@case(finds("hint-violation hint", severity="error", element=[6], elements=2, programs=1), oracle=False)
def groups_with_a_gap(run):
    """The two after the gap are not where the compiler reads them."""
    run(gather)[(1,)](numbers(64), ints(8, 9, 10, 11, 4, 5, 7, 8), numbers(8), N=8)


@case()
def groups_in_any_order(run):
    run(gather)[(1,)](numbers(64), ints(8, 9, 10, 11, 3, 4, 5, 6), numbers(8), N=8)


@triton.jit
def wrapped(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """What many matrix multiplications do: rows and columns past the end are led to the first ones."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    am = tl.max_contiguous(tl.multiple_of(m % M, BM), BM)
    bn = tl.max_contiguous(tl.multiple_of(n % N, BN), BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for j in range(0, K, BK):
        acc += tl.dot(tl.load(a + am[:, None] * K + (j + k)[None, :]), tl.load(b + (j + k)[:, None] * N + bn[None, :]))
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@case()
def rows_that_wrap_around(run):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((20, 32)).astype(np.float32), rng.standard_normal((32, 40)).astype(np.float32)
    c = np.zeros((20, 40), np.float32)
    run(wrapped)[(2, 3)](a, b, c, 20, 40, 32, BM=16, BN=16, BK=16)
    assert np.abs(c - a @ b).max() < 1e-1


@triton.jit
def wrapped_and_converted(a, b, c, M, N, K, first, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The promise is made about the wrapped rows after a conversion, a change of shape or an addition."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    am = tl.max_contiguous(tl.multiple_of((m % M).to(tl.int64)[:, None], (BM, 1)), (BM, 1))
    bn = tl.max_contiguous(tl.multiple_of((n % N).to(tl.int64), BN), BN)
    bn = tl.max_contiguous(tl.multiple_of(bn + first, BN), BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for j in range(0, K, BK):
        acc += tl.dot(tl.load(a + am * K + (j + k)[None, :]), tl.load(b + (j + k)[:, None] * N + bn[None, :]))
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@case()
def rows_that_wrap_around_and_are_converted(run):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((20, 32)).astype(np.float32), rng.standard_normal((32, 40)).astype(np.float32)
    c = np.zeros((20, 40), np.float32)
    run(wrapped_and_converted)[(2, 3)](a, b, c, 20, 40, 32, 0, BM=16, BN=16, BK=16)
    assert np.abs(c - a @ b).max() < 1e-1


@triton.jit
def led_to_zero(x, y, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    at = tl.max_contiguous(tl.multiple_of(tl.where(i < n, i, 0), N), N)
    tl.store(y + i, tl.load(x + at), mask=i < n)


@case()
def elements_led_to_zero(run):
    y = np.zeros(20, np.float32)
    run(led_to_zero)[(2,)](numbers(20), y, 20, N=16)
    assert (y == numbers(20)).all()


@triton.jit
def blocks_of_columns(x, y, N: tl.constexpr, M: tl.constexpr):
    r, c = tl.arange(0, M), tl.arange(0, N)
    p = tl.max_contiguous(tl.multiple_of(x + r[:, None] * N + c[None, :], (4, 4)), (1, N))
    tl.store(y + r[:, None] * N + c[None, :], tl.load(p))


@case()
def rows_and_columns(run):
    run(blocks_of_columns)[(1,)](numbers(64), numbers(64), N=16, M=4)


@triton.jit
def transposed(x, y, N: tl.constexpr, M: tl.constexpr):
    """The columns are the ones that lie together."""
    r, c = tl.arange(0, M), tl.arange(0, N)
    p = tl.max_contiguous(x + r[:, None] + c[None, :] * M, (1, N))  # BUG: hint-violation hint
    tl.store(y + r[:, None] * N + c[None, :], tl.load(p))


@case(finds("hint-violation hint", severity="warning", element=[0, 1], elements=60, programs=1), oracle=False)
def promise_on_the_wrong_axis(run):
    run(transposed)[(1,)](numbers(64), numbers(64), N=16, M=4)


# -- max_constancy -----------------------------------------------------------------------------------------


@triton.jit
def per_group(x, scale, y, shift, N: tl.constexpr, G: tl.constexpr):
    i = tl.arange(0, N)
    g = tl.max_constancy((i + shift) // 4, G)  # BUG: hint-violation hint
    tl.store(y + i, tl.load(x + i) * tl.load(scale + g))


@case(finds("hint-violation hint", severity="warning", element=[4], elements=8, programs=1, because=["g"]), oracle=False)
def groups_of_four_promised_as_eight(run):
    run(per_group)[(1,)](numbers(16), numbers(8), numbers(16), 0, N=16, G=8)


@case()
def groups_of_four(run):
    run(per_group)[(1,)](numbers(16), numbers(8), numbers(16), 0, N=16, G=4)


@case(finds("hint-violation hint", severity="warning", element=[2], elements=8, programs=1), oracle=False)
def groups_that_begin_elsewhere(run):
    run(per_group)[(1,)](numbers(16), numbers(8), numbers(16), 2, N=16, G=4)


# -- assume ------------------------------------------------------------------------------------------------


@triton.jit
def copy(x, y, n, B: tl.constexpr):
    tl.assume(n % 16 == 0)  # BUG: hint-violation assume
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


@case(finds("hint-violation assume", severity="warning", program=(0, 0, 0), elements=3, programs=3, because=["n"]),
      oracle=False)
def assumption_that_is_false(run):
    run(copy)[(3,)](numbers(40), numbers(40), 40, B=16)


@case()
def assumption_that_holds(run):
    run(copy)[(3,)](numbers(48), numbers(48), 48, B=16)


@triton.jit
def copy_guarded(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    if n % 16 == 0:
        tl.assume(n % 16 == 0)
        tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)
    else:
        tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


@case()
def assumption_not_reached(run):
    run(copy_guarded)[(3,)](numbers(40), numbers(40), 40, B=16)


# -- what only looks like a promise that matters -----------------------------------------------------------


@triton.jit
def stored_only(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.multiple_of(tl.load(x + i), 16)
    tl.store(y + i, tl.where(v > 3, v, -1))


@case()
def promise_on_data(run):
    """No address depends on it: compilers make nothing of it."""
    run(stored_only)[(1,)](ints(*range(16)), ints(*range(16)), N=16)
