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


@triton.jit
def batch_grad_sums_kernel(X, DY, Mean, Var, DW, DB, eps, M, N, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Gradients of weight and bias; rows are cut among programs, which add by atomics."""
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_n = cols < N
    mean = tl.load(Mean + cols, mask=mask_n, other=0.0)
    rstd = tl.rsqrt(tl.load(Var + cols, mask=mask_n, other=0.0) + eps)
    dw = tl.zeros([BLOCK_N], tl.float32)
    db = tl.zeros([BLOCK_N], tl.float32)
    for start in range(tl.program_id(1) * BLOCK_M, M, tl.num_programs(1) * BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < M) & mask_n[None, :]
        x = tl.load(X + rows[:, None] * stride + cols[None, :], mask=mask, other=0.0)
        dy = tl.load(DY + rows[:, None] * N + cols[None, :], mask=mask, other=0.0)
        dw += tl.sum(dy * (x - mean[None, :]) * rstd[None, :], 0)
        db += tl.sum(dy, 0)
    tl.atomic_add(DW + cols, dw, mask=mask_n)
    tl.atomic_add(DB + cols, db, mask=mask_n)


@triton.jit
def batch_grad_kernel(X, DY, DX, Mean, Var, W, DW, DB, eps, M, N, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_n = cols < N
    mask = (rows[:, None] < M) & mask_n[None, :]
    mean = tl.load(Mean + cols, mask=mask_n, other=0.0)
    rstd = tl.rsqrt(tl.load(Var + cols, mask=mask_n, other=1.0) + eps)
    w = tl.load(W + cols, mask=mask_n, other=0.0)
    dw = tl.load(DW + cols, mask=mask_n, other=0.0) / M
    db = tl.load(DB + cols, mask=mask_n, other=0.0) / M
    x = tl.load(X + rows[:, None] * stride + cols[None, :], mask=mask, other=0.0)
    dy = tl.load(DY + rows[:, None] * N + cols[None, :], mask=mask, other=0.0)
    xhat = (x - mean[None, :]) * rstd[None, :]
    dx = (dy - db[None, :] - xhat * dw[None, :]) * (w * rstd)[None, :]
    tl.store(DX + rows[:, None] * N + cols[None, :], dx, mask=mask)


@triton.jit
def batch_eval_kernel(X, Y, RunMean, RunVar, W, B, eps, count, N, stride, BLOCK: tl.constexpr):
    """With the running statistics, elements in one line."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = i // N
    c = i % N
    mask = i < count
    x = tl.load(X + row * stride + c, mask=mask, other=0.0)
    rstd = 1 / tl.sqrt(tl.load(RunVar + c, mask=mask, other=1.0) + eps)
    y = (x - tl.load(RunMean + c, mask=mask, other=0.0)) * rstd
    tl.store(Y + i, y * tl.load(W + c, mask=mask, other=0.0) + tl.load(B + c, mask=mask, other=0.0), mask=mask)


@triton.jit
def batch_fold_kernel(RunMean, RunVar, W, B, Scale, Shift, eps, N, BLOCK: tl.constexpr):
    """The running statistics folded into one factor and one summand for each column."""
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    scale = tl.load(W + c, mask=c < N) * tl.rsqrt(tl.load(RunVar + c, mask=c < N) + eps)
    tl.store(Scale + c, scale, mask=c < N)
    tl.store(Shift + c, tl.load(B + c, mask=c < N) - tl.load(RunMean + c, mask=c < N) * scale, mask=c < N)


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
    dy = rng.standard_normal((M, N), dtype=np.float32)
    dx, dw, db = np.full((M, N), np.nan, np.float32), np.zeros(N, np.float32), np.zeros(N, np.float32)
    batch_grad_sums_kernel[(triton.cdiv(N, 16), 3)](x, dy, mean, var, dw, db, eps, M, N, 64, BLOCK_M=16, BLOCK_N=16)
    batch_grad_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, dy, dx, mean, var, w, dw, db, eps, M, N, 64,
                                                               BLOCK_M=32, BLOCK_N=32)
    r = 1 / np.sqrt(x64.var(0) + eps)
    xhat = (x64 - x64.mean(0)) * r
    wanted_dx = w * r * (dy - dy.astype(np.float64).mean(0) - xhat * (dy * xhat).mean(0))
    error = max(error, np.abs(dx - wanted_dx).max(), np.abs(dw - (dy * xhat).sum(0)).max(),
                np.abs(db - dy.astype(np.float64).sum(0)).max())
    batch_eval_kernel[(triton.cdiv(M * N, 256),)](x, y, run_mean, run_var, w, b, eps, M * N, N, 64, BLOCK=256)
    evaluated = (x64 - run_mean) / np.sqrt(run_var.astype(np.float64) + eps) * w + b
    error = max(error, (np.abs(y - evaluated) / (1 + np.abs(evaluated))).max())
    scale, shift = np.zeros(N, np.float32), np.zeros(N, np.float32)
    batch_fold_kernel[(triton.cdiv(N, 32),)](run_mean, run_var, w, b, scale, shift, eps, N, BLOCK=32)
    folded = x64 * scale + shift
    error = max(error, (np.abs(folded - evaluated) / (1 + np.abs(evaluated))).max())
    print(f"norm_batch_welford: max error {error:.2e}")
    assert error < 5e-5


if __name__ == "__main__":
    main()
