import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = made_somewhere(x)
    tl.load(p, boundary_check=(0, 1))
