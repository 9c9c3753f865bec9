import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    for k in range(0, N, BN):
        left = N - k
        p = tl.make_tensor_descriptor(x + k, shape=[M, left], strides=[N, 1], block_shape=[BM, BN])
        q = tl.make_tensor_descriptor(y + k, shape=[M, left], strides=[N, 1], block_shape=[BM, BN])
        q.store([row, 0], p.load([row, 0]) + left)
