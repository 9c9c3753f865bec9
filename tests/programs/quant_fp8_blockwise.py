"""Block-wise fp8: 1 by 64 blocks of activations and 32 by 64 blocks of weights, each with a scale in
float32 that is applied while the product is summed."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def fp8_quantize_kernel(X, Y, S, M, N, stride, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(1) * COLS + tl.arange(0, COLS)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(X + rows[:, None] * stride + cols[None, :], mask=mask, other=0.0)
    scale = tl.maximum(tl.max(tl.max(tl.abs(x), 1), 0), 1e-4) / 448.0
    y = (x / scale).to(tl.float8e4nv)
    tl.store(Y + rows[:, None] * N + cols[None, :], y.to(tl.uint8, bitcast=True), mask=mask)
    tl.store(S + tl.program_id(0) * tl.num_programs(1) + tl.program_id(1), scale)


@triton.jit
def fp8_matmul_kernel(A, B, C, SA, SB, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                      BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k_blocks = tl.cdiv(K, BLOCK_K)
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for block in range(k_blocks):
        k = block * BLOCK_K + tl.arange(0, BLOCK_K)
        a = tl.load(A + rows[:, None] * K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K), other=0)
        b = tl.load(B + cols[None, :] * K + k[:, None], mask=(cols[None, :] < N) & (k[:, None] < K), other=0)
        sa = tl.load(SA + rows * k_blocks + block, mask=rows < M, other=0.0)
        sb = tl.load(SB + tl.program_id(1) * k_blocks + block)
        part = tl.dot(a.to(tl.float8e4nv, bitcast=True), b.to(tl.float8e4nv, bitcast=True))
        acc += part * sa[:, None] * sb
    tl.store(C + rows[:, None] * N + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


def decoded(bits):
    """float8 e4m3fn: sign, 4 bits of exponent with bias 7, 3 of mantissa."""
    sign = np.where(bits >> 7, -1.0, 1.0)
    exponent, mantissa = (bits >> 3 & 15).astype(int), (bits & 7) / 8.0
    return sign * np.where(exponent == 0, mantissa * 2.0**-6, (1 + mantissa) * 2.0 ** (exponent - 7))


def main():
    M, N, K = 37, 70, 150
    rng = np.random.default_rng(11)
    x = (rng.standard_normal((M, K + 2)) * rng.uniform(0.1, 10, (M, 1))).astype(np.float32)[:, :K]
    w = rng.standard_normal((N, K), dtype=np.float32)
    blocks = triton.cdiv(K, 64)
    x8, w8 = np.zeros((M, K), np.uint8), np.zeros((N, K), np.uint8)
    sx, sw = np.zeros((M, blocks), np.float32), np.zeros((triton.cdiv(N, 32), blocks), np.float32)
    c = np.full((M, N), np.nan, np.float32)
    fp8_quantize_kernel[(M, blocks)](x, x8, sx, M, K, K + 2, ROWS=1, COLS=64)
    fp8_quantize_kernel[sw.shape](w, w8, sw, N, K, K, ROWS=32, COLS=64)
    fp8_matmul_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 32))](x8, w8, c, sx, sw, M, N, K,
                                                               BLOCK_M=16, BLOCK_N=32, BLOCK_K=64)
    x64 = decoded(x8) * sx.astype(np.float64).repeat(64, 1)[:, :K]
    w64 = decoded(w8) * sw.astype(np.float64).repeat(32, 0)[:N].repeat(64, 1)[:, :K]
    error = np.abs(c - x64 @ w64.T).max()
    rounding = (np.abs(x64 - x) / np.maximum(np.abs(x), sx.repeat(64, 1)[:, :K] * 2.0**-6)).max()
    print(f"quant_fp8_blockwise: max error {error:.2e}, rounding {rounding:.3f} of the value")
    assert error < 1e-3 and rounding <= 1 / 16 + 1e-6


if __name__ == "__main__":
    main()
