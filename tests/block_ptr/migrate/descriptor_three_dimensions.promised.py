import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = M * N // BN
    p = tl.make_tensor_descriptor(x, shape=[1, rows, BN], strides=[rows * BN, BN, 1], block_shape=[1, BM, BN])
    p_2 = tl.program_id(0) * BM
    tile = tl.permute(p.load([0, p_2, 0]), (2, 0, 1))
    q = tl.make_tensor_descriptor(y, shape=[1, rows, BN], strides=[rows * BN, BN, 1], block_shape=[1, BM, BN])
    q_2 = tl.program_id(0) * BM
    q.store([0, q_2, 0], tl.permute(tile, (1, 2, 0)))
