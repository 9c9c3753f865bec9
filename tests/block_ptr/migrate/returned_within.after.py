import triton
import triton.language as tl
import block_ptr as bp


@triton.jit
def rows(base, M, N, BM: tl.constexpr, BN: tl.constexpr):
    return bp.make_block_ptr(base, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    bp.store(rows(y, M, N, BM, BN), bp.load(rows(x, M, N, BM, BN), boundary_check=(0, 1)), boundary_check=(0, 1))
