import triton
import triton.language as tl


@triton.jit
def _inner(acc, K_block_ptr, K_block_ptr_0, K_block_ptr_1, V_block_ptr, V_block_ptr_0, V_block_ptr_1, start, N, BN: tl.constexpr, CHECK: tl.constexpr):
    K_block_ptr_1 += start
    V_block_ptr_0 += start
    for n in range(start, N, BN):
        if CHECK:
            k = K_block_ptr.load([K_block_ptr_0, K_block_ptr_1])
        else:
            k = K_block_ptr.load([K_block_ptr_0, K_block_ptr_1])
        v = tl.trans(V_block_ptr.load([V_block_ptr_1, V_block_ptr_0]))
        acc += tl.trans(k) * v + n
        V_block_ptr_0 += BN
        K_block_ptr_1 += BN
    return acc


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    base = x + row * N
    rows = M - row
    K_block_ptr = tl.make_tensor_descriptor(base, shape=[rows, N], strides=[N, 1], block_shape=[BM, BN])
    V_block_ptr = tl.make_tensor_descriptor(base, shape=[rows, N], strides=[N, 1], block_shape=[BM, BN])
    O_block_ptr = tl.make_tensor_descriptor(y + row * N, shape=[rows, N], strides=[N, 1], block_shape=[BM, BN])
    acc = _inner(tl.zeros((BN, BM), tl.float32), K_block_ptr, 0, 0, V_block_ptr=V_block_ptr, V_block_ptr_0=0, V_block_ptr_1=0, start=0, N=N, BN=BN, CHECK=True)
    O_block_ptr.store([0, 0], tl.trans(acc).to(O_block_ptr.dtype))
