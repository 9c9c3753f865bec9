"""Attention over sequences of different lengths, one of them empty: its rows come out as NaN.

No access is out of bounds. A row without keys has no largest score but minus infinity, and minus infinity less minus
infinity is no number.
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
def attention_kernel(Q, K, V, Lengths, Out, scale, N_CTX, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                     HEAD_DIM: tl.constexpr):
    sequence = tl.program_id(1)
    length = tl.load(Lengths + sequence)
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, HEAD_DIM)
    start = sequence * N_CTX * HEAD_DIM
    q = tl.load(Q + start + offs_m[:, None] * HEAD_DIM + offs_d[None, :])

    m_i = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    l_i = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    for start_n in range(0, N_CTX, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        valid = offs_n < length
        at = start + offs_n[:, None] * HEAD_DIM + offs_d[None, :]
        k = tl.load(K + at, mask=valid[:, None], other=0.0)
        qk = tl.dot(q, tl.trans(k)) * scale
        qk = tl.where(valid[None, :], qk, -float("inf"))
        m_new = tl.maximum(m_i, tl.max(qk, axis=1))
        p = tl.exp(qk - m_new[:, None])
        alpha = tl.exp(m_i - m_new)
        v = tl.load(V + at, mask=valid[:, None], other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        l_i = l_i * alpha + tl.sum(p, axis=1)
        m_i = m_new

    tl.store(Out + start + offs_m[:, None] * HEAD_DIM + offs_d[None, :], acc / l_i[:, None])


def main():
    Z, N_CTX, D, BLOCK_M = 4, 128, 32, 32
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((Z, N_CTX, D), dtype=np.float32).round(1).astype(np.float16) for _ in range(3))
    lengths = np.array([128, 77, 0, 32], np.int32)
    out = np.zeros((Z, N_CTX, D), np.float32)
    attention_kernel[(N_CTX // BLOCK_M, Z)](as_tensor(q), as_tensor(k), as_tensor(v), as_tensor(lengths),
                                            as_tensor(out), D**-0.5, N_CTX, BLOCK_M=BLOCK_M, BLOCK_N=32, HEAD_DIM=D)
    wrong = sorted(set(np.nonzero(np.isnan(out))[0].tolist()))
    print(f"attention: NaN in the sequences {wrong}")


if __name__ == "__main__":
    main()
