import triton
import triton.language as tl
import block_ptr as bp


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = M * N // BN
    p = bp.make_block_ptr(x, (rows, BN), (BN, 1), (0, 3), (BM, BN), (1, 0))
    tl.store(y + tl.arange(0, BN), tl.sum(bp.load(p, boundary_check=(0, 1), padding_option="zero"), 0), mask=tl.arange(0, BN) < M * N)
