"""The delta rule (a state that forgets what a key held before) step by step, forward and backward."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def delta_fwd_kernel(Q, K, V, Beta, Out, Kept, T, D: tl.constexpr, DV, BLOCK_V: tl.constexpr):
    head = tl.program_id(0)
    d = tl.arange(0, D)
    dv = tl.program_id(1) * BLOCK_V + tl.arange(0, BLOCK_V)
    mask = dv < DV
    state = tl.zeros([D, BLOCK_V], tl.float32)
    for t in range(T):
        q = tl.load(Q + (head * T + t) * D + d)
        k = tl.load(K + (head * T + t) * D + d)
        v = tl.load(V + (head * T + t) * DV + dv, mask=mask, other=0.0)
        beta = tl.load(Beta + head * T + t)
        u = beta * (v - tl.sum(state * k[:, None], 0))
        tl.store(Kept + (head * T + t) * DV + dv, u, mask=mask)
        state += k[:, None] * u[None, :]
        tl.store(Out + (head * T + t) * DV + dv, tl.sum(state * q[:, None], 0), mask=mask)


@triton.jit
def delta_bwd_kernel(Q, K, Beta, Kept, DOut, DQ, DK, DV_, T, D: tl.constexpr, DV, BLOCK_V: tl.constexpr):
    head = tl.program_id(0)
    d = tl.arange(0, D)
    dv = tl.arange(0, BLOCK_V)
    mask = dv < DV
    # The state of the last step is built first, then the steps are undone one by one.
    state = tl.zeros([D, BLOCK_V], tl.float32)
    for t in range(T):
        k = tl.load(K + (head * T + t) * D + d)
        u = tl.load(Kept + (head * T + t) * DV + dv, mask=mask, other=0.0)
        state += k[:, None] * u[None, :]
    dstate = tl.zeros([D, BLOCK_V], tl.float32)
    for step in range(T):
        t = T - 1 - step
        q = tl.load(Q + (head * T + t) * D + d)
        k = tl.load(K + (head * T + t) * D + d)
        u = tl.load(Kept + (head * T + t) * DV + dv, mask=mask, other=0.0)
        beta = tl.load(Beta + head * T + t)
        do = tl.load(DOut + (head * T + t) * DV + dv, mask=mask, other=0.0)
        tl.store(DQ + (head * T + t) * D + d, tl.sum(state * do[None, :], 1))
        dstate += q[:, None] * do[None, :]
        state -= k[:, None] * u[None, :]
        du = tl.sum(dstate * k[:, None], 0)
        dk = tl.sum(dstate * u[None, :], 1) - beta * tl.sum(state * du[None, :], 1)
        tl.store(DK + (head * T + t) * D + d, dk)
        tl.store(DV_ + (head * T + t) * DV + dv, beta * du, mask=mask)
        dstate -= beta * k[:, None] * du[None, :]


def forward64(q, k, v, beta):
    s = np.zeros((q.shape[0], q.shape[2], v.shape[2]))
    out = np.zeros(v.shape)
    for t in range(q.shape[1]):
        u = beta[:, t, None] * (v[:, t] - np.einsum("hdv,hd->hv", s, k[:, t]))
        s = s + k[:, t, :, None] * u[:, None, :]
        out[:, t] = np.einsum("hdv,hd->hv", s, q[:, t])
    return out


def main():
    H, T, D, DV = 2, 21, 16, 12
    rng = np.random.default_rng(27)
    q, k = (rng.standard_normal((H, T, D), dtype=np.float32) for _ in range(2))
    k /= np.linalg.norm(k, axis=-1, keepdims=True)
    v, do = (rng.standard_normal((H, T, DV), dtype=np.float32) for _ in range(2))
    beta = rng.uniform(0.2, 1, (H, T)).astype(np.float32)
    out, kept, dv = (np.full((H, T, DV), np.nan, np.float32) for _ in range(3))
    dq, dk = np.full_like(q, np.nan), np.full_like(k, np.nan)
    delta_fwd_kernel[(H, triton.cdiv(DV, 8))](q, k, v, beta, out, kept, T, D, DV, BLOCK_V=8)
    delta_bwd_kernel[(H,)](q, k, beta, kept, do, dq, dk, dv, T, D, DV, BLOCK_V=16)
    q, k, v, beta = (t.astype(np.float64) for t in (q, k, v, beta))
    error = np.abs(out - forward64(q, k, v, beta)).max()
    # Gradients along random directions, by central differences in float64.
    for i, got in enumerate((dq, dk, dv)):
        direction = rng.standard_normal(got.shape)
        moved = [[t + sign * 1e-5 * direction if j == i else t for j, t in enumerate((q, k, v))] for sign in (1, -1)]
        slope = ((forward64(*moved[0], beta) - forward64(*moved[1], beta)) * do).sum() / 2e-5
        error = max(error, abs((got * direction).sum() - slope) / max(1, abs(slope)))
    print(f"delta_rule: max error {error:.2e}")
    assert error < 2e-5


if __name__ == "__main__":
    main()
