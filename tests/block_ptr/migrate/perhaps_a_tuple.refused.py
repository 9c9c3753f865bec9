import triton
import triton.language as tl


@triton.jit
def kernel(x, y, where, N, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_block_ptr(x, where, (1, ), (0, ), (BN, ), (0, ))
    tl.load(p)
