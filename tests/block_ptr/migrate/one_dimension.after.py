import triton
import triton.language as tl
import block_ptr as bp


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = bp.make_block_ptr(x, shape=((M * N),), strides=(1, ), offsets=(tl.program_id(0) * BM * N,), block_shape=(BN, ), order=(0, ))
    q = bp.make_block_ptr(y, (M * N, ), (1, ), (tl.program_id(0) * BM * N, ), (BN, ), (0, ))
    bp.store(q, bp.load(p, boundary_check=(0, ), padding_option="zero"), boundary_check=(0, ))
    p = bp.advance(p, (M + BN,))
    q = bp.advance(q, (M + BN, ))
    bp.store(q, bp.load(p, boundary_check=(0, ), padding_option="zero"), boundary_check=(0, ))
