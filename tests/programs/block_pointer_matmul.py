"""A matmul by block pointers with a boundary check, where this Triton has them; by plain pointers elsewhere."""

import numpy as np
import triton
import triton.language as tl

HAS_BLOCK_POINTERS = tl.constexpr(hasattr(tl, "make_block_ptr") and hasattr(tl, "advance"))


@triton.jit
def block_pointer_matmul_kernel(A, B, C, M, N, K, sam, sbk, USE: tl.constexpr, BLOCK: tl.constexpr,
                                BLOCK_K: tl.constexpr):
    m = tl.program_id(0) * BLOCK
    n = tl.program_id(1) * BLOCK
    acc = tl.zeros([BLOCK, BLOCK], tl.float32)
    if USE:
        a = tl.make_block_ptr(A, (M, K), (sam, 1), (m, 0), (BLOCK, BLOCK_K), (1, 0))
        b = tl.make_block_ptr(B, (K, N), (sbk, 1), (0, n), (BLOCK_K, BLOCK), (1, 0))
        for _ in range(0, K, BLOCK_K):
            x = tl.load(a, boundary_check=(0, 1), padding_option="zero")
            y = tl.load(b, boundary_check=(0, 1), padding_option="zero")
            acc = tl.dot(x, y, acc)
            a = tl.advance(a, (0, BLOCK_K))
            b = tl.advance(b, (BLOCK_K, 0))
        c = tl.make_block_ptr(C, (M, N), (N, 1), (m, n), (BLOCK, BLOCK), (1, 0))
        tl.store(c, acc, boundary_check=(0, 1))
    else:
        rows = m + tl.arange(0, BLOCK)[:, None]
        cols = n + tl.arange(0, BLOCK)[None, :]
        for start in range(0, K, BLOCK_K):
            k = start + tl.arange(0, BLOCK_K)
            x = tl.load(A + rows * sam + k[None, :], mask=(rows < M) & (k < K)[None, :], other=0.0)
            y = tl.load(B + k[:, None] * sbk + cols, mask=(k < K)[:, None] & (cols < N), other=0.0)
            acc = tl.dot(x, y, acc)
        tl.store(C + rows * N + cols, acc, mask=(rows < M) & (cols < N))


def main():
    M, N, K = 45, 70, 83
    rng = np.random.default_rng(48)
    a = rng.standard_normal((M, K + 5)).astype(np.float16)[:, :K]
    b = rng.standard_normal((K, N + 2)).astype(np.float16)[:, 2:]
    c = np.full((M, N), np.nan, np.float32)
    block_pointer_matmul_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](a, b, c, M, N, K, K + 5, N + 2,
                                                                         USE=HAS_BLOCK_POINTERS, BLOCK=32, BLOCK_K=32)
    error = np.abs(c - a.astype(np.float64) @ b.astype(np.float64)).max()
    print(f"block_pointer_matmul: max error {error:.2e}")
    assert error < 1e-4


if __name__ == "__main__":
    main()
