import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    for k in range(0, N, BN):
        x_block = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
        x_block_1 = k
        tile = x_block.load([row, x_block_1])
        q = tl.make_tensor_descriptor(y, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
        q_1 = k
        q_moved = q
        q_moved_1 = q_1
        q_moved.store([row, q_moved_1], tile)
