import triton
import triton.language as tl
import block_ptr as bp


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    q = bp.make_block_ptr(y, (M, N), (N, 1), (row, 0), (BM, BN), (1, 0))
    if N > 20:
        p = bp.make_block_ptr(x, (M, N), (N, 1), (row, 0), (BM, BN), (1, 0))
    else:
        p = bp.make_block_ptr(x + row * N, (M - row, N), (N, 1), (0, 0), (BM, BN), (1, 0))
    for _ in range(0, N, BN):
        bp.store(q, bp.load(p, boundary_check=(0, 1), padding_option="zero"), boundary_check=(0, 1))
        p = bp.advance(p, (0, BN))
        q = bp.advance(q, (0, BN))
