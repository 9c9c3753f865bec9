import triton
import triton.language as tl
import block_ptr as bp


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p_0 = tl.program_id(0) * BM
    p = bp.make_block_ptr(x, (M, N), (N, 1), (p_0, 0), (BM, BN), (1, 0))
    q = bp.make_block_ptr(y, (M, N), (N, 1), (p_0, 0), (BM, BN), (1, 0))
    bp.store(q, bp.load(p, boundary_check=(0, 1)) + p_0, boundary_check=(0, 1))
