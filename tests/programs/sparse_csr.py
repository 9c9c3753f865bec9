"""Sparse matrices in CSR: by a vector, by a dense matrix, and a product sampled at the pattern."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def csr_vector_kernel(RowPtr, Col, Val, X, Y, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    end = tl.load(RowPtr + row + 1)
    acc = tl.zeros([BLOCK], tl.float32)
    for start in range(tl.load(RowPtr + row), end, BLOCK):
        i = start + tl.arange(0, BLOCK)
        col = tl.load(Col + i, mask=i < end, other=0)
        acc += tl.load(Val + i, mask=i < end, other=0.0) * tl.load(X + col, mask=i < end, other=0.0)
    tl.store(Y + row, tl.sum(acc, 0))


@triton.jit
def csr_dense_kernel(RowPtr, Col, Val, B, C, N, stride_b, BLOCK_N: tl.constexpr):
    row = tl.program_id(0)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros([BLOCK_N], tl.float32)
    for i in range(tl.load(RowPtr + row), tl.load(RowPtr + row + 1)):
        acc += tl.load(Val + i) * tl.load(B + tl.load(Col + i) * stride_b + n, mask=n < N, other=0.0)
    tl.store(C + row * N + n, acc, mask=n < N)


@triton.jit
def sampled_product_kernel(RowPtr, Col, A, B, Out, K, stride_b, BLOCK_K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    end = tl.load(RowPtr + row + 1)
    k = tl.arange(0, BLOCK_K)
    a = tl.load(A + row * K + k, mask=k < K, other=0.0)
    for start in range(tl.load(RowPtr + row), end, BLOCK):
        i = start + tl.arange(0, BLOCK)
        col = tl.load(Col + i, mask=i < end, other=0)
        b = tl.load(B + col[:, None] * stride_b + k[None, :], mask=(i < end)[:, None] & (k < K)[None, :], other=0.0)
        tl.store(Out + i, tl.sum(a[None, :] * b, 1), mask=i < end)


def main():
    M, K, N = 43, 57, 35
    rng = np.random.default_rng(47)
    dense = np.where(rng.uniform(size=(M, K)) < 0.2, rng.standard_normal((M, K)), 0).astype(np.float32)
    dense[7] = 0
    rows, col = np.nonzero(dense)
    col, val = col.astype(np.int32), dense[dense != 0]
    row_ptr = np.searchsorted(rows, np.arange(M + 1)).astype(np.int32)
    x, b = rng.standard_normal(K, dtype=np.float32), rng.standard_normal((K, N + 4), dtype=np.float32)[:, :N]
    y, c, s = np.full(M, np.nan, np.float32), np.full((M, N), np.nan, np.float32), np.full(len(val), np.nan, np.float32)
    left, right = rng.standard_normal((M, N), dtype=np.float32), b
    csr_vector_kernel[(M,)](row_ptr, col, val, x, y, BLOCK=8)
    csr_dense_kernel[(M, triton.cdiv(N, 32))](row_ptr, col, val, b, c, N, N + 4, BLOCK_N=32)
    sampled_product_kernel[(M,)](row_ptr, col, left, right, s, N, N + 4, BLOCK_K=64, BLOCK=8)
    d64, b64 = dense.astype(np.float64), b.astype(np.float64)
    error = max(np.abs(y - d64 @ x).max(), np.abs(c - d64 @ b64).max(), np.abs(s - (left @ b64.T)[rows, col]).max())
    print(f"sparse_csr: max error {error:.2e}")
    assert error < 1e-5


if __name__ == "__main__":
    main()
