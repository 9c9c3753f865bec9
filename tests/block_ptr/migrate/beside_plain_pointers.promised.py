import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    p_0 = tl.program_id(0) * BM
    q = tl.make_tensor_descriptor(y, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    q_0 = tl.program_id(0) * BM
    first = tl.load(x + tl.arange(0, BN), mask=tl.arange(0, BN) < N, other=0.0)
    tile = p.load([p_0, 0])
    q.store([q_0, 0], tile + first[None, :])
