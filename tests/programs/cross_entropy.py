"""Cross entropy with label smoothing, a z loss and ignored labels, in chunks of the vocabulary: the loss,
and the gradient in place of the logits."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(X, stride_x, Label, Loss, ZLoss, V, count, ignore, smoothing, z_scale,
                         HAS_SMOOTHING: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    label = tl.load(Label + row)
    X += row * stride_x
    if label == ignore:
        for start in range(0, V, BLOCK):
            cols = start + tl.arange(0, BLOCK)
            tl.store(X + cols, 0.0, mask=cols < V)
        return
    m = float("-inf")
    d = 0.0
    x_label = tl.load(X + label).cast(tl.float32)
    x_sum = 0.0
    eps = smoothing / V
    for start in range(0, V, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(X + cols, mask=cols < V, other=float("-inf")).cast(tl.float32)
        if HAS_SMOOTHING:
            x_sum += tl.sum(tl.where(cols < V, -eps * x, 0.0))
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
    lse = m + tl.log(d)
    for start in range(0, V, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(X + cols, mask=cols < V, other=float("-inf")).cast(tl.float32)
        p = tl.exp(x - m) / d
        g = p + 2 * z_scale * lse * p - eps
        g = tl.where(cols != label, g, g - (1 - smoothing)) / count
        tl.store(X + cols, g, mask=cols < V)
    loss = lse - x_label
    if HAS_SMOOTHING:
        loss = loss * (1 - smoothing) + x_sum + smoothing * lse
    z = z_scale * lse * lse
    tl.store(Loss + row, (loss + z) / count)
    tl.store(ZLoss + row, z / count)


def main():
    M, V, ignore, z_scale = 17, 301, -100, 1e-3
    rng = np.random.default_rng(19)
    error = 0.0
    for smoothing in (0.0, 0.1):
        x = (rng.standard_normal((M, V + 3)) * 3).astype(np.float32)[:, :V]
        label = rng.integers(0, V, M)
        label[[3, 8]] = ignore
        kept = label != ignore
        x64 = x.astype(np.float64)
        loss, z_loss = np.zeros(M, np.float32), np.zeros(M, np.float32)
        cross_entropy_kernel[(M,)](x, V + 3, label, loss, z_loss, V, kept.sum().item(), ignore, smoothing, z_scale,
                                   HAS_SMOOTHING=smoothing > 0, BLOCK=128)
        target = np.full((M, V), smoothing / V)
        target[np.arange(M)[kept], label[kept]] += 1 - smoothing
        top = x64.max(-1, keepdims=True)
        lse = top + np.log(np.exp(x64 - top).sum(-1, keepdims=True))
        p = np.exp(x64 - lse)
        wanted = ((target * (lse - x64)).sum(-1) + z_scale * lse[:, 0] ** 2) / kept.sum()
        grad = (p - target + 2 * z_scale * lse * p) / kept.sum()
        error = max(error, np.abs(loss - np.where(kept, wanted, 0)).max(),
                    np.abs(x - np.where(kept[:, None], grad, 0)).max())
    print(f"cross_entropy: max error {error:.2e}")
    assert error < 1e-6


if __name__ == "__main__":
    main()
