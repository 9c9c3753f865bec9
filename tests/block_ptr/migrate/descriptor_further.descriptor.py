import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = M * N // BN
    for k in tl.range(0, 32, BN):
        p = tl.make_tensor_descriptor(x + 16 * k, shape=[rows - k, BN], strides=[BN, 1], block_shape=[BM, BN])
        q = tl.make_tensor_descriptor(y, shape=[rows, BN], strides=[BN, 1], block_shape=[BM, BN])
        q_0 = k
        if rows > k:
            q.store([q_0, 0], p.load([0, 0]))
