"""c = a b twice, the tiles of c in two orders: row by row, and in groups of four rows (GROUP).

Both are right. What differs is which tiles of a and b programs use that run at the same time.
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
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K,
                  BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    first_m = pid // (GROUP * tiles_n) * GROUP
    height = min(tiles_m - first_m, GROUP)
    tile_m = first_m + pid % (GROUP * tiles_n) % height
    tile_n = pid % (GROUP * tiles_n) // height

    offs_m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        offs_k = k + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + offs_m[:, None] * K + offs_k[None, :])
        b = tl.load(b_ptr + offs_k[:, None] * N + offs_n[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], acc)


def main():
    M, N, K, BLOCK = 512, 512, 128, 64
    rng = np.random.default_rng(0)
    a = rng.integers(-3, 4, (M, K)).astype(np.float16)
    b = rng.integers(-3, 4, (K, N)).astype(np.float16)
    for group in (1, 4):
        c = np.zeros((M, N), np.float32)
        matmul_kernel[(M // BLOCK * (N // BLOCK),)](as_tensor(a), as_tensor(b), as_tensor(c), M, N, K, BLOCK_M=BLOCK,
                                                    BLOCK_N=BLOCK, BLOCK_K=32, GROUP=group)
        assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()
        print(f"swizzle: GROUP={group} is right")


if __name__ == "__main__":
    main()
