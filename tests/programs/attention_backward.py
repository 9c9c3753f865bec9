"""Attention, forward and backward in float32: a preprocess kernel, one kernel for dK and dV and one for dQ."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def fwd_save_lse(Q, K, V, Out, Lse, scale, N_Q, N_K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                 D: tl.constexpr):
    head = tl.program_id(1)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q = tl.load(Q + head * N_Q * D + rows[:, None] * D + d[None, :], mask=rows[:, None] < N_Q, other=0.0)
    m = tl.full([BLOCK_M], -1.0e30, tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    for start in range(0, N_K, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        at = head * N_K * D + cols[:, None] * D + d[None, :]
        k = tl.load(K + at, mask=cols[:, None] < N_K, other=0.0)
        v = tl.load(V + at, mask=cols[:, None] < N_K, other=0.0)
        s = tl.dot(q, k.T, input_precision="ieee") * scale
        s = tl.where(cols[None, :] < N_K, s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - m_new[:, None])
        shrink = tl.exp(m - m_new)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p, v, acc * shrink[:, None], input_precision="ieee")
        m = m_new
    tl.store(Out + head * N_Q * D + rows[:, None] * D + d[None, :], acc / total[:, None],
             mask=rows[:, None] < N_Q)
    tl.store(Lse + head * N_Q + rows, m + tl.log(total), mask=rows < N_Q)


@triton.jit
def bwd_preprocess(Out, DOut, Delta, N_Q, BLOCK_M: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    at = head * N_Q * D + rows[:, None] * D + tl.arange(0, D)[None, :]
    o = tl.load(Out + at, mask=rows[:, None] < N_Q, other=0.0)
    do = tl.load(DOut + at, mask=rows[:, None] < N_Q, other=0.0)
    tl.store(Delta + head * N_Q + rows, tl.sum(o * do, axis=1), mask=rows < N_Q)


@triton.jit
def bwd_dk_dv(Q, K, V, DOut, Lse, Delta, DK, DV, scale, N_Q, N_K, BLOCK_M: tl.constexpr,
              BLOCK_N: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1)
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    kv_at = head * N_K * D + cols[:, None] * D + d[None, :]
    mask_n = cols[:, None] < N_K
    k = tl.load(K + kv_at, mask=mask_n, other=0.0)
    v = tl.load(V + kv_at, mask=mask_n, other=0.0)
    dk = tl.zeros([BLOCK_N, D], tl.float32)
    dv = tl.zeros([BLOCK_N, D], tl.float32)
    for start in range(0, N_Q, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        mask_m = rows < N_Q
        q_at = head * N_Q * D + rows[:, None] * D + d[None, :]
        q = tl.load(Q + q_at, mask=mask_m[:, None], other=0.0)
        do = tl.load(DOut + q_at, mask=mask_m[:, None], other=0.0)
        lse = tl.load(Lse + head * N_Q + rows, mask=mask_m, other=float("inf"))
        delta = tl.load(Delta + head * N_Q + rows, mask=mask_m, other=0.0)
        s_t = tl.dot(k, q.T, input_precision="ieee") * scale
        p_t = tl.exp(s_t - lse[None, :])
        dv = tl.dot(p_t, do, dv, input_precision="ieee")
        dp_t = tl.dot(v, do.T, input_precision="ieee")
        ds_t = p_t * (dp_t - delta[None, :]) * scale
        dk = tl.dot(ds_t, q, dk, input_precision="ieee")
    tl.store(DK + kv_at, dk, mask=mask_n)
    tl.store(DV + kv_at, dv, mask=mask_n)


@triton.jit
def bwd_dq(Q, K, V, DOut, Lse, Delta, DQ, scale, N_Q, N_K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
           D: tl.constexpr):
    head = tl.program_id(1)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q_at = head * N_Q * D + rows[:, None] * D + d[None, :]
    mask_m = rows < N_Q
    q = tl.load(Q + q_at, mask=mask_m[:, None], other=0.0)
    do = tl.load(DOut + q_at, mask=mask_m[:, None], other=0.0)
    lse = tl.load(Lse + head * N_Q + rows, mask=mask_m, other=0.0)
    delta = tl.load(Delta + head * N_Q + rows, mask=mask_m, other=0.0)
    dq = tl.zeros([BLOCK_M, D], tl.float32)
    for start in tl.range(0, N_K, BLOCK_N, num_stages=2):
        cols = start + tl.arange(0, BLOCK_N)
        kv_at = head * N_K * D + cols[:, None] * D + d[None, :]
        k = tl.load(K + kv_at, mask=cols[:, None] < N_K, other=0.0)
        v = tl.load(V + kv_at, mask=cols[:, None] < N_K, other=0.0)
        p = tl.exp(tl.dot(q, k.T, input_precision="ieee") * scale - lse[:, None])
        p = tl.where(cols[None, :] < N_K, p, 0.0)
        ds = p * (tl.dot(do, v.T, input_precision="ieee") - delta[:, None]) * scale
        dq = tl.dot(ds, k, dq, input_precision="ieee")
    tl.store(DQ + q_at, dq, mask=mask_m[:, None])


def main():
    H, N_Q, N_K, D = 3, 45, 83, 16
    rng = np.random.default_rng(1)
    q, do = (rng.standard_normal((H, N_Q, D), dtype=np.float32) for _ in range(2))
    k, v = (rng.standard_normal((H, N_K, D), dtype=np.float32) for _ in range(2))
    out, dq, dk, dv = (np.full_like(t, np.nan) for t in (q, q, k, v))
    lse, delta = np.zeros((H, N_Q), np.float32), np.zeros((H, N_Q), np.float32)
    scale = D**-0.5
    blocks = dict(BLOCK_M=16, BLOCK_N=32, D=D)
    by_q, by_k = (triton.cdiv(N_Q, 16), H), (triton.cdiv(N_K, 32), H)
    fwd_save_lse[by_q](q, k, v, out, lse, scale, N_Q, N_K, **blocks)
    bwd_preprocess[by_q](out, do, delta, N_Q, BLOCK_M=16, D=D)
    bwd_dk_dv[by_k](q, k, v, do, lse, delta, dk, dv, scale, N_Q, N_K, **blocks)
    bwd_dq[by_q](q, k, v, do, lse, delta, dq, scale, N_Q, N_K, **blocks)

    q, k, v, do = (t.astype(np.float64) for t in (q, k, v, do))
    s = q @ k.swapaxes(-1, -2) * scale
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    ds = p * (do @ v.swapaxes(-1, -2) - (do * (p @ v)).sum(-1, keepdims=True)) * scale
    wanted = (p @ v, ds @ k, ds.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ do)
    error = max(np.abs(a - b).max() for a, b in zip((out, dq, dk, dv), wanted))
    print(f"attention_backward: max error {error:.2e}")
    assert error < 1e-5


if __name__ == "__main__":
    main()
