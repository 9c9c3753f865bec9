import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_block_ptr(x, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    q = tl.make_block_ptr(y, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    x.p = p
    tl.store(q, tl.load(x.p))
