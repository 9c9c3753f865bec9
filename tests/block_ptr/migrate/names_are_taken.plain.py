import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p_0 = tl.program_id(0) * BM
    p_at2_0 = p_0 + tl.arange(0, BM).to(tl.int64)
    p_at2_1 = tl.arange(0, BN).to(tl.int64)
    q_0 = p_0 + tl.arange(0, BM).to(tl.int64)
    q_1 = tl.arange(0, BN).to(tl.int64)
    tl.store(y + q_0[:, None] * N + q_1[None, :],
             tl.load(x + p_at2_0[:, None] * N + p_at2_1[None, :],
                        mask=(p_at2_0 >= 0)[:, None] & (p_at2_0 < M)[:, None] & (p_at2_1 < N)[None, :]) + p_0,
             mask=(q_0 >= 0)[:, None] & (q_0 < M)[:, None] & (q_1 < N)[None, :])
