"""The last layer fused with the loss: logits exist a tile at a time only, one pass for the logarithm of the
sum and the target's logit, one for the gradient of the hidden states."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def linear_lse_kernel(H, W, Label, Lse, Target, M, V, D: tl.constexpr, stride_h, BLOCK_M: tl.constexpr,
                      BLOCK_V: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    h = tl.load(H + rows[:, None] * stride_h + d[None, :], mask=rows[:, None] < M, other=0.0)
    label = tl.load(Label + rows, mask=rows < M, other=0)
    m = tl.full([BLOCK_M], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    target = tl.zeros([BLOCK_M], tl.float32)
    for start in range(0, V, BLOCK_V):
        v = start + tl.arange(0, BLOCK_V)
        w = tl.load(W + v[:, None] * D + d[None, :], mask=v[:, None] < V, other=0.0)
        logits = tl.dot(h, w.T, input_precision="ieee")
        logits = tl.where(v[None, :] < V, logits, -float("inf"))
        target += tl.sum(tl.where(v[None, :] == label[:, None], logits, 0.0), 1)
        m_new = tl.maximum(m, tl.max(logits, 1))
        total = total * tl.exp(m - m_new) + tl.sum(tl.exp(logits - m_new[:, None]), 1)
        m = m_new
    tl.store(Lse + rows, m + tl.log(total), mask=rows < M)
    tl.store(Target + rows, target, mask=rows < M)


@triton.jit
def linear_dhidden_kernel(H, W, Label, Lse, DH, M, V, D: tl.constexpr, stride_h, BLOCK_M: tl.constexpr,
                          BLOCK_V: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    h = tl.load(H + rows[:, None] * stride_h + d[None, :], mask=rows[:, None] < M, other=0.0)
    label = tl.load(Label + rows, mask=rows < M, other=0)
    lse = tl.load(Lse + rows, mask=rows < M, other=0.0)
    dh = tl.zeros([BLOCK_M, D], tl.float32)
    for start in range(0, V, BLOCK_V):
        v = start + tl.arange(0, BLOCK_V)
        w = tl.load(W + v[:, None] * D + d[None, :], mask=v[:, None] < V, other=0.0)
        p = tl.exp(tl.dot(h, w.T, input_precision="ieee") - lse[:, None])
        p = tl.where(v[None, :] == label[:, None], p - 1.0, p)
        p = tl.where(v[None, :] < V, p, 0.0)
        dh = tl.dot(p, w, dh, input_precision="ieee")
    tl.store(DH + rows[:, None] * D + d[None, :], dh / M, mask=rows[:, None] < M)


@triton.jit
def linear_dweight_kernel(H, W, Label, Lse, DW, M, V, D: tl.constexpr, stride_h, BLOCK_M: tl.constexpr,
                          BLOCK_V: tl.constexpr):
    v = tl.program_id(0) * BLOCK_V + tl.arange(0, BLOCK_V)
    d = tl.arange(0, D)
    w = tl.load(W + v[:, None] * D + d[None, :], mask=v[:, None] < V, other=0.0)
    dw = tl.zeros([BLOCK_V, D], tl.float32)
    for start in range(0, M, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        mask = rows < M
        h = tl.load(H + rows[:, None] * stride_h + d[None, :], mask=mask[:, None], other=0.0)
        label = tl.load(Label + rows, mask=mask, other=0)
        lse = tl.load(Lse + rows, mask=mask, other=float("inf"))
        p = tl.exp(tl.dot(w, h.T, input_precision="ieee") - lse[None, :])
        p -= ((v[:, None] == label[None, :]) & mask[None, :]).to(tl.float32)
        dw = tl.dot(p, h, dw, input_precision="ieee")
    tl.store(DW + v[:, None] * D + d[None, :], dw / M, mask=v[:, None] < V)


@triton.jit
def linear_best_kernel(H, W, Best, M, V, D: tl.constexpr, stride_h, BLOCK_M: tl.constexpr, BLOCK_V: tl.constexpr):
    """The most likely word of each row, for the accuracy."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    h = tl.load(H + rows[:, None] * stride_h + d[None, :], mask=rows[:, None] < M, other=0.0)
    best = tl.full([BLOCK_M], -float("inf"), tl.float32)
    where = tl.zeros([BLOCK_M], tl.int32)
    for start in range(0, V, BLOCK_V):
        v = start + tl.arange(0, BLOCK_V)
        w = tl.load(W + v[:, None] * D + d[None, :], mask=v[:, None] < V, other=0.0)
        logits = tl.where(v[None, :] < V, tl.dot(h, w.T, input_precision="ieee"), -float("inf"))
        value, index = tl.max(logits, 1, return_indices=True)
        where = tl.where(value > best, start + index, where)
        best = tl.maximum(best, value)
    tl.store(Best + rows, where, mask=rows < M)


