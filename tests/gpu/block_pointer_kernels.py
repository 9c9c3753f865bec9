"""The same kernels three times: on pointers written by hand, on Triton's block pointers (3.6 and 3.7 have them), and on
those of the library, with pointers or (`D`) with descriptors. Strides of 1 are constexpr, as they are in practice."""

import sys
from pathlib import Path

import triton
import triton.language as tl

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "block_ptr"))
from flavours import library

bp = library()


# --- add: one dimension ----------------------------------------------------------------------------------------------


@triton.jit
def add_by_hand(x, y, z, n, B: tl.constexpr, D: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    tl.store(z + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def add_triton(x, y, z, n, B: tl.constexpr, D: tl.constexpr):
    first = tl.program_id(0) * B
    px = tl.make_block_ptr(x, (n, ), (1, ), (first, ), (B, ), (0, ))
    py = tl.make_block_ptr(y, (n, ), (1, ), (first, ), (B, ), (0, ))
    pz = tl.make_block_ptr(z, (n, ), (1, ), (first, ), (B, ), (0, ))
    total = tl.load(px, boundary_check=(0, )) + tl.load(py, boundary_check=(0, ))
    tl.store(pz, total, boundary_check=(0, ))


@triton.jit
def add_library(x, y, z, n, B: tl.constexpr, D: tl.constexpr):
    first = tl.program_id(0) * B
    px = bp.make_block_ptr(x, (n, ), (1, ), (first, ), (B, ), (0, ), descriptor=D)
    py = bp.make_block_ptr(y, (n, ), (1, ), (first, ), (B, ), (0, ), descriptor=D)
    pz = bp.make_block_ptr(z, (n, ), (1, ), (first, ), (B, ), (0, ), descriptor=D)
    total = bp.load(px, boundary_check=(0, )) + bp.load(py, boundary_check=(0, ))
    bp.store(pz, total, boundary_check=(0, ))


# --- softmax: a row at a time, in a loop over its columns ------------------------------------------------------------


@triton.jit
def softmax_by_hand(x, y, M, N, stride, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.arange(0, BN)
    top = tl.full((BM, ), float("-inf"), tl.float32)
    total = tl.zeros((BM, ), tl.float32)
    for k in range(0, N, BN):
        n = k + columns
        inside = (m < M)[:, None] & (n < N)[None, :]
        tile = tl.load(x + m[:, None] * stride + n[None, :], mask=inside, other=0.0)
        tile = tl.where((n < N)[None, :], tile, float("-inf"))
        higher = tl.maximum(top, tl.max(tile, 1))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(tile - higher[:, None]), 1)
        top = higher
    for k in range(0, N, BN):
        n = k + columns
        inside = (m < M)[:, None] & (n < N)[None, :]
        tile = tl.load(x + m[:, None] * stride + n[None, :], mask=inside, other=0.0)
        tl.store(y + m[:, None] * stride + n[None, :], tl.exp(tile - top[:, None]) / total[:, None], mask=inside)


@triton.jit
def softmax_triton(x, y, M, N, stride, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0) * BM
    columns = tl.arange(0, BN)
    top = tl.full((BM, ), float("-inf"), tl.float32)
    total = tl.zeros((BM, ), tl.float32)
    p = tl.make_block_ptr(x, (M, N), (stride, 1), (m, 0), (BM, BN), (1, 0))
    q = tl.make_block_ptr(y, (M, N), (stride, 1), (m, 0), (BM, BN), (1, 0))
    r = p
    for k in range(0, N, BN):
        tile = tl.load(p, boundary_check=(0, 1), padding_option="zero")
        tile = tl.where((k + columns < N)[None, :], tile, float("-inf"))
        higher = tl.maximum(top, tl.max(tile, 1))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(tile - higher[:, None]), 1)
        top = higher
        p = tl.advance(p, (0, BN))
    for k in range(0, N, BN):
        tile = tl.load(r, boundary_check=(0, 1), padding_option="zero")
        tl.store(q, tl.exp(tile - top[:, None]) / total[:, None], boundary_check=(0, 1))
        r = tl.advance(r, (0, BN))
        q = tl.advance(q, (0, BN))


@triton.jit
def softmax_library(x, y, M, N, stride, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0) * BM
    columns = tl.arange(0, BN)
    top = tl.full((BM, ), float("-inf"), tl.float32)
    total = tl.zeros((BM, ), tl.float32)
    p = bp.make_block_ptr(x, (M, N), (stride, 1), (m, 0), (BM, BN), (1, 0), descriptor=D)
    q = bp.make_block_ptr(y, (M, N), (stride, 1), (m, 0), (BM, BN), (1, 0), descriptor=D)
    r = p
    for k in range(0, N, BN):
        tile = bp.load(p, boundary_check=(0, 1), padding_option="zero")
        tile = tl.where((k + columns < N)[None, :], tile, float("-inf"))
        higher = tl.maximum(top, tl.max(tile, 1))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(tile - higher[:, None]), 1)
        top = higher
        p = bp.advance(p, (0, BN))
    for k in range(0, N, BN):
        tile = bp.load(r, boundary_check=(0, 1), padding_option="zero")
        bp.store(q, tl.exp(tile - top[:, None]) / total[:, None], boundary_check=(0, 1))
        r = bp.advance(r, (0, BN))
        q = bp.advance(q, (0, BN))


