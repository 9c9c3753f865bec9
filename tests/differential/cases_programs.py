"""Whole programs, small."""

import numpy as np
import triton
import triton.language as tl

from bounds import Ulps, Within
from case import case
from inputs import below, f16, f32, f64, i32, i64, i8, normal, u8, zeros

UNIT = 2**-24


def near(size, text, why):
    return Within(size, text, why)


def relative(steps, why):
    """So many roundings of a result that is at most about one."""
    return Within(lambda a: steps * UNIT, f"{steps} u", why)


@triton.jit
def softmax(x, out, columns, B: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, B)
    v = tl.load(x + row * columns + j, mask=j < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * columns + j, e / tl.sum(e, 0), mask=j < columns)


case("softmax", softmax, lambda rng: dict(x=normal(rng, f32, 8, 100), out=zeros((8, 100), f32), columns=100), grid=8, B=128,
     bounds={"out": relative(64, "exp within 2 ulp, and a sum of 100 terms in any order; results are below 1")})


@triton.jit
def layer_norm(x, w, b, out, columns, eps, B: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, B)
    inside = j < columns
    v = tl.load(x + row * columns + j, mask=inside, other=0.0)
    mean = tl.sum(v, 0) / columns
    d = tl.where(inside, v - mean, 0.0)
    scale = tl.rsqrt(tl.sum(d * d, 0) / columns + eps)
    tl.store(out + row * columns + j, d * scale * tl.load(w + j, mask=inside) + tl.load(b + j, mask=inside), mask=inside)


case("layer_norm", layer_norm, lambda rng: dict(x=normal(rng, f32, 8, 100), w=normal(rng, f32, 100), b=normal(rng, f32, 100),
                                                out=zeros((8, 100), f32), columns=100, eps=1e-5), grid=8, B=128,
     bounds={"out": relative(512, "sums of 100 terms in any order; results are below 16")})


@triton.jit
def rms_norm(x, w, out, B: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, B)
    v = tl.load(x + row * B + j).to(tl.float32)
    scale = tl.rsqrt(tl.sum(v * v, 0) / B + 1e-6)
    tl.store(out + row * B + j, (v * scale).to(tl.float16) * tl.load(w + j))


case("rms_norm", rms_norm, lambda rng: dict(x=normal(rng, f16, 8, 64), w=normal(rng, f16, 64), out=zeros((8, 64), f16)), grid=8, B=64,
     bounds={"out": Ulps(2, "a rounding to f16 of what differs in the last bits of f32, and then a product")})


@triton.jit
def attention(q, k, v, out, T, scale, B: tl.constexpr, D: tl.constexpr):
    m, d = tl.program_id(0) * B + tl.arange(0, B), tl.arange(0, D)
    query = tl.load(q + m[:, None] * D + d[None, :], mask=(m < T)[:, None], other=0.0)
    top = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    acc = tl.zeros((B, D), tl.float32)
    for at in range(0, (tl.program_id(0) + 1) * B, B):
        n = at + tl.arange(0, B)
        key = tl.load(k + n[None, :] * D + d[:, None], mask=(n < T)[None, :], other=0.0)
        s = tl.dot(query, key) * scale
        s = tl.where((m[:, None] >= n[None, :]) & (n < T)[None, :], s, -float("inf"))
        peak = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - peak[:, None])
        alpha = tl.exp(top - peak)
        total = total * alpha + tl.sum(p, 1)
        value = tl.load(v + n[:, None] * D + d[None, :], mask=(n < T)[:, None], other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(tl.float16), value)
        top = peak
    tl.store(out + m[:, None] * D + d[None, :], acc / total[:, None], mask=(m < T)[:, None])


