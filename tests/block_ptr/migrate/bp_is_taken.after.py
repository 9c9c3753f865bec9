import triton
import triton.language as tl
import block_ptr


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    bp = tl.program_id(0) * BM
    p = block_ptr.make_block_ptr(x, (M, N), (N, 1), (bp, 0), (BM, BN), (1, 0))
    q = block_ptr.make_block_ptr(y, (M, N), (N, 1), (bp, 0), (BM, BN), (1, 0))
    for _ in range(0, N, BN):
        tile = block_ptr.load(p, boundary_check=(0, 1), padding_option="zero")
        block_ptr.store(q, tile * 2, boundary_check=(0, 1))
        p = block_ptr.advance(p, (0, BN))
        q = block_ptr.advance(q, (0, BN))
