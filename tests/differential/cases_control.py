"""Control flow, and functions that call functions."""

import numpy as np
import triton
import triton.language as tl

from bounds import Ulps
from case import case
from inputs import below, f32, i32, i64, ints, normal, zeros


@triton.jit
def loop_with_bounds(x, out, n, B: tl.constexpr):
    pid = tl.program_id(0)
    total = tl.zeros((B,), tl.int32)
    for k in range(pid, n, 3):
        total += tl.load(x + k * B + tl.arange(0, B)) * (k + 1)
    tl.store(out + pid * B + tl.arange(0, B), total)


case("loop_with_bounds", loop_with_bounds, lambda rng: dict(x=ints(rng, i32, 11, 32), out=zeros((4, 32), i32), n=11), grid=4, B=32)


@triton.jit
def loop_downwards(out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    total = i
    for k in range(n, -3, -2):
        total = total * 3 + k
    tl.store(out + i, total)


case("loop_downwards", loop_downwards, lambda rng: dict(out=zeros(16, i32), n=9), B=16)


@triton.jit
def collatz(x, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    steps = tl.zeros((B,), tl.int32)
    while tl.max(v, 0) > 1:
        steps += (v > 1).to(tl.int32)
        v = tl.where(v > 1, tl.where(v % 2 == 0, v // 2, 3 * v + 1), v)
    tl.store(out + i, steps)


case("collatz", collatz, lambda rng: dict(x=rng.integers(1, 100, 128).astype(i32), out=zeros(128, i32)), grid=4, B=32)


@triton.jit
def branches(x, out, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    v = tl.load(x + i)
    if pid % 3 == 0:
        v = v * 2
    elif pid > n:
        v = v - 5
        if tl.sum(v, 0) > 0:
            v = -v
    else:
        v = v ^ 0x55
    tl.store(out + i, v)


case("branches", branches, lambda rng: dict(x=ints(rng, i32, 8 * 16), out=zeros(8 * 16, i32), n=4), grid=8, B=16)


@triton.jit
def early_return(x, out, n, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid >= n:
        return
    i = pid * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i) + 1)


case("early_return", early_return, lambda rng: dict(x=ints(rng, i32, 64), out=zeros(64, i32), n=3), grid=4, B=16)


@triton.jit
def power(base, exponent):
    result = base * 0 + 1
    while exponent > 0:
        if exponent % 2 == 1:
            result = result * base
        base = base * base
        exponent = exponent // 2
    return result


@triton.jit
def horner(v, a, b, c, exponent):
    return (a * v + b) * v + c, power(v, exponent // 2)


@triton.jit
def calls(x, out, exponent, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    p, q = horner(v, 3, -7, 11, exponent)
    tl.store(out + i, p)
    tl.store(out + B + i, q)
    tl.store(out + 2 * B + i, power(v, exponent))


case("calls", calls, lambda rng: dict(x=ints(rng, i32, 32), out=zeros((3, 32), i32), exponent=13), B=32,
     rows={"out": ("polynomial", "sixth power", "power")})


@triton.jit
def unrolled(x, out, B: tl.constexpr, STEPS: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.int64)
    for k in tl.static_range(STEPS):
        total = total * 10 + tl.load(x + (i + k) % B)
        if k % 2 == 1:
            total = -total
    tl.store(out + i, total)


case("unrolled", unrolled, lambda rng: dict(x=below(rng, i64, 10, 32), out=zeros(32, i64)), B=32, STEPS=5)


@triton.jit
def two_carried(out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = i, i + 1
    for _ in range(n):
        a, b = b, a + b
    tl.store(out + i, a)


case("two_carried", two_carried, lambda rng: dict(out=zeros(16, i32), n=20), B=16)


@triton.jit
def every_axis(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    p, q, r = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    at = (z * q + y) * p + x
    tl.store(out + at, x * 10000 + y * 100 + z + p * q * r)


case("every_axis", every_axis, lambda rng: dict(out=zeros((2, 3, 5), i32)), grid=(5, 3, 2))


@triton.jit
def swizzled(out, M, N, G: tl.constexpr):
    i, j = tl.swizzle2d(tl.program_id(0), tl.program_id(1), M, N, G)
    tl.store(out + tl.program_id(0) * N + tl.program_id(1), i * 100 + j)


case("swizzled", swizzled, lambda rng: dict(out=zeros((6, 8), i32), M=6, N=8), grid=(6, 8), G=4)


@triton.jit
def binary_search(table, x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    low, high = tl.zeros((B,), tl.int32), tl.zeros((B,), tl.int32) + n
    for _ in range(8):
        middle = (low + high) // 2
        less = tl.load(table + middle, mask=middle < n, other=2147483647) < v
        low, high = tl.where(less, middle + 1, low), tl.where(less, high, middle)
    tl.store(out + i, low)


case("binary_search", binary_search, lambda rng: dict(table=np.sort(ints(rng, i32, 100)), x=ints(rng, i32, 64), out=zeros(64, i32), n=100), B=64)


@triton.jit
def newton(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    r = v * 0.5 + 0.5
    for _ in range(6):
        r = tl.fma(0.5 / r, v, 0.5 * r)
    tl.store(out + i, r)


case("newton", newton, lambda rng: dict(x=(normal(rng, f32, 64) ** 2 + 1).astype(f32), out=zeros(64, f32)), B=64, since=(3, 9),
     gpu={"out": Ulps(2, "`/` of f32 becomes div.full.f32, which is within 2 ulp")})
