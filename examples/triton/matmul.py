"""C = A @ B in float16 with float32 sums. Programs go through C in groups of rows of tiles, so that
neighbouring programs share their tiles of A and B."""

import numpy as np
import triton
import triton.language as tl

try:
    import torch
    as_tensor = torch.from_numpy  # shares the array's memory
except ImportError:
    as_tensor = np.asarray


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
                  stride_cm, stride_cn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                  BLOCK_K: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    group = pid // (GROUP * tiles_n)
    first_m = group * GROUP
    height = min(tiles_m - first_m, GROUP)  # the last group may be lower
    inside = pid % (GROUP * tiles_n)
    pid_m = first_m + inside % height
    pid_n = inside // height

    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
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


def main():
    M, N, K = 301, 203, 157
    rng = np.random.default_rng(0)
    a = rng.standard_normal((M, K), dtype=np.float32).astype(np.float16)
    b = rng.standard_normal((K, N), dtype=np.float32).astype(np.float16)
    c = np.zeros((M, N), dtype=np.float32)

    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)
    matmul_kernel[grid](as_tensor(a), as_tensor(b), as_tensor(c), M, N, K, K, 1, N, 1, N, 1,
                        BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, GROUP=4)

    error = np.abs(c - a.astype(np.float64) @ b.astype(np.float64)).max()
    print(f"matmul: max error {error:.2e}")
    assert error < 1e-3


if __name__ == "__main__":
    main()