case("attention", attention, lambda rng: dict(q=normal(rng, f16, 60, 32), k=normal(rng, f16, 60, 32), v=normal(rng, f16, 60, 32),
                                              out=zeros((60, 32), f32), T=60, scale=0.17677669), grid=4, B=16, D=32,
     bounds={"out": Within(lambda a: 2**-10 * np.abs(a["v"].astype(f64)).max(), "2^-10 max(abs(v))", "probabilities are rounded to f16 before the second product")})


@triton.jit
def cross_entropy(logits, target, out, columns, B: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, B)
    v = tl.load(logits + row * columns + j, mask=j < columns, other=-float("inf"))
    top = tl.max(v, 0)
    total = tl.log(tl.sum(tl.exp(v - top), 0)) + top
    tl.store(out + row, total - tl.load(logits + row * columns + tl.load(target + row)))


case("cross_entropy", cross_entropy, lambda rng: dict(logits=normal(rng, f32, 16, 50) * f32(3), target=below(rng, i64, 50, 16), out=zeros(16, f32),
                                                      columns=50), grid=16, B=64,
     bounds={"out": relative(512, "logarithm of a sum of 50 terms; results are below 20")})


@triton.jit
def rotary(x, cosine, sine, out, D: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, D // 2)
    a, b = tl.load(x + row * D + j), tl.load(x + row * D + D // 2 + j)
    c, s = tl.load(cosine + row * (D // 2) + j), tl.load(sine + row * (D // 2) + j)
    tl.store(out + row * D + j, a * c - b * s)
    tl.store(out + row * D + D // 2 + j, b * c + a * s)


FUSED = Within(lambda a: 4 * UNIT * np.abs(a["x"].astype(f64)).max(), "4 u max(abs(x))", "a GPU fuses a product and a sum into one rounding")
case("rotary", rotary, lambda rng: dict(x=normal(rng, f32, 8, 32), cosine=np.cos(rng.uniform(0, 6, (8, 16))).astype(f32),
                                        sine=np.sin(rng.uniform(0, 6, (8, 16))).astype(f32), out=zeros((8, 32), f32)), grid=8, D=32, gpu={"out": FUSED})


@triton.jit
def quantize_rows(x, out, scales, B: tl.constexpr):
    row = tl.program_id(0)
    v = tl.load(x + row * B + tl.arange(0, B))
    scale = tl.max(tl.abs(v), 0) / 127.0
    q = v / scale
    q = tl.floor(q + 0.5).to(tl.int8)
    tl.store(out + row * B + tl.arange(0, B), q)
    tl.store(scales + row, scale)


case("quantize_rows", quantize_rows, lambda rng: dict(x=normal(rng, f32, 8, 64), out=zeros((8, 64), i8), scales=zeros(8, f32)), grid=8, B=64)


@triton.jit
def unpack_int4(packed, scales, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    byte = tl.load(packed + i)
    low, high = (byte & 15).to(tl.int32) - 8, (byte >> 4).to(tl.int32) - 8
    scale = tl.load(scales + i // 16)
    tl.store(out + 2 * i, low * scale)
    tl.store(out + 2 * i + 1, high * scale)


case("unpack_int4", unpack_int4, lambda rng: dict(packed=rng.integers(0, 256, 128).astype(u8), scales=normal(rng, f32, 8), out=zeros(256, f32)), grid=2, B=64)


@triton.jit
def adam(p, g, m, v, step, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    w, d = tl.load(p + i, mask=inside), tl.load(g + i, mask=inside)
    a = 0.9 * tl.load(m + i, mask=inside) + 0.1 * d
    b = 0.999 * tl.load(v + i, mask=inside) + 0.001 * d * d
    tl.store(p + i, w - step * a / (tl.sqrt(b) + 1e-8), mask=inside)
    tl.store(m + i, a, mask=inside)
    tl.store(v + i, b, mask=inside)


case("adam", adam, lambda rng: dict(p=normal(rng, f32, 200), g=normal(rng, f32, 200), m=zeros(200, f32), v=np.ones(200, f32), step=0.01, n=200),
     grid=4, B=64, bounds={k: Ulps(4, "constants are f64 in the interpreter until numpy rounds them") for k in "pmv"})


@triton.jit
def convolution(x, w, out, n, B: tl.constexpr, TAPS: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for k in tl.static_range(TAPS):
        at = i - k
        total += tl.load(x + at, mask=(at >= 0) & (at < n), other=0.0) * tl.load(w + k)
    tl.store(out + i, total, mask=i < n)


TAPS = Within(lambda a: 16 * UNIT * np.abs(a["x"]).max() * np.abs(a["w"]).sum(), "16 u max(abs(x)) sum(abs(w))", "a GPU fuses a product and a sum into one rounding")
case("convolution", convolution, lambda rng: dict(x=normal(rng, f32, 100), w=normal(rng, f32, 5), out=zeros(100, f32), n=100), grid=2, B=64, TAPS=5,
     gpu={"out": TAPS})


@triton.jit
def sparse_rows(start, columns, values, x, out, B: tl.constexpr):
    row = tl.program_id(0)
    low, high = tl.load(start + row), tl.load(start + row + 1)
    total = tl.zeros((B,), tl.int32)
    for at in range(low, high, B):
        i = at + tl.arange(0, B)
        c = tl.load(columns + i, mask=i < high, other=0)
        total += tl.load(values + i, mask=i < high, other=0) * tl.load(x + c)
    tl.store(out + row, tl.sum(total, 0))


def sparse(rng):
    lengths = rng.integers(0, 40, 20)
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(i32)
    n = int(start[-1])
    return dict(start=start, columns=below(rng, i32, 50, n), values=rng.integers(-99, 99, n).astype(i32), x=rng.integers(-99, 99, 50).astype(i32),
                out=zeros(20, i32))


case("sparse_rows", sparse_rows, sparse, grid=20, B=16)


@triton.jit
def mandelbrot(out, W: tl.constexpr, H: tl.constexpr, STEPS: tl.constexpr):
    i = tl.program_id(0)
    x = tl.arange(0, W).to(tl.float32) * (3.0 / W) - 2.0
    y = tl.zeros((W,), tl.float32) + (i * (2.0 / H) - 1.0)
    a, b, count = x * 0, x * 0, tl.zeros((W,), tl.int32)
    for _ in range(STEPS):
        inside = a * a + b * b <= 4.0
        count += inside.to(tl.int32)
        a, b = tl.where(inside, a * a - b * b + x, a), tl.where(inside, 2 * a * b + y, b)
    tl.store(out + i * W + tl.arange(0, W), count)


case("mandelbrot", mandelbrot, lambda rng: dict(out=zeros((16, 32), i32)), grid=16, W=32, H=16, STEPS=12)


@triton.jit
def image_histogram(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0).to(tl.int32)
    tl.atomic_add(out + v, 1, mask=i < n)


case("image_histogram", image_histogram, lambda rng: dict(x=rng.integers(0, 256, 1000).astype(u8), out=zeros(256, i32), n=1000), grid=8, B=128)


@triton.jit
def running_maximum_of_rows(x, out, columns, B: tl.constexpr):
    row = tl.program_id(0)
    best = tl.full((B,), -2147483648, tl.int32)
    where = tl.zeros((B,), tl.int32)
    for at in range(0, columns, B):
        j = at + tl.arange(0, B)
        v = tl.load(x + row * columns + j, mask=j < columns, other=-2147483648)
        better = v > best
        best, where = tl.where(better, v, best), tl.where(better, j, where)
    top = tl.max(best, 0)
    tl.store(out + 2 * row, top)
    tl.store(out + 2 * row + 1, tl.min(tl.where(best == top, where, columns), 0))


case("running_maximum_of_rows", running_maximum_of_rows, lambda rng: dict(x=rng.integers(-50, 50, (10, 75)).astype(i32), out=zeros((10, 2), i32),
                                                                          columns=75), grid=10, B=32)
