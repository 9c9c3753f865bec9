import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_block_ptr(x, shape=(M * N), strides=(1, ), offsets=tl.program_id(0) * BM * N, block_shape=(BN, ), order=(0, ))
    q = tl.make_block_ptr(y, (M * N, ), (1, ), (tl.program_id(0) * BM * N, ), (BN, ), (0, ))
    tl.store(q, tl.load(p, boundary_check=(0, ), padding_option="zero"), boundary_check=(0, ))
    p = tl.advance(p, M + BN)
    q = tl.advance(q, (M + BN, ))
    tl.store(q, tl.load(p, boundary_check=(0, ), padding_option="zero"), boundary_check=(0, ))
