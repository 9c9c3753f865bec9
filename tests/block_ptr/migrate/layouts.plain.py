import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr, BY_ROWS: tl.constexpr = True, VARLEN: tl.constexpr = True):
    i_t = tl.program_id(0)
    if VARLEN:
        T = M + 0
    else:
        T = 0
    for i in range(tl.cdiv(N, BN)):
        if BY_ROWS:
            p_base = x + 0 * (T*N)
            p_stride_0 = N*1
            p_stride_1 = 1
            p_0 = i_t * BM + tl.arange(0, BM).to(tl.int64)
            p_1 = i * BN + tl.arange(0, BN).to(tl.int64)
        else:
            p_base = x
            p_stride_0 = 1
            p_stride_1 = T
            p_0 = i_t * BM + tl.arange(0, BM).to(tl.int64)
            p_1 = i * BN + tl.arange(0, BN).to(tl.int64)
        q_0 = i_t * BM + tl.arange(0, BM).to(tl.int64)
        q_1 = i * BN + tl.arange(0, BN).to(tl.int64)
        b = tl.load(p_base + p_0[:, None] * p_stride_0 + p_1[None, :] * p_stride_1,
                    mask=(p_0 >= 0)[:, None] & (p_0 < T)[:, None] & (p_1 >= 0)[None, :] & (p_1 < N)[None, :]).to(tl.float32)
        tl.store(y + q_0[:, None] * N + q_1[None, :], (b * 2).to(y.dtype.element_ty),
                 mask=(q_0 >= 0)[:, None] & (q_0 < T)[:, None] & (q_1 >= 0)[None, :] & (q_1 < N)[None, :])
