import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    for k in range(0, N, BN):
        tile = tl.load(tl.make_block_ptr(x, (M, N), (N, 1), (row, k), (BM, BN), (1, 0)), boundary_check=(0, 1))
        q = tl.make_block_ptr(y, (M, N), (N, 1), (row, k), (BM, BN), (1, 0))
        tl.store(tl.advance(q, (0, 0)), tile, boundary_check=(0, 1))
