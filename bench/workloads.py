"""What is measured: kernels, arrays and the result that they must have.

The same file is loaded by every side (Tilesight, Triton's interpreter, TileLens), each in a process
of its own, so that all run the same kernels on the same arrays.
"""

from dataclasses import dataclass
from typing import Callable

import numpy as np
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(z_ptr + offs, x + y, mask=mask)


@triton.jit
def softmax_kernel(out_ptr, in_ptr, cols, in_stride, out_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    x = tl.load(in_ptr + row * in_stride + offs, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_stride + offs, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
                  stride_cm, stride_cn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                  BLOCK_K: tl.constexpr):
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptrs, mask=(offs_m[:, None] < M) & (offs_k[None, :] < K - k), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < K - k) & (offs_n[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
    tl.store(c_ptrs, acc, mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


@triton.jit
def layer_norm_kernel(out_ptr, in_ptr, weight_ptr, bias_ptr, cols, in_stride, out_stride, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    x = tl.load(in_ptr + row * in_stride + offs, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / cols
    centered = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centered * centered, axis=0) / cols + eps)
    weight = tl.load(weight_ptr + offs, mask=mask)
    bias = tl.load(bias_ptr + offs, mask=mask)
    tl.store(out_ptr + row * out_stride + offs, centered * rstd * weight + bias, mask=mask)


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    keep = tl.rand(seed, offs) > p
    tl.store(out_ptr + offs, tl.where(keep, x / (1 - p), 0.0), mask=mask)


@triton.jit
def attention_kernel(Q, K, V, Out, stride_h, stride_n, N_CTX, scale, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                     HEAD: tl.constexpr):
    head = tl.program_id(1)
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, HEAD)
    q_ptrs = Q + head * stride_h + offs_m[:, None] * stride_n + offs_d[None, :]
    q = tl.load(q_ptrs, mask=offs_m[:, None] < N_CTX, other=0.0)
    largest = tl.full([BLOCK_M], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD], dtype=tl.float32)
    for start in range(0, N_CTX, BLOCK_N):
        rows = start + offs_n
        k_ptrs = K + head * stride_h + rows[:, None] * stride_n + offs_d[None, :]
        v_ptrs = V + head * stride_h + rows[:, None] * stride_n + offs_d[None, :]
        k = tl.load(k_ptrs, mask=rows[:, None] < N_CTX, other=0.0)
        scores = tl.dot(q, tl.trans(k)) * scale
        scores = tl.where(rows[None, :] < N_CTX, scores, -float("inf"))
        higher = tl.maximum(largest, tl.max(scores, axis=1))
        p = tl.exp(scores - higher[:, None])
        correction = tl.exp(largest - higher)
        total = total * correction + tl.sum(p, axis=1)
        v = tl.load(v_ptrs, mask=rows[:, None] < N_CTX, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * correction[:, None])
        largest = higher
    out_ptrs = Out + head * stride_h + offs_m[:, None] * stride_n + offs_d[None, :]
    tl.store(out_ptrs, (acc / total[:, None]).to(Out.dtype.element_ty), mask=offs_m[:, None] < N_CTX)


@dataclass
class Workload:
    kernel: object
    grid: tuple
    arguments: list     # numpy arrays stand for tensors
    constants: dict
    output: np.ndarray  # one of the arguments
    expected: Callable[[], np.ndarray]
    tolerance: float

    def check(self):
        error = np.abs(self.output - self.expected()).max()
        if not error <= self.tolerance:
            raise SystemExit(f"{self.kernel.__name__}: wrong result, error {error}")


def vector_add(n=1 << 20):
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(n, dtype=np.float32) for _ in range(2))
    z = np.zeros_like(x)
    return Workload(add_kernel, (triton.cdiv(n, 1024),), [x, y, z, n], {"BLOCK": 1024},
                    z, lambda: x + y, 0.0)


def softmax(rows=1024, cols=1024):
    x = np.random.default_rng(0).standard_normal((rows, cols), dtype=np.float32)
    out = np.zeros_like(x)

    def expected():
        e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    return Workload(softmax_kernel, (rows,), [out, x, cols, cols, cols], {"BLOCK": 1024},
                    out, expected, 1e-6)


def matmul(size=512):
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((size, size), dtype=np.float32).astype(np.float16) for _ in range(2))
    c = np.zeros((size, size), dtype=np.float32)
    strides = [size, 1] * 3
    return Workload(matmul_kernel, (size // 64, size // 64), [a, b, c, size, size, size, *strides],
                    {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32},
                    c, lambda: a.astype(np.float64) @ b.astype(np.float64), 1e-3)


def layer_norm(rows=1024, cols=1024):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, cols), dtype=np.float32)
    weight, bias = (rng.standard_normal(cols, dtype=np.float32) for _ in range(2))
    out = np.zeros_like(x)

    def expected():
        wide = x.astype(np.float64)
        centered = wide - wide.mean(axis=1, keepdims=True)
        return centered / np.sqrt((centered ** 2).mean(axis=1, keepdims=True) + 1e-5) * weight + bias

    return Workload(layer_norm_kernel, (rows,), [out, x, weight, bias, cols, cols, cols, 1e-5], {"BLOCK": 1024},
                    out, expected, 1e-5)


def dropout(n=1 << 20, p=0.5):
    x = np.random.default_rng(0).standard_normal(n, dtype=np.float32)
    out = np.full_like(x, np.nan)

    def expected():
        kept = out != 0
        if not 0.499 < kept.mean() < 0.501:
            raise SystemExit(f"dropout keeps {kept.mean():.3f} of the elements")
        return np.where(kept, x / (1 - p), 0)

    return Workload(dropout_kernel, (triton.cdiv(n, 1024),), [x, out, n, p, 123], {"BLOCK": 1024}, out, expected, 1e-6)


def attention(heads=4, context=512, head=64):
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((1, heads, context, head), dtype=np.float32).astype(np.float16) for _ in range(3))
    out = np.zeros_like(q)

    def expected():
        wide_q, wide_k, wide_v = (a.astype(np.float64) for a in (q, k, v))
        scores = wide_q @ wide_k.swapaxes(-1, -2) / np.sqrt(head)
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True) @ wide_v

    return Workload(attention_kernel, (triton.cdiv(context, 64), heads),
                    [q, k, v, out, context * head, head, context, float(1 / np.sqrt(head))],
                    {"BLOCK_M": 64, "BLOCK_N": 64, "HEAD": head}, out, expected, 2e-3)


WORKLOADS = {"vector_add": vector_add, "softmax": softmax, "layer_norm": layer_norm, "dropout": dropout,
             "matmul": matmul, "attention": attention}
