"""AdamW over a flat buffer of several parameters with gradient clipping by the global norm."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def grad_norm_kernel(G, NormSquare, N, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(tl.program_id(0) * BLOCK, N, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        g = tl.load(G + at, mask=at < N, other=0.0)
        total += g * g
    tl.atomic_add(NormSquare, tl.sum(total, 0))


@triton.jit
def adamw_kernel(P, G, M, V, NormSquare, Step, lr, beta1, beta2, eps, weight_decay, max_norm, N,
                 BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < N
    step = tl.load(Step).to(tl.float32)
    norm = tl.sqrt(tl.load(NormSquare))
    clip = tl.minimum(1.0, max_norm / (norm + 1e-6))
    g = tl.load(G + at, mask=mask) * clip
    p = tl.load(P + at, mask=mask)
    m = tl.load(M + at, mask=mask)
    v = tl.load(V + at, mask=mask)
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    m_hat = m / (1 - tl.exp(step * tl.log(beta1)))
    v_hat = v / (1 - tl.exp(step * tl.log(beta2)))
    p = p * (1 - lr * weight_decay) - lr * m_hat / (tl.sqrt(v_hat) + eps)
    tl.store(P + at, p, mask=mask)
    tl.store(M + at, m, mask=mask)
    tl.store(V + at, v, mask=mask)


def main():
    N, lr, b1, b2, eps, wd, max_norm = 1337, 1e-2, 0.9, 0.99, 1e-8, 0.1, 10.0
    rng = np.random.default_rng(35)
    p = rng.standard_normal(N, dtype=np.float32)
    m, v = np.zeros(N, np.float32), np.zeros(N, np.float32)
    step = np.zeros(1, np.int64)
    p64, m64, v64 = p.astype(np.float64), m.astype(np.float64), v.astype(np.float64)
    for t in range(1, 5):
        g = rng.standard_normal(N, dtype=np.float32)
        norm = np.zeros(1, np.float32)
        step += 1
        grad_norm_kernel[(3,)](g, norm, N, BLOCK=128)
        adamw_kernel[(triton.cdiv(N, 256),)](p, g, m, v, norm, step, lr, b1, b2, eps, wd, max_norm, N, BLOCK=256)
        g64 = g * min(1.0, max_norm / (np.sqrt((g.astype(np.float64) ** 2).sum()) + 1e-6))
        m64, v64 = b1 * m64 + (1 - b1) * g64, b2 * v64 + (1 - b2) * g64**2
        p64 = p64 * (1 - lr * wd) - lr * (m64 / (1 - b1**t)) / (np.sqrt(v64 / (1 - b2**t)) + eps)
    error = max(np.abs(p - p64).max(), np.abs(m - m64).max(), np.abs(v - v64).max())
    print(f"optimizer_adamw: max error {error:.2e}")
    assert error < 5e-6


if __name__ == "__main__":
    main()
