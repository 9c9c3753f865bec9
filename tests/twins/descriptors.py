"""Tensor descriptors made in the kernel: elements outside the described shape are padded or dropped,
and it is the described shape that may be wrong."""

import numpy as np
import triton
import triton.language as tl

from twins.cases import finds, numbers, register

case = register(globals())


@triton.jit
def scale_described(x, y, rows, cols, described, R: tl.constexpr, C: tl.constexpr):
    src = tl.make_tensor_descriptor(x, shape=[described, cols], strides=[cols, 1], block_shape=[R, C])
    dst = tl.make_tensor_descriptor(y, shape=[rows, cols], strides=[cols, 1], block_shape=[R, C])
    r = tl.program_id(0) * R
    c = tl.program_id(1) * C
    tile = src.load([r, c])  # BUG: out-of-bounds load x
    dst.store([r, c], tile * 2)


@case(finds("out-of-bounds load x", program=(2, 0, 0), element=[4, 0], past=4 * 32 * 4, elements=128,
            programs=2))
def descriptor_larger_than_the_tensor(run):
    """Described as 24 rows, and 20 are there."""
    run(scale_described)[(3, 2)](numbers(20, 32), numbers(20, 32), 20, 32, 24, R=8, C=16)


@case()
def descriptor_with_ragged_tiles(run):
    x, y = numbers(20, 36), np.zeros((20, 36), np.float32)
    run(scale_described)[(3, 3)](x, y, 20, 36, 20, R=8, C=16)
    assert (y == 2 * x).all()


@triton.jit
def store_described(x, y, rows, cols, described, R: tl.constexpr, C: tl.constexpr):
    src = tl.make_tensor_descriptor(x, shape=[rows, cols], strides=[cols, 1], block_shape=[R, C])
    dst = tl.make_tensor_descriptor(y, shape=[described, cols], strides=[cols, 1], block_shape=[R, C])
    for r in range(0, rows, R):
        tile = src.load([r, tl.program_id(0) * C])
        dst.store([r, tl.program_id(0) * C], tile)  # BUG: out-of-bounds store y


@case(finds("out-of-bounds store y", program=(0, 0, 0), element=[4, 0], past=4 * 32 * 4, elements=128,
            programs=2, iterations=[("r", 16)]))
def descriptor_stores_past_the_tensor(run):
    run(store_described)[(2,)](numbers(24, 32), numbers(20, 32), 24, 32, 24, R=8, C=16)


@case()
def descriptor_stores_inside(run):
    y = np.zeros((20, 32), np.float32)
    run(store_described)[(2,)](numbers(24, 32), y, 24, 32, 20, R=8, C=16)
    assert (y == numbers(24, 32)[:20]).all()


# -- alignment: the base and all strides but the last are multiples of 16 bytes -----------------------------


@triton.jit
def double_described(x, y, rows, cols, start, R: tl.constexpr, C: tl.constexpr):
    src = tl.make_tensor_descriptor(x + start, [rows, cols], [cols, 1], [R, C])  # BUG: misaligned make_tensor_descriptor x
    r, c = tl.program_id(0) * R + tl.arange(0, R), tl.arange(0, C)
    at = r[:, None] * cols + c[None, :]
    tl.store(y + at, 2 * src.load([tl.program_id(0) * R, 0]), mask=(r[:, None] < rows) & (c[None, :] < cols))


@case(finds("misaligned make_tensor_descriptor x", program=(0, 0, 0), programs=2, because=["cols"]), oracle=False)
def descriptor_with_a_stride_of_124_bytes(run):
    y = np.zeros((10, 31), np.float32)
    run(double_described)[(2,)](numbers(10, 31), y, 10, 31, 0, R=8, C=32)
    assert (y == 2 * numbers(10, 31)).all()


@case(finds("misaligned make_tensor_descriptor x", program=(0, 0, 0), programs=2, because=["start"]), oracle=False)
def descriptor_that_begins_in_the_middle_of_16_bytes(run):
    run(double_described)[(2,)](numbers(400), numbers(10, 32), 10, 32, 2, R=8, C=32)


@case(finds("misaligned make_tensor_descriptor x", program=(0, 0, 0), programs=2), oracle=False)
def descriptor_of_a_tensor_that_is_not_aligned(run):
    run(double_described)[(2,)](numbers(401)[1:], numbers(10, 32), 10, 32, 0, R=8, C=32)


@case(oracle=False)
def descriptor_of_aligned_rows(run):
    y = np.zeros((10, 28), np.float32)
    run(double_described)[(2,)](numbers(300), y, 10, 28, 4, R=8, C=32)
    assert (y.reshape(-1) == 2 * np.arange(4, 284)).all()


@triton.jit
def copy_row_described(x, y, n, aligned, C: tl.constexpr):
    """Rows of any length; a descriptor only for those it is allowed for."""
    i = tl.arange(0, C)
    if aligned:
        d = tl.make_tensor_descriptor(x + tl.program_id(0) * n, [n], [1], [C])
        v = d.load([0])
    else:
        v = tl.load(x + tl.program_id(0) * n + i, mask=i < n)
    tl.store(y + tl.program_id(0) * n + i, v, mask=i < n)


@case(oracle=False)
def descriptor_only_where_rows_are_aligned(run):
    for n in (30, 32):
        y = np.zeros((3, n), np.float32)
        run(copy_row_described)[(3,)](numbers(3, n), y, n, n % 4 == 0, C=32)
        assert (y == numbers(3, n)).all()


@triton.jit
def rows_described(x, y, n, C: tl.constexpr):
    d = tl.make_tensor_descriptor(x + tl.program_id(0) * n, [n], [1], [C])  # BUG: misaligned make_tensor_descriptor x
    i = tl.arange(0, C)
    tl.store(y + tl.program_id(0) * n + i, d.load([0]), mask=i < n)


@case(finds("misaligned make_tensor_descriptor x", program=(1, 0, 0), programs=2, because=["n"]), oracle=False)
def descriptor_of_the_second_row(run):
    """Rows of 120 bytes: each second one begins at a multiple of 16."""
    run(rows_described)[(4,)](numbers(4, 30), np.zeros((4, 30), np.float32), 30, C=32)


@triton.jit
def describe_in_vain(x, y, n, C: tl.constexpr):
    tl.make_tensor_descriptor(x + 1, [n, n], [n, 1], [C, C])
    tl.store(y + tl.arange(0, C), 1.0)


@case(oracle=False)
def descriptor_that_nobody_uses(run):
    run(describe_in_vain)[(1,)](numbers(1000), numbers(16), 31, C=16)
