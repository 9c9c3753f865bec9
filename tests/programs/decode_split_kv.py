"""Decoding attention: one query a sequence, keys split among programs, and a kernel that merges the parts."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def decode_part_kernel(Q, K, V, Part, Lse, Lengths, scale, H_Q, MAX_N, SPLITS: tl.constexpr,
                       GROUP: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr):
    z = tl.program_id(0)
    kv_head = tl.program_id(1)
    split = tl.program_id(2)
    length = tl.load(Lengths + z)
    per_split = tl.cdiv(tl.cdiv(length, SPLITS), BLOCK_N) * BLOCK_N
    low = split * per_split
    high = tl.minimum(low + per_split, length)
    g = tl.arange(0, BLOCK_H)
    heads = kv_head * GROUP + g
    d = tl.arange(0, D)
    q = tl.load(Q + (z * H_Q + heads[:, None]) * D + d[None, :], mask=g[:, None] < GROUP, other=0.0)
    m = tl.full([BLOCK_H], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_H], tl.float32)
    acc = tl.zeros([BLOCK_H, D], tl.float32)
    H_KV = H_Q // GROUP
    if low < high:
        for start in range(low, high, BLOCK_N):
            cols = start + tl.arange(0, BLOCK_N)
            at = ((z * H_KV + kv_head) * MAX_N + cols[:, None]) * D + d[None, :]
            k = tl.load(K + at, mask=cols[:, None] < high, other=0.0)
            s = tl.dot(q, k.T) * scale
            s = tl.where(cols[None, :] < high, s, -float("inf"))
            m_new = tl.maximum(m, tl.max(s, 1))
            p = tl.exp(s - m_new[:, None])
            shrink = tl.exp(m - m_new)
            v = tl.load(V + at, mask=cols[:, None] < high, other=0.0)
            acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
            total = total * shrink + tl.sum(p, 1)
            m = m_new
        acc = acc / total[:, None]
    part = (z * H_Q + heads) * SPLITS + split
    tl.store(Part + part[:, None] * D + d[None, :], acc, mask=g[:, None] < GROUP)
    tl.store(Lse + part, m + tl.log(total), mask=g < GROUP)


@triton.jit
def decode_merge_kernel(Part, Lse, Out, SPLITS: tl.constexpr, SPLITS_POW2: tl.constexpr, D: tl.constexpr):
    row = tl.program_id(0)
    split = tl.arange(0, SPLITS_POW2)
    d = tl.arange(0, D)
    lse = tl.load(Lse + row * SPLITS + split, mask=split < SPLITS, other=-float("inf"))
    weight = tl.exp(lse - tl.max(lse, 0))
    part = tl.load(Part + (row * SPLITS + split[:, None]) * D + d[None, :], mask=split[:, None] < SPLITS,
                   other=0.0)
    out = tl.sum(part * weight[:, None], 0) / tl.sum(weight, 0)
    tl.store(Out + row * D + d, out.to(Out.dtype.element_ty))


@triton.jit
def kv_append_kernel(KNew, VNew, K8, V8, Scales, Lengths, H_KV, MAX_N, D: tl.constexpr):
    """Puts a token's key and value, in int8 with a scale each, behind each sequence's end."""
    z = tl.program_id(0)
    head = tl.program_id(1)
    d = tl.arange(0, D)
    slot = (z * H_KV + head) * MAX_N + tl.load(Lengths + z)
    k = tl.load(KNew + (z * H_KV + head) * D + d).to(tl.float32)
    v = tl.load(VNew + (z * H_KV + head) * D + d).to(tl.float32)
    k_scale = tl.max(tl.abs(k), 0) / 127
    v_scale = tl.max(tl.abs(v), 0) / 127
    tl.store(K8 + slot * D + d, tl.floor(k / k_scale + 0.5).to(tl.int8))
    tl.store(V8 + slot * D + d, tl.floor(v / v_scale + 0.5).to(tl.int8))
    tl.store(Scales + slot * 2, k_scale)
    tl.store(Scales + slot * 2 + 1, v_scale)


@triton.jit
def decode_int8_kernel(Q, K8, V8, Scales, Out, Lengths, scale, H_Q, MAX_N, GROUP: tl.constexpr,
                       BLOCK_N: tl.constexpr, D: tl.constexpr):
    """One head a program over the int8 cache: scales are applied to scores and probabilities."""
    z = tl.program_id(0)
    head = tl.program_id(1)
    base = (z * (H_Q // GROUP) + head // GROUP) * MAX_N
    length = tl.load(Lengths + z)
    d = tl.arange(0, D)
    q = tl.load(Q + (z * H_Q + head) * D + d).to(tl.float32) * scale
    m = -1.0e30
    total = 0.0
    acc = tl.zeros([D], tl.float32)
    for start in range(0, length, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        mask = n < length
        k = tl.load(K8 + (base + n[:, None]) * D + d[None, :], mask=mask[:, None], other=0).to(tl.float32)
        s = tl.sum(k * q[None, :], 1) * tl.load(Scales + (base + n) * 2, mask=mask, other=0.0)
        s = tl.where(mask, s, -1.0e30)
        m_new = tl.maximum(m, tl.max(s, 0))
        p = tl.where(mask, tl.exp(s - m_new), 0.0)
        shrink = tl.exp(m - m_new)
        total = total * shrink + tl.sum(p, 0)
        p = p * tl.load(Scales + (base + n) * 2 + 1, mask=mask, other=0.0)
        v = tl.load(V8 + (base + n[:, None]) * D + d[None, :], mask=mask[:, None], other=0).to(tl.float32)
        acc = acc * shrink + tl.sum(v * p[:, None], 0)
        m = m_new
    tl.store(Out + (z * H_Q + head) * D + d, (acc / total).to(tl.float16))


def main():
    Z, H_Q, group, MAX_N, D, splits = 3, 6, 3, 150, 32, 3
    rng = np.random.default_rng(4)
    lengths = np.array([150, 1, 67], np.int32)
    q = rng.standard_normal((Z, H_Q, D)).astype(np.float16)
    k, v = (rng.standard_normal((Z, H_Q // group, MAX_N, D)).astype(np.float16) for _ in range(2))
    part = np.full((Z, H_Q, splits, D), np.nan, np.float32)
    lse = np.full((Z, H_Q, splits), np.nan, np.float32)
    out = np.zeros_like(q)
    decode_part_kernel[(Z, H_Q // group, splits)](q, k, v, part, lse, lengths, D**-0.5, H_Q, MAX_N,
                                                  SPLITS=splits, GROUP=group, BLOCK_H=16, BLOCK_N=16, D=D)
    decode_merge_kernel[(Z * H_Q,)](part, lse, out, SPLITS=splits, SPLITS_POW2=4, D=D)
    error = 0.0
    for z, n in enumerate(lengths):
        keys, values = (t[z, :, :n].astype(np.float64).repeat(group, 0) for t in (k, v))
        s = (keys @ q[z].astype(np.float64)[..., None])[..., 0] * D**-0.5
        p = np.exp(s - s.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        error = max(error, np.abs(out[z] - (p[:, None] @ values)[:, 0]).max())
    H_KV = H_Q // group
    k8, v8 = (np.zeros((Z, H_KV, MAX_N, D), np.int8) for _ in range(2))
    scales, filled = np.zeros((Z, H_KV, MAX_N, 2), np.float32), np.zeros(Z, np.int32)
    for n in range(20):
        kv_append_kernel[(Z, H_KV)](np.ascontiguousarray(k[:, :, n]), np.ascontiguousarray(v[:, :, n]), k8, v8, scales,
                                    filled, H_KV, MAX_N, D=D)
        filled += 1
    decode_int8_kernel[(Z, H_Q)](q, k8, v8, scales, out, filled, D**-0.5, H_Q, MAX_N, GROUP=group, BLOCK_N=16, D=D)
    k64 = (k8[:, :, :20] * scales[:, :, :20, :1].astype(np.float64)).repeat(group, 1)
    v64 = (v8[:, :, :20] * scales[:, :, :20, 1:].astype(np.float64)).repeat(group, 1)
    assert np.abs(k64[:, ::group] - k[:, :, :20]).max() < 0.02
    s = (k64 @ q.astype(np.float64)[..., None])[..., 0] * D**-0.5
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    error = max(error, np.abs(out - (p[:, :, None] @ v64)[:, :, 0]).max())
    print(f"decode_split_kv: max error {error:.2e}")
    assert error < 5e-3


if __name__ == "__main__":
    main()
