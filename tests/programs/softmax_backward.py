"""Softmax and log-softmax of masked rows, forward in one pass over blocks (online) and backward."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def online_softmax_kernel(X, Y, LogY, Lengths, stride, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    length = tl.load(Lengths + row)
    m = -float("inf")
    total = 0.0
    for start in range(0, length, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * stride + cols, mask=cols < length, other=-float("inf"))
        m_new = tl.maximum(m, tl.max(x, 0))
        total = total * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), 0)
        m = m_new
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * stride + cols, mask=cols < length, other=-float("inf"))
        tl.store(Y + row * N + cols, tl.exp(x - m) / total, mask=cols < N)
        tl.store(LogY + row * N + cols, x - m - tl.log(total), mask=cols < N)


@triton.jit
def softmax_grad_kernel(Y, DY, DX, N, LOG: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, M):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    at = rows[:, None] * N + cols[None, :]
    dy = tl.load(DY + at, mask=mask, other=0.0)
    if LOG:
        y = tl.exp(tl.load(Y + at, mask=mask, other=-float("inf")))
        dx = dy - y * tl.sum(dy, 1)[:, None]
    else:
        y = tl.load(Y + at, mask=mask, other=0.0)
        dx = y * (dy - tl.sum(y * dy, 1)[:, None])
    tl.store(DX + at, dx, mask=mask)


def main():
    M, N = 13, 201
    rng = np.random.default_rng(18)
    x = (rng.standard_normal((M, N + 1)) * 5).astype(np.float32)[:, 1:]
    lengths = rng.integers(1, N + 1, M).astype(np.int32)
    lengths[0] = N
    dy = rng.standard_normal((M, N), dtype=np.float32)
    y, log_y, dx, dx_log = (np.full((M, N), np.nan, np.float32) for _ in range(4))
    online_softmax_kernel[(M,)](x, y, log_y, lengths, x.strides[0] // 4, N, BLOCK=64)
    inside = np.arange(N) < lengths[:, None]
    dy = np.where(inside, dy, 0).astype(np.float32)
    grid = (triton.cdiv(M, 4),)
    softmax_grad_kernel[grid](y, dy, dx, N, LOG=False, ROWS=4, BLOCK=256, M=M)
    softmax_grad_kernel[grid](log_y, dy, dx_log, N, LOG=True, ROWS=4, BLOCK=256, M=M)
    s = np.where(inside, x.astype(np.float64), -np.inf)
    s -= s.max(-1, keepdims=True)
    log_p = s - np.log(np.exp(s).sum(-1, keepdims=True))
    p = np.exp(log_p)
    error = max(np.abs(y - p).max(), np.abs(log_y[inside] - log_p[inside]).max(),
                np.abs(dx - p * (dy - (p * dy).sum(-1, keepdims=True))).max(),
                np.abs(dx_log - (dy - p * dy.sum(-1, keepdims=True))).max())
    assert (log_y[~inside] == -np.inf).all()
    print(f"softmax_backward: max error {error:.2e}")
    assert error < 5e-6


if __name__ == "__main__":
    main()
