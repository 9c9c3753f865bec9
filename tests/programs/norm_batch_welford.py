"""Batch norm: means and variances of columns by Welford's merge (a tuple reduction), running statistics."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def welford_merge(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    count = count_a + count_b
    share = tl.where(count == 0, 0.0, count_b / tl.where(count == 0, 1.0, count))
    delta = mean_b - mean_a
    return mean_a + delta * share, m2_a + m2_b + delta * delta * count_a * share, count


@triton.jit
def batch_stats_kernel(X, Mean, Var, RunMean, RunVar, momentum, M, N, stride, BLOCK_M: tl.constexpr,
                       BLOCK_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    mean = tl.zeros([BLOCK_N], tl.float32)
    m2 = tl.zeros([BLOCK_N], tl.float32)
    count = tl.zeros([BLOCK_N], tl.float32)
    for start in range(0, M, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        x = tl.load(X + rows[:, None] * stride + cols[None, :], mask=mask, other=0.0)
        one = tl.where(mask, 1.0, 0.0)
        block_mean, block_m2, block_count = tl.reduce((x, tl.zeros_like(x), one), 0, welford_merge)
        mean, m2, count = welford_merge(mean, m2, count, block_mean, block_m2, block_count)
    mask_n = cols < N
    var = m2 / M
    tl.store(Mean + cols, mean, mask=mask_n)
    tl.store(Var + cols, var, mask=mask_n)
    run_mean = tl.load(RunMean + cols, mask=mask_n)
    run_var = tl.load(RunVar + cols, mask=mask_n)
    tl.store(RunMean + cols, run_mean + momentum * (mean - run_mean), mask=mask_n)
    tl.store(RunVar + cols, run_var + momentum * (var * M / (M - 1) - run_var), mask=mask_n)


@triton.jit
def batch_apply_kernel(X, Y, Mean, Var, W, B, eps, M, N, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_n = cols < N
    mask = (rows[:, None] < M) & mask_n[None, :]
    scale = tl.load(W + cols, mask=mask_n) * tl.rsqrt(tl.load(Var + cols, mask=mask_n) + eps)
    shift = tl.load(B + cols, mask=mask_n) - tl.load(Mean + cols, mask=mask_n) * scale
    x = tl.load(X + rows[:, None] * stride + cols[None, :], mask=mask)
    tl.store(Y + rows[:, None] * N + cols[None, :], x * scale[None, :] + shift[None, :], mask=mask)


def main():
    M, N, eps, momentum = 101, 45, 1e-5, 0.1
    rng = np.random.default_rng(17)
    x = (rng.standard_normal((M, 64)) + 30).astype(np.float32)[:, 10:10 + N]
    w, b, run_mean = rng.standard_normal((3, N), dtype=np.float32)
    run_var = rng.uniform(1, 2, N).astype(np.float32)
    x64 = x.astype(np.float64)
    wanted_mean = run_mean + momentum * (x64.mean(0) - run_mean)
    wanted_var = run_var + momentum * (x64.var(0, ddof=1) - run_var)
    mean, var, y = np.zeros(N, np.float32), np.zeros(N, np.float32), np.zeros((M, N), np.float32)
    batch_stats_kernel[(triton.cdiv(N, 16),)](x, mean, var, run_mean, run_var, momentum, M, N, 64,
                                              BLOCK_M=32, BLOCK_N=16)
    batch_apply_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, y, mean, var, w, b, eps, M, N, 64,
                                                                BLOCK_M=32, BLOCK_N=32)
    wanted = (x64 - x64.mean(0)) / np.sqrt(x64.var(0) + eps) * w + b
    error = max(np.abs(y - wanted).max(), np.abs(run_mean - wanted_mean).max(), np.abs(run_var - wanted_var).max())
    print(f"norm_batch_welford: max error {error:.2e}")
    assert error < 5e-5


if __name__ == "__main__":
    main()
