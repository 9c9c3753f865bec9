import triton
import triton.language


@triton.jit
def kernel(x, y, M, N, BM: triton.language.constexpr, BN: triton.language.constexpr):
    p_0 = triton.language.program_id(0) * BM + triton.language.arange(0, BM).to(triton.language.int64)
    p_1 = triton.language.arange(0, BN).to(triton.language.int64)
    q_0 = triton.language.program_id(0) * BM + triton.language.arange(0, BM).to(triton.language.int64)
    q_1 = triton.language.arange(0, BN).to(triton.language.int64)
    for _ in range(0, N, BN):
        tile = triton.language.load(x + p_0[:, None] * N + p_1[None, :],
                                    mask=(p_0 >= 0)[:, None] & (p_0 < M)[:, None] & (p_1 < N)[None, :],
                                    other=0.0)
        triton.language.store(y + q_0[:, None] * N + q_1[None, :], tile * 2,
                              mask=(q_0 >= 0)[:, None] & (q_0 < M)[:, None] & (q_1 < N)[None, :])
        p_1 += BN
        q_1 += BN
