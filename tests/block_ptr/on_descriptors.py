"""The library, with descriptors wherever its arguments allow them."""

import triton
import triton.language as tl

from flavours import library

bp = library()
advance, load, store = bp.advance, bp.load, bp.store


@triton.jit
def make_block_ptr(base, shape, strides, offsets, block_shape: tl.constexpr, order: tl.constexpr):
    return bp.make_block_ptr(base, shape, strides, offsets, block_shape, order, descriptor="promise")
