"""Causal flash attention, forward, on tensors laid out [batch, sequence, head, dim] with gaps."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def causal_forward_kernel(Q, K, V, Out, Lse, scale, H, N, stride_z, stride_n, stride_h,
                          BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr):
    start_m = tl.program_id(0)
    z = tl.program_id(1) // H
    h = tl.program_id(1) % H
    base = z.to(tl.int64) * stride_z + h.to(tl.int64) * stride_h
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    q_ptrs = Q + base + offs_m[:, None] * stride_n + offs_d[None, :]
    q = tl.load(q_ptrs, mask=offs_m[:, None] < N, other=0.0)
    q = (q * scale).to(q.dtype)
    m_i = tl.full([BLOCK_M], -float("inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    k_ptrs = K + base + offs_n[None, :] * stride_n + offs_d[:, None]
    v_ptrs = V + base + offs_n[:, None] * stride_n + offs_d[None, :]
    hi = tl.minimum((start_m + 1) * BLOCK_M, N)
    for start_n in range(0, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        cols = start_n + offs_n
        k = tl.load(k_ptrs, mask=cols[None, :] < N, other=0.0)
        qk = tl.dot(q, k)
        qk = tl.where(offs_m[:, None] >= cols[None, :], qk, -float("inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(qk - m_new[:, None])
        l_i = l_i * alpha + tl.sum(p, 1)
        acc *= alpha[:, None]
        v = tl.load(v_ptrs, mask=cols[:, None] < N, other=0.0)
        acc += tl.dot(p.to(v.dtype), v)
        m_i = m_new
        k_ptrs += BLOCK_N * stride_n
        v_ptrs += BLOCK_N * stride_n
    acc /= l_i[:, None]
    o_ptrs = Out + base + offs_m[:, None] * stride_n + offs_d[None, :]
    tl.store(o_ptrs, acc.to(Out.dtype.element_ty), mask=offs_m[:, None] < N)
    tl.store(Lse + tl.program_id(1) * N + offs_m, m_i + tl.log(l_i), mask=offs_m < N)


@triton.jit
def causal_backward_kernel(Q, K, V, Out, DOut, Lse, DQ, DK, DV, scale, H, N, stride_z, stride_n, stride_h,
                           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr):
    """A block of keys a program; gradients of queries are added up by atomics, in [batch, head, sequence, dim]."""
    zh = tl.program_id(1)
    base = (zh // H).to(tl.int64) * stride_z + (zh % H).to(tl.int64) * stride_h
    offs_n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    at_n = base + offs_n[:, None] * stride_n + offs_d[None, :]
    mask_n = offs_n[:, None] < N
    k = tl.load(K + at_n, mask=mask_n, other=0.0)
    v = tl.load(V + at_n, mask=mask_n, other=0.0)
    dk = tl.zeros([BLOCK_N, D], tl.float32)
    dv = tl.zeros([BLOCK_N, D], tl.float32)
    low = tl.program_id(0) * BLOCK_N // BLOCK_M * BLOCK_M
    for start_m in range(low, N, BLOCK_M):
        offs_m = start_m + tl.arange(0, BLOCK_M)
        mask_m = offs_m < N
        at_m = base + offs_m[:, None] * stride_n + offs_d[None, :]
        q = tl.load(Q + at_m, mask=mask_m[:, None], other=0.0)
        o = tl.load(Out + at_m, mask=mask_m[:, None], other=0.0).to(tl.float32)
        do = tl.load(DOut + at_m, mask=mask_m[:, None], other=0.0)
        delta = tl.sum(o * do.to(tl.float32), 1)
        lse = tl.load(Lse + zh * N + offs_m, mask=mask_m, other=0.0)
        p = tl.exp(tl.dot(q, k.T) * scale - lse[:, None])
        keep = (offs_m[:, None] >= offs_n[None, :]) & mask_m[:, None]
        p = tl.where(keep, p, 0.0)
        dv = tl.dot(p.to(do.dtype).T, do, dv)
        ds = (p * (tl.dot(do, v.T) - delta[:, None]) * scale).to(q.dtype)
        dk = tl.dot(ds.T, q, dk)
        dq_at = (zh * N + offs_m[:, None]) * D + offs_d[None, :]
        tl.atomic_add(DQ + dq_at, tl.dot(ds, k), mask=mask_m[:, None])
    out_at = (zh * N + offs_n[:, None]) * D + offs_d[None, :]
    tl.store(DK + out_at, dk, mask=mask_n)
    tl.store(DV + out_at, dv, mask=mask_n)


@triton.jit
def gradient_layout_kernel(X, Y, H, N, stride_z, stride_n, stride_h, BLOCK_N: tl.constexpr, D: tl.constexpr):
    """[batch, head, sequence, dim] in float32 to the layout of the inputs in half precision."""
    z = tl.program_id(1) // H
    h = tl.program_id(1) % H
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    x = tl.load(X + (tl.program_id(1) * N + n[:, None]) * D + d[None, :], mask=n[:, None] < N)
    at = z * stride_z + h * stride_h + n[:, None] * stride_n + d[None, :]
    tl.store(Y + at, x.to(Y.dtype.element_ty), mask=n[:, None] < N)


def main():
    Z, N, H, D = 2, 147, 3, 32
    rng = np.random.default_rng(0)
    # Rows of H + 1 heads, of which H are used.
    q, k, v, out = (rng.standard_normal((Z, N, H + 1, D)).astype(np.float16)[:, :, :H] for _ in range(4))
    lse = np.zeros((Z, H, N), np.float32)
    strides = [s // q.itemsize for s in q.strides[:3]]
    scale = D**-0.5
    causal_forward_kernel[(triton.cdiv(N, 64), Z * H)](q, k, v, out, lse, scale, H, N, *strides,
                                                       BLOCK_M=64, BLOCK_N=32, D=D)
    q, k, v = (t.astype(np.float64).transpose(0, 2, 1, 3) for t in (q, k, v))
    s = np.where(np.tri(N, dtype=bool), q @ k.swapaxes(-1, -2) * scale, -np.inf)
    top = s.max(-1, keepdims=True)
    p = np.exp(s - top)
    error = np.abs(out.transpose(0, 2, 1, 3) - p / p.sum(-1, keepdims=True) @ v).max()
    lse_error = np.abs(lse - (top[..., 0] + np.log(p.sum(-1)))).max()
    # Gradients, from the same inputs in half precision.
    half = [np.ascontiguousarray(t.astype(np.float16)) for t in (q, k, v)]
    dout = rng.standard_normal((Z, H, N, D)).astype(np.float16)
    outs = np.ascontiguousarray(out.transpose(0, 2, 1, 3))
    dq, dk, dv = np.zeros((Z, H, N, D), np.float32), *(np.full((Z, H, N, D), np.nan, np.float32) for _ in range(2))
    causal_backward_kernel[(triton.cdiv(N, 32), Z * H)](*half, outs, dout, lse, dq, dk, dv, scale, H, N, H * N * D, D,
                                                        N * D, BLOCK_M=32, BLOCK_N=32, D=D)
    p /= p.sum(-1, keepdims=True)
    do = dout.astype(np.float64)
    ds = p * (do @ v.swapaxes(-1, -2) - (do * (p @ v)).sum(-1, keepdims=True)) * scale
    grad_error = max(np.abs(got - wanted).max() for got, wanted in (
        (dq, ds @ k), (dk, ds.swapaxes(-1, -2) @ q), (dv, p.swapaxes(-1, -2) @ do)))
    placed = np.zeros((Z, N, H + 1, D), np.float16)
    gradient_layout_kernel[(triton.cdiv(N, 64), Z * H)](dq, placed[:, :, :H], H, N, *strides, BLOCK_N=64, D=D)
    assert (placed[:, :, :H] == dq.transpose(0, 2, 1, 3).astype(np.float16)).all() and not placed[:, :, H].any()
    print(f"attention_causal: gradients, max error {grad_error:.2e}")
    assert grad_error < 3e-2
    print(f"attention_causal: max error {error:.2e}, of the logarithms {lse_error:.2e}")
    assert error < 5e-3 and lse_error < 5e-3


if __name__ == "__main__":
    main()
