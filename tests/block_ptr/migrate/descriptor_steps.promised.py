import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = M * N // BN
    p = tl.make_tensor_descriptor(x, shape=[rows, BN], strides=[BN, 1], block_shape=[BM, BN])
    p_0 = tl.program_id(0) * BM
    p_1 = -BN
    q = tl.make_tensor_descriptor(y, shape=[rows, BN], strides=[BN, 1], block_shape=[BM, BN])
    q_0 = tl.program_id(0) * BM
    p_1 += BN - 16
    for _ in range(2):
        p_1 += 16
        q.store([q_0, 0], p.load([p_0, p_1]))
        q_0 += 16
