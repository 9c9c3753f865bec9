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


@triton.jit
def retention_step_kernel(Q, K, V, Out, LogDecay, T, stride_h, stride_t, scale, DK: tl.constexpr, DV: tl.constexpr,
                          BLOCK_V: tl.constexpr):
    """The same, a step at a time."""
    head = tl.program_id(0)
    dk = tl.arange(0, DK)
    dv = tl.program_id(1) * BLOCK_V + tl.arange(0, BLOCK_V)
    decay = tl.exp(tl.load(LogDecay + head))
    state = tl.zeros([DK, BLOCK_V], tl.float32)
    for t in range(T):
        q = tl.load(Q + head * stride_h + t * stride_t + dk) * scale
        k = tl.load(K + head * stride_h + t * stride_t + dk)
        v = tl.load(V + (head * T + t) * DV + dv, mask=dv < DV, other=0.0)
        state = state * decay + k[:, None] * v[None, :]
        tl.store(Out + (head * T + t) * DV + dv, tl.sum(q[:, None] * state, 0), mask=dv < DV)


@triton.jit
def retention_grad_kernel(Q, K, V, DOut, DQ, DK_, DV_, LogDecay, T, stride_h, stride_t, scale, BLOCK: tl.constexpr,
                          DK: tl.constexpr, DV: tl.constexpr, DV_POW2: tl.constexpr):
    """Pairs of blocks: a block of steps is the query of earlier blocks and the key of later ones."""
    head = tl.program_id(0)
    here = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    dk = tl.arange(0, DK)
    dv = tl.arange(0, DV_POW2)
    log_decay = tl.load(LogDecay + head)
    mask_k = here[:, None] < T
    mask_v = mask_k & (dv[None, :] < DV)
    at_k = head * stride_h + here[:, None] * stride_t + dk[None, :]
    at_v = (head * T + here[:, None]) * DV + dv[None, :]
    q = tl.load(Q + at_k, mask=mask_k, other=0.0) * scale
    k = tl.load(K + at_k, mask=mask_k, other=0.0)
    v = tl.load(V + at_v, mask=mask_v, other=0.0)
    do = tl.load(DOut + at_v, mask=mask_v, other=0.0)
    grad_q = tl.zeros([BLOCK, DK], tl.float32)
    grad_k = tl.zeros([BLOCK, DK], tl.float32)
    grad_v = tl.zeros([BLOCK, DV_POW2], tl.float32)
    for start in range(0, T, BLOCK):
        other = start + tl.arange(0, BLOCK)
        back = (here[:, None] - other[None, :]).to(tl.float32)
        mask_o = other[:, None] < T
        at_ok = head * stride_h + other[:, None] * stride_t + dk[None, :]
        at_ov = (head * T + other[:, None]) * DV + dv[None, :]
        other_k = tl.load(K + at_ok, mask=mask_o, other=0.0)
        if start <= tl.program_id(1) * BLOCK:
            other_v = tl.load(V + at_ov, mask=mask_o & (dv[None, :] < DV), other=0.0)
            weight = tl.where(back >= 0, tl.exp(tl.maximum(back, 0.0) * log_decay), 0.0)
            ds = tl.dot(do, other_v.T, input_precision="ieee") * weight
            grad_q = tl.dot(ds, other_k, grad_q, input_precision="ieee")
        if start >= tl.program_id(1) * BLOCK:
            other_q = tl.load(Q + at_ok, mask=mask_o, other=0.0) * scale
            other_do = tl.load(DOut + at_ov, mask=mask_o & (dv[None, :] < DV), other=0.0)
            weight = tl.where(back <= 0, tl.exp(tl.minimum(back, 0.0) * -log_decay), 0.0)
            s = tl.dot(k, other_q.T, input_precision="ieee") * weight
            grad_v = tl.dot(s, other_do, grad_v, input_precision="ieee")
            ds = tl.dot(v, other_do.T, input_precision="ieee") * weight
            grad_k = tl.dot(ds, other_q, grad_k, input_precision="ieee")
    plain = (head * T + here[:, None]) * DK + dk[None, :]
    tl.store(DQ + plain, grad_q * scale, mask=mask_k)
    tl.store(DK_ + plain, grad_k, mask=mask_k)
    tl.store(DV_ + at_v, grad_v, mask=mask_v)


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
    log_decay, strides = np.log(decay).astype(np.float32), (T * (DK + 4), DK + 4, DK**-0.5)
    steps = np.full((H, T, DV), np.nan, np.float32)
    retention_step_kernel[(H, triton.cdiv(DV, 16))](q, k, v, steps, log_decay, T, *strides, DK=DK, DV=DV, BLOCK_V=16)
    dout = rng.standard_normal((H, T, DV), dtype=np.float32)
    dq, dk, dv = (np.full((H, T, n), np.nan, np.float32) for n in (DK, DK, DV))
    retention_grad_kernel[(H, triton.cdiv(T, 16))](q, k, v, dout, dq, dk, dv, log_decay, T, *strides, BLOCK=16, DK=DK,
                                                   DV=DV, DV_POW2=32)
    back = np.arange(T)[:, None] - np.arange(T)[None, :]
    weight = np.where(back >= 0, decay[:, None, None] ** np.maximum(back, 0), 0) * DK**-0.5
    q64, k64, v64, do = (t.astype(np.float64) for t in (q, k, v, dout))
    ds = do @ v64.swapaxes(-1, -2) * weight
    for got, grad in ((steps, wanted), (dq, ds @ k64), (dk, ds.swapaxes(-1, -2) @ q64),
                      (dv, (q64 @ k64.swapaxes(-1, -2) * weight).swapaxes(-1, -2) @ do)):
        error = max(error, np.abs(got - grad).max())
    print(f"retention_chunk: max error {error:.2e}")
    assert error < 1e-4


if __name__ == "__main__":
    main()
