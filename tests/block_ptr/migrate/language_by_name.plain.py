import triton
from triton import language


@triton.jit
def kernel(x, y, M, N, BM: language.constexpr, BN: language.constexpr):
    p_0 = language.program_id(0) * BM + language.arange(0, BM).to(language.int64)
    p_1 = language.arange(0, BN).to(language.int64)
    q_0 = language.program_id(0) * BM + language.arange(0, BM).to(language.int64)
    q_1 = language.arange(0, BN).to(language.int64)
    for _ in range(0, N, BN):
        tile = language.load(x + p_0[:, None] * N + p_1[None, :],
                             mask=(p_0 >= 0)[:, None] & (p_0 < M)[:, None] & (p_1 < N)[None, :], other=0.0)
        language.store(y + q_0[:, None] * N + q_1[None, :], tile * 2,
                       mask=(q_0 >= 0)[:, None] & (q_0 < M)[:, None] & (q_1 < N)[None, :])
        p_1 += BN
        q_1 += BN
