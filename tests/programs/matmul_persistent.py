"""A persistent matmul by tensor descriptors: as many programs as multiprocessors, tiles in groups, bias and
leaky ReLU at the end."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def tile_place(tile, tiles_m, tiles_n, GROUP: tl.constexpr):
    per_group = GROUP * tiles_n
    first = tile // per_group * GROUP
    size = tl.minimum(tiles_m - first, GROUP)
    return first + tile % per_group % size, tile % per_group // size


@triton.jit
def persistent_matmul_kernel(A, B, C, Bias, M, N, K, GROUP: tl.constexpr, BLOCK_M: tl.constexpr,
                             BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    a_desc = tl.make_tensor_descriptor(A, shape=[M, K], strides=[K, 1], block_shape=[BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(B, shape=[N, K], strides=[K, 1], block_shape=[BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(C, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, BLOCK_N])
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0), flatten=True):
        tile_m, tile_n = tile_place(tile, tiles_m, tiles_n, GROUP)
        acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
        for k in range(0, K, BLOCK_K):
            a = a_desc.load([tile_m * BLOCK_M, k])
            b = b_desc.load([tile_n * BLOCK_N, k])
            acc = tl.dot(a, b.T, acc)
        cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
        acc += tl.load(Bias + cols, mask=cols < N, other=0.0)[None, :]
        acc = tl.where(acc >= 0, acc, 0.01 * acc)
        c_desc.store([tile_m * BLOCK_M, tile_n * BLOCK_N], acc.to(tl.float16))


def main():
    M, N, K = 150, 104, 72
    rng = np.random.default_rng(43)
    a, b = rng.standard_normal((M, K)).astype(np.float16), rng.standard_normal((N, K)).astype(np.float16)
    bias, c = rng.standard_normal(N, dtype=np.float32), np.full((M, N), np.nan, np.float16)
    persistent_matmul_kernel[(5,)](a, b, c, bias, M, N, K, GROUP=3, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32)
    wanted = a.astype(np.float64) @ b.astype(np.float64).T + bias
    wanted = np.where(wanted >= 0, wanted, 0.01 * wanted)
    error = (np.abs(c - wanted) / (1 + np.abs(wanted))).max()
    print(f"matmul_persistent: max error {error:.2e}")
    assert error < 1e-3


if __name__ == "__main__":
    main()
