"""Retention (linear attention with a decay for each head), chunk by chunk with the state carried over."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def retention_kernel(Q, K, V, Out, State, LogDecay, T, stride_h, stride_t, scale, CHUNK: tl.constexpr,
                     DK: tl.constexpr, DV: tl.constexpr, BLOCK_V: tl.constexpr):
    head = tl.program_id(0)
    dk = tl.arange(0, DK)
    dv = tl.program_id(1) * BLOCK_V + tl.arange(0, BLOCK_V)
    i = tl.arange(0, CHUNK)
    log_decay = tl.load(LogDecay + head)
    state = tl.zeros([DK, BLOCK_V], tl.float32)
    back = (i[:, None] - i[None, :]).to(tl.float32)
    within = tl.where(back >= 0, tl.exp(back * log_decay), 0.0)
    since_start = tl.exp((i + 1).to(tl.float32) * log_decay)
    for start in range(0, T, CHUNK):
        t = start + i
        mask = t[:, None] < T
        here = tl.minimum(CHUNK, T - start)
        q = tl.load(Q + head * stride_h + t[:, None] * stride_t + dk[None, :], mask=mask, other=0.0) * scale
        k = tl.load(K + head * stride_h + t[:, None] * stride_t + dk[None, :], mask=mask, other=0.0)
        v = tl.load(V + (head * T + t[:, None]) * DV + dv[None, :], mask=mask & (dv[None, :] < DV), other=0.0)
        s = tl.dot(q, k.T, input_precision="ieee") * within
        out = tl.dot(s, v, input_precision="ieee")
        out += tl.dot(q, state, input_precision="ieee") * since_start[:, None]
        tl.store(Out + (head * T + t[:, None]) * DV + dv[None, :], out, mask=mask & (dv[None, :] < DV))
        to_end = tl.exp((here - 1 - i).to(tl.float32) * log_decay)
        to_end = tl.where(i < here, to_end, 0.0)
        state = state * tl.exp(here.to(tl.float32) * log_decay)
        state = tl.dot(k.T * to_end[None, :], v, state, input_precision="ieee")
    tl.store(State + (head * DK + dk[:, None]) * DV + dv[None, :], state, mask=dv[None, :] < DV)


def main():
    H, T, DK, DV = 3, 75, 16, 24
    rng = np.random.default_rng(25)
    q, k = (rng.standard_normal((H, T, DK + 4), dtype=np.float32)[..., :DK] for _ in range(2))
    v = rng.standard_normal((H, T, DV), dtype=np.float32)
    decay = 1 - 2.0 ** (-3.0 - np.arange(H))
    out, state = np.full((H, T, DV), np.nan, np.float32), np.full((H, DK, DV), np.nan, np.float32)
    retention_kernel[(H, triton.cdiv(DV, 16))](q, k, v, out, state, np.log(decay).astype(np.float32), T,
                                               T * (DK + 4), DK + 4, DK**-0.5, CHUNK=32, DK=DK, DV=DV, BLOCK_V=16)
    s, wanted = np.zeros((H, DK, DV)), np.zeros((H, T, DV))
    for t in range(T):
        s = decay[:, None, None] * s + k[:, t, :, None].astype(np.float64) * v[:, t, None, :]
        wanted[:, t] = np.einsum("hk,hkv->hv", q[:, t].astype(np.float64) * DK**-0.5, s)
    error = max(np.abs(out - wanted).max(), np.abs(state - s).max())
    print(f"retention_chunk: max error {error:.2e}")
    assert error < 1e-4


if __name__ == "__main__":
    main()
