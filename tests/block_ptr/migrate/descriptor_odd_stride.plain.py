import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p_0 = tl.arange(0, BM).to(tl.int64)
    p_1 = tl.arange(0, BN).to(tl.int64)
    q_0 = tl.arange(0, BM).to(tl.int64)
    q_1 = tl.arange(0, BN).to(tl.int64)
    tl.store(y + q_0[:, None] * 16 + q_1[None, :],
             tl.load(x + p_0[:, None] * 17 + p_1[None, :],
                        mask=(p_0 < M * N // 17)[:, None] & (p_1 < 16)[None, :], other=0.0),
             mask=(q_0 < M * N // 16)[:, None] & (q_1 < 16)[None, :])
