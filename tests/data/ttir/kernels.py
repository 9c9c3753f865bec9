"""Kernels whose TTIR is test data: between them they use every construct that Triton's front end
writes. Each is small; scripts/dump_ttir.py compiles them. A kernel is registered with the types of
its arguments and the values of its constexprs; `since`/`until` bound the releases that have what it
uses."""

import triton
import triton.language as tl

CASES = []


def case(signature, since=(3, 6), until=(9, 9), options=None, **constants):
    """Registers a kernel. `signature` lists the types of the arguments that are no constexprs."""

    def register(fn):
        CASES.append(dict(fn=fn, types=signature.split(), constants=constants, since=since,
                          until=until, options=options or {}))
        return fn

    return register


@case("*fp32 *fp32 *fp32 i32", BLOCK=64)
@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask, other=1.5)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@case("*fp32 *fp32 i32 i64", BLOCK=64)
@triton.jit
def elementwise_float(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * stride, eviction_policy="evict_last", cache_modifier=".cg")
    y = tl.exp(x) + tl.exp2(x) * tl.log(x) - tl.log2(x) / tl.sin(x)
    y += tl.cos(x) + tl.sqrt(x) + tl.rsqrt(x) + tl.erf(x) + tl.floor(x) + tl.ceil(x) + tl.abs(x)
    y = tl.fma(x, y, x) + tl.math.div_rn(x, y) + tl.math.sqrt_rn(x) + tl.fdiv(x, y)
    y = tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL) + tl.maximum(x, y)
    y = tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL) + tl.minimum(x, -y)
    y = tl.clamp(y, -1.0, 1.0) + tl.clamp(x, 0.0, y, propagate_nan=tl.PropagateNan.ALL)
    y = tl.where((x < y) & (x >= 0) | (x != x), y % x, tl.sigmoid(x))
    tl.store(out_ptr + i, y, mask=(i < n) & (i > 2), eviction_policy="evict_first", cache_modifier=".wt")


