import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = M * N // BN
    p = tl.make_tensor_descriptor(x, shape=[rows, BN], strides=[BN, 1], block_shape=[BM, BN])
    p_1 = tl.program_id(0) * BM
    q = tl.make_tensor_descriptor(y, shape=[rows, BN], strides=[BN, 1], block_shape=[BM, BN])
    q_1 = tl.program_id(0) * BM
    q.store([q_1, 0], tl.trans(tl.trans(p.load([p_1, 0])) * 2))
