import triton
import triton.language as tl
import block_ptr as bp


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = bp.make_block_ptr(x, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    q = bp.make_block_ptr(y, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    # block pointers keep the extents and the base that they were made with
    ends = N
    N = 0
    x = y
    for _ in range(0, ends, BN):
        bp.store(q, bp.load(p, boundary_check=(0, 1), padding_option="zero") + N, boundary_check=(0, 1))
        p, q = bp.advance(p, (0, BN)), bp.advance(q, (0, BN))
