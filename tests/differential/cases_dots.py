"""Matrix products, by operand type and precision."""

import numpy as np
import triton
import triton.language as tl

from bounds import Within
from case import case
from formats import BF16, E4M3, E5M2, decode, encode
from inputs import f16, f32, f64, i32, i8, normal, u16, u8, zeros

CHAIN = "the order of the additions is each one's own"


@triton.jit
def product(a, b, c, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, P: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    z = tl.load(c + m[:, None] * N + n[None, :])
    tl.store(out + m[:, None] * N + n[None, :], tl.dot(x, y, z, input_precision=P, out_dtype=z.dtype))


@triton.jit
def bits_product(a, b, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TYPE: tl.constexpr):
    """Operands whose type numpy has not come as bits."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :]).to(TYPE, bitcast=True)
    y = tl.load(b + k[:, None] * N + n[None, :]).to(TYPE, bitcast=True)
    tl.store(out + m[:, None] * N + n[None, :], tl.dot(x, y))


def sizes(a, read=lambda x: x.astype(f64)):
    return np.abs(read(a["a"])) @ np.abs(read(a["b"])) + (np.abs(a["c"].astype(f64)) if "c" in a else 0)


def chain(k, u=2**-24, read=lambda x: x.astype(f64), extra=0.0, text="2 K u (abs(a) @ abs(b) + abs(c))", why=CHAIN):
    return Within(lambda a: (2 * k * u + extra) * sizes(a, read), text, why)


def operands(dtype, m, n, k, out=f32):
    return lambda rng: dict(a=normal(rng, dtype, m, k), b=normal(rng, dtype, k, n), c=normal(rng, out, m, n), out=zeros((m, n), out))


case("product.f16", product, operands(f16, 32, 32, 64), M=32, N=32, K=64, P="ieee", bounds={"out": chain(64)})
case("product.f16_large", product, operands(f16, 64, 64, 128), M=64, N=64, K=128, P="ieee", bounds={"out": chain(128)})
case("product.f64", product, operands(f64, 16, 16, 32, f64), M=16, N=16, K=32, P="ieee", bounds={"out": chain(32, 2**-53)})
case("product.f32_ieee", product, operands(f32, 32, 32, 64), M=32, N=32, K=64, P="ieee", bounds={"out": chain(64)})


def tf32(x):
    """To ten bits of mantissa, ties away from zero."""
    return ((x.view(np.uint32).astype(np.uint64) + 0x1000) & 0xFFFFE000).astype(np.uint32).view(f32).astype(f64)


def split_product(parts):
    def reference(a):
        def split(x):
            result = []
            for _ in range(parts):
                result.append(tf32(x))
                x = (x - result[-1].astype(f32)).astype(f32)
            return result
        x, y = split(a["a"]), split(a["b"])
        kept = [(0, 0)] if parts == 1 else [(0, 0), (0, 1), (1, 0)]
        return {**a, "out": (a["c"].astype(f64) + sum(x[i] @ y[j] for i, j in kept)).astype(f32)}
    return reference


IEEE_ONLY = "it multiplies f32 as they are, whatever input_precision says"
for tail, m, k in (("", 32, 64), ("_large", 64, 128)):  # 64 rows are enough for Hopper's wgmma
    case(f"product.f32_tf32{tail}", product, operands(f32, m, m, k), M=m, N=m, K=k, P="tf32", bounds={"out": chain(k)},
         interpreter=IEEE_ONLY, reference=split_product(1),
         gpu={"out": chain(k, extra=2**-10, text="(2 K u + 2^-10) (abs(a) @ abs(b) + abs(c))",
                           why="the tensor cores cut f32 to tf32, the engine rounds")})
case("product.f32_tf32x3", product, operands(f32, 32, 32, 64), M=32, N=32, K=64, P="tf32x3", bounds={"out": chain(3 * 64)},
     reference=split_product(2))


def whole_numbers(rng):
    a, b = (rng.integers(-128, 128, s).astype(i8) for s in ((32, 64), (64, 32)))
    return dict(a=a, b=b, c=rng.integers(-1000, 1000, (32, 32)).astype(i32), out=zeros((32, 32), i32))


case("product.i8", product, whole_numbers, M=32, N=32, K=64, P=None)


def bits_of(format, dtype, m, k):
    def make(rng):
        value = lambda *shape: encode(format, rng.standard_normal(shape), "rtne").astype(dtype)
        return dict(a=value(m, k), b=value(k, m), out=zeros((m, m), f32))
    return make


def exact_product(format):
    return lambda a: {**a, "out": (decode(format, a["a"]) @ decode(format, a["b"])).astype(f32)}


for name, format, kind, dtype in (("bf16", BF16, tl.bfloat16, u16), ("e4m3", E4M3, tl.float8e4nv, u8), ("e5m2", E5M2, tl.float8e5, u8)):
    for tail, m, k in (("", 32, 64), ("_large", 64, 128)):
        read = lambda x, format=format: decode(format, x)
        imprecise = {} if name == "bf16" else dict(gpu={"out": chain(
            k, read=read, extra=2**-12, text="(2 K u + 2^-12) (abs(a) @ abs(b))",
            why="wgmma, which 64 rows are enough for, adds fp8 products with 14 bits of mantissa; mma does not")})
        case(f"product.{name}{tail}", bits_product, bits_of(format, dtype, m, k), M=m, N=m, K=k, TYPE=kind,
             bounds={"out": chain(k, read=read)},
             interpreter="it multiplies the bit patterns of bfloat16" if name == "bf16" else None,
             reference=exact_product(format), **imprecise)


@triton.jit
def half_sums(a, b, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(out + m[:, None] * N + n[None, :], tl.dot(x, y, out_dtype=tl.float16).to(tl.float32))


case("half_sums", half_sums, lambda rng: dict(a=normal(rng, f16, 32, 32), b=normal(rng, f16, 32, 32), out=zeros((32, 32), f32)), M=32, N=32, K=32,
     bounds={"out": chain(32, 2**-11, why="the interpreter rounds each sum to f16, the engine once")},
     gpu={"out": chain(32, 2**-11, why="the tensor cores add in f16, the engine rounds once")})


@triton.jit
def tiled_product(a, b, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (at + k)[None, :], mask=(m < M)[:, None] & (at + k < K)[None, :], other=0.0)
        y = tl.load(b + (at + k)[:, None] * N + n[None, :], mask=(at + k < K)[:, None] & (n < N)[None, :], other=0.0)
        total += tl.dot(x, y)
    tl.store(out + m[:, None] * N + n[None, :], total.to(tl.float16), mask=(m < M)[:, None] & (n < N)[None, :])


def rounded_chain(k, u):
    return Within(lambda a: 2 * k * 2**-24 * sizes(a) + 2 * u * np.abs(a["a"].astype(f64) @ a["b"].astype(f64)) + 2**-24,
                  "2 K u (abs(a) @ abs(b)) and a rounding to f16", CHAIN)


case("tiled_product", tiled_product, lambda rng: dict(a=normal(rng, f16, 50, 70), b=normal(rng, f16, 70, 45), out=zeros((50, 45), f16), M=50, N=45,
                                                      K=70), grid=(4, 3), BM=16, BN=16, BK=32, bounds={"out": rounded_chain(96, 2**-11)})


@triton.jit
def transposed_product(a, b, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + k[:, None] * M + m[None, :])
    y = tl.load(b + n[:, None] * K + k[None, :])
    tl.store(out + m[:, None] * N + n[None, :], tl.dot(tl.trans(x), tl.trans(y)))


case("transposed_product", transposed_product, lambda rng: dict(a=normal(rng, f16, 32, 16), b=normal(rng, f16, 64, 32), out=zeros((16, 64), f32)),
     M=16, N=64, K=32, bounds={"out": Within(lambda a: 64 * 2**-24 * (np.abs(a["a"].astype(f64)).T @ np.abs(a["b"].astype(f64)).T),
                                             "2 K u (abs(a) @ abs(b))", CHAIN)})


@triton.jit
def batched_product(a, b, out, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, m, n, k = tl.arange(0, B), tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + i[:, None, None] * (M * K) + m[None, :, None] * K + k[None, None, :])
    y = tl.load(b + i[:, None, None] * (K * N) + k[None, :, None] * N + n[None, None, :])
    tl.store(out + i[:, None, None] * (M * N) + m[None, :, None] * N + n[None, None, :], tl.dot(x, y))


case("batched_product", batched_product, lambda rng: dict(a=normal(rng, f16, 4, 16, 32), b=normal(rng, f16, 4, 32, 16), out=zeros((4, 16, 16), f32)),
     B=4, M=16, N=16, K=32, bounds={"out": chain(32)})


@triton.jit
def scaled_product(a, sa, b, sb, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k, g = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K), tl.arange(0, K // 32)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    u = tl.load(sa + m[:, None] * (K // 32) + g[None, :])
    v = tl.load(sb + n[:, None] * (K // 32) + g[None, :])
    tl.store(out + m[:, None] * N + n[None, :], tl.dot_scaled(x, u, "e4m3", y, v, "e4m3"))


def scaled(a):
    x = decode(E4M3, a["a"]) * np.repeat(np.ldexp(1.0, a["sa"].astype(int) - 127), 32, 1)
    y = decode(E4M3, a["b"]) * np.repeat(np.ldexp(1.0, a["sb"].astype(int) - 127), 32, 1).T
    return x, y


SCALED = Within(lambda a: 2 * 64 * 2**-24 * (np.abs(scaled(a)[0]) @ np.abs(scaled(a)[1])), "2 K u (abs(a) @ abs(b))", CHAIN)


def scaled_operands(rng):
    value = lambda *shape: encode(E4M3, rng.standard_normal(shape), "rtne").astype(u8)
    scale = lambda rows: rng.integers(120, 135, (rows, 2)).astype(u8)
    return dict(a=value(32, 64), sa=scale(32), b=value(64, 32), sb=scale(32), out=zeros((32, 32), f32))


case("scaled_product.e4m3", scaled_product, scaled_operands, M=32, N=32, K=64, bounds={"out": SCALED},
     since=(3, 9), reference=lambda a: {**a, "out": (scaled(a)[0] @ scaled(a)[1]).astype(f32)})
