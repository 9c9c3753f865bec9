import triton
import triton.language as tl


@triton.jit
def rows(base, M, N, BM: tl.constexpr, BN: tl.constexpr):
    return tl.make_block_ptr(base, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    tl.store(rows(y, M, N, BM, BN), tl.load(rows(x, M, N, BM, BN), boundary_check=(0, 1)), boundary_check=(0, 1))
