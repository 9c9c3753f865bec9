import triton
import triton.language as tl
import block_ptr as bp


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = M * N // BN
    p = bp.make_block_ptr(x, (BN, 1, rows), (1, rows * BN, BN), (0, 0, tl.program_id(0) * BM), (BN, 1, BM), (0, 2, 1))
    tile = bp.load(p, boundary_check=(0, 1, 2))
    q = bp.make_block_ptr(y, (BN, 1, rows), (1, rows * BN, BN), (0, 0, tl.program_id(0) * BM), (BN, 1, BM), (0, 2, 1))
    bp.store(q, tile, boundary_check=(0, 1, 2))
