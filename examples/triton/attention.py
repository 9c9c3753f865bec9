"""Attention, softmax(q k^T) v, one block of queries a program, keys and values in blocks.

The scores past the last key are set to minus infinity, so the result is right. And yet the kernel has
a bug: run it with `tilesight run` to see which.
"""

import numpy as np
import triton
import triton.language as tl

try:
    import torch
    as_tensor = torch.from_numpy  # shares the array's memory
except ImportError:
    as_tensor = np.asarray


@triton.jit
def attention_kernel(Q, K, V, Out, scale, H, N_CTX,
                     stride_z, stride_h, stride_n, stride_d,
                     BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEAD_DIM: tl.constexpr):
    head = (tl.program_id(1) // H) * stride_z + (tl.program_id(1) % H) * stride_h
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, HEAD_DIM)
    mask_m = offs_m[:, None] < N_CTX
    q_at = head + offs_m[:, None] * stride_n + offs_d[None, :] * stride_d
    q = tl.load(Q + q_at, mask=mask_m, other=0.0)

    largest = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    for start_n in range(0, N_CTX, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        k_ptrs = K + head + offs_n[:, None] * stride_n + offs_d[None, :] * stride_d
        v_ptrs = V + head + offs_n[:, None] * stride_n + offs_d[None, :] * stride_d
        k = tl.load(k_ptrs)
        qk = tl.dot(q, tl.trans(k)) * scale
        qk = tl.where(offs_n[None, :] < N_CTX, qk, -float("inf"))
        new_largest = tl.maximum(largest, tl.max(qk, axis=1))
        p = tl.exp(qk - new_largest[:, None])
        shrink = tl.exp(largest - new_largest)
        v = tl.load(v_ptrs)
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
        total = total * shrink + tl.sum(p, axis=1)
        largest = new_largest

    tl.store(Out + q_at, (acc / total[:, None]).to(tl.float16), mask=mask_m)


def reference(q, k, v, scale):
    s = q.astype(np.float64) @ k.astype(np.float64).swapaxes(-1, -2) * scale
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True) @ v.astype(np.float64)


def main():
    Z, H, N_CTX, D = 2, 8, 1000, 64
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((Z, H, N_CTX, D), dtype=np.float32).astype(np.float16) for _ in range(3))
    out = np.zeros_like(q)
    scale = D**-0.5

    attention_kernel[(triton.cdiv(N_CTX, 128), Z * H)](
        as_tensor(q), as_tensor(k), as_tensor(v), as_tensor(out), scale, H, N_CTX,
        H * N_CTX * D, N_CTX * D, D, 1, BLOCK_M=128, BLOCK_N=64, HEAD_DIM=D)

    error = np.abs(out - reference(q, k, v, scale)).max()
    print(f"attention: max error {error:.2e}")
    assert error < 2e-3


if __name__ == "__main__":
    main()
