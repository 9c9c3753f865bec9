"""Arithmetic of integers."""

import numpy as np
import triton
import triton.language as tl

from case import case
from inputs import SIGNED, UNSIGNED, below, i8, i16, i32, i64, ints, short, u8, u16, u32, u64, zeros

N = 1024
BOTH = SIGNED + UNSIGNED


def two(dtype, rows, out=None, nonzero=False):
    def make(rng):
        x, y = ints(rng, dtype, N), ints(rng, dtype, N)
        y[::2] = rng.integers(1, 9, N // 2)
        if np.iinfo(dtype).min:
            y[::4] = -y[::4]
        if nonzero:  # by zero, and the one quotient that does not fit, mean nothing
            y[y == 0] = 3
            if np.iinfo(dtype).min:
                x[(y == -1) & (x == np.iinfo(dtype).min)] = 5
        return dict(x=x, y=y, out=zeros((rows, N), out or dtype))
    return make


@triton.jit
def wrapping(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a + b)
    tl.store(out + N + i, a - b)
    tl.store(out + 2 * N + i, a * b)
    tl.store(out + 3 * N + i, a * a - b * 7)


for t in BOTH:
    case(f"wrapping.{short(t)}", wrapping, two(t, 4), N=N, rows={"out": ("x + y", "x - y", "x * y", "polynomial")})


@triton.jit
def quotients(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a // b)
    tl.store(out + N + i, a % b)


for t in BOTH:
    case(f"quotients.{short(t)}", quotients, two(t, 2, nonzero=True), N=N, rows={"out": ("//", "%")},
         reference=lambda a: truncated(a))


def truncated(arguments):
    x, y = (arguments[k].astype(object) for k in "xy")
    quotient = np.array([abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) for a, b in zip(x, y)], object)
    return {**arguments, "out": np.stack([quotient, x - quotient * y]).astype(arguments["out"].dtype)}


@triton.jit
def quotients_by_constants(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    tl.store(out + i, a // 7)
    tl.store(out + N + i, a % 7)
    tl.store(out + 2 * N + i, a // -8)
    tl.store(out + 3 * N + i, a % 16)
    tl.store(out + 4 * N + i, tl.cdiv(a // 4, 5))


def of_constants(a):
    x = a["x"].astype(np.int64)
    divide = lambda p, q: np.sign(p) * np.sign(q) * (abs(p) // abs(q))
    rows = [divide(x, 7), x - 7 * divide(x, 7), divide(x, -8), x - 16 * divide(x, 16), divide(divide(x, 4) + 4, 5)]
    return {**a, "out": np.stack(rows).astype(np.int32)}


case("quotients_by_constants", quotients_by_constants, lambda rng: dict(x=ints(rng, i32, N), out=zeros((5, N), i32)), N=N,
     rows={"out": ("// 7", "% 7", "// -8", "% 16", "cdiv")},
     reference=of_constants)


@triton.jit
def shifts(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a << b)
    tl.store(out + N + i, a >> b)


def shifted(low, high, dtype):
    return lambda rng: dict(x=ints(rng, dtype, N), y=rng.integers(low, high, N).astype(dtype), out=zeros((2, N), dtype))


for t in BOTH:
    case(f"shifts.{short(t)}", shifts, shifted(0, 8 * np.dtype(t).itemsize, t), N=N, rows={"out": ("<<", ">>")})


def over_shifted(a):
    x = a["x"]
    return {**a, "out": np.stack([x * 0, x >> (8 * x.itemsize - 1) if x.dtype.kind == "i" else x * 0])}


for t in (i32, u32, i64, u64):
    width = 8 * np.dtype(t).itemsize
    case(f"shifts_beyond_the_width.{short(t)}", shifts, shifted(width, 2 * width, t), N=N, rows={"out": ("<<", ">>")},
         reference=over_shifted, finds=("invalid-shift",))


@triton.jit
def bits(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a & b)
    tl.store(out + N + i, a | b)
    tl.store(out + 2 * N + i, a ^ b)
    tl.store(out + 3 * N + i, ~a)


for t in BOTH:
    case(f"bits.{short(t)}", bits, two(t, 4), N=N, rows={"out": ("&", "|", "^", "~")})


@triton.jit
def high_product(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.umulhi(tl.load(x + i), tl.load(y + i)))


for t in (u32, u64):
    case(f"high_product.{short(t)}", high_product, two(t, 1), N=N)


@triton.jit
def lesser_and_greater(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, tl.minimum(a, b))
    tl.store(out + N + i, tl.maximum(a, b))
    tl.store(out + 2 * N + i, tl.where(a <= b, a, b * 2))


for t in BOTH:
    case(f"lesser_and_greater.{short(t)}", lesser_and_greater, two(t, 3), N=N, rows={"out": ("min", "max", "where")})


@triton.jit
def compare_integers(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, (a < b).to(tl.int32) + 2 * (a <= b).to(tl.int32) + 4 * (a > b).to(tl.int32)
             + 8 * (a >= b).to(tl.int32) + 16 * (a == b).to(tl.int32) + 32 * (a != b).to(tl.int32))


for t in BOTH:
    case(f"compare_integers.{short(t)}", compare_integers, two(t, 1, i32), N=N)


@triton.jit
def magnitude(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.abs(tl.load(x + i)))


for t in SIGNED:
    case(f"magnitude.{short(t)}", magnitude, lambda rng, t=t: dict(x=ints(rng, t, N), out=zeros(N, t)), N=N)


@triton.jit
def mixed_types(a, b, c, d, out, N: tl.constexpr):
    i = tl.arange(0, N)
    p, q, r, s = tl.load(a + i), tl.load(b + i), tl.load(c + i), tl.load(d + i)
    tl.store(out + i, p + q)
    tl.store(out + N + i, q * r)
    tl.store(out + 2 * N + i, (p < s).to(tl.int64) + r)
    tl.store(out + 3 * N + i, s - p)


case("mixed_types", mixed_types, lambda rng: dict(a=ints(rng, i8, N), b=ints(rng, u8, N), c=ints(rng, i32, N),
                                                  d=ints(rng, u32, N), out=zeros((4, N), i64)), N=N,
     rows={"out": ("i8 + u8", "u8 * i32", "i8 < u32", "u32 - i8")})


@triton.jit
def truths(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i) > 0, tl.load(y + i) > 0
    tl.store(out + i, (a & b).to(tl.int32))
    tl.store(out + N + i, (a | b).to(tl.int32))
    tl.store(out + 2 * N + i, (a ^ b).to(tl.int32))
    tl.store(out + 3 * N + i, (~a).to(tl.int32))
    tl.store(out + 4 * N + i, (a < b).to(tl.int32))


case("truths", truths, two(i32, 5), N=N, rows={"out": ("and", "or", "xor", "not", "less")})


@triton.jit
def widths(x, a, b, c, d, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(a + i, v.to(tl.int8))
    tl.store(b + i, v.to(tl.int16))
    tl.store(c + i, v.to(tl.int32))
    tl.store(d + i, v.to(tl.int64))


for t in BOTH:
    case(f"widths.{short(t)}", widths, lambda rng, t=t: dict(x=ints(rng, t, N), a=zeros(N, i8), b=zeros(N, i16),
                                                             c=zeros(N, i32), d=zeros(N, i64)), N=N,
         labels=dict(zip("abcd", map(short, SIGNED))))


@triton.jit
def unsigned_widths(x, a, b, c, d, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(a + i, v.to(tl.uint8))
    tl.store(b + i, v.to(tl.uint16))
    tl.store(c + i, v.to(tl.uint32))
    tl.store(d + i, v.to(tl.uint64))


for t in BOTH:
    case(f"unsigned_widths.{short(t)}", unsigned_widths,
         lambda rng, t=t: dict(x=ints(rng, t, N), a=zeros(N, u8), b=zeros(N, u16), c=zeros(N, u32), d=zeros(N, u64)), N=N,
         labels=dict(zip("abcd", map(short, UNSIGNED))))


@triton.jit
def greatest_common_divisor(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    while tl.max(b, 0) > 0:
        rest = tl.where(b > 0, a % tl.maximum(b, 1), b)
        a = tl.where(b > 0, b, a)
        b = rest
    tl.store(out + i, a)


case("greatest_common_divisor", greatest_common_divisor,
     lambda rng: dict(x=below(rng, i32, 10000, 256), y=below(rng, i32, 10000, 256), out=zeros(256, i32)), N=256)


@triton.jit
def hash_of_positions(out, seed, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    h = (i + seed).to(tl.uint32)
    h = (h ^ (h >> 16)) * 0x85EBCA6B
    h = (h ^ (h >> 13)) * 0xC2B2AE35
    tl.store(out + i, h ^ (h >> 16))


case("hash_of_positions", hash_of_positions, lambda rng: dict(out=zeros(4 * 256, u32), seed=12345), grid=4, N=256)
