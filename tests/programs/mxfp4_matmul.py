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


@triton.jit
def e2m1_code(x):
    """The nearest e2m1, ties to the even code: by comparing with the midpoints."""
    a = tl.abs(x)
    code = (a > 0.25).to(tl.int32) + (a >= 0.75).to(tl.int32) + (a > 1.25).to(tl.int32) + (a >= 1.75).to(tl.int32)
    code += (a > 2.5).to(tl.int32) + (a >= 3.5).to(tl.int32) + (a > 5.0).to(tl.int32)
    return code | tl.where(x < 0, 8, 0)


@triton.jit
def mxfp4_quantize_kernel(X, Packed, Scale, M, K, stride, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    k = tl.program_id(1) * BLOCK_K + tl.arange(0, BLOCK_K)
    x = tl.load(X + rows[:, None] * stride + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0)
    x = tl.reshape(x, [BLOCK_M, BLOCK_K // 32, 32])
    largest = tl.max(tl.abs(x), 2)
    # The exponent of the largest, less that of 4, the largest power of two in e2m1.
    exponent = (largest.to(tl.int32, bitcast=True) >> 23) & 255
    exponent = tl.maximum(exponent - 2, 1)
    inverse = ((254 - exponent) << 23).to(tl.float32, bitcast=True)
    code = e2m1_code(x * inverse[:, :, None])
    low, high = tl.split(tl.reshape(code, [BLOCK_M, BLOCK_K // 2, 2]))
    half = tl.program_id(1) * (BLOCK_K // 2) + tl.arange(0, BLOCK_K // 2)
    tl.store(Packed + rows[:, None] * (K // 2) + half[None, :], (low | (high << 4)).to(tl.uint8),
             mask=(rows[:, None] < M) & (half[None, :] < K // 2))
    block = tl.program_id(1) * (BLOCK_K // 32) + tl.arange(0, BLOCK_K // 32)
    tl.store(Scale + rows[:, None] * (K // 32) + block[None, :], exponent.to(tl.uint8),
             mask=(rows[:, None] < M) & (block[None, :] < K // 32))


@triton.jit
def mxfp4_dequantize_kernel(Packed, Scale, Y, M, K, stride_y, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    k = tl.program_id(1) * BLOCK_K + tl.arange(0, BLOCK_K)[None, :]
    mask = (rows < M) & (k < K)
    byte = tl.load(Packed + rows * (K // 2) + k // 2, mask=mask, other=0).to(tl.int32)
    code = (byte >> (k % 2 * 4)) & 15
    exponent = tl.load(Scale + rows * (K // 32) + k // 32, mask=mask, other=127).to(tl.int32)
    scale = (exponent << 23).to(tl.float32, bitcast=True)
    tl.store(Y + rows * stride_y + k, e2m1_value(code) * scale, mask=mask)


@triton.jit
def mxfp4_error_kernel(X, Y, Worst, M, K, stride_x, stride_y, BLOCK: tl.constexpr):
    """The largest difference of two matrices, by an atomic maximum on bits."""
    row = tl.program_id(0)
    worst = tl.zeros([BLOCK], tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * stride_x + k, mask=k < K, other=0.0)
        y = tl.load(Y + row * stride_y + k, mask=k < K, other=0.0)
        worst = tl.maximum(worst, tl.abs(x - y))
    tl.atomic_max(Worst, tl.max(worst, 0))


@triton.jit
def mxfp4_swizzle_kernel(Scale, Out, M, KS, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    """Scales in tiles of 32 rows by 4, tile after tile, rows and columns past the end with exponent 127."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    k = tl.program_id(1) * BLOCK_K + tl.arange(0, BLOCK_K)[None, :]
    scale = tl.load(Scale + rows * KS + k, mask=(rows < M) & (k < KS), other=127)
    tile = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    inside = tl.arange(0, BLOCK_M)[:, None] * BLOCK_K + tl.arange(0, BLOCK_K)[None, :]
    tl.store(Out + tile * BLOCK_M * BLOCK_K + inside, scale)


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
    v = rng.standard_normal((N, K + 3), dtype=np.float32)[:, 3:]
    packed, scale = np.zeros((N, K // 2), np.uint8), np.zeros((N, K // 32), np.uint8)
    y, worst = np.full((N, K + 1), np.nan, np.float32)[:, :K], np.zeros(1, np.float32)
    grid = (triton.cdiv(N, 16), triton.cdiv(K, 64))
    mxfp4_quantize_kernel[grid](v, packed, scale, N, K, K + 3, BLOCK_M=16, BLOCK_K=64)
    mxfp4_dequantize_kernel[grid](packed, scale, y, N, K, K + 1, BLOCK_M=16, BLOCK_K=64)
    mxfp4_error_kernel[(N,)](v, y, worst, N, K, K + 3, K + 1, BLOCK=64)
    power = 2.0 ** (np.floor(np.log2(np.abs(v.astype(np.float64)).reshape(N, -1, 32).max(-1))) - 2).repeat(32, 1)
    nearest = np.abs(values[None, None] - (v / power)[..., None]).min(-1) * power
    error = max(error, np.abs(np.abs(y - v) - nearest).max(), abs(worst[0] - nearest.max()))
    swizzled = np.zeros((2, 2, 32, 4), np.uint8)
    mxfp4_swizzle_kernel[(2, 2)](scale, swizzled, N, K // 32, BLOCK_M=32, BLOCK_K=4)
    whole = np.pad(scale, ((0, 64 - N), (0, 8 - K // 32)), constant_values=127)
    assert (swizzled == whole.reshape(2, 32, 2, 4).transpose(0, 2, 1, 3)).all()
    print(f"mxfp4_matmul: max error {error:.2e}")
    assert error < 2e-3


if __name__ == "__main__":
    main()
