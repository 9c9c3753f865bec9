import triton
import triton.language as tl


@triton.jit
def sum_of(p, p_0, p_1, N, BN: tl.constexpr):
    total = p.load([p_0, p_1])
    for _ in range(BN, N, BN):
        p_1 += BN
        total += p.load([p_0, p_1])
    return total, p, p_0, p_1  # where it ended


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    p_0 = tl.program_id(0) * BM
    p_1 = 0
    q = tl.make_tensor_descriptor(y, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    q_0 = tl.program_id(0) * BM
    total, p, p_0, p_1 = sum_of(p, p_0, p_1, N, BN)
    last = p.load([p_0, p_1])
    q.store([q_0, 0], total + last)
