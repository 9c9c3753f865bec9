import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    # where the block of x begins
    # read only
    # rows by program
    p = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    p_0 = tl.program_id(0) * BM
    p_1 = 0
    q = tl.make_tensor_descriptor(y, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    q_0 = tl.program_id(0) * BM
    q_1 = 0  # written
    for _ in range(0, N, BN):
        tile = p.load([p_0, p_1])
        q.store([q_0, q_1], tile * 2)

        # on to the next   columns
        p_1 += BN
        q_1 += BN
