"""Weights in mxfp4: two e2m1 values a byte, a power-of-two scale (e8m0) for each 32, decoded in the kernel."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def e2m1_value(code):
    """0, .5, 1, 1.5, 2, 3, 4, 6 and their negatives, from bits: as float32."""
    magnitude = code & 7
    exponent = magnitude >> 1
    mantissa = magnitude & 1
    normal = (((exponent + 126) << 23) | (mantissa << 22)).to(tl.float32, bitcast=True)
    value = tl.where(exponent == 0, mantissa.to(tl.float32) * 0.5, normal)
    return tl.where((code & 8) != 0, -value, value)


@triton.jit
def mxfp4_matmul_kernel(X, W, Scale, Out, M, N, K, stride_xm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                        BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        half = start // 2 + tl.arange(0, BLOCK_K // 2)
        x = tl.load(X + rows[:, None] * stride_xm + k[None, :],
                    mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0)
        packed = tl.load(W + cols[:, None] * (K // 2) + half[None, :],
                         mask=(cols[:, None] < N) & (half[None, :] < K // 2), other=0).to(tl.int32)
        w = tl.interleave(e2m1_value(packed & 15), e2m1_value(packed >> 4))
        block = start // 32 + tl.arange(0, BLOCK_K // 32)
        scale = tl.load(Scale + cols[:, None] * (K // 32) + block[None, :],
                        mask=(cols[:, None] < N) & (block[None, :] < K // 32), other=127)
        scale = (scale.to(tl.int32) << 23).to(tl.float32, bitcast=True)
        scale = tl.broadcast_to(scale[:, :, None], [BLOCK_N, BLOCK_K // 32, 32])
        w = w * tl.reshape(scale, [BLOCK_N, BLOCK_K])
        acc = tl.dot(x, w.T.to(tl.float16), acc)
    tl.store(Out + rows[:, None] * N + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


def main():
    M, N, K = 21, 45, 32 * 5
    rng = np.random.default_rng(12)
    x = rng.standard_normal((M, K + 8)).astype(np.float16)[:, :K]
    codes = rng.integers(0, 16, (N, K)).astype(np.uint8)
    scale = rng.integers(120, 131, (N, K // 32)).astype(np.uint8)
    packed = codes[:, 0::2] | codes[:, 1::2] << 4
    out = np.full((M, N), np.nan, np.float32)
    mxfp4_matmul_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 16))](
        x, packed, scale, out, M, N, K, x.strides[0] // 2, BLOCK_M=16, BLOCK_N=16, BLOCK_K=64)
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    values = np.concatenate([values, -values])
    w = values[codes] * 2.0 ** (scale.astype(np.float64) - 127).repeat(32, 1)
    error = np.abs(out - x.astype(np.float64) @ w.T).max()
    print(f"mxfp4_matmul: max error {error:.2e}")
    assert error < 2e-3


if __name__ == "__main__":
    main()
