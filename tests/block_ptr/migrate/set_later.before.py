import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_block_ptr(x, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    q = tl.make_block_ptr(y, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    # block pointers keep the extents and the base that they were made with
    ends = N
    N = 0
    x = y
    for _ in range(0, ends, BN):
        tl.store(q, tl.load(p, boundary_check=(0, 1), padding_option="zero") + N, boundary_check=(0, 1))
        p, q = tl.advance(p, (0, BN)), tl.advance(q, (0, BN))
