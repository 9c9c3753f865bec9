"""Lion, and SGD with Nesterov momentum, on a strided view of a larger parameter, chosen at compile time."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def sign(x):
    return (x > 0).to(tl.float32) - (x < 0).to(tl.float32)


@triton.jit
def lion_sgd_kernel(P, G, M, lr, beta1, beta2, weight_decay, rows, cols, stride_p, RULE: tl.constexpr,
                    BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask = (r < rows)[:, None] & (c < cols)[None, :]
    p_at = P + r[:, None] * stride_p + c[None, :]
    at = r[:, None] * cols + c[None, :]
    p = tl.load(p_at, mask=mask)
    g = tl.load(G + at, mask=mask)
    m = tl.load(M + at, mask=mask)
    if RULE == "lion":
        p = p * (1 - lr * weight_decay) - lr * sign(beta1 * m + (1 - beta1) * g)
        m = beta2 * m + (1 - beta2) * g
    else:
        tl.static_assert(RULE == "nesterov")
        g += weight_decay * p
        m = beta1 * m + g
        p -= lr * (g + beta1 * m)
    tl.store(p_at, p, mask=mask)
    tl.store(M + at, m, mask=mask)


def main():
    rows, cols, lr, b1, b2, wd = 37, 70, 1e-2, 0.9, 0.99, 0.1
    rng = np.random.default_rng(36)
    error = 0.0
    for rule in ("lion", "nesterov"):
        whole = rng.standard_normal((rows, 100), dtype=np.float32)
        outside = whole[:, 90:].copy()
        p, m = whole[:, 20:90], np.zeros((rows, cols), np.float32)
        p64, m64 = p.astype(np.float64), m.astype(np.float64)
        for _ in range(3):
            g = rng.standard_normal((rows, cols), dtype=np.float32)
            lion_sgd_kernel[(triton.cdiv(rows, 16), triton.cdiv(cols, 32))](
                p, g, m, lr, b1, b2, wd, rows, cols, 100, RULE=rule, BLOCK_R=16, BLOCK_C=32)
            if rule == "lion":
                p64 = p64 * (1 - lr * wd) - lr * np.sign(b1 * m64 + (1 - b1) * g)
                m64 = b2 * m64 + (1 - b2) * g
            else:
                full = g + wd * p64
                m64 = b1 * m64 + full
                p64 = p64 - lr * (full + b1 * m64)
        error = max(error, np.abs(p - p64).max(), np.abs(m - m64).max(), np.abs(whole[:, 90:] - outside).max())
    print(f"optimizer_lion_sgd: max error {error:.2e}")
    assert error < 2e-6


if __name__ == "__main__":
    main()
