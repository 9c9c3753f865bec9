import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    bp = tl.program_id(0) * BM
    p = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    p_1 = 0
    q = tl.make_tensor_descriptor(y, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    q_1 = 0
    for _ in range(0, N, BN):
        tile = p.load([bp, p_1])
        q.store([bp, q_1], tile * 2)
        p_1 += BN
        q_1 += BN
