"""Kernels for tests/gpu/passes.py, as people write them: each has something for one of Tilesight's passes."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, z, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    tl.store(z + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax(x, y, columns, B: tl.constexpr):
    row, j = tl.program_id(0).to(tl.int64) * columns, tl.arange(0, B)
    v = tl.load(x + row + j, mask=j < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row + j, e / tl.sum(e, 0), mask=j < columns)


@triton.jit
def layer_norm(x, w, b, y, columns, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    total = tl.zeros([B], tl.float32)
    squares = tl.zeros([B], tl.float32)
    for start in range(0, columns, B):
        j = start + tl.arange(0, B)
        v = tl.load(x + row + j, mask=j < columns, other=0.0).to(tl.float32)
        total += v
        squares += v * v
    mean = tl.sum(total, 0) / columns
    scale = 1 / tl.sqrt(tl.sum(squares, 0) / columns - mean * mean + 1e-5)
    for start in range(0, columns, B):
        j = start + tl.arange(0, B)
        mask = j < columns
        v = tl.load(x + row + j, mask=mask, other=0.0).to(tl.float32)
        tl.store(y + row + j, (v - mean) * scale * tl.load(w + j, mask=mask) + tl.load(b + j, mask=mask), mask=mask)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    sum = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + (start + k)[None, :], mask=(m[:, None] < M) & ((start + k)[None, :] < K), other=0.0)
        right = tl.load(b + (start + k)[:, None] * N + n[None, :], mask=((start + k)[:, None] < K) & (n[None, :] < N), other=0.0)
        sum = tl.dot(left, right, sum)
    tl.store(c + m[:, None] * N + n[None, :], sum.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def block_matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    left = tl.make_block_ptr(a, (M, K), (K, 1), (tl.program_id(0) * BM, 0), (BM, BK), (1, 0))
    right = tl.make_block_ptr(b, (K, N), (N, 1), (0, tl.program_id(1) * BN), (BK, BN), (1, 0))
    sum = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        sum = tl.dot(tl.load(left, boundary_check=(0, 1), padding_option="zero"),
                     tl.load(right, boundary_check=(0, 1), padding_option="zero"), sum)
        left = tl.advance(left, (0, BK))
        right = tl.advance(right, (BK, 0))
    out = tl.make_block_ptr(c, (M, N), (N, 1), (tl.program_id(0) * BM, tl.program_id(1) * BN), (BM, BN), (1, 0))
    tl.store(out, sum.to(tl.float16), boundary_check=(0, 1))


@triton.jit
def batched(a, b, c, batches, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c[z] = a[z] @ b[z], one descriptor of three axes each."""
    left = tl.make_tensor_descriptor(a, [batches, M, K], [M * K, K, 1], [1, BM, BK])
    right = tl.make_tensor_descriptor(b, [batches, K, N], [K * N, N, 1], [1, BK, BN])
    out = tl.make_tensor_descriptor(c, [batches, M, N], [M * N, N, 1], [1, BM, BN])
    z, m, n = tl.program_id(2), tl.program_id(0) * BM, tl.program_id(1) * BN
    sum = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        sum = tl.dot(left.load([z, m, k]).reshape(BM, BK), right.load([z, k, n]).reshape(BK, BN), sum)
    out.store([z, m, n], sum.to(tl.float16).reshape(1, BM, BN))


@triton.jit
def heads(q, k, o, T, H: tl.constexpr, D: tl.constexpr, B: tl.constexpr):
    """o[t, h] = sum over s of (q[t, h] . k[s, h]) k[s, h]; the head is the middle axis."""
    left = tl.make_tensor_descriptor(q, [T, H, D], [H * D, D, 1], [B, 1, D])
    right = tl.make_tensor_descriptor(k, [T, H, D], [H * D, D, 1], [B, 1, D])
    h, t = tl.program_id(1), tl.program_id(0) * B
    tile = left.load([t, h, 0]).reshape(B, D)
    sum = tl.zeros((B, D), tl.float32)
    for s in range(0, T, B):
        keys = right.load([s, h, 0]).reshape(B, D)
        sum = tl.dot(tl.dot(tile, keys.T).to(tl.float16), keys, sum)
    i, j = t + tl.arange(0, B), tl.arange(0, D)
    tl.store(o + i[:, None] * H * D + h * D + j[None, :], sum)


