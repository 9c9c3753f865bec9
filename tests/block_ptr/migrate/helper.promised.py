import triton
import triton.language as tl


@triton.jit
def doubled(pointer, pointer_0, pointer_1, factor):
    return pointer.load([pointer_0, pointer_1]) * factor


@triton.jit
def moved(p, p_0, p_1, q, q_0, q_1, BN: tl.constexpr):
    return p, p_0, p_1 + BN, q, q_0, q_1 + BN


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    p_0 = tl.program_id(0) * BM
    p_1 = 0
    q = tl.make_tensor_descriptor(y, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    q_0 = tl.program_id(0) * BM
    q_1 = 0
    for _ in range(0, N, BN):
        q.store([q_0, q_1], doubled(p, p_0, p_1, 2))
        p, p_0, p_1, q, q_0, q_1 = moved(p, p_0, p_1, q, q_0, q_1, BN)
