import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    how = (x, (M, N), (N, 1), (0, 0), (BM, BN), (1, 0))
    p = tl.make_block_ptr(*how)
    tl.load(p)
