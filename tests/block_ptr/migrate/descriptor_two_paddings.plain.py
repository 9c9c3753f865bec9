import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = M * N // BN
    p_0 = tl.arange(0, BM).to(tl.int64)
    p_1 = tl.arange(0, BN).to(tl.int64)
    q_0 = tl.arange(0, BM).to(tl.int64)
    q_1 = tl.arange(0, BN).to(tl.int64)
    a = tl.load(x + p_0[:, None] * BN + p_1[None, :], mask=(p_0 < rows)[:, None] & (p_1 < BN)[None, :],
                other=0.0)
    b = tl.load(x + p_0[:, None] * BN + p_1[None, :], mask=(p_0 < rows)[:, None] & (p_1 < BN)[None, :],
                other=float("nan"))
    tl.store(y + q_0[:, None] * BN + q_1[None, :], tl.where(b == b, a, 1.0),
             mask=(q_0 < rows)[:, None] & (q_1 < BN)[None, :])
