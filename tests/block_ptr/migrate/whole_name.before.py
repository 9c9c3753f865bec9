import triton
import triton.language


@triton.jit
def kernel(x, y, M, N, BM: triton.language.constexpr, BN: triton.language.constexpr):
    p = triton.language.make_block_ptr(x, (M, N), (N, 1), (triton.language.program_id(0) * BM, 0), (BM, BN), (1, 0))
    q = triton.language.make_block_ptr(y, (M, N), (N, 1), (triton.language.program_id(0) * BM, 0), (BM, BN), (1, 0))
    for _ in range(0, N, BN):
        tile = triton.language.load(p, boundary_check=(0, 1), padding_option="zero")
        triton.language.store(q, tile * 2, boundary_check=(0, 1))
        p = triton.language.advance(p, (0, BN))
        q = triton.language.advance(q, (0, BN))
