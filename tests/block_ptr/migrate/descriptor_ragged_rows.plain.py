import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = M * N // BN
    p_0 = tl.arange(0, BM).to(tl.int64)
    p_1 = tl.arange(0, BN).to(tl.int64)
    q_0 = tl.arange(0, BM).to(tl.int64)
    q_1 = tl.arange(0, BN).to(tl.int64)
    tl.store(y + q_0[:, None] * BN + q_1[None, :],
             tl.load(x + p_0[:, None] * BN + p_1[None, :],
                        mask=(p_0 < rows)[:, None] & (p_1 < BN)[None, :]),
             mask=(q_0 < rows)[:, None] & (q_1 < BN - 4)[None, :])