# --- matmul: every dimension checked; b row-major, or (BT) column-major ----------------------------------------------


@triton.jit
def matmul_by_hand(a, b, c, M, N, K, lda, ldb, ldc, BT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                   BK: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + m[:, None] * lda + k[None, :]
    if BT:
        pb = b + k[:, None] + n[None, :] * ldb
    else:
        pb = b + k[:, None] * ldb + n[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(pa, mask=(m < M)[:, None] & (k < K - start)[None, :], other=0.0)
        y = tl.load(pb, mask=(k < K - start)[:, None] & (n < N)[None, :], other=0.0)
        total = tl.dot(x, y, total)
        pa += BK
        if BT:
            pb += BK
        else:
            pb += BK * ldb
    inside = (m < M)[:, None] & (n < N)[None, :]
    tl.store(c + m[:, None] * ldc + n[None, :], total.to(c.dtype.element_ty), mask=inside)


@triton.jit
def matmul_triton(a, b, c, M, N, K, lda, ldb, ldc, BT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                  BK: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    pa = tl.make_block_ptr(a, (M, K), (lda, 1), (m, 0), (BM, BK), (1, 0))
    if BT:
        pb = tl.make_block_ptr(b, (K, N), (1, ldb), (0, n), (BK, BN), (0, 1))
    else:
        pb = tl.make_block_ptr(b, (K, N), (ldb, 1), (0, n), (BK, BN), (1, 0))
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(pa, boundary_check=(0, 1), padding_option="zero")
        y = tl.load(pb, boundary_check=(0, 1), padding_option="zero")
        total = tl.dot(x, y, total)
        pa = tl.advance(pa, (0, BK))
        pb = tl.advance(pb, (BK, 0))
    pc = tl.make_block_ptr(c, (M, N), (ldc, 1), (m, n), (BM, BN), (1, 0))
    tl.store(pc, total.to(c.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def matmul_library(a, b, c, M, N, K, lda, ldb, ldc, BT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                   BK: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    pa = bp.make_block_ptr(a, (M, K), (lda, 1), (m, 0), (BM, BK), (1, 0), descriptor=D)
    if BT:
        pb = bp.make_block_ptr(b, (K, N), (1, ldb), (0, n), (BK, BN), (0, 1), descriptor=D)
    else:
        pb = bp.make_block_ptr(b, (K, N), (ldb, 1), (0, n), (BK, BN), (1, 0), descriptor=D)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = bp.load(pa, boundary_check=(0, 1), padding_option="zero")
        y = bp.load(pb, boundary_check=(0, 1), padding_option="zero")
        total = tl.dot(x, y, total)
        pa = bp.advance(pa, (0, BK))
        pb = bp.advance(pb, (BK, 0))
    pc = bp.make_block_ptr(c, (M, N), (ldc, 1), (m, n), (BM, BN), (1, 0))
    bp.store(pc, total.to(c.dtype.element_ty), boundary_check=(0, 1))


# --- attention: one head of [T, 64] a program, keys read through a transposed block ----------------------------------


@triton.jit
def attention_by_hand(q, k, v, o, T, stride, scale, BM: tl.constexpr, BN: tl.constexpr, W: tl.constexpr,
                      D: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * T * stride
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    w = tl.arange(0, W)
    queries = tl.load(q + head + m[:, None] * stride + w[None, :], mask=(m < T)[:, None], other=0.0)
    pk = k + head + w[:, None] + n[None, :] * stride
    pv = v + head + n[:, None] * stride + w[None, :]
    top = tl.full((BM, ), float("-inf"), tl.float32)
    total = tl.zeros((BM, ), tl.float32)
    out = tl.zeros((BM, W), tl.float32)
    for start in range(0, T, BN):
        keys = tl.load(pk, mask=(n < T - start)[None, :], other=0.0)
        scores = tl.dot(queries, keys) * scale
        scores = tl.where((start + n < T)[None, :], scores, float("-inf"))
        higher = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        fade = tl.exp2(top - higher)
        total = total * fade + tl.sum(weights, 1)
        values = tl.load(pv, mask=(n < T - start)[:, None], other=0.0)
        out = tl.dot(weights.to(values.dtype), values, out * fade[:, None])
        top = higher
        pk += BN * stride
        pv += BN * stride
    out = out / total[:, None]
    tl.store(o + head + m[:, None] * stride + w[None, :], out.to(o.dtype.element_ty), mask=(m < T)[:, None])


@triton.jit
def attention_triton(q, k, v, o, T, stride, scale, BM: tl.constexpr, BN: tl.constexpr, W: tl.constexpr,
                     D: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * T * stride
    m = tl.program_id(0) * BM
    n = tl.arange(0, BN)
    pq = tl.make_block_ptr(q + head, (T, W), (stride, 1), (m, 0), (BM, W), (1, 0))
    pk = tl.make_block_ptr(k + head, (W, T), (1, stride), (0, 0), (W, BN), (0, 1))
    pv = tl.make_block_ptr(v + head, (T, W), (stride, 1), (0, 0), (BN, W), (1, 0))
    queries = tl.load(pq, boundary_check=(0, ), padding_option="zero")
    top = tl.full((BM, ), float("-inf"), tl.float32)
    total = tl.zeros((BM, ), tl.float32)
    out = tl.zeros((BM, W), tl.float32)
    for start in range(0, T, BN):
        keys = tl.load(pk, boundary_check=(1, ), padding_option="zero")
        scores = tl.dot(queries, keys) * scale
        scores = tl.where((start + n < T)[None, :], scores, float("-inf"))
        higher = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        fade = tl.exp2(top - higher)
        total = total * fade + tl.sum(weights, 1)
        values = tl.load(pv, boundary_check=(0, ), padding_option="zero")
        out = tl.dot(weights.to(values.dtype), values, out * fade[:, None])
        top = higher
        pk = tl.advance(pk, (0, BN))
        pv = tl.advance(pv, (BN, 0))
    out = out / total[:, None]
    po = tl.make_block_ptr(o + head, (T, W), (stride, 1), (m, 0), (BM, W), (1, 0))
    tl.store(po, out.to(o.dtype.element_ty), boundary_check=(0, ))


@triton.jit
def attention_library(q, k, v, o, T, stride, scale, BM: tl.constexpr, BN: tl.constexpr, W: tl.constexpr,
                      D: tl.constexpr, CHECK: tl.constexpr = (0, ), CHECK_T: tl.constexpr = (1, )):
    head = tl.program_id(1).to(tl.int64) * T * stride
    m = tl.program_id(0) * BM
    n = tl.arange(0, BN)
    pq = bp.make_block_ptr(q + head, (T, W), (stride, 1), (m, 0), (BM, W), (1, 0), descriptor=D)
    pk = bp.make_block_ptr(k + head, (W, T), (1, stride), (0, 0), (W, BN), (0, 1), descriptor=D)
    pv = bp.make_block_ptr(v + head, (T, W), (stride, 1), (0, 0), (BN, W), (1, 0), descriptor=D)
    queries = bp.load(pq, boundary_check=CHECK, padding_option="zero")
    top = tl.full((BM, ), float("-inf"), tl.float32)
    total = tl.zeros((BM, ), tl.float32)
    out = tl.zeros((BM, W), tl.float32)
    for start in range(0, T, BN):
        keys = bp.load(pk, boundary_check=CHECK_T, padding_option="zero")
        scores = tl.dot(queries, keys) * scale
        scores = tl.where((start + n < T)[None, :], scores, float("-inf"))
        higher = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        fade = tl.exp2(top - higher)
        total = total * fade + tl.sum(weights, 1)
        values = bp.load(pv, boundary_check=CHECK, padding_option="zero")
        out = tl.dot(weights.to(values.dtype), values, out * fade[:, None])
        top = higher
        pk = bp.advance(pk, (0, BN))
        pv = bp.advance(pv, (BN, 0))
    out = out / total[:, None]
    po = bp.make_block_ptr(o + head, (T, W), (stride, 1), (m, 0), (BM, W), (1, 0))
    bp.store(po, out.to(o.dtype.element_ty), boundary_check=(0, ))


# --- swap: three dimensions, the last two exchanged ------------------------------------------------------------------


@triton.jit
def swap_by_hand(x, y, A, M, N, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    plane = tl.program_id(2).to(tl.int64) * M * N
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (m < M)[:, None] & (n < N)[None, :]
    tile = tl.load(x + plane + m[:, None] * N + n[None, :], mask=inside)
    tl.store(y + plane + m[:, None] + n[None, :] * M, tile, mask=inside)


@triton.jit
def swap_triton(x, y, A, M, N, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    a = tl.program_id(2)
    p = tl.make_block_ptr(x, (A, M, N), (M.to(tl.int64) * N, N, 1), (a, m, n), (1, BM, BN), (2, 1, 0))
    q = tl.make_block_ptr(y, (A, M, N), (M.to(tl.int64) * N, 1, M), (a, m, n), (1, BM, BN), (1, 2, 0))
    tl.store(q, tl.load(p, boundary_check=(0, 1, 2)), boundary_check=(0, 1, 2))


@triton.jit
def swap_library(x, y, A, M, N, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    a = tl.program_id(2)
    p = bp.make_block_ptr(x, (A, M, N), (M.to(tl.int64) * N, N, 1), (a, m, n), (1, BM, BN), (2, 1, 0), descriptor=D)
    q = bp.make_block_ptr(y, (A, M, N), (M.to(tl.int64) * N, 1, M), (a, m, n), (1, BM, BN), (1, 2, 0), descriptor=D)
    bp.store(q, bp.load(p, boundary_check=(0, 1, 2)), boundary_check=(0, 1, 2))
