import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    for k in range(0, N, BN):
        left = N - k
        p = tl.make_block_ptr(x + k, (M, left), (N, 1), (row, 0), (BM, BN), (1, 0))
        q = tl.make_block_ptr(y + k, (M, left), (N, 1), (row, 0), (BM, BN), (1, 0))
        tl.store(q, tl.load(p, boundary_check=(0, 1), padding_option="zero") + left, boundary_check=(0, 1))
