import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = M * N // BN
    for k in tl.range(0, 32, BN):
        p_base = x + 16 * k
        p_shape_0 = rows - k
        p_0 = tl.arange(0, BM).to(tl.int64)
        p_1 = tl.arange(0, BN).to(tl.int64)
        q_0 = k + tl.arange(0, BM).to(tl.int64)
        q_1 = tl.arange(0, BN).to(tl.int64)
        if rows > k:
            tl.store(y + q_0[:, None] * BN + q_1[None, :],
                     tl.load(p_base + p_0[:, None] * BN + p_1[None, :],
                                mask=(p_0 < p_shape_0)[:, None] & (p_1 < BN)[None, :], other=0.0),
                     mask=(q_0 < rows)[:, None] & (q_1 < BN)[None, :])
