"""Weights packed eight int4 to an int32, a scale and a packed zero point for each group of rows (as GPTQ
keeps them), unpacked inside the matmul."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def int4_matmul_kernel(X, QWeight, Scales, QZeros, Out, M, N, K, GROUP: tl.constexpr, BLOCK_M: tl.constexpr,
                       BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_n = cols[None, :] < N
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    zero_shift = (cols % 8) * 4
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        mask_k = k[:, None] < K
        x = tl.load(X + rows[:, None] * K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0)
        packed = tl.load(QWeight + (k[:, None] // 8) * N + cols[None, :], mask=mask_k & mask_n, other=0)
        nibble = (packed >> ((k[:, None] % 8) * 4)) & 0xF
        group = k[:, None] // GROUP
        scale = tl.load(Scales + group * N + cols[None, :], mask=mask_k & mask_n, other=0.0)
        zeros = tl.load(QZeros + group * (N // 8) + cols[None, :] // 8, mask=mask_k & mask_n, other=0)
        zeros = (zeros >> zero_shift[None, :]) & 0xF
        w = (nibble - zeros).to(tl.float32) * scale
        acc = tl.dot(x, w.to(x.dtype), acc)
    tl.store(Out + rows[:, None] * N + cols[None, :], acc, mask=(rows[:, None] < M) & mask_n)


def pack(nibbles, axis):
    """Eight values 0..15 to an int32 along an axis."""
    nibbles = np.moveaxis(nibbles.astype(np.uint32), axis, -1)
    nibbles = nibbles.reshape(*nibbles.shape[:-1], -1, 8)
    packed = (nibbles << (np.arange(8, dtype=np.uint32) * 4)).sum(-1, dtype=np.uint32)
    return np.ascontiguousarray(np.moveaxis(packed, -1, axis)).view(np.int32)


def main():
    M, N, K, GROUP = 19, 72, 96, 32
    rng = np.random.default_rng(9)
    x = rng.standard_normal((M, K)).astype(np.float16)
    w4, z4 = rng.integers(0, 16, (K, N)), rng.integers(0, 16, (K // GROUP, N))
    scales = rng.uniform(0.01, 0.1, (K // GROUP, N)).astype(np.float16)
    out = np.full((M, N), np.nan, np.float32)
    int4_matmul_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 32))](
        x, pack(w4, 0), scales, pack(z4, 1), out, M, N, K, GROUP=GROUP, BLOCK_M=16, BLOCK_N=32, BLOCK_K=64)
    w = (w4 - z4.repeat(GROUP, 0)) * scales.astype(np.float64).repeat(GROUP, 0)
    error = np.abs(out - x.astype(np.float64) @ w).max()
    print(f"quant_int4_groupwise: max error {error:.2e}")
    assert error < 2e-2


if __name__ == "__main__":
    main()
