"""Fused attention, forward and backward, causal and not.

One program a block of queries and a head. Scores are kept in base 2; the forward pass stores for each
query the logarithm of its sum, from which the backward pass recomputes the probabilities.
"""

import numpy as np
import triton
import triton.language as tl

from tutorials.close import assert_close
from twins.cases import register

case = register(globals())

LOG2E = 1.4426950408889634


@triton.jit
def forward_blocks(acc, total, largest, q, K, V, scale, offs_m, offs_d, low, high, N, stride,
                   BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):
    """Adds the keys low..high to one block of queries."""
    for start in range(low, high, BLOCK_N):
        offs_n = start + tl.arange(0, BLOCK_N)
        inside = offs_n[None, :] < N
        k = tl.load(K + offs_d[:, None] + offs_n[None, :] * stride, mask=inside, other=0.0)
        s = tl.dot(q, k) * scale
        keep = inside
        if CAUSAL:
            keep = keep & (offs_m[:, None] >= offs_n[None, :])
        s = tl.where(keep, s, -1.0e6)
        new_largest = tl.maximum(largest, tl.max(s, axis=1))
        p = tl.math.exp2(s - new_largest[:, None])
        shrink = tl.math.exp2(largest - new_largest)
        v = tl.load(V + offs_n[:, None] * stride + offs_d[None, :], mask=offs_n[:, None] < N, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
        total = total * shrink + tl.sum(p, axis=1)
        largest = new_largest
    return acc, total, largest


@triton.jit
def forward(Q, K, V, Out, L, scale, H, N, stride_z, stride_h, stride_n, BLOCK_M: tl.constexpr,
            BLOCK_N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    block = tl.program_id(0)
    zh = tl.program_id(1)
    head = (zh // H).to(tl.int64) * stride_z + (zh % H).to(tl.int64) * stride_h
    offs_m = block * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, D)
    at = head + offs_m[:, None] * stride_n + offs_d[None, :]
    mask_m = offs_m[:, None] < N
    q = tl.load(Q + at, mask=mask_m, other=0.0)
    largest = tl.full([BLOCK_M], -float("inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    if CAUSAL:
        # Blocks wholly before the queries need no comparison; those on the diagonal do.
        diagonal = block * BLOCK_M
        acc, total, largest = forward_blocks(acc, total, largest, q, K + head, V + head, scale, offs_m,
                                             offs_d, 0, diagonal, N, stride_n, BLOCK_N, False)
        high = tl.minimum(diagonal + BLOCK_M, N)
        acc, total, largest = forward_blocks(acc, total, largest, q, K + head, V + head, scale, offs_m,
                                             offs_d, diagonal, high, N, stride_n, BLOCK_N, True)
    else:
        acc, total, largest = forward_blocks(acc, total, largest, q, K + head, V + head, scale, offs_m,
                                             offs_d, 0, N, N, stride_n, BLOCK_N, False)
    tl.store(L + zh * N + offs_m, largest + tl.math.log2(total), mask=offs_m < N)
    tl.store(Out + at, (acc / total[:, None]).to(Out.dtype.element_ty), mask=mask_m)


@triton.jit
def forward_described(Q, K, V, Out, scale, ZH, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                      D: tl.constexpr):
    """The same by tensor descriptors, one head at a time, so that a tail pads with zeros."""
    zh = tl.program_id(1)
    base = zh.to(tl.int64) * N * D
    q_desc = tl.make_tensor_descriptor(Q + base, shape=[N, D], strides=[D, 1], block_shape=[BLOCK_M, D])
    k_desc = tl.make_tensor_descriptor(K + base, shape=[N, D], strides=[D, 1], block_shape=[BLOCK_N, D])
    v_desc = tl.make_tensor_descriptor(V + base, shape=[N, D], strides=[D, 1], block_shape=[BLOCK_N, D])
    o_desc = tl.make_tensor_descriptor(Out + base, shape=[N, D], strides=[D, 1], block_shape=[BLOCK_M, D])
    first = tl.program_id(0) * BLOCK_M
    q = q_desc.load([first, 0])
    largest = tl.full([BLOCK_M], -float("inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        k = k_desc.load([start, 0])
        s = tl.dot(q, k.T) * scale
        s = tl.where((start + tl.arange(0, BLOCK_N))[None, :] < N, s, -1.0e6)
        new_largest = tl.maximum(largest, tl.max(s, axis=1))
        p = tl.math.exp2(s - new_largest[:, None])
        shrink = tl.math.exp2(largest - new_largest)
        v = v_desc.load([start, 0])
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
        total = total * shrink + tl.sum(p, axis=1)
        largest = new_largest
    o_desc.store([first, 0], (acc / total[:, None]).to(Out.dtype.element_ty))


@triton.jit
def backward_delta(Out, DO, Delta, N, BLOCK_M: tl.constexpr, D: tl.constexpr):
    """delta[i] = sum over d of out[i, d] * dout[i, d]."""
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    zh = tl.program_id(1)
    at = zh * N * D + offs_m[:, None] * D + tl.arange(0, D)[None, :]
    mask = offs_m[:, None] < N
    o = tl.load(Out + at, mask=mask, other=0.0).to(tl.float32)
    do = tl.load(DO + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(Delta + zh * N + offs_m, tl.sum(o * do, axis=1), mask=offs_m < N)


@triton.jit
def probabilities(q, k, l, scale, offs_m, offs_n, N, CAUSAL: tl.constexpr):
    s = tl.dot(q, tl.trans(k)) * scale
    p = tl.math.exp2(s - l[:, None])
    keep = (offs_m[:, None] < N) & (offs_n[None, :] < N)
    if CAUSAL:
        keep = keep & (offs_m[:, None] >= offs_n[None, :])
    return tl.where(keep, p, 0.0)


@triton.jit
def backward_keys(Q, K, V, DO, L, Delta, DK, DV, scale, softmax_scale, N, BLOCK_M: tl.constexpr,
                  BLOCK_N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    """dK and dV of one block of keys: over all queries that see them."""
    zh = tl.program_id(1)
    offs_n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    head = zh * N * D
    kv_at = head + offs_n[:, None] * D + offs_d[None, :]
    mask_n = offs_n[:, None] < N
    k = tl.load(K + kv_at, mask=mask_n, other=0.0)
    v = tl.load(V + kv_at, mask=mask_n, other=0.0)
    dk = tl.zeros([BLOCK_N, D], dtype=tl.float32)
    dv = tl.zeros([BLOCK_N, D], dtype=tl.float32)
    first = 0
    if CAUSAL:
        first = (tl.program_id(0) * BLOCK_N) // BLOCK_M * BLOCK_M
    for start in range(first, N, BLOCK_M):
        offs_m = start + tl.arange(0, BLOCK_M)
        mask_m = offs_m < N
        q_at = head + offs_m[:, None] * D + offs_d[None, :]
        q = tl.load(Q + q_at, mask=mask_m[:, None], other=0.0)
        do = tl.load(DO + q_at, mask=mask_m[:, None], other=0.0)
        l = tl.load(L + zh * N + offs_m, mask=mask_m, other=0.0)
        delta = tl.load(Delta + zh * N + offs_m, mask=mask_m, other=0.0)
        p = probabilities(q, k, l, scale, offs_m, offs_n, N, CAUSAL)
        dv += tl.dot(tl.trans(p).to(do.dtype), do)
        dp = tl.dot(do, tl.trans(v))
        ds = p * (dp - delta[:, None])
        dk += tl.dot(tl.trans(ds).to(q.dtype), q)
    tl.store(DV + kv_at, dv.to(DV.dtype.element_ty), mask=mask_n)
    tl.store(DK + kv_at, (dk * softmax_scale).to(DK.dtype.element_ty), mask=mask_n)


@triton.jit
def backward_queries(Q, K, V, DO, L, Delta, DQ, scale, softmax_scale, N, BLOCK_M: tl.constexpr,
                     BLOCK_N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    """dQ of one block of queries: over all keys that they see."""
    zh = tl.program_id(1)
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, D)
    head = zh * N * D
    q_at = head + offs_m[:, None] * D + offs_d[None, :]
    mask_m = offs_m < N
    q = tl.load(Q + q_at, mask=mask_m[:, None], other=0.0)
    do = tl.load(DO + q_at, mask=mask_m[:, None], other=0.0)
    l = tl.load(L + zh * N + offs_m, mask=mask_m, other=0.0)
    delta = tl.load(Delta + zh * N + offs_m, mask=mask_m, other=0.0)
    dq = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    last = N
    if CAUSAL:
        last = tl.minimum((tl.program_id(0) + 1) * BLOCK_M, N)
    for start in range(0, last, BLOCK_N):
        offs_n = start + tl.arange(0, BLOCK_N)
        kv_at = head + offs_n[:, None] * D + offs_d[None, :]
        k = tl.load(K + kv_at, mask=offs_n[:, None] < N, other=0.0)
        v = tl.load(V + kv_at, mask=offs_n[:, None] < N, other=0.0)
        p = probabilities(q, k, l, scale, offs_m, offs_n, N, CAUSAL)
        dp = tl.dot(do, tl.trans(v))
        ds = p * (dp - delta[:, None])
        dq += tl.dot(ds.to(k.dtype), k)
    tl.store(DQ + q_at, (dq * softmax_scale).to(DQ.dtype.element_ty), mask=mask_m[:, None])


def reference(q, k, v, do, scale, causal):
    q, k, v, do = (t.astype(np.float64) for t in (q, k, v, do))
    s = q @ k.swapaxes(-1, -2) * scale
    if causal:
        s = np.where(np.tri(s.shape[-1], dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    out = p @ v
    dv = p.swapaxes(-1, -2) @ do
    ds = p * (do @ v.swapaxes(-1, -2) - (do * out).sum(axis=-1, keepdims=True))
    return out, ds @ k * scale, ds.swapaxes(-1, -2) @ q * scale, dv


def tensors(Z, H, N, D, dtype):
    rng = np.random.default_rng(N)
    return [rng.standard_normal((Z, H, N, D)).astype(dtype) for _ in range(4)]


# Bounds: probabilities and gradients of scores are rounded to the operand type before a dot.
BOUND = {np.float16: 4e-3, np.float32: 5e-3}  # float32 dots round their operands to tf32


def check(run, Z, H, N, D, causal, dtype=np.float16, block=32, backward=True):
    q, k, v, do = tensors(Z, H, N, D, dtype)
    softmax_scale = D**-0.5
    scale = softmax_scale * LOG2E
    out = np.full_like(q, np.nan)
    l = np.full((Z, H, N), np.nan, np.float32)
    grid = (triton.cdiv(N, block), Z * H)
    shape = dict(BLOCK_M=block, BLOCK_N=block, D=D, CAUSAL=causal)
    run(forward)[grid](q, k, v, out, l, scale, H, N, H * N * D, N * D, D, **shape)
    wanted, dq64, dk64, dv64 = reference(q, k, v, do, softmax_scale, causal)
    assert_close(out, wanted, BOUND[dtype])
    if not backward:
        return
    delta = np.full((Z, H, N), np.nan, np.float32)
    run(backward_delta)[grid](out, do, delta, N, BLOCK_M=block, D=D)
    assert_close(delta, (do.astype(np.float64) * wanted).sum(axis=-1), D * BOUND[dtype])
    dq, dk, dv = (np.full_like(q, np.nan) for _ in range(3))
    run(backward_keys)[grid](q, k, v, do, l, delta, dk, dv, scale, softmax_scale, N, **shape)
    run(backward_queries)[grid](q, k, v, do, l, delta, dq, scale, softmax_scale, N, **shape)
    assert_close(dv, dv64, 4 * BOUND[dtype], 2e-3)
    assert_close(dk, dk64, 8 * BOUND[dtype], 2e-3)
    assert_close(dq, dq64, 8 * BOUND[dtype], 2e-3)


@case()
def full(run):
    check(run, 2, 2, 77, 32, False)


@case()
def causal(run):
    check(run, 2, 2, 77, 32, True)


@case()
def causal_on_whole_blocks(run):
    check(run, 1, 2, 96, 16, True)


@case()
def single_precision(run):
    check(run, 1, 1, 45, 16, False, dtype=np.float32)


@case()
def shorter_than_a_block(run):
    check(run, 1, 3, 19, 64, True)


@case()
def described(run):
    Z, H, N, D = 2, 2, 90, 32
    q, k, v, do = tensors(Z, H, N, D, np.float16)
    out = np.full_like(q, np.nan)
    run(forward_described)[(triton.cdiv(N, 32), Z * H)](q, k, v, out, D**-0.5 * LOG2E, Z * H, N, BLOCK_M=32,
                                                        BLOCK_N=32, D=D)
    assert_close(out, reference(q, k, v, do, D**-0.5, False)[0], BOUND[np.float16])
