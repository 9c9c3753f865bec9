"""Layer norm, forward and backward. The gradients of weight and bias are sums over all rows: programs
add theirs to one of a few partial sums, each under a spin lock, and a second kernel adds those up."""

import numpy as np
import triton
import triton.language as tl

from tutorials.close import assert_close
from twins.cases import register

case = register(globals())


@triton.jit
def forward(X, Y, W, B, Mean, Rstd, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    X += row * stride
    Y += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / N
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.0)
        squares += x * x
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / N + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < N
        w = tl.load(W + cols, mask=mask)
        b = tl.load(B + cols, mask=mask)
        x = tl.load(X + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(Y + cols, (x - mean) * rstd * w + b, mask=mask)


@triton.jit
def backward_rows(DX, DY, DW, DB, X, W, Mean, Rstd, Lock, stride, N, GROUPS: tl.constexpr,
                  BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(X + row * stride + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(DY + row * stride + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(W + cols, mask=mask, other=0).to(tl.float32)
    mean = tl.load(Mean + row)
    rstd = tl.load(Rstd + row)
    xhat = tl.where(mask, (x - mean) * rstd, 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(xhat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    tl.store(DX + row * stride + cols, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)

    group = row % GROUPS
    lock = Lock + group
    started = Lock + GROUPS + group  # 0 until the group's partial sums hold something
    dw_ptrs = DW + group * N + cols
    db_ptrs = DB + group * N + cols
    dw = dy * xhat
    db = dy
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(started) == 0:
        tl.atomic_xchg(started, 1)
    else:
        dw += tl.load(dw_ptrs, mask=mask)
        db += tl.load(db_ptrs, mask=mask)
    tl.store(dw_ptrs, dw, mask=mask)
    tl.store(db_ptrs, db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def backward_columns(DW, DB, FinalDW, FinalDB, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dw = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    db = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, M, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        at = rows[:, None] * N + cols[None, :]
        dw += tl.load(DW + at, mask=mask, other=0.0)
        db += tl.load(DB + at, mask=mask, other=0.0)
    tl.store(FinalDW + cols, tl.sum(dw, axis=0), mask=cols < N)
    tl.store(FinalDB + cols, tl.sum(db, axis=0), mask=cols < N)


EPS = 1e-5


def setup(M, N, dtype):
    rng = np.random.default_rng(M * N)
    x = (rng.standard_normal((M, N)) * 2 - 0.5).astype(dtype)
    w, b = rng.random(N).astype(dtype), rng.random(N).astype(dtype)
    dy = (0.1 * rng.standard_normal((M, N))).astype(dtype)
    return x, w, b, dy


def check(run, M, N, dtype=np.float32, groups=4, block=64):
    x, w, b, dy = setup(M, N, dtype)
    y = np.full_like(x, np.nan)
    mean, rstd = (np.full(M, np.nan, np.float32) for _ in range(2))
    run(forward)[(M,)](x, y, w, b, mean, rstd, N, N, EPS, BLOCK=block)

    x64, w64, b64, dy64 = (t.astype(np.float64) for t in (x, w, b, dy))
    mean64 = x64.mean(axis=1, keepdims=True)
    rstd64 = 1 / np.sqrt(x64.var(axis=1, keepdims=True) + EPS)
    xhat = (x64 - mean64) * rstd64
    eps = float(np.finfo(dtype).eps)
    assert_close(mean, mean64[:, 0], 2e-6)
    assert_close(rstd, rstd64[:, 0], 0, 2e-5)
    assert_close(y, xhat * w64 + b64, 2e-5 + 2 * eps, eps)

    dx = np.full_like(x, np.nan)
    dw_parts, db_parts = (np.full((groups, N), np.nan, np.float32) for _ in range(2))
    locks = np.zeros(2 * groups, np.int32)
    run(backward_rows)[(M,)](dx, dy, dw_parts, db_parts, x, w, mean, rstd, locks, N, N, GROUPS=groups,
                             BLOCK=triton.next_power_of_2(N))
    assert locks.tolist() == [0] * groups + [1] * groups
    dw, db = (np.full(N, np.nan, np.float32) for _ in range(2))
    run(backward_columns)[(triton.cdiv(N, 64),)](dw_parts, db_parts, dw, db, groups, N, BLOCK_M=8,
                                                 BLOCK_N=64)

    wdy = w64 * dy64
    c1 = (xhat * wdy).mean(axis=1, keepdims=True)
    c2 = wdy.mean(axis=1, keepdims=True)
    assert_close(dx, (wdy - (xhat * c1 + c2)) * rstd64, 1e-5 + eps, eps)
    assert_close(dw, (dy64 * xhat).sum(axis=0), M * 2e-6)
    assert_close(db, dy64.sum(axis=0), M * 1e-6)


@case()
def ragged(run):
    check(run, 23, 151)


@case()
def half_precision(run):
    check(run, 9, 200, dtype=np.float16)


@case()
def one_group(run):
    check(run, 6, 64, groups=1)


@case()
def narrow_rows(run):
    check(run, 12, 7, groups=5)
