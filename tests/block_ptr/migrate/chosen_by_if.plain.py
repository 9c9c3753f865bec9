import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p_0 = tl.program_id(0) * BM + tl.arange(0, BM).to(tl.int64)
    p_1 = tl.arange(0, BN).to(tl.int64)
    q_0 = tl.program_id(0) * BM + tl.arange(0, BM).to(tl.int64)
    q_1 = tl.arange(0, BN).to(tl.int64)
    if N > 16:
        r_0 = p_0
        r_1 = p_1
    else:
        r_0 = p_0
        r_1 = p_1
    for _ in range(0, N, BN):
        tile = tl.load(x + r_0[:, None] * N + r_1[None, :],
                       mask=(r_0 >= 0)[:, None] & (r_0 < M)[:, None] & (r_1 < N)[None, :], other=0.0)
        tl.store(y + q_0[:, None] * N + q_1[None, :], tile * 2,
                 mask=(q_0 >= 0)[:, None] & (q_0 < M)[:, None] & (q_1 < N)[None, :])
        r_1 += BN
        q_1 += BN
