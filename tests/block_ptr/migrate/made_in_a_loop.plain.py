import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    for k in range(0, N, BN):
        left = N - k
        p_base = x + k
        p_shape_1 = left
        p_0 = row + tl.arange(0, BM).to(tl.int64)
        p_1 = tl.arange(0, BN).to(tl.int64)
        q_base = y + k
        q_shape_1 = left
        q_0 = row + tl.arange(0, BM).to(tl.int64)
        q_1 = tl.arange(0, BN).to(tl.int64)
        tl.store(q_base + q_0[:, None] * N + q_1[None, :],
                 tl.load(p_base + p_0[:, None] * N + p_1[None, :],
                            mask=(p_0 >= 0)[:, None] & (p_0 < M)[:, None] & (p_1 < p_shape_1)[None, :],
                            other=0.0) + left,
                 mask=(q_0 >= 0)[:, None] & (q_0 < M)[:, None] & (q_1 < q_shape_1)[None, :])
