import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = M * N // BN
    for k in tl.range(0, 32, BN):
        p = tl.make_block_ptr(x + 16 * k, (rows - k, BN), (BN, 1), (0, 0), (BM, BN), (1, 0))
        q = tl.make_block_ptr(y, (rows, BN), (BN, 1), (k, 0), (BM, BN), (1, 0))
        if rows > k:
            tl.store(q, tl.load(p, boundary_check=(0, 1), padding_option="zero"), boundary_check=(0, 1))
