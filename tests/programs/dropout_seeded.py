"""Dropout with a seed, fused with a bias and GELU: the backward pass makes the same mask again."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def gelu_parts(x):
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    t = 2 * tl.sigmoid(2 * inner) - 1
    slope = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x)
    return 0.5 * x * (1 + t), slope


@triton.jit
def dropout_gelu_fwd_kernel(X, Bias, Y, p, seed, M, N, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(X + rows[:, None] * stride + cols[None, :], mask=mask, other=0.0)
    x += tl.load(Bias + cols, mask=cols < N, other=0.0)[None, :]
    y, _ = gelu_parts(x)
    at = rows[:, None] * N + cols[None, :]
    keep = tl.rand(seed, at) > p
    tl.store(Y + at, tl.where(keep, y / (1 - p), 0.0), mask=mask)


@triton.jit
def dropout_gelu_bwd_kernel(X, Bias, DY, DX, DBias, p, seed, M, N, stride, BLOCK_M: tl.constexpr,
                            BLOCK_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    bias = tl.load(Bias + cols, mask=cols < N, other=0.0)[None, :]
    dbias = tl.zeros([BLOCK_N], tl.float32)
    for start in range(0, M, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        at = rows[:, None] * N + cols[None, :]
        x = tl.load(X + rows[:, None] * stride + cols[None, :], mask=mask, other=0.0) + bias
        dy = tl.load(DY + at, mask=mask, other=0.0)
        _, slope = gelu_parts(x)
        dx = tl.where(tl.rand(seed, at) > p, dy / (1 - p), 0.0) * slope
        dbias += tl.sum(dx, 0)
        tl.store(DX + at, dx, mask=mask)
    tl.store(DBias + cols, dbias, mask=cols < N)


def main():
    M, N, p, seed = 53, 77, 0.3, 1234
    rng = np.random.default_rng(34)
    x = rng.standard_normal((M, N + 2), dtype=np.float32)[:, 2:]
    bias, dy = rng.standard_normal(N, dtype=np.float32), rng.standard_normal((M, N), dtype=np.float32)
    y, dx, dbias = np.full((M, N), np.nan, np.float32), np.full((M, N), np.nan, np.float32), np.zeros(N, np.float32)
    dropout_gelu_fwd_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 32))](x, bias, y, p, seed, M, N, N + 2,
                                                                      BLOCK_M=16, BLOCK_N=32)
    dropout_gelu_bwd_kernel[(triton.cdiv(N, 32),)](x, bias, dy, dx, dbias, p, seed, M, N, N + 2,
                                                   BLOCK_M=16, BLOCK_N=32)
    z = x.astype(np.float64) + bias
    c = np.sqrt(2 / np.pi)
    t = np.tanh(c * (z + 0.044715 * z**3))
    gelu = 0.5 * z * (1 + t)
    slope = 0.5 * (1 + t) + 0.5 * z * (1 - t * t) * c * (1 + 3 * 0.044715 * z * z)
    keep = y != 0
    wanted_dx = np.where(keep, dy / (1 - p) * slope, 0)
    error = max(np.abs(y - np.where(keep, gelu / (1 - p), 0)).max(), np.abs(dx - wanted_dx).max(),
                np.abs(dbias - wanted_dx.sum(0)).max())
    share = keep.mean()
    print(f"dropout_seeded: max error {error:.2e}, {share:.3f} kept")
    assert error < 1e-5 and abs(share - (1 - p)) < 0.03


if __name__ == "__main__":
    main()
