import triton
import triton.language as tl


@triton.jit
def whole(pointer, pointer_0, pointer_1):
    block = pointer
    block_0 = pointer_0
    block_1 = pointer_1
    return block.load([block_0, block_1])


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    p = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[1, 1])
    q = tl.make_tensor_descriptor(y, shape=[M, N], strides=[N, 1], block_shape=[1, 1])
    q.store([row, 0], whole(p, row, 0))
