import triton
import triton.language as foo
import block_ptr as bp


@triton.jit
def kernel(x, y, M, N, BM: foo.constexpr, BN: foo.constexpr):
    p = bp.make_block_ptr(x, (M, N), (N, 1), (foo.program_id(0) * BM, 0), (BM, BN), (1, 0))
    q = bp.make_block_ptr(y, (M, N), (N, 1), (foo.program_id(0) * BM, 0), (BM, BN), (1, 0))
    for _ in range(0, N, BN):
        bp.store(q, bp.load(p, boundary_check=(0, 1), padding_option="zero") * 2, boundary_check=(0, 1))
        p = bp.advance(p, (0, BN))
        q = bp.advance(q, (0, BN))
