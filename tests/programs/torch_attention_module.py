"""Attention as a torch module: an autograd.Function with a forward kernel that keeps the logarithm of its sums, and
two backward kernels, one over rows of queries and one over rows of keys; grouped heads, causal, any length, and
queries that are a strided view of one projection."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def module_forward(Q, K, V, Out, Lse, sqb, sqh, sqm, skb, skh, skm, sob, soh, som, scale, heads, group, length,
                   WIDTH: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    batch, head = tl.program_id(1) // heads, tl.program_id(1) % heads
    key_head = head // group
    d = tl.arange(0, WIDTH)
    inside = rows < length
    q = tl.load(Q + batch * sqb + head * sqh + rows[:, None] * sqm + d[None, :], mask=inside[:, None], other=0.0)
    k_base = K + batch * skb + key_head * skh
    v_base = V + batch * skb + key_head * skh
    top = tl.full([M], -float("inf"), tl.float32)
    total = tl.zeros([M], tl.float32)
    acc = tl.zeros([M, WIDTH], tl.float32)
    last = tl.minimum((tl.program_id(0) + 1) * M, length)
    for start in range(0, last, N):
        cols = start + tl.arange(0, N)
        there = cols < length
        k = tl.load(k_base + cols[:, None] * skm + d[None, :], mask=there[:, None], other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        seen = (rows[:, None] >= cols[None, :]) & there[None, :]
        scores = tl.where(seen, scores, -float("inf"))
        higher = tl.maximum(top, tl.max(scores, 1))
        p = tl.exp(scores - higher[:, None])
        shrink = tl.exp(top - higher)
        total = total * shrink + tl.sum(p, 1)
        v = tl.load(v_base + cols[:, None] * skm + d[None, :], mask=there[:, None], other=0.0)
        acc = acc * shrink[:, None] + tl.dot(p, v, input_precision="ieee")
        top = higher
    acc = acc / total[:, None]
    tl.store(Out + batch * sob + head * soh + rows[:, None] * som + d[None, :], acc, mask=inside[:, None])
    tl.store(Lse + tl.program_id(1) * length + rows, top + tl.log(total), mask=inside)


@triton.jit
def module_backward_queries(Q, K, V, Out, Grad, Lse, Delta, DQ, sqb, sqh, sqm, skb, skh, skm, sob, soh, som, scale,
                            heads, group, length, WIDTH: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    batch, head = tl.program_id(1) // heads, tl.program_id(1) % heads
    d = tl.arange(0, WIDTH)
    inside = rows < length
    at_q = batch * sqb + head * sqh + rows[:, None] * sqm + d[None, :]
    at_o = batch * sob + head * soh + rows[:, None] * som + d[None, :]
    q = tl.load(Q + at_q, mask=inside[:, None], other=0.0)
    grad = tl.load(Grad + at_o, mask=inside[:, None], other=0.0)
    out = tl.load(Out + at_o, mask=inside[:, None], other=0.0)
    delta = tl.sum(grad * out, 1)
    tl.store(Delta + tl.program_id(1) * length + rows, delta, mask=inside)
    lse = tl.load(Lse + tl.program_id(1) * length + rows, mask=inside, other=0.0)
    at_keys = batch * skb + head // group * skh
    dq = tl.zeros([M, WIDTH], tl.float32)
    last = tl.minimum((tl.program_id(0) + 1) * M, length)
    for start in range(0, last, N):
        cols = start + tl.arange(0, N)
        there = cols < length
        k = tl.load(K + at_keys + cols[:, None] * skm + d[None, :], mask=there[:, None], other=0.0)
        v = tl.load(V + at_keys + cols[:, None] * skm + d[None, :], mask=there[:, None], other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        seen = (rows[:, None] >= cols[None, :]) & there[None, :]
        p = tl.where(seen, tl.exp(scores - lse[:, None]), 0.0)
        dp = tl.dot(grad, tl.trans(v), input_precision="ieee")
        dq += tl.dot(p * (dp - delta[:, None]) * scale, k, input_precision="ieee")
    tl.store(DQ + at_o, dq, mask=inside[:, None])


@triton.jit
def module_backward_keys(Q, K, V, Grad, Lse, Delta, DK, DV, sqb, sqh, sqm, skb, skh, skm, sob, soh, som, sdb, sdh, sdm,
                         scale, heads, group, length, WIDTH: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    cols = tl.program_id(0) * N + tl.arange(0, N)
    key_heads = heads // group
    batch, key_head = tl.program_id(1) // key_heads, tl.program_id(1) % key_heads
    d = tl.arange(0, WIDTH)
    there = cols < length
    at_keys = batch * skb + key_head * skh + cols[:, None] * skm + d[None, :]
    k = tl.load(K + at_keys, mask=there[:, None], other=0.0)
    v = tl.load(V + at_keys, mask=there[:, None], other=0.0)
    dk = tl.zeros([N, WIDTH], tl.float32)
    dv = tl.zeros([N, WIDTH], tl.float32)
    for member in range(group):
        head = key_head * group + member
        lines = (batch * heads + head) * length
        for start in range(tl.program_id(0) * N // M * M, length, M):
            rows = start + tl.arange(0, M)
            inside = rows < length
            q = tl.load(Q + batch * sqb + head * sqh + rows[:, None] * sqm + d[None, :], mask=inside[:, None], other=0.0)
            grad = tl.load(Grad + batch * sob + head * soh + rows[:, None] * som + d[None, :], mask=inside[:, None],
                           other=0.0)
            lse = tl.load(Lse + lines + rows, mask=inside, other=0.0)
            delta = tl.load(Delta + lines + rows, mask=inside, other=0.0)
            scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
            seen = (rows[:, None] >= cols[None, :]) & inside[:, None]
            p = tl.where(seen, tl.exp(scores - lse[:, None]), 0.0)
            dv += tl.dot(tl.trans(p), grad, input_precision="ieee")
            ds = p * (tl.dot(grad, tl.trans(v), input_precision="ieee") - delta[:, None]) * scale
            dk += tl.dot(tl.trans(ds), q, input_precision="ieee")
    at = batch * sdb + key_head * sdh + cols[:, None] * sdm + d[None, :]
    tl.store(DK + at, dk, mask=there[:, None])
    tl.store(DV + at, dv, mask=there[:, None])


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        batch, heads, length, width = q.shape
        assert q.is_cuda and q.stride(3) == k.stride(3) == 1 and k.stride() == v.stride()
        out = torch.empty(batch, heads, length, width, device=q.device)
        lse = torch.empty(batch, heads, length, device=q.device)
        ctx.sizes = (heads, heads // k.shape[1], length)
        ctx.options = dict(WIDTH=width, M=32, N=16)
        ctx.scale = 1 / math.sqrt(width)
        module_forward[(triton.cdiv(length, 32), batch * heads)](
            q, k, v, out, lse, *q.stride()[:3], *k.stride()[:3], *out.stride()[:3], ctx.scale, *ctx.sizes, **ctx.options)
        ctx.save_for_backward(q, k, v, out, lse)
        return out

    @staticmethod
    def backward(ctx, grad):
        q, k, v, out, lse = ctx.saved_tensors
        grad = grad.contiguous()
        batch, heads, length, _ = q.shape
        delta, dq = torch.empty_like(lse), torch.empty_like(out)
        dk, dv = (torch.empty(k.shape, device=k.device) for _ in range(2))
        strides = (*q.stride()[:3], *k.stride()[:3], *out.stride()[:3])
        module_backward_queries[(triton.cdiv(length, 32), batch * heads)](
            q, k, v, out, grad, lse, delta, dq, *strides, ctx.scale, *ctx.sizes, **ctx.options)
        module_backward_keys[(triton.cdiv(length, 16), batch * k.shape[1])](
            q, k, v, grad, lse, delta, dk, dv, *strides, *dk.stride()[:3], ctx.scale, *ctx.sizes, **ctx.options)
        return dq, dk, dv


def split(x, heads, key_heads, width):
    """q, k, v: [batch, heads, length, width], views of one projection [batch, length, all heads * width]."""
    parts = x.unflatten(2, (heads + 2 * key_heads, width)).transpose(1, 2)
    return parts[:, :heads], parts[:, heads:heads + key_heads], parts[:, heads + key_heads:]


torch.manual_seed(0)
x = torch.randn(2, 45, 8 * 16, device="cuda", requires_grad=True)
out = Attention.apply(*split(x, 4, 2, 16))
weights = torch.randn_like(out)
(out * weights).sum().backward()

exact = x.detach().cpu().double().requires_grad_()
q, k, v = split(exact, 4, 2, 16)
scores = q @ k.repeat_interleave(2, 1).transpose(2, 3) / 4
scores = scores.masked_fill(torch.ones(45, 45, dtype=torch.bool).triu(1), -math.inf)
expected = scores.softmax(-1) @ v.repeat_interleave(2, 1)
(expected * weights.cpu().double()).sum().backward()

error = max((out.detach().cpu().double() - expected).abs().max().item(),
            (x.grad.cpu().double() - exact.grad).abs().max().item())
print(f"torch_attention_module: max error {error:.1e}")
assert error < 1e-4
