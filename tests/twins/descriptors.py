"""Tensor descriptors made in the kernel: elements outside the described shape are padded or dropped,
and it is the described shape that may be wrong."""

import numpy as np
import triton
import triton.language as tl

from twins.cases import finds, register

case = register(globals())


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


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