@triton.jit
def slices_sum(x, y, M, K: tl.constexpr, Z: tl.constexpr, BM: tl.constexpr):
    """y = sum over z of x[z]: the slice changes in the loop."""
    d = tl.make_tensor_descriptor(x, [Z, M, K], [M * K, K, 1], [1, BM, K])
    m = tl.program_id(0) * BM
    sum = tl.zeros((BM, K), tl.float32)
    for z in range(Z):
        sum += d.load([z, m, 0]).reshape(BM, K)
    i, j = m + tl.arange(0, BM), tl.arange(0, K)
    tl.store(y + i[:, None] * K + j[None, :], sum)


@triton.jit
def gather(x, y, which, Z, M, K: tl.constexpr, BM: tl.constexpr):
    """y[p] = x[which[p]]; a slice that is not there is zeros."""
    d = tl.make_tensor_descriptor(x, [Z, M, K], [M * K, K, 1], [1, BM, K])
    z = tl.load(which + tl.program_id(1))
    m = tl.program_id(0) * BM
    tile = d.load([z, m, 0]).reshape(BM, K)
    i, j = m + tl.arange(0, BM), tl.arange(0, K)
    tl.store(y + tl.program_id(1) * M * K + i[:, None] * K + j[None, :], tile, mask=i[:, None] < M)


@triton.jit
def attention(q, k, v, o, T, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Few rows of q for each program, so that dots take their operands from registers."""
    base = tl.program_id(1).to(tl.int64) * T * D
    i, j, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    rows = tl.load(q + base + i[:, None] * D + d[None, :])
    top = tl.full([BM], -float("inf"), tl.float32)
    bottom = tl.zeros([BM], tl.float32)
    sum = tl.zeros((BM, D), tl.float32)
    for start in range(0, T, BN):
        keys = tl.load(k + base + (start + j)[None, :] * D + d[:, None])
        scores = tl.dot(rows, keys) * scale
        new = tl.maximum(top, tl.max(scores, 1))
        p = tl.exp(scores - new[:, None])
        shrink = tl.exp(top - new)
        bottom = bottom * shrink + tl.sum(p, 1)
        values = tl.load(v + base + (start + j)[:, None] * D + d[None, :])
        sum = tl.dot(p.to(tl.float16), values, sum * shrink[:, None])
        top = new
    tl.store(o + base + i[:, None] * D + d[None, :], sum / bottom[:, None])


@triton.jit
def project(x, w, y, T, B: tl.constexpr, D: tl.constexpr):
    """y = x @ w, a weight for all rows of a program: the right operand does not change in the loop."""
    i, d = tl.arange(0, B), tl.arange(0, D)
    weight = tl.load(w + d[:, None] * D + d[None, :])
    for start in range(0, T, B):
        at = (tl.program_id(0).to(tl.int64) * T + start + i)[:, None] * D + d[None, :]
        tl.store(y + at, tl.dot(tl.load(x + at), weight).to(tl.float16))


@triton.jit
def twice(x, w, y, T, U, B: tl.constexpr, D: tl.constexpr):
    """Two loops, and a left operand that changes in neither; a weight that changes in the outer one."""
    i, d = tl.arange(0, B), tl.arange(0, D)
    rows = tl.load(x + tl.program_id(0) * B * D + i[:, None] * D + d[None, :])
    sum = tl.zeros((B, D), tl.float32)
    for t in range(T):
        weight = tl.load(w + t * D * D + d[:, None] * D + d[None, :])
        for u in range(U):
            sum = tl.dot(rows, weight * (u + 1).to(tl.float16), sum)
    tl.store(y + tl.program_id(0) * B * D + i[:, None] * D + d[None, :], sum)
