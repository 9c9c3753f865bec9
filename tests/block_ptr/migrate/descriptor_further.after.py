import triton
import triton.language as tl
import block_ptr as bp


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = M * N // BN
    for k in tl.range(0, 32, BN):
        p = bp.make_block_ptr(x + 16 * k, (rows - k, BN), (BN, 1), (0, 0), (BM, BN), (1, 0))
        q = bp.make_block_ptr(y, (rows, BN), (BN, 1), (k, 0), (BM, BN), (1, 0))
        if rows > k:
            bp.store(q, bp.load(p, boundary_check=(0, 1), padding_option="zero"), boundary_check=(0, 1))
