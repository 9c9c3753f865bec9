import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = M * N // BN
    p = tl.make_block_ptr(x, (rows, BN), (BN, 1), (tl.program_id(0), 0), (1, BN), (1, 0))
    q = tl.make_block_ptr(y, (rows, BN), (BN, 1), (tl.program_id(0), 0), (1, BN), (1, 0))
    tl.store(q, tl.load(p, boundary_check=(0, )), boundary_check=(0, 1))
