"""Attention over sequences of different lengths packed one behind another (cu_seqlens), causal."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def varlen_kernel(Q, K, V, Out, Cu, scale, stride_t, stride_h, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                  D: tl.constexpr):
    sequence = tl.program_id(1)
    begin = tl.load(Cu + sequence)
    length = tl.load(Cu + sequence + 1) - begin
    if tl.program_id(0) * BLOCK_M >= length:
        return
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    base = begin.to(tl.int64) * stride_t + tl.program_id(2) * stride_h
    q = tl.load(Q + base + rows[:, None] * stride_t + d[None, :], mask=rows[:, None] < length, other=0.0)
    m = tl.full([BLOCK_M], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    for start in range(0, tl.minimum((tl.program_id(0) + 1) * BLOCK_M, length), BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        at = base + cols[:, None] * stride_t + d[None, :]
        k = tl.load(K + at, mask=cols[:, None] < length, other=0.0)
        v = tl.load(V + at, mask=cols[:, None] < length, other=0.0)
        s = tl.dot(q, k.T) * (scale * 1.4426950408889634)
        s = tl.where(rows[:, None] >= cols[None, :], s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - m_new[:, None])
        shrink = tl.exp2(m - m_new)
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
        total = total * shrink + tl.sum(p, 1)
        m = m_new
    out = acc / total[:, None]
    tl.store(Out + base + rows[:, None] * stride_t + d[None, :], out.to(tl.float16), mask=rows[:, None] < length)


@triton.jit
def varlen_lse_kernel(Q, K, Cu, Lse, scale, T, stride_t, stride_h, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                      D: tl.constexpr):
    """The logarithm of each query's sum, [heads, T]."""
    begin = tl.load(Cu + tl.program_id(1))
    end = tl.load(Cu + tl.program_id(1) + 1)
    rows = begin + tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    base = tl.program_id(2) * stride_h
    q = tl.load(Q + base + rows[:, None] * stride_t + d[None, :], mask=rows[:, None] < end, other=0.0)
    m = tl.full([BLOCK_M], -1.0e30, tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    for start in range(begin, tl.minimum(begin + (tl.program_id(0) + 1) * BLOCK_M, end), BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        k = tl.load(K + base + cols[:, None] * stride_t + d[None, :], mask=cols[:, None] < end, other=0.0)
        s = tl.where(rows[:, None] >= cols[None, :], tl.dot(q, k.T) * scale, -1.0e30)
        m_new = tl.maximum(m, tl.max(s, 1))
        total = total * tl.exp(m - m_new) + tl.sum(tl.exp(s - m_new[:, None]), 1)
        m = m_new
    tl.store(Lse + tl.program_id(2) * T + rows, m + tl.log(total), mask=rows < end)


@triton.jit
def varlen_dv_dk_kernel(Q, K, V, Out, DOut, Cu, Lse, DK, DV, scale, T, stride_t, stride_h, BLOCK_M: tl.constexpr,
                        BLOCK_N: tl.constexpr, D: tl.constexpr):
    begin = tl.load(Cu + tl.program_id(1))
    end = tl.load(Cu + tl.program_id(1) + 1)
    first = begin + tl.program_id(0) * BLOCK_N
    if first >= end:
        return
    head = tl.program_id(2)
    cols = first + tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    at = head * stride_h + cols[:, None] * stride_t + d[None, :]
    k = tl.load(K + at, mask=cols[:, None] < end, other=0.0)
    v = tl.load(V + at, mask=cols[:, None] < end, other=0.0)
    dk = tl.zeros([BLOCK_N, D], tl.float32)
    dv = tl.zeros([BLOCK_N, D], tl.float32)
    for start in range(first, end, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        mask = rows[:, None] < end
        row_at = head * stride_h + rows[:, None] * stride_t + d[None, :]
        q = tl.load(Q + row_at, mask=mask, other=0.0)
        plain = (head * T + rows[:, None]) * D + d[None, :]
        do = tl.load(DOut + plain, mask=mask, other=0.0)
        o = tl.load(Out + row_at, mask=mask, other=0.0)
        delta = tl.sum(o.to(tl.float32) * do.to(tl.float32), 1)
        lse = tl.load(Lse + head * T + rows, mask=rows < end, other=0.0)
        p = tl.exp(tl.dot(q, k.T) * scale - lse[:, None])
        p = tl.where((rows[:, None] >= cols[None, :]) & mask, p, 0.0)
        dv += tl.dot(p.to(do.dtype).T, do)
        ds = p * (tl.dot(do, v.T) - delta[:, None]) * scale
        dk += tl.dot(ds.to(q.dtype).T, q)
    plain = (head * T + cols[:, None]) * D + d[None, :]
    tl.store(DK + plain, dk, mask=cols[:, None] < end)
    tl.store(DV + plain, dv, mask=cols[:, None] < end)


def main():
    lengths, H, D = [5, 64, 0, 77, 33], 2, 32
    cu = np.cumsum([0, *lengths]).astype(np.int32)
    rng = np.random.default_rng(5)
    qkv = rng.standard_normal((cu[-1], 3, H, D)).astype(np.float16)  # one packed tensor
    q, k, v = qkv[:, 0], qkv[:, 1], qkv[:, 2]
    out = np.zeros_like(qkv)[:, 0]
    varlen_kernel[(triton.cdiv(max(lengths), 32), len(lengths), H)](
        q, k, v, out, cu, D**-0.5, q.strides[0] // 2, q.strides[1] // 2, BLOCK_M=32, BLOCK_N=32, D=D)
    error = 0.0
    for a, b in zip(cu[:-1], cu[1:]):
        if a == b:
            continue
        qs, ks, vs = (t[a:b].astype(np.float64).transpose(1, 0, 2) for t in (q, k, v))
        s = np.where(np.tri(b - a, dtype=bool), qs @ ks.swapaxes(-1, -2) * D**-0.5, -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        wanted = p / p.sum(-1, keepdims=True) @ vs
        error = max(error, np.abs(out[a:b].transpose(1, 0, 2) - wanted).max())
    T = int(cu[-1])
    lse = np.full((H, T), np.nan, np.float32)
    dk, dv = np.full((H, T, D), np.nan, np.float32), np.full((H, T, D), np.nan, np.float32)
    dout = rng.standard_normal((H, T, D)).astype(np.float16)
    strides, grid = (q.strides[0] // 2, q.strides[1] // 2), (triton.cdiv(max(lengths), 32), len(lengths), H)
    varlen_lse_kernel[grid](q, k, cu, lse, D**-0.5, T, *strides, BLOCK_M=32, BLOCK_N=32, D=D)
    varlen_dv_dk_kernel[grid](q, k, v, out, dout, cu, lse, dk, dv, D**-0.5, T, *strides, BLOCK_M=32, BLOCK_N=32, D=D)
    for a, b in zip(cu[:-1], cu[1:]):
        if a < b:
            qs, ks, vs = (t[a:b].astype(np.float64).transpose(1, 0, 2) for t in (q, k, v))
            s = np.where(np.tri(b - a, dtype=bool), qs @ ks.swapaxes(-1, -2) * D**-0.5, -np.inf)
            p = np.exp(s - s.max(-1, keepdims=True))
            p /= p.sum(-1, keepdims=True)
            do = dout[:, a:b].astype(np.float64)
            ds = p * (do @ vs.swapaxes(-1, -2) - (do * (p @ vs)).sum(-1, keepdims=True)) * D**-0.5
            assert np.abs(dv[:, a:b] - p.swapaxes(-1, -2) @ do).max() < 2e-2
            assert np.abs(dk[:, a:b] - ds.swapaxes(-1, -2) @ qs).max() < 2e-2
    print(f"attention_varlen: max error {error:.2e}")
    assert error < 5e-3


if __name__ == "__main__":
    main()
