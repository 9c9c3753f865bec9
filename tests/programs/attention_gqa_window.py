"""Grouped-query attention with a sliding window: several query heads share a head of keys."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def gqa_window_kernel(Q, K, V, Out, scale, N, WINDOW, GROUP: tl.constexpr, BLOCK_M: tl.constexpr,
                      BLOCK_N: tl.constexpr, D: tl.constexpr, D_POW2: tl.constexpr):
    head = tl.program_id(1)
    kv_head = head // GROUP
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D_POW2)
    mask_d = d < D
    q = tl.load(Q + (head * N + rows[:, None]) * D + d[None, :],
                mask=(rows[:, None] < N) & mask_d[None, :], other=0.0)
    m = tl.full([BLOCK_M], -1.0e30, tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D_POW2], tl.float32)
    first = tl.maximum(tl.program_id(0) * BLOCK_M - WINDOW + 1, 0) // BLOCK_N * BLOCK_N
    last = tl.minimum((tl.program_id(0) + 1) * BLOCK_M, N)
    for start in range(first, last, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        mask_kv = (cols[:, None] < N) & mask_d[None, :]
        at = (kv_head * N + cols[:, None]) * D + d[None, :]
        k = tl.load(K + at, mask=mask_kv, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        back = rows[:, None] - cols[None, :]
        keep = (back >= 0) & (back < WINDOW)
        m_new = tl.maximum(m, tl.max(tl.where(keep, s, -1.0e30), 1))
        p = tl.where(keep, tl.exp(s - m_new[:, None]), 0.0)
        shrink = tl.exp(m - m_new)
        v = tl.load(V + at, mask=mask_kv, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
        total = total * shrink + tl.sum(p, 1)
        m = m_new
    tl.store(Out + (head * N + rows[:, None]) * D + d[None, :], (acc / total[:, None]).to(tl.float16),
             mask=(rows[:, None] < N) & mask_d[None, :])


def main():
    heads, group, N, D, window = 6, 3, 133, 40, 37
    rng = np.random.default_rng(2)
    q = rng.standard_normal((heads, N, D)).astype(np.float16)
    k, v = (rng.standard_normal((heads // group, N, D)).astype(np.float16) for _ in range(2))
    out = np.zeros_like(q)
    gqa_window_kernel[(triton.cdiv(N, 32), heads)](q, k, v, out, D**-0.5, N, window, GROUP=group,
                                                   BLOCK_M=32, BLOCK_N=16, D=D, D_POW2=64)
    q, k, v = q.astype(np.float64), k.astype(np.float64).repeat(group, 0), v.astype(np.float64).repeat(group, 0)
    back = np.arange(N)[:, None] - np.arange(N)[None, :]
    s = np.where((back >= 0) & (back < window), q @ k.swapaxes(-1, -2) * D**-0.5, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    error = np.abs(out - p / p.sum(-1, keepdims=True) @ v).max()
    print(f"attention_gqa_window: max error {error:.2e}")
    assert error < 5e-3


if __name__ == "__main__":
    main()
