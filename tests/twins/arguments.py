"""Kinds of arguments: absent ones, ones, large and negative numbers, empty tensors, empty grids."""

import numpy as np
import triton
import triton.language as tl

from twins.cases import finds, numbers, register

case = register(globals())


@triton.jit
def biased(x, bias, y, n, scale, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n) * scale
    if bias is not None:
        v += tl.load(bias + i)  # BUG: out-of-bounds load bias
    tl.store(y + i, v, mask=i < n)


@case()
def absent_tensor(run):
    y = numbers(20)
    run(biased)[(2,)](numbers(20), None, y, 20, 0.5, B=16)
    assert (y == numbers(20) / 2).all()


@case(finds("out-of-bounds load bias", program=(1, 0, 0), element=[4], index=[20], past=48, elements=12,
            programs=1))
def present_tensor(run):
    run(biased)[(2,)](numbers(20), numbers(20), numbers(20), 20, 0.5, B=16)


@triton.jit
def strided(x, y, n, stride, start, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + start + i * stride, mask=i < n)  # BUG: out-of-bounds load x
    tl.store(y + i, v, mask=i < n)


@case()
def stride_of_one(run):
    """An argument that is 1 is a constant for Triton."""
    run(strided)[(1,)](numbers(20), numbers(20), 20, 1, 0, B=32)


@case()
def negative_stride_and_start(run):
    y = numbers(20)
    run(strided)[(1,)](numbers(20), y, 20, -1, 19, B=32)
    assert (y == numbers(20)[::-1]).all()


@case(finds("out-of-bounds load x", element=[0], index=[1 << 33], elements=20, programs=1,
            past=((1 << 33) + 20 - 20) * 4))
def start_beyond_32_bits(run):
    run(strided)[(1,)](numbers(20), numbers(20), 20, 1, 1 << 33, B=32)


@case(finds("out-of-bounds load x", element=[0], index=[-(1 << 33)], elements=20, programs=1,
            past=-(1 << 35)))
def start_beyond_32_bits_before(run):
    run(strided)[(1,)](numbers(20), numbers(20), 20, 1, -(1 << 33), B=32)


@case(finds("out-of-bounds load x", element=[0], elements=1, programs=1, past=4, index=[0]))
def empty_tensor(run):
    run(strided)[(1,)](numbers(0), numbers(20), 1, 1, 0, B=32)


@case()
def empty_tensor_not_touched(run):
    run(strided)[(1,)](numbers(0), numbers(0), 0, 1, 0, B=32)


@triton.jit
def switched(x, y, n, twice, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    if twice:
        v = tl.load(x + i + B, mask=i < n)  # BUG: out-of-bounds load x
    tl.store(y + i, v, mask=i < n)


@case(finds("out-of-bounds load x", element=[0], index=[32], past=32 * 4, elements=20))
def flag_argument(run):
    run(switched)[(1,)](numbers(20), numbers(20), 20, True, B=32)


@case()
def flag_argument_off(run):
    run(switched)[(1,)](numbers(20), numbers(20), 20, False, B=32)


@triton.jit
def with_defaults(x, y, n, shift=0, B: tl.constexpr = 16):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i + shift, mask=i < n)  # BUG: out-of-bounds load x
    tl.store(y + i, v, mask=i < n)


@case()
def defaults(run):
    run(with_defaults)[(2,)](numbers(20), numbers(20), 20)


@case(finds("out-of-bounds load x", program=(1, 0, 0), element=[1], index=[20], past=12, elements=3,
            programs=1, because=["i"]))
def keywords_in_any_order(run):
    run(with_defaults)[(2,)](n=20, y=numbers(20), shift=3, x=numbers(20))


@triton.jit
def in_three_axes(y, n):
    at = (tl.program_id(2) * tl.num_programs(1) + tl.program_id(1)) * tl.num_programs(0) + tl.program_id(0)
    tl.store(y + at, at)  # BUG: out-of-bounds store y


@case(finds("out-of-bounds store y", program=(1, 2, 3), element=[], index=[23], past=4, elements=1,
            programs=1))
def grid_of_three_axes(run):
    run(in_three_axes)[(2, 3, 4)](np.zeros(23, np.int32), 23)


@case()
def grid_of_three_axes_inside(run):
    y = np.zeros(24, np.int32)
    run(in_three_axes)[(2, 3, 4)](y, 24)
    assert (y == np.arange(24)).all()
