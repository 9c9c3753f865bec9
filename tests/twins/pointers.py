"""Which tensor a pointer belongs to, when it was chosen, swapped, aliased or reinterpreted."""

import numpy as np
import triton
import triton.language as tl

from twins.cases import finds, numbers, register

case = register(globals())


@triton.jit
def chosen_per_element(x, z, y, n, B: tl.constexpr):
    """Even elements come from x, odd ones from z, which is shorter."""
    i = tl.arange(0, B)
    p = tl.where(i % 2 == 0, x + i, z + i)
    tl.store(y + i, tl.load(p, mask=i < n))  # BUG: out-of-bounds load x, out-of-bounds load z


@case(finds("out-of-bounds load z", element=[21], index=[21], past=4 * 10, elements=5, programs=1))
def pointer_chosen_per_element(run):
    run(chosen_per_element)[(1,)](numbers(30), numbers(20), numbers(32), 30, B=32)


@case(finds("out-of-bounds load x", element=[24], index=[24], past=4 * 7, elements=4, programs=1),
      finds("out-of-bounds load z", element=[13], index=[13], past=4 * 20, elements=10, programs=1))
def pointer_chosen_per_element_of_two_tensors(run):
    run(chosen_per_element)[(1,)](numbers(24), numbers(12), numbers(32), 32, B=32)


@case()
def pointer_chosen_per_element_inside(run):
    x, z, y = numbers(30), -numbers(30), np.zeros(32, np.float32)
    run(chosen_per_element)[(1,)](x, z, y, 30, B=32)
    assert (y[:30] == np.where(np.arange(30) % 2 == 0, x, z)).all()


@triton.jit
def chosen_by_program(x, z, y, n, B: tl.constexpr):
    if tl.program_id(0) % 2 == 0:
        p = x
    else:
        p = z
    i = tl.arange(0, B)
    v = tl.load(p + i, mask=i < n)  # BUG: out-of-bounds load z
    tl.store(y + tl.program_id(0) * B + i, v, mask=i < n)


@case(finds("out-of-bounds load z", program=(1, 0, 0), element=[20], index=[20], past=40, elements=20,
            programs=2))
def pointer_chosen_by_a_branch(run):
    run(chosen_by_program)[(4,)](numbers(30), numbers(20), numbers(128), 30, B=32)


@case()
def pointer_chosen_by_a_branch_inside(run):
    run(chosen_by_program)[(4,)](numbers(30), numbers(30), numbers(128), 30, B=32)


@triton.jit
def ping_pong(a, b, steps, n, B: tl.constexpr):
    """Buffers change places after each step."""
    i = tl.arange(0, B)
    source = a
    target = b
    for step in range(steps):
        v = tl.load(source + i)  # BUG: out-of-bounds load b
        tl.store(target + i, v + 1, mask=i < n)
        swap = source
        source = target
        target = swap


@case(finds("out-of-bounds load b", element=[12], index=[12], past=16, elements=8, programs=1,
            iterations=[("step", 1)]))
def pointers_swapped_in_a_loop(run):
    run(ping_pong)[(1,)](numbers(16), numbers(12), 4, 12, B=16)


@case()
def pointers_swapped_in_a_loop_inside(run):
    a = numbers(16)
    run(ping_pong)[(1,)](a, numbers(16), 4, 16, B=16)
    assert (a == numbers(16) + 4).all()


@triton.jit
def halves(low, high, n, B: tl.constexpr):
    """Two views of one array; the first is read one too far, into the second."""
    i = tl.arange(0, B)
    v = tl.load(low + i, mask=i <= n)  # BUG: out-of-view load low
    tl.store(high + i, v, mask=i < n)


@case(finds("out-of-view load low", element=[10], index=[10], elements=1, programs=1))
def two_arguments_of_one_array(run):
    whole = numbers(20)
    run(halves)[(1,)](whole[:10], whole[10:], 10, B=16)


