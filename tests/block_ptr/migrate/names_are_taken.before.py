import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p_0 = tl.program_id(0) * BM
    p = tl.make_block_ptr(x, (M, N), (N, 1), (p_0, 0), (BM, BN), (1, 0))
    q = tl.make_block_ptr(y, (M, N), (N, 1), (p_0, 0), (BM, BN), (1, 0))
    tl.store(q, tl.load(p, boundary_check=(0, 1)) + p_0, boundary_check=(0, 1))
