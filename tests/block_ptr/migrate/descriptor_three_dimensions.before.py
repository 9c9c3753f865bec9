import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = M * N // BN
    p = tl.make_block_ptr(x, (BN, 1, rows), (1, rows * BN, BN), (0, 0, tl.program_id(0) * BM), (BN, 1, BM), (0, 2, 1))
    tile = tl.load(p, boundary_check=(0, 1, 2))
    q = tl.make_block_ptr(y, (BN, 1, rows), (1, rows * BN, BN), (0, 0, tl.program_id(0) * BM), (BN, 1, BM), (0, 2, 1))
    tl.store(q, tile, boundary_check=(0, 1, 2))
