import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = M * N // BN
    if N > 32:
        p_stride_0 = BN
        p_stride_1 = 1
        p_0 = tl.arange(0, BM).to(tl.int64)
        p_1 = tl.arange(0, BN).to(tl.int64)
    else:
        p_stride_0 = 1
        p_stride_1 = BN
        p_0 = tl.arange(0, BM).to(tl.int64)
        p_1 = tl.arange(0, BN).to(tl.int64)
    q_0 = tl.arange(0, BM).to(tl.int64)
    q_1 = tl.arange(0, BN).to(tl.int64)
    tl.store(y + q_0[:, None] * BN + q_1[None, :],
             tl.load(x + p_0[:, None] * p_stride_0 + p_1[None, :] * p_stride_1,
                        mask=(p_0 < rows)[:, None] & (p_1 < BN)[None, :]),
             mask=(q_0 < rows)[:, None] & (q_1 < BN)[None, :])
