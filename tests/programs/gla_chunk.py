"""Gated linear attention: a decay for each key channel and step, in chunks. One kernel carries the states
from chunk to chunk, another computes each chunk's output from the state before it."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def gla_state_kernel(K, V, G, States, T, CHUNK: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr,
                     BLOCK_V: tl.constexpr):
    head = tl.program_id(0)
    dk = tl.arange(0, DK)
    dv = tl.program_id(1) * BLOCK_V + tl.arange(0, BLOCK_V)
    i = tl.arange(0, CHUNK)
    state = tl.zeros([DK, BLOCK_V], tl.float32)
    chunks = tl.cdiv(T, CHUNK)
    for chunk in range(chunks):
        tl.store(States + ((head * chunks + chunk) * DK + dk[:, None]) * DV + dv[None, :], state)
        t = chunk * CHUNK + i
        mask = t[:, None] < T
        k = tl.load(K + (head * T + t[:, None]) * DK + dk[None, :], mask=mask, other=0.0)
        g = tl.load(G + (head * T + t[:, None]) * DK + dk[None, :], mask=mask, other=0.0)
        v = tl.load(V + (head * T + t[:, None]) * DV + dv[None, :], mask=mask, other=0.0)
        whole = tl.sum(g, 0)
        to_end = whole[None, :] - tl.cumsum(g, 0)
        state = state * tl.exp(whole)[:, None]
        state = tl.dot((k * tl.exp(to_end)).T, v, state, input_precision="ieee")


@triton.jit
def gla_output_kernel(Q, K, V, G, States, Out, T, scale, CHUNK: tl.constexpr, SUB: tl.constexpr,
                      DK: tl.constexpr, DV: tl.constexpr, BLOCK_V: tl.constexpr):
    head = tl.program_id(0)
    chunk = tl.program_id(1)
    chunks = tl.num_programs(1)
    dk = tl.arange(0, DK)
    dv = tl.program_id(2) * BLOCK_V + tl.arange(0, BLOCK_V)
    state = tl.load(States + ((head * chunks + chunk) * DK + dk[:, None]) * DV + dv[None, :])
    so_far = tl.zeros([DK], tl.float32)
    for sub in range(CHUNK // SUB):
        t = chunk * CHUNK + sub * SUB + tl.arange(0, SUB)
        mask = t[:, None] < T
        g = tl.load(G + (head * T + t[:, None]) * DK + dk[None, :], mask=mask, other=0.0)
        q = tl.load(Q + (head * T + t[:, None]) * DK + dk[None, :], mask=mask, other=0.0) * scale
        decay = tl.cumsum(g, 0) + so_far[None, :]
        out = tl.dot(q * tl.exp(decay), state, input_precision="ieee")
        # Pairs of this chunk: relative to the decay where this part begins, so that nothing overflows.
        q_here = q * tl.exp(decay - so_far[None, :])
        passed = tl.zeros([DK], tl.float32)
        for other in range(sub + 1):
            j = chunk * CHUNK + other * SUB + tl.arange(0, SUB)
            mask_j = j[:, None] < T
            g_j = tl.load(G + (head * T + j[:, None]) * DK + dk[None, :], mask=mask_j, other=0.0)
            k = tl.load(K + (head * T + j[:, None]) * DK + dk[None, :], mask=mask_j, other=0.0)
            v = tl.load(V + (head * T + j[:, None]) * DV + dv[None, :], mask=mask_j, other=0.0)
            k = k * tl.exp(so_far[None, :] - passed[None, :] - tl.cumsum(g_j, 0))
            s = tl.dot(q_here, k.T, input_precision="ieee")
            s = tl.where(t[:, None] >= j[None, :], s, 0.0)
            out = tl.dot(s, v, out, input_precision="ieee")
            passed += tl.sum(g_j, 0)
        tl.store(Out + (head * T + t[:, None]) * DV + dv[None, :], out, mask=mask)
        so_far += tl.sum(g, 0)


@triton.jit
def gla_step_kernel(Q, K, V, G, Out, Final, T, scale, DK: tl.constexpr, DV: tl.constexpr, BLOCK_V: tl.constexpr):
    """The same, a step at a time."""
    head = tl.program_id(0)
    dk = tl.arange(0, DK)
    dv = tl.program_id(1) * BLOCK_V + tl.arange(0, BLOCK_V)
    state = tl.zeros([DK, BLOCK_V], tl.float32)
    for t in range(T):
        q = tl.load(Q + (head * T + t) * DK + dk) * scale
        k = tl.load(K + (head * T + t) * DK + dk)
        g = tl.load(G + (head * T + t) * DK + dk)
        v = tl.load(V + (head * T + t) * DV + dv)
        state = state * tl.exp(g)[:, None] + k[:, None] * v[None, :]
        tl.store(Out + (head * T + t) * DV + dv, tl.sum(state * q[:, None], 0))
    tl.store(Final + (head * DK + dk[:, None]) * DV + dv[None, :], state)


@triton.jit
def gla_gate_kernel(X, Bias, G, n, DK, normalizer, lowest, BLOCK: tl.constexpr):
    """Gates: the logarithm of a sigmoid, divided and bounded from below."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(X + at, mask=mask, other=0.0)
    x += tl.load(Bias + at % DK, mask=mask, other=0.0)
    smaller = tl.minimum(x, 0.0)
    g = smaller - tl.log(1.0 + tl.exp(-tl.abs(x)))
    tl.store(G + at, tl.maximum(g / normalizer, lowest), mask=mask)


