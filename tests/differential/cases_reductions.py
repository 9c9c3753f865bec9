"""Reductions, scans, sorting and counting."""

import numpy as np
import triton
import triton.language as tl

from bounds import NotCompared, Ulps, Within
from case import case
from inputs import SIGNED, UNSIGNED, below, f16, f32, f64, i16, i32, i64, i8, ints, normal, short, u8, u32, zeros

ORDER = "the order of the additions is each one's own"


def sum_bound(length, dtype, axis=1):
    """The error of any order of n - 1 additions, twice."""
    eps = np.finfo(dtype).eps / 2
    return Within(lambda a: 2 * (length - 1) * eps * np.abs(a["x"].astype(f64)).sum(axis),
                  "2 (n - 1) u sum(abs(x))", ORDER)


@triton.jit
def row_sums(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(out + tl.arange(0, M), tl.sum(tl.load(x + i * N + j), 1))


for t in (f32, f64):
    case(f"row_sums.{short(t)}", row_sums, lambda rng, t=t: dict(x=normal(rng, t, 16, 256), out=zeros(16, t)), M=16, N=256,
         bounds={"out": sum_bound(256, t)})
for t, wide in ((i8, i32), (u8, u32), (i16, i32), (i32, i32), (i64, i64)):
    case(f"row_sums.{short(t)}", row_sums, lambda rng, t=t, wide=wide: dict(x=ints(rng, t, 16, 64), out=zeros(16, wide)), M=16, N=64)


@triton.jit
def column_sums(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(out + tl.arange(0, N), tl.sum(tl.load(x + i * N + j), 0))


case("column_sums.f32", column_sums, lambda rng: dict(x=normal(rng, f32, 64, 32), out=zeros(32, f32)), M=64, N=32,
     bounds={"out": sum_bound(64, f32, 0)})
case("column_sums.i32", column_sums, lambda rng: dict(x=ints(rng, i32, 64, 32), out=zeros(32, i32)), M=64, N=32)


@triton.jit
def whole_sum(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(out, tl.sum(tl.load(x + i * N + j)))


case("whole_sum.f32", whole_sum, lambda rng: dict(x=normal(rng, f32, 32, 64), out=zeros(1, f32)), M=32, N=64,
     bounds={"out": sum_bound(2048, f32, None)})


@triton.jit
def sum_of_halves(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(out + tl.arange(0, M), tl.sum(tl.load(x + i * N + j), 1).to(tl.float32))


case("sum_of_halves", sum_of_halves, lambda rng: dict(x=normal(rng, f16, 16, 64), out=zeros(16, f32)), M=16, N=64,
     bounds={"out": sum_bound(64, f16)})


@triton.jit
def row_extremes(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + i * N + j)
    tl.store(out + tl.arange(0, M), tl.max(v, 1))
    tl.store(out + M + tl.arange(0, M), tl.min(v, 1))


for t in (f16, f32, f64, i8, i32, u32, i64):
    make = normal if np.dtype(t).kind == "f" else ints
    case(f"row_extremes.{short(t)}", row_extremes, lambda rng, t=t, make=make: dict(x=make(rng, t, 16, 32), out=zeros((2, 16), t)),
         M=16, N=32, rows={"out": ("max", "min")})


def with_nans(rng):
    x = normal(rng, f32, 16, 32)
    x[rng.random((16, 32)) < 0.2] = np.nan
    x[0], x[1, :16] = np.nan, np.nan
    x[2, 3], x[3, 5], x[4] = np.inf, -np.inf, -0.0
    x[4, ::2] = 0.0
    return dict(x=x, out=zeros((2, 16), f32))


def without_nans(a):
    with np.errstate(all="ignore"):
        return {**a, "out": np.stack([np.fmax.reduce(a["x"], 1), np.fmin.reduce(a["x"], 1)])}


ZERO = Ulps(0, "which of two zeros is the greater one is not said by numpy")
case("row_extremes_with_nans", row_extremes, with_nans, M=16, N=32, rows={"out": ("max", "min")},
     reference=without_nans, since=(3, 9), bounds={"max": ZERO, "min": ZERO})


@triton.jit
def first_extremes(x, values, indices, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    m = tl.arange(0, M)
    v = tl.load(x + i * N + j)
    most, at = tl.max(v, 1, return_indices=True)
    tl.store(values + m, most)
    tl.store(indices + m, at)
    tl.store(indices + M + m, tl.argmax(v, 1))
    tl.store(indices + 2 * M + m, tl.argmin(v, 1))


for t in (f16, f32, i32, i64, u8):
    case(f"first_extremes.{short(t)}", first_extremes, lambda rng, t=t: dict(
        x=below(rng, t, 4, 32, 16), values=zeros(32, t), indices=zeros((3, 32), i32)), M=32, N=16,
         rows={"indices": ("index of max", "argmax", "argmin")})


@triton.jit
def any_extremes(x, indices, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + i * N + j)
    tl.store(indices + tl.arange(0, M), tl.argmax(v, 1, tie_break_left=False))


ANY = "which of equal elements is found is left open by tie_break_left=False"
case("any_extremes.ties", any_extremes, lambda rng: dict(x=below(rng, i32, 4, 32, 16), indices=zeros(32, i32)), M=32, N=16,
     bounds={"indices": NotCompared(ANY)})
case("any_extremes.distinct", any_extremes, lambda rng: dict(x=rng.permuted(np.tile(np.arange(16, dtype=i32), (32, 1)), axis=1),
                                                             indices=zeros(32, i32)), M=32, N=16)


@triton.jit
def bitwise_sums(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + i * N + j)
    tl.store(out + tl.arange(0, M), tl.xor_sum(v, 1))
    tl.store(out + M + tl.arange(0, M), tl.reduce_or(v, 1))


case("bitwise_sums", bitwise_sums, lambda rng: dict(x=ints(rng, i32, 16, 32), out=zeros((2, 16), i32)), M=16, N=32,
     rows={"out": ("xor_sum", "reduce_or")})


@triton.jit
def multiply(a, b):
    return a * b


@triton.jit
def products(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(out + tl.arange(0, M), tl.reduce(tl.load(x + i * N + j), 1, multiply))


case("products.i32", products, lambda rng: dict(x=rng.integers(-9, 10, (16, 16)).astype(i32) | 1, out=zeros(16, i32)), M=16, N=16)
case("products.f32", products, lambda rng: dict(x=rng.uniform(0.5, 2, (16, 16)).astype(f32), out=zeros(16, f32)), M=16, N=16,
     bounds={"out": Ulps(32, "15 roundings in another order on either side")})


@triton.jit
def welford(ma, sa, na, mb, sb, nb):
    d = mb - ma
    n = na + nb
    return ma + d * (nb / n), sa + sb + d * d * na * nb / n, n


@triton.jit
def moments(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + i * N + j)
    mean, squares, n = tl.reduce((v, v * 0, v * 0 + 1), 1, welford)
    tl.store(out + tl.arange(0, M), mean)
    tl.store(out + M + tl.arange(0, M), squares / n)


def moments_reference(a):
    return {**a, "out": np.stack([a["x"].astype(f64).mean(1), a["x"].astype(f64).var(1)]).astype(f32)}


MOMENTS = Within(lambda a: 64 * 2**-24 * np.square(a["x"].astype(f64)).mean(1), "64 u mean(x²)", ORDER)
case("moments", moments, lambda rng: dict(x=normal(rng, f32, 16, 64) + 1, out=zeros((2, 16), f32)), M=16, N=64,
     rows={"out": ("mean", "variance")}, bounds={"mean": MOMENTS, "variance": MOMENTS})


@triton.jit
def middle_axis(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    p = tl.arange(0, A)[:, None, None] * (B * C) + tl.arange(0, B)[None, :, None] * C + tl.arange(0, C)[None, None, :]
    q = tl.arange(0, A)[:, None] * C + tl.arange(0, C)[None, :]
    tl.store(out + q, tl.max(tl.load(x + p), 1) - tl.sum(tl.load(x + p), 1))


case("middle_axis", middle_axis, lambda rng: dict(x=ints(rng, i32, 4, 8, 16), out=zeros((4, 16), i32)), A=4, B=8, C=16)


@triton.jit
def running_sums(x, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + p, tl.cumsum(tl.load(x + p), AXIS, reverse=REVERSE))


def running_bound(axis, reverse):
    def size(a):
        x = np.abs(a["x"].astype(f64))
        sums = np.flip(np.cumsum(np.flip(x, axis), axis), axis) if reverse else np.cumsum(x, axis)
        return 2 * (x.shape[axis] - 1) * 2**-24 * sums
    return Within(size, "2 (n - 1) u cumsum(abs(x))", ORDER)


for axis in (0, 1):
    for reverse in (False, True):
        tail = f"axis{axis}{'_reversed' * reverse}"
        case(f"running_sums.i32.{tail}", running_sums, lambda rng: dict(x=ints(rng, i32, 16, 32), out=zeros((16, 32), i32)),
             M=16, N=32, AXIS=axis, REVERSE=reverse)
        case(f"running_sums.f32.{tail}", running_sums, lambda rng: dict(x=normal(rng, f32, 16, 32), out=zeros((16, 32), f32)),
             M=16, N=32, AXIS=axis, REVERSE=reverse, bounds={"out": running_bound(axis, reverse)})


@triton.jit
def running_products(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.cumprod(tl.load(x + i), 0))


case("running_products", running_products, lambda rng: dict(x=ints(rng, i64, 64) | 1, out=zeros(64, i64)), N=64)


@triton.jit
def greater(a, b):
    return tl.maximum(a, b)


@triton.jit
def running_greatest(x, out, M: tl.constexpr, N: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + p, tl.associative_scan(tl.load(x + p), 1, greater))


case("running_greatest.f32", running_greatest, lambda rng: dict(x=normal(rng, f32, 8, 64), out=zeros((8, 64), f32)), M=8, N=64)
case("running_greatest.i32", running_greatest, lambda rng: dict(x=ints(rng, i32, 8, 64), out=zeros((8, 64), i32)), M=8, N=64)


@triton.jit
def linear_step(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def recurrence(a, b, out, N: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, N)
    _, h = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, linear_step, reverse=REVERSE)
    tl.store(out + i, h)


for reverse in (False, True):
    case(f"recurrence{'_reversed' * reverse}", recurrence, lambda rng: dict(
        a=rng.integers(-2, 3, 64), b=rng.integers(-5, 6, 64), out=zeros(64, i64)), N=64, REVERSE=reverse)


@triton.jit
def sorted_rows(x, out, M: tl.constexpr, N: tl.constexpr, DOWN: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + p, tl.sort(tl.load(x + p), descending=DOWN))


for t in (f16, f32, i8, i32, u32):
    make = normal if np.dtype(t).kind == "f" else ints
    for down in (False, True):
        case(f"sorted_rows.{short(t)}{'_down' * down}", sorted_rows, lambda rng, t=t, make=make: dict(
            x=make(rng, t, 8, 64), out=zeros((8, 64), t)), M=8, N=64, DOWN=down)


@triton.jit
def largest(x, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    q = tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :]
    tl.store(out + q, tl.topk(tl.load(x + p), K))


for t in (f32, i32):
    make = normal if t == f32 else ints
    case(f"largest.{short(t)}", largest, lambda rng, t=t, make=make: dict(x=make(rng, t, 8, 64), out=zeros((8, 8), t)), M=8, N=64, K=8)


@triton.jit
def flipped(x, out, M: tl.constexpr, N: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + p, tl.flip(tl.load(x + p), 1))


case("flipped", flipped, lambda rng: dict(x=ints(rng, i32, 8, 32), out=zeros((8, 32), i32)), M=8, N=32)


@triton.jit
def counts(x, out, N: tl.constexpr, BINS: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    tl.store(out + tl.arange(0, BINS), tl.histogram(v, BINS))


case("counts", counts, lambda rng: dict(x=below(rng, i32, 32, 1024), out=zeros(32, i32)), N=1024, BINS=32)


def counted(a):
    return {**a, "out": np.bincount(a["x"][(a["x"] >= 0) & (a["x"] < 32)], minlength=32).astype(i32)}


case("counts_outside_of_the_bins", counts, lambda rng: dict(x=rng.integers(-40, 80, 1024).astype(i32), out=zeros(32, i32)),
     N=1024, BINS=32, since=(3, 9), reference=counted, finds=("invalid-index",),
     gpu={"out": NotCompared("Triton 3.6 counts what is outside modulo the number of bins (invalid-index)")})


@triton.jit
def counts_under_a_mask(x, out, n, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, N)
    keep = i < n
    v = tl.load(x + i, mask=keep, other=0)
    tl.store(out + tl.arange(0, BINS), tl.histogram(v, BINS, mask=keep))


case("counts_under_a_mask", counts_under_a_mask, lambda rng: dict(x=below(rng, i32, 16, 300), out=zeros(16, i32), n=300), N=512, BINS=16)
