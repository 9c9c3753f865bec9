import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    q = tl.make_tensor_descriptor(y, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    q_1 = 0
    if N > 20:
        p = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
        p_0 = row
        p_1 = 0
    else:
        p = tl.make_tensor_descriptor(x + row * N, shape=[M - row, N], strides=[N, 1], block_shape=[BM, BN])
        p_0 = 0
        p_1 = 0
    for _ in range(0, N, BN):
        q.store([row, q_1], p.load([p_0, p_1]))
        p_1 += BN
        q_1 += BN
