"""tl.dot_scaled: mxfp8 activations by mxfp4 weights, and by mxfp8 weights, the scales given to the dot."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def dot_scaled_kernel(A, SA, B, SB, C, M, N, K, B_TYPE: tl.constexpr, BLOCK_M: tl.constexpr,
                      BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    PACK_B: tl.constexpr = 2 if B_TYPE == "e2m1" else 1
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        kb = start // PACK_B + tl.arange(0, BLOCK_K // PACK_B)
        ks = start // 32 + tl.arange(0, BLOCK_K // 32)
        a = tl.load(A + rows[:, None] * K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K), other=0)
        b = tl.load(B + cols[None, :] * (K // PACK_B) + kb[:, None],
                    mask=(cols[None, :] < N) & (kb[:, None] < K // PACK_B), other=0)
        sa = tl.load(SA + rows[:, None] * (K // 32) + ks[None, :],
                     mask=(rows[:, None] < M) & (ks[None, :] < K // 32), other=127)
        sb = tl.load(SB + cols[:, None] * (K // 32) + ks[None, :],
                     mask=(cols[:, None] < N) & (ks[None, :] < K // 32), other=127)
        acc = tl.dot_scaled(a, sa, "e4m3", b, sb, B_TYPE, acc)
    tl.store(C + rows[:, None] * N + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


def e4m3(bits):
    exponent, mantissa = (bits >> 3 & 15).astype(int), (bits & 7) / 8.0
    value = np.where(exponent == 0, mantissa * 2.0**-6, (1 + mantissa) * 2.0 ** (exponent - 7))
    return np.where(bits >> 7, -value, value)


def main():
    M, N, K = 40, 37, 32 * 3
    rng = np.random.default_rng(13)
    a = (rng.integers(0, 2, (M, K)) << 7 | rng.integers(0, 0x50, (M, K))).astype(np.uint8)
    sa = rng.integers(122, 130, (M, K // 32)).astype(np.uint8)
    sb = rng.integers(122, 130, (N, K // 32)).astype(np.uint8)
    a64 = e4m3(a) * 2.0 ** (sa.astype(np.float64) - 127).repeat(32, 1)
    b_scale = 2.0 ** (sb.astype(np.float64) - 127).repeat(32, 1)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    error = 0.0
    for b_type in ("e2m1", "e4m3"):
        if b_type == "e2m1":
            codes = rng.integers(0, 16, (N, K)).astype(np.uint8)
            b = codes[:, 0::2] | codes[:, 1::2] << 4
            half = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
            b64 = np.concatenate([half, -half])[codes] * b_scale
        else:
            b = rng.integers(0, 0x50, (N, K)).astype(np.uint8)
            b64 = e4m3(b) * b_scale
        c = np.full((M, N), np.nan, np.float32)
        dot_scaled_kernel[grid](a, sa, b, sb, c, M, N, K, B_TYPE=b_type, BLOCK_M=32, BLOCK_N=32, BLOCK_K=64)
        wanted = a64 @ b64.T
        error = max(error, np.abs(c - wanted).max() / np.abs(wanted).max())
    print(f"mxfp_dot_scaled: max error {error:.2e} of the largest")
    assert error < 1e-6


if __name__ == "__main__":
    main()
