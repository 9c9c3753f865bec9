"""Bounds are those of the view that was passed: its exact lattice of elements, in its allocation."""

import numpy as np
import triton
import triton.language as tl

from twins.cases import finds, numbers, register

case = register(globals())


@triton.jit
def copy_flat(x, y, n, B: tl.constexpr):
    """Takes the tensor to be contiguous."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # BUG: out-of-view load x
    tl.store(y + i, v, mask=i < n)


@triton.jit
def store_flat(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, v, mask=i < n)  # BUG: out-of-view store y


@triton.jit
def copy_strided(x, y, n, stride, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i * stride, mask=i < n)
    tl.store(y + i, v, mask=i < n)


@triton.jit
def copy_tile(x, y, rows, cols, xr, xc, yr, yc, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    keep = (r[:, None] < rows) & (c[None, :] < cols)
    v = tl.load(x + r[:, None] * xr + c[None, :] * xc, mask=keep)
    tl.store(y + r[:, None] * yr + c[None, :] * yc, v, mask=keep)


def element_strides(a):
    return [s // a.itemsize for s in a.strides]


# -- slices of a larger allocation ------------------------------------------------------------------------


@case(finds("out-of-view load x", program=(1, 0, 0), element=[4], index=[20], elements=6, programs=1))
def slice_overrun_inside_the_allocation(run):
    """x[10:30] read up to element 26: the array goes on, the view does not."""
    run(copy_flat)[(2,)](numbers(100)[10:30], numbers(26), 26, B=16)


@case()
def slice_read_whole(run):
    y = numbers(20)
    run(copy_flat)[(2,)](numbers(100)[10:30], y, 20, B=16)
    assert y[0] == 10 and y[19] == 29


@case(finds("out-of-view store y", program=(1, 0, 0), element=[4], index=[20], elements=6, programs=1))
def slice_overwritten(run):
    """A store out of the view takes effect: it is a neighbour that changes."""
    whole = np.zeros(100, np.float32)
    run(store_flat)[(2,)](numbers(26), whole[10:30], 26, B=16)
    assert whole[35] == 25


@triton.jit
def read_behind(x, y, n, back, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i - back, mask=i < n)  # BUG: out-of-view load x
    tl.store(y + i, v, mask=i < n)


@case(finds("out-of-view load x", element=[0], index=[-2], elements=2, programs=1))
def slice_underrun(run):
    run(read_behind)[(1,)](numbers(100)[10:30], numbers(20), 20, 2, B=32)


@triton.jit
def copy_out_of_both(x, y, n, B: tl.constexpr):
    """Out of the view, then out of the allocation."""
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # BUG: out-of-view load x
    w = tl.load(x + B + i, mask=i < n)  # BUG: out-of-bounds load x
    tl.store(y + i, v + w, mask=i < n)


@case(finds("out-of-view load x", element=[6], elements=2),
      finds("out-of-bounds load x", element=[0], elements=8, past=32))
def slice_at_the_end_of_its_allocation(run):
    run(copy_out_of_both)[(1,)](numbers(16)[8:14], numbers(8), 8, B=8)


# -- strided views ------------------------------------------------------------------------------------------


@case(finds("out-of-view load x", program=(0, 0, 0), element=[1], elements=16, programs=2))
def stride_of_two_taken_as_one(run):
    """x[::2] read as if contiguous: every second element is a gap."""
    run(copy_flat)[(2,)](numbers(64)[::2], numbers(32), 32, B=16)


@case()
def stride_of_two(run):
    y = numbers(32)
    run(copy_strided)[(2,)](numbers(64)[::2], y, 32, 2, B=16)
    assert (y == np.arange(0, 64, 2)).all()


@triton.jit
def copy_strided_too_far(x, y, n, stride, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i * stride)  # BUG: out-of-bounds load x
    tl.store(y + i, v, mask=i < n)


@case(finds("out-of-bounds load x", program=(1, 0, 0), element=[9], index=[25], past=76, elements=7, programs=1))
def stride_past_the_end(run):
    """x[::3] of 75 floats has 25 elements; 26th to 32nd begin at byte 300 of 300."""
    run(copy_strided_too_far)[(2,)](numbers(75)[::3], numbers(25), 25, 3, B=16)


@triton.jit
def columns(x, y, rows, cols, stride, B: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.arange(0, C)
    keep = (r[:, None] < rows) & (c[None, :] < cols)
    v = tl.load(x + r[:, None] * stride + c[None, :], mask=r[:, None] < rows)  # BUG: out-of-view load x
    tl.store(y + r[:, None] * cols + c[None, :], v, mask=keep)


@case(finds("out-of-view load x", program=(0, 0, 0), element=[0, 3], elements=10 * 13, programs=1))
def gap_between_rows(run):
    """x[:, :3] of a matrix of 20 columns: columns 3 to 15 are gaps."""
    run(columns)[(1,)](numbers(10, 20)[:, :3], numbers(10, 3), 10, 3, 20, B=16, C=16)


@case()
def columns_inside(run):
    x, y = numbers(10, 20)[:, :3], np.zeros((10, 3), np.float32)
    run(copy_tile)[(1, 1)](x, y, 10, 3, *element_strides(x), *element_strides(y), B=16)
    assert (x == y).all()


# -- transposed, reversed, repeated -----------------------------------------------------------------------------


@case()
def transposed(run):
    x, y = numbers(20, 30).T, np.zeros((30, 20), np.float32)
    run(copy_tile)[(2, 2)](x, y, 30, 20, *element_strides(x), *element_strides(y), B=16)
    assert (x == y).all()


@triton.jit
def copy_tile_strides_swapped(x, y, rows, cols, xr, xc, yr, yc, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    keep = (r[:, None] < rows) & (c[None, :] < cols)
    v = tl.load(x + r[:, None] * xc + c[None, :] * xr, mask=keep)  # BUG: out-of-bounds load x
    tl.store(y + r[:, None] * yr + c[None, :] * yc, v, mask=keep)


@case(finds("out-of-bounds load x", program=(1, 0, 0), element=[4, 0]))
def strides_swapped(run):
    """Rows times 30 instead of 1: row 20 on leave a matrix of 600 elements."""
    x, y = numbers(20, 30).T, np.zeros((30, 20), np.float32)
    run(copy_tile_strides_swapped)[(2, 2)](x, y, 30, 20, *element_strides(x), *element_strides(y), B=16)


@case()
def reversed_view(run):
    y = numbers(20)
    run(copy_strided)[(2,)](numbers(20)[::-1], y, 20, -1, B=16)
    assert (y == np.arange(20)[::-1]).all()


@triton.jit
def copy_forward(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # BUG: out-of-bounds load x
    tl.store(y + i, v, mask=i < n)


@case(finds("out-of-bounds load x", program=(0, 0, 0), element=[1], past=76, elements=19, programs=2))
def reversed_view_read_forwards(run):
    """The view's first element is the array's last."""
    run(copy_forward)[(2,)](numbers(20)[::-1], numbers(20), 20, B=16)


@case()
def repeated_view(run):
    """Stride 0: thirty rows that are all the same memory."""
    x, y = np.broadcast_to(numbers(20), (30, 20)), np.zeros((30, 20), np.float32)
    run(copy_tile)[(2, 2)](x, y, 30, 20, *element_strides(x), *element_strides(y), B=16)
    assert (x == y).all()


@triton.jit
def copy_rows(x, y, rows, cols, B: tl.constexpr):
    """Takes rows to follow each other."""
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    keep = (r[:, None] < rows) & (c[None, :] < cols)
    v = tl.load(x + r[:, None] * cols + c[None, :], mask=keep)  # BUG: out-of-bounds load x
    tl.store(y + r[:, None] * cols + c[None, :], v, mask=keep)


@case(finds("out-of-bounds load x", program=(0, 0, 0), element=[1, 0], past=29 * 20 * 4,
            elements=29 * 20, programs=4))
def repeated_view_taken_as_contiguous(run):
    run(copy_rows)[(2, 2)](np.broadcast_to(numbers(20), (30, 20)), np.zeros((30, 20), np.float32), 30, 20,
                           B=16)


@triton.jit
def gather_along(x, index, y, rows_stride, cols_stride, C: tl.constexpr):
    """y[r, c] = x[r, index[r, c]]: the kernel steps along the axis whose stride it is told to be 0."""
    r = tl.program_id(0)
    c = tl.arange(0, C)
    at = tl.load(index + r * C + c)
    v = tl.load(x + r * rows_stride + c * cols_stride + at)  # BUG: out-of-bounds load x
    tl.store(y + r * C + c, v)


def first_column(whole, columns):
    """The first column, repeated: of row stride as before, and a column stride of 0."""
    return np.broadcast_to(whole[:, :1], (len(whole), columns))


@case()
def gather_along_a_repeated_axis(run):
    """A view that repeats its elements says nothing of what is read next to them."""
    whole, y = numbers(4, 64), np.zeros((4, 8), np.float32)
    index = np.arange(32, dtype=np.int64).reshape(4, 8) * 2 + 1
    run(gather_along)[(4,)](first_column(whole, 8), index, y, 64, 0, C=8)
    assert (y == np.take_along_axis(whole, index, 1)).all()


@case()
def gather_along_an_axis_that_as_strided_repeats(run):
    whole, y = numbers(4, 64), np.zeros((4, 8), np.float32)
    index = np.arange(32, dtype=np.int64).reshape(4, 8) * 2 + 1
    run(gather_along)[(4,)](np.lib.stride_tricks.as_strided(whole, (4, 8), (256, 0)), index, y, 64, 0, C=8)
    assert (y == np.take_along_axis(whole, index, 1)).all()


@case(finds("out-of-bounds load x", program=(3, 0, 0), element=[7], past=4, elements=1, programs=1))
def gather_along_a_repeated_axis_past_the_allocation(run):
    index = np.arange(32, dtype=np.int64).reshape(4, 8) * 2 + 1
    index[3, 7] = 64
    run(gather_along)[(4,)](first_column(numbers(4, 64), 8), index, np.zeros((4, 8), np.float32), 64, 0, C=8)


# -- views with gaps in the middle of an allocation ---------------------------------------------------------------


@triton.jit
def windows(x, y, count, length, hop, B: tl.constexpr):
    """Overlapping windows: row w is x[w * hop : w * hop + length]."""
    w = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + w * hop + i, mask=i < length)
    tl.store(y + w * length + i, v, mask=i < length)


@case()
def overlapping_windows(run):
    x = np.lib.stride_tricks.sliding_window_view(numbers(40), 10)[::5]
    y = np.zeros((7, 10), np.float32)
    run(windows)[(7,)](x, y, 7, 10, 5, B=16)
    assert (x == y).all()


@triton.jit
def shift_columns(x, y, rows, cols, stride, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + r * stride + c + 1, mask=c < cols)  # BUG: out-of-view load x
    tl.store(y + r * cols + c, v, mask=c < cols)


@case(finds("out-of-view load x", program=(0, 0, 0), element=[9], elements=4, programs=4))
def neighbours_column(run):
    """x[:, 5:15] of 20 columns, one column to the right."""
    run(shift_columns)[(4,)](numbers(4, 20)[:, 5:15], numbers(4, 10), 4, 10, 20, B=16)


# -- large and barely touched -----------------------------------------------------------------------------------------


@triton.jit
def touch_ends(x, y, n):
    last = n - 1
    tl.store(y, tl.load(x))
    tl.store(y + 1, tl.load(x + last))


@triton.jit
def touch_past(x, y, n):
    tl.store(y, tl.load(x + n))  # BUG: out-of-bounds load x


@case()
def large_tensor_barely_touched(run):
    """2 GiB of which two elements are read."""
    x = np.zeros(1 << 29, dtype=np.float32)
    x[-1] = 3
    y = np.ones(2, np.float32)
    run(touch_ends)[(1,)](x, y, len(x))
    assert y.tolist() == [0, 3]


@case(finds("out-of-bounds load x", element=[], index=[1 << 29], past=4, elements=1))
def large_tensor_past_its_end(run):
    run(touch_past)[(1,)](np.zeros(1 << 29, dtype=np.float32), np.zeros(2, np.float32), 1 << 29)
