import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_block_ptr(x, (M * N // 2, ), (2, ), (0, ), (BN, ), (0, ))
    q = tl.make_block_ptr(y, (M * N, ), (1, ), (0, ), (BN, ), (0, ))
    tl.store(q, tl.load(p, boundary_check=(0, ), padding_option="zero"), boundary_check=(0, ))