@triton.jit
def gla_output_gate_kernel(X, Gate, W, Y, eps, DV: tl.constexpr):
    """What follows in a layer: RMS norm of each head's output, times SiLU of a gate."""
    row = tl.program_id(0)
    d = tl.arange(0, DV)
    x = tl.load(X + row * DV + d)
    gate = tl.load(Gate + row * DV + d)
    rstd = tl.rsqrt(tl.sum(x * x, 0) / DV + eps)
    w = tl.load(W + d)
    tl.store(Y + row * DV + d, x * rstd * w * gate * tl.sigmoid(gate))


def main():
    H, T, DK, DV, CHUNK = 2, 83, 16, 32, 32
    rng = np.random.default_rng(26)
    q, k = (rng.standard_normal((H, T, DK), dtype=np.float32) for _ in range(2))
    v = rng.standard_normal((H, T, DV), dtype=np.float32)
    g = (-rng.uniform(0, 0.5, (H, T, DK))).astype(np.float32)
    chunks = triton.cdiv(T, CHUNK)
    states, out = np.full((H, chunks, DK, DV), np.nan, np.float32), np.full((H, T, DV), np.nan, np.float32)
    gla_state_kernel[(H, DV // 16)](k, v, g, states, T, CHUNK=CHUNK, DK=DK, DV=DV, BLOCK_V=16)
    gla_output_kernel[(H, chunks, DV // 16)](q, k, v, g, states, out, T, DK**-0.5, CHUNK=CHUNK, SUB=16,
                                             DK=DK, DV=DV, BLOCK_V=16)
    s, wanted = np.zeros((H, DK, DV)), np.zeros((H, T, DV))
    for t in range(T):
        s = np.exp(g[:, t, :, None].astype(np.float64)) * s + k[:, t, :, None] * v[:, t, None, :].astype(np.float64)
        wanted[:, t] = np.einsum("hk,hkv->hv", q[:, t].astype(np.float64) * DK**-0.5, s)
    error = np.abs(out - wanted).max()
    steps, final = np.full((H, T, DV), np.nan, np.float32), np.full((H, DK, DV), np.nan, np.float32)
    gla_step_kernel[(H, DV // 16)](q, k, v, g, steps, final, T, DK**-0.5, DK=DK, DV=DV, BLOCK_V=16)
    raw, bias, gates = k * 4, q[0, 0].copy(), np.full(k.shape, np.nan, np.float32)
    gla_gate_kernel[(triton.cdiv(k.size, 128),)](raw, bias, gates, k.size, DK, 4.0, -1.5, BLOCK=128)
    wanted_gates = np.maximum(-np.logaddexp(0, -(raw.astype(np.float64) + bias)) / 4, -1.5)
    error = max(error, np.abs(steps - wanted).max(), np.abs(final - s).max(), np.abs(gates - wanted_gates).max())
    w, gated = rng.standard_normal(DV, dtype=np.float32), np.full((H, T, DV), np.nan, np.float32)
    gla_output_gate_kernel[(H * T,)](out, v, w, gated, 1e-5, DV=DV)
    x64, v64 = out.astype(np.float64), v.astype(np.float64)
    wanted_gated = x64 / np.sqrt((x64**2).mean(-1, keepdims=True) + 1e-5) * w * v64 / (1 + np.exp(-v64))
    error = max(error, np.abs(gated - wanted_gated).max())
    print(f"gla_chunk: max error {error:.2e}")
    assert error < 2e-4


if __name__ == "__main__":
    main()