@case("*i32 *i64 *u8 *i16 i32", BLOCK=32)
@triton.jit
def elementwise_int(x_ptr, out_ptr, byte_ptr, short_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    b = tl.load(byte_ptr + i)
    s = tl.load(short_ptr + i, volatile=True)
    y = (x // 3 + x % 7) * (x - n) ^ (x << 2) | (x >> 1) & ~x
    y += tl.minimum(x, n) + tl.maximum(x, n) + tl.abs(x)
    u = (b // 3 + b % 5).to(tl.uint32) >> 3
    y += tl.umulhi(u, u + 1).to(tl.int32) + (s * s).to(tl.int32) + (-x)
    z = tl.cdiv(n, 3) + y.to(tl.int64) * 3000000000
    tl.store(out_ptr + i, tl.where(b > 7, z, x))
    tl.store(byte_ptr + i, (x <= 3).to(tl.uint8) + (x == n).to(tl.uint8))


@case("*fp16 *bf16 *fp8e5 *fp8e4nv *fp64 *i1", BLOCK=32)
@triton.jit
def casts(h_ptr, b_ptr, e5_ptr, e4_ptr, d_ptr, bool_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    h = tl.load(h_ptr + i)
    f = h.to(tl.float32)
    tl.store(b_ptr + i, f.to(tl.bfloat16))
    tl.store(b_ptr + i, f.to(tl.bfloat16, fp_downcast_rounding="rtz"))
    tl.store(e5_ptr + i, f.to(tl.float8e5))
    tl.store(e5_ptr + i, f.to(tl.float8e5, fp_downcast_rounding="rtne"))
    tl.store(e4_ptr + i, h.to(tl.float8e4nv))
    tl.store(h_ptr + i, tl.load(e4_ptr + i).to(tl.float16) + tl.load(e5_ptr + i).to(tl.float16))
    tl.store(d_ptr + i, f.to(tl.float64) + i.to(tl.float64) + i.to(tl.uint32).to(tl.float64))
    tl.store(h_ptr + i, tl.load(d_ptr + i).to(tl.int32).to(tl.float16) + f.to(tl.uint8).to(tl.float16))
    tl.store(h_ptr + i, f.to(tl.int32, bitcast=True).to(tl.int16).to(tl.float16, bitcast=True))
    flag = tl.load(bool_ptr + i)
    tl.store(bool_ptr + i, flag & (f > 1) | (h.to(tl.int1)))


@case("*fp32 i64 *i64", BLOCK=16)
@triton.jit
def pointers(x_ptr, address, table_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = address.to(tl.pointer_type(tl.float32))
    rows = tl.load(table_ptr + i).to(tl.pointer_type(tl.int32))
    x = tl.load(p + i) + tl.load(rows).to(tl.float32)
    tl.store(x_ptr.to(tl.pointer_type(tl.int32)) + i, x.to(tl.int32, bitcast=True))
    tl.store(table_ptr + i, (x_ptr + i).to(tl.int64))
    tl.store(table_ptr, tl.cast(x_ptr, tl.int64))


@case("*fp32 *fp32 i32 i32", BLOCK=64)
@triton.jit
def softmax(out_ptr, in_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(in_ptr + row * stride + cols, mask=cols < n_cols, other=-float("inf"))
    x -= tl.max(x, axis=0)
    e = tl.exp(x)
    tl.store(out_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=cols < n_cols)


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@case("*fp16 *fp16 *fp16 i32 i32 i32 i32 i32 i32", BM=32, BN=32, BK=16, GROUP=4)
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
           BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(axis=0)
    num_m = tl.cdiv(M, BM)
    num_n = tl.cdiv(N, BN)
    per_group = GROUP * num_n
    group = pid // per_group
    first_m = group * GROUP
    size_m = min(num_m - first_m, GROUP)
    pid_m = first_m + (pid % per_group) % size_m
    pid_n = (pid % per_group) // size_m
    tl.assume(pid_m >= 0)
    tl.assume(stride_am > 0)
    offs_m = (pid_m * BM + tl.arange(0, BM)) % M
    offs_n = (pid_n * BN + tl.arange(0, BN)) % N
    offs_k = tl.arange(0, BK)
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :]
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK
        b_ptrs += BK * stride_bk
    c = leaky_relu(acc).to(tl.float16)
    offs_cm = pid_m * BM + tl.arange(0, BM)
    offs_cn = pid_n * BN + tl.arange(0, BN)
    mask = (offs_cm[:, None] < M) & (offs_cn[None, :] < N)
    tl.store(c_ptr + stride_cm * offs_cm[:, None] + offs_cn[None, :], c, mask=mask)


@case("*fp16 *fp16 *fp16 *fp32 i32 i32 fp32", BM=32, BN=16, D=16, CAUSAL=1)
@triton.jit
def attention(Q, K, V, O, stride, n_ctx, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr,
              CAUSAL: tl.constexpr):
    start_m = tl.program_id(0)
    offs_m = start_m * BM + tl.arange(0, BM)
    offs_n = tl.arange(0, BN)
    offs_d = tl.arange(0, D)
    q = tl.load(Q + offs_m[:, None] * stride + offs_d[None, :], mask=offs_m[:, None] < n_ctx, other=0.0)
    m_i = tl.zeros([BM], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BM], dtype=tl.float32)
    acc = tl.zeros([BM, D], dtype=tl.float32)
    hi = (start_m + 1) * BM if CAUSAL else n_ctx
    for start_n in range(0, hi, BN):
        start_n = tl.multiple_of(start_n, BN)
        k = tl.load(K + (start_n + offs_n)[:, None] * stride + offs_d[None, :])
        qk = tl.dot(q, tl.trans(k)) * scale
        if CAUSAL:
            qk = tl.where(offs_m[:, None] >= start_n + offs_n[None, :], qk, -1.0e6)
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_ij[:, None])
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(V + (start_n + offs_n)[:, None] * stride + offs_d[None, :])
        acc = tl.dot(p.to(tl.float16), v, acc * alpha[:, None])
        m_i = m_ij
    tl.store(O + offs_m[:, None] * stride + offs_d[None, :], acc / l_i[:, None], mask=offs_m[:, None] < n_ctx)


@case("*fp32 *fp32 *fp32 *fp32 *fp32 *fp32 i32 i32 fp32", BLOCK=32)
@triton.jit
def layer_norm_forward(X, Y, W, B, Mean, Rstd, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    Y += row * stride
    X += row * stride
    _mean = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        _mean += tl.load(X + cols, mask=cols < N, other=0.0)
    mean = tl.sum(_mean, axis=0) / N
    _var = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        x = tl.where(cols < N, tl.load(X + cols, mask=cols < N, other=0.0) - mean, 0.0)
        _var += x * x
    rstd = 1 / tl.sqrt(tl.sum(_var, axis=0) / N + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < N
        x_hat = (tl.load(X + cols, mask=mask, other=0.0) - mean) * rstd
        tl.store(Y + cols, x_hat * tl.load(W + cols, mask=mask) + tl.load(B + cols, mask=mask), mask=mask)


@case("*fp32 *fp32 *fp32 *fp32 *i32 i32 i32", GROUP=4, BLOCK=32)
@triton.jit
def layer_norm_backward(DX, DY, DW, X, Lock, stride, N, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    lock_id = row % GROUP
    Lock += lock_id
    Count = Lock + GROUP
    DW = DW + lock_id * N + cols
    x = tl.load(X + row * stride + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(DY + row * stride + cols, mask=mask, other=0).to(tl.float32)
    tl.store(DX + row * stride + cols, (dy - x * tl.sum(x * dy, axis=0) / N), mask=mask)
    partial = dy * x
    while tl.atomic_cas(Lock, 0, 1) == 1:
        pass
    count = tl.load(Count)
    if count == 0:
        tl.atomic_xchg(Count, 1)
    else:
        partial += tl.load(DW, mask=mask)
    tl.store(DW, partial, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(Lock, 0)


@case("*fp32 *fp32 i32 fp32 i32", BLOCK=32)
@triton.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    keep = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=offsets < n)


@case("*fp32 *i32 i32", BLOCK=16)
@triton.jit
def random_normal(out_ptr, int_ptr, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.randn(seed, i))
    tl.store(int_ptr + i, tl.randint(seed, i))


@triton.jit
def combine_welford(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    delta = mean_b - mean_a
    n = n_a + n_b
    return mean_a + delta * n_b / n, m2_a + m2_b + delta * delta * n_a * n_b / n, n


@triton.jit
def combine_linear(a0, b0, a1, b1):
    return a1 * a0, a1 * b0 + b1


@case("*fp32 *fp32", M=8, N=16)
@triton.jit
def reduce_scan_custom(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i)
    mean, m2, n = tl.reduce((x, tl.zeros_like(x), tl.full((M, N), 1.0, tl.float32)), 1, combine_welford)
    tl.store(out_ptr + tl.arange(0, M), mean + m2 + n)
    a, b = tl.associative_scan((x, x * 0.5), 1, combine_linear)
    c = tl.associative_scan(a + b, 0, leaky_sum, reverse=True)
    tl.store(out_ptr + i, c + tl.cumsum(x, 1) + tl.cumprod(x, 0))


@triton.jit
def leaky_sum(a, b):
    return a * 0.5 + b


@case("*fp32 *i32", M=8, N=16)
@triton.jit
def reductions(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i)
    y = i % 5
    r = tl.argmax(x, 1) + tl.argmin(x, 1, tie_break_left=False) + tl.xor_sum(y, 1) + tl.min(y, 1) + tl.max(y, 1)
    value, index = tl.max(x, 1, return_indices=True)
    tl.store(out_ptr + tl.arange(0, M), r + value.to(tl.int32) + index + tl.sum(x > 0, 1))
    tl.store(out_ptr, tl.sum(y) + tl.max(tl.max(y, 0), 0) + tl.reduce_or(y > 2, 0).to(tl.int32).sum())


@case("*fp32 *fp32", N=8)
@triton.jit
def sort(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.sort(tl.load(x_ptr + i), descending=True))


@case("*fp32 *fp32", since=(3, 7), N=8)
@triton.jit
def topk(x_ptr, out_ptr, N: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, 2), tl.topk(tl.load(x_ptr + tl.arange(0, N)), 2))


@case("*fp32 *fp32", N=8)
@triton.jit
def flip(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.flip(tl.load(x_ptr + i), 0))


@case("*i32 *i32", N=32)
@triton.jit
def histogram_gather(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    h = tl.histogram(x, 16) + tl.histogram(x, 16, mask=x > 0)
    tl.store(out_ptr + tl.arange(0, 16), h)
    tl.store(out_ptr + i, tl.gather(x, i ^ 1, 0))


@case("*i32 *i32 i32")
@triton.jit
def while_loops(x_ptr, out_ptr, n):
    i = 0
    total = tl.load(x_ptr)
    while i < n and total > 0:
        total -= tl.load(x_ptr + i)
        j = i
        while j > 0:
            j = j // 2
            total += j
        i += 1
    while tl.load(x_ptr) != 0:
        tl.store(x_ptr, 0)
    tl.store(out_ptr, total)


@triton.jit
def collatz_steps(start, LIMIT: tl.constexpr):
    steps = 0
    x = start
    for _ in range(LIMIT):
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    return steps


@triton.jit
def clipped(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


@triton.jit
def two_values(a, b):
    return a + b, a - b


@triton.jit(noinline=True)
def not_inlined(x_ptr, n):
    tl.store(x_ptr + n, 1)
    return n + 1


@case("*i32 i32 i32")
@triton.jit
def helpers(out_ptr, n, low):
    pid = tl.program_id(1) + tl.num_programs(2)
    s, d = two_values(pid, n)
    tl.store(out_ptr + pid, collatz_steps(s, 5) + clipped(d, low, 100))
    tl.store(out_ptr, not_inlined(out_ptr, n))


@case("*i32 *i32 i32", BLOCK=16)
@triton.jit
def early_returns(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if pid >= n:
        return
    x = tl.load(x_ptr + pid)
    if x == 0:
        tl.store(out_ptr + pid, -1)
        return
    y = x * 2
    if x == 1:
        y = 10
    elif x == 2:
        y = x
    if pid == tl.num_programs(0) - 1:
        y += 1
    tl.store(out_ptr + pid * BLOCK + tl.arange(0, BLOCK), y)


@case("*fp16 *fp16 *fp32 i32 i32", until=(3, 7), BM=16, BK=16)
@triton.jit
def block_pointers(a_ptr, b_ptr, c_ptr, M, K, BM: tl.constexpr, BK: tl.constexpr):
    a = tl.make_block_ptr(a_ptr, (M, K), (K, 1), (tl.program_id(0) * BM, 0), (BM, BK), (1, 0))
    b = tl.make_block_ptr(b_ptr, (K, BM), (1, K), (0, 0), (BK, BM), (0, 1))
    acc = tl.zeros((BM, BM), tl.float32)
    for k in range(0, K, BK):
        acc += tl.dot(tl.load(a, boundary_check=(0, 1), padding_option="zero"),
                      tl.load(b, boundary_check=(1,), padding_option="nan"))
        a = tl.advance(a, (0, BK))
        b = tl.advance(b, (BK, 0))
    c = tl.make_block_ptr(c_ptr, (M, M), (M, 1), (tl.program_id(0) * BM, 0), (BM, BM), (1, 0))
    tl.store(c, acc, boundary_check=(0,))


@case("*fp16 *fp16 *fp32 i32 i32", BM=32, BK=16)
@triton.jit
def descriptors(a_ptr, b_ptr, c_ptr, M, K, BM: tl.constexpr, BK: tl.constexpr):
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [M, K], [K, 1], [BM, BK], padding_option="nan")
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, M], [M, 1], [BM, BM])
    pid = tl.program_id(0)
    acc = tl.zeros((BM, BM), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a_desc.load([pid * BM, k]), b_desc.load([0, k]).T, acc)
    c_desc.store([pid * BM, 0], acc)
    c_desc.atomic_add([pid * BM, 0], acc)


@case("*fp16 *i32 i32 i32", N=32)
@triton.jit
def descriptor_rows(x_ptr, rows_ptr, M, K, N: tl.constexpr):
    desc = tl.make_tensor_descriptor(x_ptr, [M, K], [K, 1], [1, N])
    rows = tl.load(rows_ptr + tl.arange(0, 16))
    desc.scatter(desc.gather(rows, 3) + 1, rows, 0)


@case("tensordesc<fp16[32,16]> tensordesc<u8[16,16]> *fp16")
@triton.jit
def host_descriptors(desc, byte_desc, out_ptr):
    x = desc.load([0, 16])
    desc.store([32, 0], x * 2)
    i = tl.arange(0, 16)
    tl.store(out_ptr + i[:, None] * 16 + i[None, :], byte_desc.load([0, 0]).to(tl.float16))


@case("*u8 *u8 *u8 *u8 *fp32", M=128, N=128, K=64)
@triton.jit
def dot_scaled(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    packed = tl.arange(0, K // 2)
    s = tl.arange(0, K // 32)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + packed[:, None] * N + n[None, :])
    a_scale = tl.load(a_scale_ptr + m[:, None] * (K // 32) + s[None, :])
    b_scale = tl.load(b_scale_ptr + n[:, None] * (K // 32) + s[None, :])
    acc = tl.dot_scaled(a, a_scale, "e4m3", b, b_scale, "e2m1")
    acc = tl.dot_scaled(a, None, "e5m2", b, b_scale, "e2m1", acc, fast_math=True)
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc)


@case("*fp32 *fp32 *i8 *fp32", N=32)
@triton.jit
def dots(a_ptr, b_ptr, i_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a = tl.load(a_ptr + i)
    b = tl.load(b_ptr + i)
    acc = tl.dot(a, b, input_precision="ieee") + tl.dot(a, b, input_precision="tf32x3") + tl.dot(a, b)
    acc = tl.dot(a, b, acc, max_num_imprecise_acc=0)
    q = tl.dot(tl.load(i_ptr + i + N * N), tl.trans(tl.load(i_ptr + i)), out_dtype=tl.int32)
    tl.store(out_ptr + i, acc + q.to(tl.float32))


@case("*i32 *i32", N=32)
@triton.jit
def inline_assembly(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.inline_asm_elementwise("add.u32 $0, $1, $2;\n\tmov.u32 $0, \"a\\b\";", "=r,r,r", [x, i], dtype=tl.int32, is_pure=True, pack=1)
    p, q = tl.inline_asm_elementwise("{ mov.u32 $0, $2; mov.u32 $1, $2; }", "=r,=r,r", [y], dtype=(tl.int32, tl.int32), is_pure=False, pack=1)
    t = tl.inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l", [], dtype=tl.int64, is_pure=False, pack=1)
    tl.store(out_ptr + i, p + q + t.to(tl.int32))


@case("*fp32 *fp32", N=32)
@triton.jit
def extern_calls(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.extra.cuda.libdevice.tanh(x) + tl.extra.cuda.libdevice.pow(x, x)
    tl.store(out_ptr + i, y + tl.extra.cuda.libdevice.llrint(tl.sum(x)).to(tl.float32))


@case("*fp32 *i32 i32", options={"debug": True}, N=16)
@triton.jit
def print_assert(x_ptr, flag_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.device_print("x is", x)
    tl.device_print("pid, n", tl.program_id(0), n, hex=True)
    tl.device_print("here")
    tl.device_assert(x > 0, "x must be \"positive\"\n")
    tl.device_assert(n < 100, "small n")


@case("*fp32 *fp32", N=16)
@triton.jit
def shapes(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    j = tl.join(x, x + 1)
    lo, hi = tl.split(j.permute(1, 0).trans() + 1)
    inter = tl.interleave(lo, hi)
    r = tl.reshape(inter, (2, 2, 8))
    p = tl.permute(r, (2, 0, 1))
    v = tl.ravel(p)
    b = tl.broadcast_to(x[None, :], (4, N)) + tl.expand_dims(x, 0)
    s, _ = tl.split(tl.reshape(tl.view(x, (8, 2)), (8, 2)))
    tl.store(out_ptr + tl.arange(0, 2 * N), v)
    tl.store(out_ptr + tl.arange(0, 4)[:, None] * N + i[None, :], b)
    tl.store(out_ptr + tl.arange(0, 8), s)


@case("*fp32 *fp32", N=16)
@triton.jit
def concatenation(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr + tl.arange(0, 2 * N), tl.cat(x, x * 2, can_reorder=True))
    one = tl.full((1,), 2.0, tl.float32)
    tl.store(out_ptr, tl.sum(one) + one.item())


@case("*fp32 *i32 *u32 *fp16 *i64 *u64", N=16)
@triton.jit
def atomics(f_ptr, i_ptr, u_ptr, h_ptr, l_ptr, ul_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    old = tl.atomic_add(i_ptr + i, i, mask=i < 7)
    tl.atomic_add(f_ptr + i, 1.0, sem="relaxed", scope="cta")
    tl.atomic_add(h_ptr + i, old.to(tl.float16), sem="release", scope="sys")
    tl.atomic_max(i_ptr + i, old)
    tl.atomic_min(i_ptr, 3, sem="acquire")
    tl.atomic_max(u_ptr + i, i.to(tl.uint32))
    tl.atomic_min(u_ptr + i, i.to(tl.uint32))
    tl.atomic_max(f_ptr + i, 2.0)
    tl.atomic_min(f_ptr + i, -2.0)
    tl.atomic_and(i_ptr + i, 3)
    tl.atomic_or(i_ptr + i, 4)
    tl.atomic_xor(i_ptr + i, 5)
    tl.atomic_xchg(f_ptr + i, 0.0)
    tl.atomic_cas(i_ptr + i, i, i + 1, sem="acq_rel")
    one = tl.full((), 1, tl.int64)
    tl.atomic_cas(l_ptr, one, one + 1, scope="sys")
    tl.atomic_add(ul_ptr, 1)


@case("*i32 *i32", since=(3, 9), N=16)
@triton.jit
def atomics_39(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.atomic_load(x_ptr, sem="acquire")
    tl.atomic_store(out_ptr, x, sem="release")
    y = tl.atomic_load(x_ptr + i, mask=i < 3)
    tl.atomic_store(out_ptr + i, y, mask=i < 3)
    tl.store(out_ptr, tl.atomic_poll(x_ptr, 7).to(tl.int32))


@case("*fp16 *fp32 i32", BLOCK=16)
@triton.jit
def loop_hints(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    offs = i[:, None] * BLOCK + i[None, :]
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in tl.range(0, n, BLOCK, num_stages=3, loop_unroll_factor=2, disallow_acc_multi_buffer=True):
        x = tl.load(x_ptr + k + offs)
        acc = tl.dot(x, x, acc)
    for k in tl.range(n, flatten=True, warp_specialize=True):
        acc += k
        for j in tl.range(0, k, num_stages=2):
            acc -= j
    for _ in tl.static_range(2):
        acc += tl.load(out_ptr + offs)
    for k in tl.range(0, n, 1, disable_licm=True):
        acc += 1
    tl.store(out_ptr + offs, acc)


@case("*fp32 *fp32 i32", BLOCK=16)
@triton.jit
def hints(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i = tl.max_contiguous(tl.multiple_of(i, BLOCK), BLOCK)
    j = tl.max_constancy(i // 16 * 16, [16])
    x_ptr = tl.multiple_of(x_ptr, 8)
    tl.assume(n % 16 == 0)
    tl.store(out_ptr + i, tl.load(x_ptr + j, mask=i < tl.multiple_of(n, 16)))


@case("*u32 u32 u64 *i8 i8", BLOCK=16)
@triton.jit
def unsigned_loops(out_ptr, n, m, small_ptr, s, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.uint32)
    for i in range(n):
        total += i
    for i in range(0, m, 3):
        total += i.to(tl.uint32)
    for i in range(s):
        tl.store(small_ptr + i, s)
    for i in range(10, 0, -2):
        total += i
    tl.store(out_ptr + tl.arange(0, BLOCK), total // 3 + (total > n).to(tl.uint32))


@case("*fp32 *fp16 *bf16 *fp64 *i64 *i8", N=4)
@triton.jit
def constants(f_ptr, h_ptr, b_ptr, d_ptr, l_ptr, c_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(f_ptr, 0.1)
    tl.store(f_ptr + i, float("nan"))
    tl.store(f_ptr + i, 3.4e38)
    tl.store(h_ptr + i, 1e-7)
    tl.store(h_ptr, 65504.0)
    tl.store(b_ptr + i, 3.14159)
    tl.store(d_ptr, 1.0 / 3.0)
    tl.store(d_ptr + i, -0.0)
    tl.store(l_ptr + i, -9223372036854775808)
    tl.store(l_ptr, 9223372036854775807)
    tl.store(c_ptr + i, -128)
    tl.store(c_ptr, 127)


@case("*fp32 *fp32 i32 i32", BLOCK=16)
@triton.jit
def persistent(x_ptr, out_ptr, n, tiles, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    found = 0
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        offs = tile * BLOCK + i
        x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        if tl.sum(x) > 0:
            found += 1
            if found > 2:
                tl.store(out_ptr + offs, x, mask=offs < n)
        else:
            x = x + 1
            tl.store(out_ptr + offs, x * found, mask=offs < n)


@triton.jit
def select_scalar(a, b):
    if a < b:
        c = a * 2
    else:
        c = b
    return c


@case("*i32 *i32", N=16)
@triton.jit
def map_elementwise(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.map_elementwise(select_scalar, tl.load(x_ptr + i), i))


@case("*i32 *fp32", N=16)
@triton.jit
def swizzle_conditions(x_ptr, out_ptr, N: tl.constexpr):
    a, b = tl.swizzle2d(tl.program_id(0), tl.program_id(1), 4, 8, 2)
    flag = (a > b) and (a != 3) or not (b == 2)
    value = 1.0 if flag else 2.0
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    same = i[:, None] != i[None, :]
    total = tl.sum(tl.where(same & (x[:, None] > x[None, :]), value, 0.0), 1)
    tl.store(out_ptr + i, total * (-7 // 2) + (a % -3))


@case("*kfp32 *fp32 *ki8 i32", N=16)
@triton.jit
def constant_pointers(x_ptr, out_ptr, byte_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.load(x_ptr + i, mask=i < n)
    for _ in range(n):
        total += tl.load(x_ptr)
        x_ptr += 1
    tl.store(out_ptr + i, total + tl.load(byte_ptr + i))
