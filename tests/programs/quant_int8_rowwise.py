"""Activations quantised to int8 by row, weights by column, an int8 GEMM and the scales at its end."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def quantize_rows_kernel(X, Y, Scales, stride_x, stride_y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest = 0.0
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * stride_x + cols, mask=cols < N, other=0.0)
        largest = tl.maximum(largest, tl.max(tl.abs(x), 0))
    scale = tl.maximum(largest, 1e-8) / 127.0
    tl.store(Scales + row, scale)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * stride_x + cols, mask=cols < N, other=0.0) / scale
        rounded = tl.where(x >= 0, tl.floor(x + 0.5), tl.ceil(x - 0.5))
        tl.store(Y + row * stride_y + cols, rounded.to(tl.int8), mask=cols < N)


@triton.jit
def int8_gemm_kernel(A, B, C, ScaleA, ScaleB, M, N, K, stride_am, stride_bn, stride_cm,
                     BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.int32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(A + rows[:, None] * stride_am + k[None, :],
                    mask=(rows[:, None] < M) & (k[None, :] < K), other=0)
        b = tl.load(B + cols[None, :] * stride_bn + k[:, None],
                    mask=(cols[None, :] < N) & (k[:, None] < K), other=0)
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
    scale_a = tl.load(ScaleA + rows, mask=rows < M, other=0.0)
    scale_b = tl.load(ScaleB + cols, mask=cols < N, other=0.0)
    c = acc.to(tl.float32) * scale_a[:, None] * scale_b[None, :]
    tl.store(C + rows[:, None] * stride_cm + cols[None, :], c,
             mask=(rows[:, None] < M) & (cols[None, :] < N))


def main():
    M, N, K = 50, 75, 133
    rng = np.random.default_rng(8)
    x = rng.standard_normal((M, K + 5), dtype=np.float32)[:, :K]
    w = rng.standard_normal((N, K), dtype=np.float32)
    x8, w8 = np.zeros((M, 144), np.int8)[:, :K], np.zeros((N, K), np.int8)
    sx, sw = np.zeros(M, np.float32), np.zeros(N, np.float32)
    c = np.full((M, N + 1), np.nan, np.float32)[:, :N]
    quantize_rows_kernel[(M,)](x, x8, sx, x.strides[0] // 4, x8.strides[0], K, BLOCK=64)
    quantize_rows_kernel[(N,)](w, w8, sw, K, K, K, BLOCK=64)
    int8_gemm_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        x8, w8, c, sx, sw, M, N, K, x8.strides[0], K, N + 1, BLOCK_M=32, BLOCK_N=32, BLOCK_K=64)
    dequantised = (x8 * sx[:, None].astype(np.float64)) @ (w8 * sw[:, None].astype(np.float64)).T
    error = np.abs(c - dequantised).max()
    step = max(np.abs(x8 * sx[:, None] - x).max() / sx.max(), np.abs(w8 * sw[:, None] - w).max() / sw.max())
    print(f"quant_int8_rowwise: max error {error:.2e}, rounding of {step:.3f} steps")
    assert error < 1e-4 and step <= 0.501


if __name__ == "__main__":
    main()
