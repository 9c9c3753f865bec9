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
    print(f"linear_cross_entropy: max error {error:.2e}")
    assert error < 1e-5


if __name__ == "__main__":
    main()
