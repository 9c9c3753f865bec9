import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p_base = x
    p_shape_1 = N
    p_stride_0 = N
    p_0 = tl.program_id(0) * BM + tl.arange(0, BM).to(tl.int64)
    p_1 = tl.arange(0, BN).to(tl.int64)
    q_shape_1 = N
    q_stride_0 = N
    q_0 = tl.program_id(0) * BM + tl.arange(0, BM).to(tl.int64)
    q_1 = tl.arange(0, BN).to(tl.int64)
    # block pointers keep the extents and the base that they were made with
    ends = N
    N = 0
    x = y
    for _ in range(0, ends, BN):
        tl.store(y + q_0[:, None] * q_stride_0 + q_1[None, :],
                 tl.load(p_base + p_0[:, None] * p_stride_0 + p_1[None, :],
                            mask=(p_0 >= 0)[:, None] & (p_0 < M)[:, None] & (p_1 < p_shape_1)[None, :],
                            other=0.0) + N,
                 mask=(q_0 >= 0)[:, None] & (q_0 < M)[:, None] & (q_1 < q_shape_1)[None, :])
        p_1 += BN
        q_1 += BN
