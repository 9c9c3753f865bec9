import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = M * N // BN
    p_0 = tl.arange(0, BN).to(tl.int64)
    p_1 = tl.program_id(0) * BM + tl.arange(0, BM).to(tl.int64)
    q_0 = tl.arange(0, BN).to(tl.int64)
    q_1 = tl.program_id(0) * BM + tl.arange(0, BM).to(tl.int64)
    tl.store(y + q_0[:, None] + q_1[None, :] * BN,
             tl.load(x + p_0[:, None] + p_1[None, :] * BN,
                        mask=(p_0 < BN)[:, None] & (p_1 >= 0)[None, :] & (p_1 < rows)[None, :]) * 2,
             mask=(q_0 < BN)[:, None] & (q_1 >= 0)[None, :] & (q_1 < rows)[None, :])
