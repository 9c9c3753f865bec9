import triton
import triton.language as tl


@triton.jit
def _inner(acc, K_block_ptr, V_block_ptr, start, N, BN: tl.constexpr, CHECK: tl.constexpr):
    K_block_ptr = tl.advance(K_block_ptr, (0, start))
    V_block_ptr = tl.advance(V_block_ptr, (start, 0))
    for n in range(start, N, BN):
        if CHECK:
            k = tl.load(K_block_ptr, boundary_check=(0, 1), padding_option="zero")
        else:
            k = tl.load(K_block_ptr)
        v = tl.load(V_block_ptr, boundary_check=(1, 0), padding_option="zero")
        acc += tl.trans(k) * v + n
        V_block_ptr = tl.advance(V_block_ptr, (BN, 0))
        K_block_ptr = tl.advance(K_block_ptr, (0, BN))
    return acc


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    base = x + row * N
    rows = M - row
    K_block_ptr = tl.make_block_ptr(
        base=base,
        shape=(rows, N),
        strides=(N, 1),
        offsets=(0, 0),
        block_shape=(BM, BN),
        order=(1, 0),
    )
    V_block_ptr = tl.make_block_ptr(base=base, shape=(N, rows), strides=(1, N), offsets=(0, 0), block_shape=(BN, BM),
                                    order=(0, 1))
    O_block_ptr = tl.make_block_ptr(base=y + row * N, shape=(rows, N), strides=(N, 1), offsets=(0, 0),
                                    block_shape=(BM, BN), order=(1, 0))
    acc = _inner(tl.zeros((BN, BM), tl.float32), K_block_ptr, V_block_ptr=V_block_ptr, start=0, N=N, BN=BN, CHECK=True)
    tl.store(O_block_ptr, tl.trans(acc).to(O_block_ptr.dtype.element_ty), boundary_check=(0, 1))
