import triton
import triton.language as tl


@triton.jit
def sum_of(p_base, p_shape_0, p_shape_1, p_stride_0, p_stride_1, p_0, p_1, N, BN: tl.constexpr):
    total = tl.load(p_base + p_0[:, None] * p_stride_0 + p_1[None, :] * p_stride_1,
                    mask=(p_0 >= 0)[:, None] & (p_0 < p_shape_0)[:, None] & (p_1 >= 0)[None, :] & (p_1 < p_shape_1)[None, :],
                    other=0.0)
    for _ in range(BN, N, BN):
        p_1 += BN
        total += tl.load(p_base + p_0[:, None] * p_stride_0 + p_1[None, :] * p_stride_1,
                         mask=(p_0 >= 0)[:, None] & (p_0 < p_shape_0)[:, None] & (p_1 >= 0)[None, :] & (p_1 < p_shape_1)[None, :],
                         other=0.0)
    return total, p_base, p_shape_0, p_shape_1, p_stride_0, p_stride_1, p_0, p_1  # where it ended


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p_base = x
    p_shape_0 = M
    p_shape_1 = N
    p_stride_0 = N
    p_stride_1 = 1
    p_0 = tl.program_id(0) * BM + tl.arange(0, BM).to(tl.int64)
    p_1 = tl.arange(0, BN).to(tl.int64)
    q_0 = tl.program_id(0) * BM + tl.arange(0, BM).to(tl.int64)
    q_1 = tl.arange(0, BN).to(tl.int64)
    total, p_base, p_shape_0, p_shape_1, p_stride_0, p_stride_1, p_0, p_1 = sum_of(p_base, p_shape_0, p_shape_1, p_stride_0, p_stride_1, p_0, p_1, N, BN)
    last = tl.load(p_base + p_0[:, None] * p_stride_0 + p_1[None, :] * p_stride_1,
                   mask=(p_0 >= 0)[:, None] & (p_0 < p_shape_0)[:, None] & (p_1 >= 0)[None, :] & (p_1 < p_shape_1)[None, :],
                   other=0.0)
    tl.store(y + q_0[:, None] * N + q_1[None, :], total + last,
             mask=(q_0 >= 0)[:, None] & (q_0 < M)[:, None] & (q_1 < N)[None, :])
