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
            p = tl.make_block_ptr(x + 0 * (T*N), (T, N), (N*1, 1), (i_t * BM, i * BN), (BM, BN), (1, 0))
        else:
            p = tl.make_block_ptr(x, (T, N), (1, T), (i_t * BM, i * BN), (BM, BN), (0, 1))
        q = tl.make_block_ptr(y, (T, N), (N, 1), (i_t * BM, i * BN), (BM, BN), (1, 0))
        b = tl.load(p, boundary_check=(0, 1)).to(tl.float32)
        tl.store(q, (b * 2).to(q.dtype.element_ty), boundary_check=(0, 1))
