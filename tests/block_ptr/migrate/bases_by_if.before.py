import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    q = tl.make_block_ptr(y, (M, N), (N, 1), (row, 0), (BM, BN), (1, 0))
    if N > 20:
        p = tl.make_block_ptr(x, (M, N), (N, 1), (row, 0), (BM, BN), (1, 0))
    else:
        p = tl.make_block_ptr(x + row * N, (M - row, N), (N, 1), (0, 0), (BM, BN), (1, 0))
    for _ in range(0, N, BN):
        tl.store(q, tl.load(p, boundary_check=(0, 1), padding_option="zero"), boundary_check=(0, 1))
        p = tl.advance(p, (0, BN))
        q = tl.advance(q, (0, BN))
