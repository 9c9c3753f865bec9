import triton
import triton.language as tl


@triton.jit
def rows(base, M, N, BM: tl.constexpr, BN: tl.constexpr):
    return base, M, N, N, 1, tl.program_id(0) * BM + tl.arange(0, BM).to(tl.int64), tl.arange(0, BN).to(tl.int64)


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p_base, p_shape_0, p_shape_1, p_stride_0, p_stride_1, p_0, p_1 = rows(x, M, N, BM, BN)
    q_base, q_shape_0, q_shape_1, q_stride_0, q_stride_1, q_0, q_1 = rows(y, M, N, BM, BN)
    for _ in range(0, N, BN):
        tile = tl.load(p_base + p_0[:, None] * p_stride_0 + p_1[None, :] * p_stride_1,
                       mask=(p_0 >= 0)[:, None] & (p_0 < p_shape_0)[:, None] & (p_1 >= 0)[None, :] & (p_1 < p_shape_1)[None, :],
                       other=0.0)
        tl.store(q_base + q_0[:, None] * q_stride_0 + q_1[None, :] * q_stride_1, tile * 2,
                 mask=(q_0 >= 0)[:, None] & (q_0 < q_shape_0)[:, None] & (q_1 >= 0)[None, :] & (q_1 < q_shape_1)[None, :])
        p_1 += BN
        q_1 += BN