@triton.jit
def in_place(x, y, n, B: tl.constexpr):
    """x and y may be the same tensor."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@case()
def same_tensor_twice(run):
    x = numbers(100)
    run(in_place)[(7,)](x, x, 100, B=16)
    assert (x == 2 * numbers(100)).all()


@triton.jit
def nothing_selected(x, y, B: tl.constexpr):
    """Masks that are all false, as a constant and as a scalar, and a mask that broadcasts."""
    i = tl.arange(0, B)
    a = tl.load(x + 1000 + i, mask=i < 0, other=1.0)
    b = tl.load(x + 2000 + i, mask=tl.program_id(0) > 0, other=2.0)
    row = i[:, None] < 4
    c = tl.load(x + i[:, None] * B + i[None, :], mask=row, other=0.0)
    tl.store(y + i, a + b + tl.sum(c, axis=0))


@case()
def masks_that_select_nothing(run):
    y = np.zeros(16, np.float32)
    run(nothing_selected)[(1,)](np.ones(64, np.float32), y, B=16)
    assert (y == 1 + 2 + 4).all()


@triton.jit
def by_flags(x, keep, y, n, B: tl.constexpr):
    """The mask is a bool tensor, which is one byte an element."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    k = tl.load(keep + i)  # BUG: out-of-bounds load keep
    tl.store(y + i, tl.load(x + i, mask=k & (i < n), other=-1.0), mask=i < n)


@case(finds("out-of-bounds load keep", program=(1, 0, 0), element=[4], index=[20], past=12, elements=12,
            programs=1))
def mask_tensor_of_bools(run):
    run(by_flags)[(2,)](numbers(20), np.ones(20, dtype=bool), numbers(20), 20, B=16)


@case()
def mask_tensor_of_bools_inside(run):
    keep, y = np.arange(32) % 3 == 0, numbers(32)
    run(by_flags)[(2,)](numbers(32), keep, y, 32, B=16)
    assert (y == np.where(keep, np.arange(32), -1)).all()


@triton.jit
def copy_any(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i <= n)  # BUG: out-of-bounds store y


def one_past(run, dtype):
    run(copy_any)[(1,)](numbers(20, dtype=dtype), numbers(20, dtype=dtype), 20, B=32)


@case(finds("out-of-bounds store y", element=[20], index=[20], past=1, elements=1))
def element_of_one_byte(run):
    one_past(run, np.uint8)


@case(finds("out-of-bounds store y", element=[20], index=[20], past=2, elements=1))
def element_of_two_bytes(run):
    one_past(run, np.uint16)


@case(finds("out-of-bounds store y", element=[20], index=[20], past=2, elements=1))
def element_of_half_precision(run):
    one_past(run, np.float16)


@case(finds("out-of-bounds store y", element=[20], index=[20], past=8, elements=1))
def element_of_eight_bytes(run):
    one_past(run, np.float64)


@case(finds("out-of-bounds store y", element=[20], index=[20], past=8, elements=1))
def element_of_eight_unsigned_bytes(run):
    one_past(run, np.uint64)


@triton.jit
def three_axes(x, y, P, Q, R, B: tl.constexpr):
    p = tl.arange(0, B)[:, None, None]
    q = tl.arange(0, B)[None, :, None]
    r = tl.arange(0, B)[None, None, :]
    at = (p * Q + q) * R + r
    v = tl.load(x + at, mask=(q < Q) & (r < R), other=0.0)  # BUG: out-of-bounds load x
    tl.store(y + at, v, mask=(p < P) & (q < Q) & (r < R))


@case(finds("out-of-bounds load x", element=[3, 0, 0], past=5 * 42 * 4, elements=5 * 42, programs=1,
            because=["p"]))
def tile_of_three_axes(run):
    x = numbers(3 * 6 * 7).reshape(3, 6, 7)
    run(three_axes)[(1,)](x, np.zeros_like(x), 3, 6, 7, B=8)
