"""Random numbers: Philox is integers, and the same everywhere."""

import triton
import triton.language as tl

from bounds import Ulps, Within
from case import case
from inputs import f32, i32, zeros


@triton.jit
def random_integers(out, seed, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + i, tl.randint(seed, i).to(tl.int32, bitcast=True))


case("random_integers", random_integers, lambda rng: dict(out=zeros(1024, i32), seed=42), grid=4, N=256)
case("random_integers.large_seed", random_integers, lambda rng: dict(out=zeros(1024, i32), seed=2**40 + 12345), grid=4, N=256)


@triton.jit
def four_random_integers(out, seed, N: tl.constexpr, ROUNDS: tl.constexpr):
    i = tl.arange(0, N)
    a, b, c, d = tl.randint4x(seed, i, ROUNDS)
    tl.store(out + i, a.to(tl.int32, bitcast=True))
    tl.store(out + N + i, b.to(tl.int32, bitcast=True))
    tl.store(out + 2 * N + i, c.to(tl.int32, bitcast=True))
    tl.store(out + 3 * N + i, d.to(tl.int32, bitcast=True))


for rounds in (7, 10):
    case(f"four_random_integers.{rounds}_rounds", four_random_integers, lambda rng: dict(out=zeros((4, 256), i32), seed=7), N=256, ROUNDS=rounds)


@triton.jit
def random_uniform(out, seed, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + i, tl.rand(seed, i))


case("random_uniform", random_uniform, lambda rng: dict(out=zeros(1024, f32), seed=123), grid=4, N=256)


@triton.jit
def random_normal(out, seed, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + i, tl.randn(seed, i))


BOX_MULLER = Within(lambda a: 2e-6, "2e-6", "log, sqrt and cos, each within 2 ulp; near the zeros of cos the error is absolute")
case("random_normal", random_normal, lambda rng: dict(out=zeros(1024, f32), seed=321), grid=4, N=256, bounds={"out": BOX_MULLER})


@triton.jit
def dropout(x, out, p, seed, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, v / (1 - p), 0.0), mask=i < n)


case("dropout", dropout, lambda rng: dict(x=rng.standard_normal(1000).astype(f32), out=zeros(1000, f32), p=0.25, seed=99, n=1000), grid=4, B=256,
     bounds={"out": Ulps(1, "1 - p is rounded to f32 here, and kept as f64 by the interpreter")})