@triton.jit
def linear_loss_kernel(Lse, Target, Best, Label, Loss, Right, M, BLOCK: tl.constexpr):
    loss = tl.zeros([BLOCK], tl.float32)
    right = tl.zeros([BLOCK], tl.int32)
    for start in range(0, M, BLOCK):
        rows = start + tl.arange(0, BLOCK)
        mask = rows < M
        loss += tl.load(Lse + rows, mask=mask, other=0.0) - tl.load(Target + rows, mask=mask, other=0.0)
        best = tl.load(Best + rows, mask=mask, other=-1)
        right += ((best == tl.load(Label + rows, mask=mask, other=0)) & mask).to(tl.int32)
    tl.store(Loss, tl.sum(loss, 0) / M)
    tl.store(Right, tl.sum(right, 0))


@triton.jit
def linear_scale_kernel(X, Factor, n, BLOCK: tl.constexpr):
    """Multiplies a gradient, in place, by that of the loss."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(X + at, mask=at < n)
    tl.store(X + at, x * tl.load(Factor), mask=at < n)


def main():
    M, V, D = 37, 205, 32
    rng = np.random.default_rng(20)
    h = rng.standard_normal((M, 2 * D), dtype=np.float32)[:, D:]
    w = rng.standard_normal((V, D), dtype=np.float32)
    label = rng.integers(0, V, M).astype(np.int32)
    lse, target = np.zeros(M, np.float32), np.zeros(M, np.float32)
    dh = np.full((M, D), np.nan, np.float32)
    grid = (triton.cdiv(M, 16),)
    linear_lse_kernel[grid](h, w, label, lse, target, M, V, D, 2 * D, BLOCK_M=16, BLOCK_V=64)
    linear_dhidden_kernel[grid](h, w, label, lse, dh, M, V, D, 2 * D, BLOCK_M=16, BLOCK_V=64)
    logits = h.astype(np.float64) @ w.T.astype(np.float64)
    top = logits.max(-1, keepdims=True)
    p = np.exp(logits - top)
    wanted_lse = top[:, 0] + np.log(p.sum(-1))
    loss = (wanted_lse - logits[np.arange(M), label]).mean()
    p /= p.sum(-1, keepdims=True)
    p[np.arange(M), label] -= 1
    error = max(abs((lse.astype(np.float64) - target).mean() - loss), np.abs(dh - p @ w / M).max())
    dw, best = np.full((V, D), np.nan, np.float32), np.full(M, -1, np.int32)
    mean, right = np.zeros(1, np.float32), np.zeros(1, np.int32)
    linear_dweight_kernel[(triton.cdiv(V, 32),)](h, w, label, lse, dw, M, V, D, 2 * D, BLOCK_M=16, BLOCK_V=32)
    linear_best_kernel[grid](h, w, best, M, V, D, 2 * D, BLOCK_M=16, BLOCK_V=64)
    label[::3] = best[::3]
    linear_loss_kernel[(1,)](lse, target, best, label, mean, right, M, BLOCK=16)
    assert (best == logits.argmax(-1)).all() and right[0] == (best == label).sum()
    error = max(error, np.abs(dw - p.T @ h.astype(np.float64) / M).max(), abs(mean[0] - loss))
    linear_scale_kernel[(triton.cdiv(dw.size, 256),)](dw, np.full(1, 3.0, np.float32), dw.size, BLOCK=256)
    error = max(error, np.abs(dw - 3 * (p.T @ h.astype(np.float64)) / M).max())
    print(f"linear_cross_entropy: max error {error:.2e}")
    assert error < 1e-5


if __name__ == "__main__":
    main()
