import triton
import triton.language as tl


@triton.jit
def _inner(acc, K_block_ptr_base, K_block_ptr_shape_0, K_block_ptr_shape_1, K_block_ptr_stride_0, K_block_ptr_stride_1, K_block_ptr_0, K_block_ptr_1, V_block_ptr_base, V_block_ptr_shape_0, V_block_ptr_shape_1, V_block_ptr_stride_0, V_block_ptr_stride_1, V_block_ptr_0, V_block_ptr_1, start, N, BN: tl.constexpr, CHECK: tl.constexpr):
    K_block_ptr_1 += start
    V_block_ptr_0 += start
    for n in range(start, N, BN):
        if CHECK:
            k = tl.load(K_block_ptr_base + K_block_ptr_0[:, None] * K_block_ptr_stride_0 + K_block_ptr_1[None, :] * K_block_ptr_stride_1,
                        mask=(K_block_ptr_0 < K_block_ptr_shape_0)[:, None] & (K_block_ptr_1 >= 0)[None, :] & (K_block_ptr_1 < K_block_ptr_shape_1)[None, :],
                        other=0.0)
        else:
            k = tl.load(K_block_ptr_base + K_block_ptr_0[:, None] * K_block_ptr_stride_0 + K_block_ptr_1[None, :] * K_block_ptr_stride_1)
        v = tl.load(V_block_ptr_base + V_block_ptr_0[:, None] * V_block_ptr_stride_0 + V_block_ptr_1[None, :] * V_block_ptr_stride_1,
                    mask=(V_block_ptr_0 >= 0)[:, None] & (V_block_ptr_0 < V_block_ptr_shape_0)[:, None] & (V_block_ptr_1 < V_block_ptr_shape_1)[None, :],
                    other=0.0)
        acc += tl.trans(k) * v + n
        V_block_ptr_0 += BN
        K_block_ptr_1 += BN
    return acc


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    base = x + row * N
    rows = M - row
    K_block_ptr_0 = tl.arange(0, BM).to(tl.int64)
    K_block_ptr_1 = tl.arange(0, BN).to(tl.int64)
    V_block_ptr_0 = tl.arange(0, BN).to(tl.int64)
    V_block_ptr_1 = tl.arange(0, BM).to(tl.int64)
    O_block_ptr_base = y + row * N
    O_block_ptr_0 = tl.arange(0, BM).to(tl.int64)
    O_block_ptr_1 = tl.arange(0, BN).to(tl.int64)
    acc = _inner(tl.zeros((BN, BM), tl.float32), base, rows, N, N, 1, K_block_ptr_0, K_block_ptr_1, V_block_ptr_base=base, V_block_ptr_shape_0=N, V_block_ptr_shape_1=rows, V_block_ptr_stride_0=1, V_block_ptr_stride_1=N, V_block_ptr_0=V_block_ptr_0, V_block_ptr_1=V_block_ptr_1, start=0, N=N, BN=BN, CHECK=True)
    tl.store(O_block_ptr_base + O_block_ptr_0[:, None] * N + O_block_ptr_1[None, :],
             tl.trans(acc).to(O_block_ptr_base.dtype.element_ty),
             mask=(O_block_ptr_0 < rows)[:, None] & (O_block_ptr_1 < N)[None, :])
