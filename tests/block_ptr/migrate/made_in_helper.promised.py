import triton
import triton.language as tl


@triton.jit
def rows(base, M, N, BM: tl.constexpr, BN: tl.constexpr):
    return tl.make_tensor_descriptor(base, shape=[M, N], strides=[N, 1], block_shape=[BM, BN]), tl.program_id(0) * BM, 0


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p, p_0, p_1 = rows(x, M, N, BM, BN)
    q, q_0, q_1 = rows(y, M, N, BM, BN)
    for _ in range(0, N, BN):
        tile = p.load([p_0, p_1])
        q.store([q_0, q_1], tile * 2)
        p_1 += BN
        q_1 += BN
