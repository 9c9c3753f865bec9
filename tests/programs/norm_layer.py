"""Layer norm, forward and backward; the gradients of weight and bias are summed in groups under a lock."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def layer_norm_fwd_kernel(X, Y, W, B, Mean, Rstd, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    X += row * stride
    Y += row * N
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, 0) / N
    square = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.0)
        square += x * x
    rstd = 1 / tl.sqrt(tl.sum(square, 0) / N + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < N
        x = tl.load(X + cols, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(W + cols, mask=mask)
        b = tl.load(B + cols, mask=mask)
        tl.store(Y + cols, (x - mean) * rstd * w + b, mask=mask)


@triton.jit
def layer_norm_bwd_kernel(DX, DY, X, W, Mean, Rstd, DW, DB, Lock, stride, N, GROUPS: tl.constexpr,
                          BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(X + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(DY + row * N + cols, mask=mask, other=0.0)
    w = tl.load(W + cols, mask=mask, other=0.0)
    mean = tl.load(Mean + row)
    rstd = tl.load(Rstd + row)
    xhat = tl.where(mask, (x - mean) * rstd, 0.0)
    wdy = w * dy
    c1 = tl.sum(xhat * wdy, 0) / N
    c2 = tl.sum(wdy, 0) / N
    tl.store(DX + row * N + cols, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)
    group = row % GROUPS
    lock = Lock + group
    count = Lock + GROUPS + group
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    seen = tl.load(count)
    dw = dy * xhat
    db = dy
    if seen == 0:
        tl.atomic_xchg(count, 1)
    else:
        dw += tl.load(DW + group * N + cols, mask=mask)
        db += tl.load(DB + group * N + cols, mask=mask)
    tl.store(DW + group * N + cols, dw, mask=mask)
    tl.store(DB + group * N + cols, db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def layer_norm_sum_kernel(Parts, Out, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, M, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        acc += tl.load(Parts + rows[:, None] * N + cols[None, :],
                       mask=(rows[:, None] < M) & (cols[None, :] < N), other=0.0)
    tl.store(Out + cols, tl.sum(acc, 0), mask=cols < N)


@triton.jit
def layer_norm_rows_kernel(X, Residual, Y, W, B, stride_x, stride_r, M, N, eps, ROWS: tl.constexpr,
                           BLOCK: tl.constexpr):
    """Several short rows a program, a residual added before."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(X + rows[:, None] * stride_x + cols[None, :], mask=mask, other=0.0).to(tl.float32)
    x += tl.load(Residual + rows[:, None] * stride_r + cols[None, :], mask=mask, other=0.0)
    mean = tl.sum(x, 1) / N
    centred = tl.where(mask, x - mean[:, None], 0.0)
    var = tl.sum(centred * centred, 1) / N
    w = tl.load(W + cols, mask=cols < N, other=0.0)
    b = tl.load(B + cols, mask=cols < N, other=0.0)
    y = centred * tl.rsqrt(var + eps)[:, None] * w[None, :] + b[None, :]
    tl.store(Y + rows[:, None] * N + cols[None, :], y, mask=mask)


def main():
    M, N, groups, eps = 29, 173, 4, 1e-5
    rng = np.random.default_rng(14)
    x = (rng.standard_normal((M, N + 7)) * 2 + 1).astype(np.float16)[:, :N]
    w, b = rng.standard_normal((2, N), dtype=np.float32)
    dy = rng.standard_normal((M, N), dtype=np.float32)
    y, dx = np.full((M, N), np.nan, np.float32), np.full((M, N), np.nan, np.float32)
    mean, rstd = np.zeros(M, np.float32), np.zeros(M, np.float32)
    dw_parts, db_parts = np.full((groups, N), np.nan, np.float32), np.full((groups, N), np.nan, np.float32)
    dw, db, lock = np.zeros(N, np.float32), np.zeros(N, np.float32), np.zeros(2 * groups, np.int32)
    layer_norm_fwd_kernel[(M,)](x, y, w, b, mean, rstd, N + 7, N, eps, BLOCK=64)
    layer_norm_bwd_kernel[(M,)](dx, dy, x, w, mean, rstd, dw_parts, db_parts, lock, N + 7, N,
                                GROUPS=groups, BLOCK=256)
    for parts, out in ((dw_parts, dw), (db_parts, db)):
        layer_norm_sum_kernel[(triton.cdiv(N, 64),)](parts, out, groups, N, BLOCK_M=4, BLOCK_N=64)
    x, w, b, dy = (t.astype(np.float64) for t in (x, w, b, dy))
    r = 1 / np.sqrt(x.var(-1, keepdims=True) + eps)
    xhat = (x - x.mean(-1, keepdims=True)) * r
    wdy = w * dy
    wanted_dx = (wdy - xhat * (xhat * wdy).mean(-1, keepdims=True) - wdy.mean(-1, keepdims=True)) * r
    error = max(np.abs(got - wanted).max() for got, wanted in (
        (y, xhat * w + b), (dx, wanted_dx), (dw, (dy * xhat).sum(0)), (db, dy.sum(0))))
    x16, residual = x.astype(np.float16), rng.standard_normal((M, 2 * N), dtype=np.float32)[:, N:]
    rows = np.full((M, N), np.nan, np.float32)
    layer_norm_rows_kernel[(triton.cdiv(M, 4),)](x16, residual, rows, w.astype(np.float32), b.astype(np.float32), N,
                                                 2 * N, M, N, eps, ROWS=4, BLOCK=256)
    both = x + residual
    wanted = (both - both.mean(-1, keepdims=True)) / np.sqrt(both.var(-1, keepdims=True) + eps) * w + b
    error = max(error, np.abs(rows - wanted).max())
    print(f"norm_layer: max error {error:.2e}")
    assert error < 2e-5 and not lock[:groups].any()


if __name__ == "__main__":
    main()
