"""Split-K twice: with atomic adds, and with a ticket in each tile whose last program adds up the parts."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def split_k_kernel(A, B, C, Parts, Tickets, M, N, K, stride_am, stride_bk, SPLITS: tl.constexpr,
                   ATOMIC: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    tiles_n = tl.cdiv(N, BLOCK_N)
    tile = tl.program_id(0)
    split = tl.program_id(1)
    rows = tile // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tile % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(split * BLOCK_K, K, SPLITS * BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(A + rows[:, None] * stride_am + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(B + k[:, None] * stride_bk + cols[None, :], mask=(k[:, None] < K) & (cols[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
    at = rows[:, None] * N + cols[None, :]
    if ATOMIC:
        tl.atomic_add(C + at, acc, mask=mask)
    else:
        tl.store(Parts + split * M * N + at, acc, mask=mask)
        tl.debug_barrier()
        if tl.atomic_add(Tickets + tile, 1, sem="acq_rel") == SPLITS - 1:
            total = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
            for other in tl.static_range(SPLITS):
                total += tl.load(Parts + other * M * N + at, mask=mask, other=0.0)
            tl.store(C + at, total, mask=mask)
            tl.store(Tickets + tile, 0)


def main():
    M, N, K, splits = 37, 50, 211, 4
    rng = np.random.default_rng(42)
    a = rng.standard_normal((M, K + 5)).astype(np.float16)[:, :K]
    b = rng.standard_normal((K, N + 6)).astype(np.float16)[:, 6:]
    tiles = triton.cdiv(M, 16) * triton.cdiv(N, 32)
    error = 0.0
    for atomic in (True, False):
        c = np.zeros((M, N), np.float32)
        parts, tickets = np.full((splits, M, N), np.nan, np.float32), np.zeros(tiles, np.int32)
        split_k_kernel[(tiles, splits)](a, b, c, parts, tickets, M, N, K, K + 5, N + 6, SPLITS=splits, ATOMIC=atomic,
                                        BLOCK_M=16, BLOCK_N=32, BLOCK_K=16)
        error = max(error, np.abs(c - a.astype(np.float64) @ b.astype(np.float64)).max())
    print(f"matmul_split_k: max error {error:.2e}")
    assert error < 1e-4


if __name__ == "__main__":
    main()
