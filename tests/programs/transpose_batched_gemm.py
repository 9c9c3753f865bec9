"""A batched product of matrices with any strides, one operand transposed by a kernel before, the last axis
of three taken by a 3D dot."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def transpose_kernel(X, Y, M, N, stride_xb, stride_xm, stride_xn, BLOCK: tl.constexpr):
    b = tl.program_id(2)
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(X + b * stride_xb + m[:, None] * stride_xm + n[None, :] * stride_xn,
                mask=(m[:, None] < M) & (n[None, :] < N))
    tl.store(Y + b * M * N + n[:, None] * M + m[None, :], tl.permute(x, (1, 0)),
             mask=(n[:, None] < N) & (m[None, :] < M))


@triton.jit
def batched_gemm_kernel(A, B, C, BATCH, M, N, K, sab, sam, sak, BLOCK_B: tl.constexpr, BLOCK_M: tl.constexpr,
                        BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    b = (tl.program_id(2) * BLOCK_B + tl.arange(0, BLOCK_B))[:, None, None]
    m = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M))[None, :, None]
    n = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N))[None, None, :]
    acc = tl.zeros([BLOCK_B, BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, K, BLOCK_K):
        ka = start + tl.arange(0, BLOCK_K)[None, None, :]
        kb = start + tl.arange(0, BLOCK_K)[None, :, None]
        x = tl.load(A + b * sab + m * sam + ka * sak, mask=(b < BATCH) & (m < M) & (ka < K), other=0.0)
        y = tl.load(B + b * K * N + kb * N + n, mask=(b < BATCH) & (kb < K) & (n < N), other=0.0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
    tl.store(C + b * M * N + m * N + n, acc, mask=(b < BATCH) & (m < M) & (n < N))


def main():
    BATCH, M, N, K = 5, 35, 41, 27
    rng = np.random.default_rng(44)
    a = rng.standard_normal((M, BATCH, K + 1), dtype=np.float32).transpose(1, 0, 2)[..., 1:]
    b = rng.standard_normal((BATCH, N, 2 * K), dtype=np.float32)[..., ::2]  # every other element of a row
    bt, c = np.full((BATCH, K, N), np.nan, np.float32), np.full((BATCH, M, N), np.nan, np.float32)
    transpose_kernel[(triton.cdiv(N, 16), triton.cdiv(K, 16), BATCH)](b, bt, N, K, *(s // 4 for s in b.strides), BLOCK=16)
    batched_gemm_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 16), triton.cdiv(BATCH, 2))](
        a, bt, c, BATCH, M, N, K, *(s // 4 for s in a.strides), BLOCK_B=2, BLOCK_M=16, BLOCK_N=16, BLOCK_K=16)
    error = np.abs(c - a.astype(np.float64) @ b.astype(np.float64).swapaxes(-1, -2)).max()
    print(f"transpose_batched_gemm: max error {error:.2e}")
    assert error < 1e-5


if __name__ == "__main__":
    main()
