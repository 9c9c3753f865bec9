"""Attention with ALiBi slopes, a soft cap on the scores and an attention sink for each head."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def soft_cap(x, cap):
    # tanh by exponentials of what is not positive, so that nothing overflows
    e = tl.exp(-2.0 * tl.abs(x / cap))
    t = (1.0 - e) / (1.0 + e)
    return cap * tl.where(x < 0, -t, t)


@triton.jit
def alibi_softcap_kernel(Q, K, V, Slopes, Sinks, Out, scale, cap, N, stride_h, stride_n,
                         BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    slope = tl.load(Slopes + head)
    at_q = head * stride_h + rows[:, None] * stride_n + d[None, :]
    q = tl.load(Q + at_q, mask=rows[:, None] < N, other=0.0)
    # The sink takes part in the sum but has no value.
    m = tl.zeros([BLOCK_M], tl.float32) + tl.load(Sinks + head)
    total = tl.full([BLOCK_M], 1.0, tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    for start in range(0, N, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        at = head * stride_h + cols[:, None] * stride_n + d[None, :]
        k = tl.load(K + at, mask=cols[:, None] < N, other=0.0)
        v = tl.load(V + at, mask=cols[:, None] < N, other=0.0)
        s = soft_cap(tl.dot(q, k.T, input_precision="ieee") * scale, cap)
        s -= slope * tl.abs(rows[:, None] - cols[None, :]).to(tl.float32)
        s = tl.where(cols[None, :] < N, s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - m_new[:, None])
        shrink = tl.exp(m - m_new)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p, v, acc * shrink[:, None], input_precision="ieee")
        m = m_new
    tl.store(Out + at_q, acc / total[:, None], mask=rows[:, None] < N)


def main():
    H, N, D, cap = 4, 71, 32, 8.0
    rng = np.random.default_rng(3)
    q, k, v, out = (rng.standard_normal((N, H, D), dtype=np.float32).transpose(1, 0, 2) for _ in range(4))
    q = q * 3
    slopes = (2.0 ** -np.arange(1, H + 1)).astype(np.float32)
    sinks = rng.standard_normal(H).astype(np.float32)
    q = np.ascontiguousarray(q.transpose(1, 0, 2)).transpose(1, 0, 2)
    strides = [s // 4 for s in q.strides[:2]]
    alibi_softcap_kernel[(triton.cdiv(N, 16), H)](q, k, v, slopes, sinks, out, D**-0.5, cap, N, *strides,
                                                  BLOCK_M=16, BLOCK_N=32, D=D)
    q, k, v = (t.astype(np.float64) for t in (q, k, v))
    s = cap * np.tanh(q @ k.swapaxes(-1, -2) * D**-0.5 / cap)
    s -= slopes[:, None, None] * np.abs(np.arange(N)[:, None] - np.arange(N)[None, :])
    s = np.concatenate([s, np.broadcast_to(sinks[:, None, None], (H, N, 1))], axis=-1)
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    error = np.abs(out - p[..., :-1] @ v).max()
    print(f"attention_alibi_softcap: max error {error:.2e}")
    assert error < 1e-5


if __name__ == "__main__":
    main()
