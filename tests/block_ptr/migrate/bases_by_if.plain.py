import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    q_0 = row + tl.arange(0, BM).to(tl.int64)
    q_1 = tl.arange(0, BN).to(tl.int64)
    if N > 20:
        p_base = x
        p_shape_0 = M
        p_0 = row + tl.arange(0, BM).to(tl.int64)
        p_1 = tl.arange(0, BN).to(tl.int64)
    else:
        p_base = x + row * N
        p_shape_0 = M - row
        p_0 = tl.arange(0, BM).to(tl.int64)
        p_1 = tl.arange(0, BN).to(tl.int64)
    for _ in range(0, N, BN):
        tl.store(y + q_0[:, None] * N + q_1[None, :],
                 tl.load(p_base + p_0[:, None] * N + p_1[None, :],
                            mask=(p_0 >= 0)[:, None] & (p_0 < p_shape_0)[:, None] & (p_1 < N)[None, :],
                            other=0.0),
                 mask=(q_0 >= 0)[:, None] & (q_0 < M)[:, None] & (q_1 < N)[None, :])
        p_1 += BN
        q_1 += BN
