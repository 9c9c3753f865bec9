import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    p_0 = 0
    p_1 = tl.program_id(0) * BM
    q = tl.make_tensor_descriptor(y, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    q_0 = tl.program_id(0) * BM
    q_1 = 0
    for _ in range(0, N, BN):
        tile = tl.trans(p.load([p_1, p_0]))
        q.store([q_0, q_1], tl.trans(tile))
        p_0 += BN
        q_1 += BN
