import triton
import triton.language as tl


@triton.jit
def doubled(pointer_base, pointer_shape_0, pointer_shape_1, pointer_stride_0, pointer_stride_1, pointer_0, pointer_1, factor):
    return tl.load(pointer_base + pointer_0[:, None] * pointer_stride_0 + pointer_1[None, :] * pointer_stride_1,
                   mask=(pointer_0 >= 0)[:, None] & (pointer_0 < pointer_shape_0)[:, None] & (pointer_1 >= 0)[None, :] & (pointer_1 < pointer_shape_1)[None, :],
                   other=0.0) * factor


@triton.jit
def moved(p_base, p_shape_0, p_shape_1, p_stride_0, p_stride_1, p_0, p_1, q_base, q_shape_0, q_shape_1, q_stride_0, q_stride_1, q_0, q_1, BN: tl.constexpr):
    return p_base, p_shape_0, p_shape_1, p_stride_0, p_stride_1, p_0, p_1 + BN, q_base, q_shape_0, q_shape_1, q_stride_0, q_stride_1, q_0, q_1 + BN


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p_base = x
    p_shape_0 = M
    p_shape_1 = N
    p_stride_0 = N
    p_stride_1 = 1
    p_0 = tl.program_id(0) * BM + tl.arange(0, BM).to(tl.int64)
    p_1 = tl.arange(0, BN).to(tl.int64)
    q_base = y
    q_shape_0 = M
    q_shape_1 = N
    q_stride_0 = N
    q_stride_1 = 1
    q_0 = tl.program_id(0) * BM + tl.arange(0, BM).to(tl.int64)
    q_1 = tl.arange(0, BN).to(tl.int64)
    for _ in range(0, N, BN):
        tl.store(q_base + q_0[:, None] * q_stride_0 + q_1[None, :] * q_stride_1,
                 doubled(p_base, p_shape_0, p_shape_1, p_stride_0, p_stride_1, p_0, p_1, 2),
                 mask=(q_0 >= 0)[:, None] & (q_0 < q_shape_0)[:, None] & (q_1 >= 0)[None, :] & (q_1 < q_shape_1)[None, :])
        p_base, p_shape_0, p_shape_1, p_stride_0, p_stride_1, p_0, p_1, q_base, q_shape_0, q_shape_1, q_stride_0, q_stride_1, q_0, q_1 = moved(p_base, p_shape_0, p_shape_1, p_stride_0, p_stride_1, p_0, p_1, q_base, q_shape_0, q_shape_1, q_stride_0, q_stride_1, q_0, q_1, BN)
