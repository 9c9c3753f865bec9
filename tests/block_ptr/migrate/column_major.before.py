import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_block_ptr(x, (N, M), (1, N), (0, tl.program_id(0) * BM), (BN, BM), (0, 1))
    q = tl.make_block_ptr(y, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    for _ in range(0, N, BN):
        tile = tl.load(p, boundary_check=(1, 0), padding_option="zero")
        tl.store(q, tl.trans(tile), boundary_check=(0, 1))
        p = tl.advance(p, (BN, 0))
        q = tl.advance(q, (0, BN))
