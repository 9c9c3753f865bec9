import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = M * N // BN
    p_0 = tl.arange(0, BN).to(tl.int64)
    p_1 = tl.arange(0, 1).to(tl.int64)
    p_2 = tl.program_id(0) * BM + tl.arange(0, BM).to(tl.int64)
    tile = tl.load(x + p_0[:, None, None] + p_1[None, :, None] * (rows * BN) + p_2[None, None, :] * BN,
                   mask=(p_0 < BN)[:, None, None] & (p_1 < 1)[None, :, None] & (p_2 >= 0)[None, None, :] & (p_2 < rows)[None, None, :])
    q_0 = tl.arange(0, BN).to(tl.int64)
    q_1 = tl.arange(0, 1).to(tl.int64)
    q_2 = tl.program_id(0) * BM + tl.arange(0, BM).to(tl.int64)
    tl.store(y + q_0[:, None, None] + q_1[None, :, None] * (rows * BN) + q_2[None, None, :] * BN, tile,
             mask=(q_0 < BN)[:, None, None] & (q_1 < 1)[None, :, None] & (q_2 >= 0)[None, None, :] & (q_2 < rows)[None, None, :])
