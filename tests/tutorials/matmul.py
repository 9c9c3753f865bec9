"""Matrix product in groups of tiles, rows and columns wrapped by a remainder, leaky ReLU at the end."""

import numpy as np
import triton
import triton.language as tl

from tutorials.close import assert_close
from twins.cases import register

case = register(globals())


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
           ACTIVATION: tl.constexpr):
    pid = tl.program_id(axis=0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * tiles_n
    first_m = (pid // in_group) * GROUP_M
    height = min(tiles_m - first_m, GROUP_M)
    pid_m = first_m + (pid % in_group) % height
    pid_n = (pid % in_group) // height

    # Rows and columns past the end wrap to the start: loaded in vain, never stored.
    offs_am = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        a = tl.load(a_ptrs, mask=offs_k[None, :] < left, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < left, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if ACTIVATION == "leaky_relu":
        acc = leaky_relu(acc)

    offs_cm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    mask = (offs_cm[:, None] < M) & (offs_cn[None, :] < N)
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=mask)


def check(run, M, N, K, dtype=np.float16, out=np.float32, activation="", transposed=False,
          tiles=(64, 64, 32), group=3):
    rng = np.random.default_rng(M + N + K)
    a = rng.standard_normal((M, K)).astype(dtype)
    b = rng.standard_normal((N, K)).astype(dtype).T if transposed else rng.standard_normal((K, N)).astype(dtype)
    c = np.full((M, N), np.nan, dtype=out)
    strides = [s // x.itemsize for x in (a, b, c) for s in x.strides]
    bm, bn, bk = tiles
    run(matmul)[(triton.cdiv(M, bm) * triton.cdiv(N, bn),)](
        a, b, c, M, N, K, *strides, BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk, GROUP_M=group,
        ACTIVATION=activation)
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    magnitude = (np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)).max()
    if activation:
        wanted = np.where(wanted >= 0, wanted, 0.01 * wanted)
    # K roundings of a float32 sum, then that of the output
    assert_close(c, wanted, K * 2.0**-24 * magnitude, float(np.finfo(out).eps))


@case()
def ragged(run):
    check(run, 133, 77, 83)


@case()
def leaky(run):
    check(run, 96, 130, 64, activation="leaky_relu", out=np.float16)


@case()
def transposed_b(run):
    check(run, 70, 64, 129, transposed=True)


@case()
def single_precision(run):
    check(run, 65, 65, 65, dtype=np.float32, tiles=(32, 32, 16))


@case()
def smaller_than_a_tile(run):
    check(run, 17, 5, 3, tiles=(32, 32, 16))


@case()
def one_row_of_groups(run):
    check(run, 64, 300, 40, group=8)
