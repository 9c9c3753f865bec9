import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_tensor_descriptor(x, shape=[(M * N)], strides=[1], block_shape=[BN])
    p_0 = tl.program_id(0) * BM * N
    q = tl.make_tensor_descriptor(y, shape=[M * N], strides=[1], block_shape=[BN])
    q_0 = tl.program_id(0) * BM * N
    q.store([q_0], p.load([p_0]))
    p_0 += M + BN
    q_0 += M + BN
    q.store([q_0], p.load([p_0]))
