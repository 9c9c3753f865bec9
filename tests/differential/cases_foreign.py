"""Inline PTX and functions of libdevice, which Triton's interpreter does not run."""

import math

import numpy as np
import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from bounds import Exact, Ulps, Within, subnormal
from case import case
from inputs import f32, f64, i32, ints, u32, uniform, wild, zeros

N = 512
NONE = "it runs no {}"


@triton.jit
def words(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, tl.inline_asm_elementwise("lop3.b32 $0, $1, $2, 0x0f0f0f0f, 0xca;", "=r,r,r", [a, b], dtype=tl.int32, is_pure=True, pack=1))
    tl.store(out + N + i, tl.inline_asm_elementwise("prmt.b32 $0, $1, $2, 0x5410;", "=r,r,r", [a, b], dtype=tl.int32, is_pure=True, pack=1))
    tl.store(out + 2 * N + i, tl.inline_asm_elementwise("shf.l.wrap.b32 $0, $1, $2, 7;", "=r,r,r", [a, b], dtype=tl.int32, is_pure=True, pack=1))
    tl.store(out + 3 * N + i, tl.inline_asm_elementwise("bfe.s32 $0, $1, 5, 9;", "=r,r", [a], dtype=tl.int32, is_pure=True, pack=1))
    tl.store(out + 4 * N + i, tl.inline_asm_elementwise("dp4a.s32.s32 $0, $1, $2, $2;", "=r,r,r", [a, b], dtype=tl.int32, is_pure=True, pack=1))


def of_words(a):
    x, y = a["x"].view(u32), a["y"].view(u32)
    signed = lambda v, k: (v >> u32(8 * k)).astype(np.uint8).view(np.int8).astype(i32)
    rows = [(x & y) | (~x & u32(0x0F0F0F0F)), (x & u32(0xFFFF)) | (y << u32(16)), (y << u32(7)) | (x >> u32(25)),
            ((x >> u32(5) & u32(0x1FF)).astype(i32) ^ 256) - 256, a["y"] + sum(signed(x, k) * signed(y, k) for k in range(4))]
    return {**a, "out": np.stack([r.astype(u32).view(i32) if r.dtype == u32 else r for r in rows])}


case("words", words, lambda rng: dict(x=ints(rng, i32, N), y=ints(rng, i32, N), out=zeros((5, N), i32)), N=N,
     rows={"out": ("lop3", "prmt", "shf", "bfe", "dp4a")}, interpreter=NONE.format("inline assembly"), reference=of_words)


@triton.jit
def packed_bytes(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.inline_asm_elementwise("and.b32 $0, $1, $2; xor.b32 $0, $0, 0x01010101;", "=r,r,r", [tl.load(x + i), tl.load(y + i)],
                                                dtype=tl.int8, is_pure=True, pack=4))


case("packed_bytes", packed_bytes, lambda rng: dict(x=ints(rng, np.int8, N), y=ints(rng, np.int8, N), out=zeros(N, np.int8)), N=N,
     interpreter=NONE.format("inline assembly"), reference=lambda a: {**a, "out": (a["x"] & a["y"]) ^ np.int8(1)})


@triton.jit
def approximations(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, tl.inline_asm_elementwise("ex2.approx.f32 $0, $1;", "=f,f", [v], dtype=tl.float32, is_pure=True, pack=1))
    tl.store(out + N + i, tl.inline_asm_elementwise("rcp.approx.f32 $0, $1;", "=f,f", [v], dtype=tl.float32, is_pure=True, pack=1))
    tl.store(out + 2 * N + i, tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [v], dtype=tl.float32, is_pure=True, pack=1))
    tl.store(out + 3 * N + i, tl.inline_asm_elementwise("sin.approx.f32 $0, $1;", "=f,f", [v], dtype=tl.float32, is_pure=True, pack=1))
    tl.store(out + 4 * N + i, tl.inline_asm_elementwise("lg2.approx.f32 $0, $1;", "=f,f", [v * v], dtype=tl.float32, is_pure=True, pack=1))
    tl.store(out + 5 * N + i, tl.inline_asm_elementwise("rsqrt.approx.f32 $0, $1;", "=f,f", [v * v], dtype=tl.float32, is_pure=True, pack=1))


def of_approximations(a):
    x = a["x"].astype(f64)
    square = (a["x"] * a["x"]).astype(f64)
    return {**a, "out": np.stack([np.exp2(x), 1 / x, np.tanh(x), np.sin(x), np.log2(square), 1 / np.sqrt(square)]).astype(f32)}


def stated(size, text):
    """What the PTX manual says of an approximate instruction."""
    return Within(size, text, "the instruction is an approximation")


APPROXIMATE = ("ex2", "rcp", "tanh", "sin", "lg2", "rsqrt")
OWN = "the engine has an accurate function for each approximate instruction"
case("approximations", approximations, lambda rng: dict(x=uniform(rng, f32, -3, 3, N), out=zeros((6, N), f32)), N=N,
     rows={"out": APPROXIMATE}, bounds={r: Ulps(2, OWN) for r in APPROXIMATE},
     interpreter=NONE.format("inline assembly"), reference=of_approximations,
     gpu={"tanh": stated(lambda a: 2**-11 * np.abs(np.tanh(a["x"])), "2^-11 relative"), "sin": stated(lambda a: 2**-20.5, "2^-20.5"),
          "lg2": stated(lambda a: 2**-22 * np.maximum(1, np.abs(np.log2(np.abs(a["x"].astype(f64))) * 2)), "2^-22")})


@triton.jit
def exponential_functions(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, libdevice.exp(v))
    tl.store(out + N + i, libdevice.exp10(v))
    tl.store(out + 2 * N + i, libdevice.expm1(v))
    tl.store(out + 3 * N + i, libdevice.sinh(v))
    tl.store(out + 4 * N + i, libdevice.cosh(v))
    tl.store(out + 5 * N + i, libdevice.tanh(v))


@triton.jit
def logarithmic_functions(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, libdevice.log(v))
    tl.store(out + N + i, libdevice.log10(v))
    tl.store(out + 2 * N + i, libdevice.log1p(v))
    tl.store(out + 3 * N + i, libdevice.asinh(v))
    tl.store(out + 4 * N + i, libdevice.acosh(v))
    tl.store(out + 5 * N + i, libdevice.cbrt(v))


@triton.jit
def circular_functions(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, libdevice.sin(v))
    tl.store(out + N + i, libdevice.cos(v))
    tl.store(out + 2 * N + i, libdevice.tan(v))
    tl.store(out + 3 * N + i, libdevice.atan(v))
    tl.store(out + 4 * N + i, libdevice.asin(v))
    tl.store(out + 5 * N + i, libdevice.acos(v))


def of_functions(*functions):
    def reference(a):
        with np.errstate(all="ignore"):
            x = a["x"].astype(np.longdouble)
            return {**a, "out": np.stack([f(x) for f in functions]).astype(a["out"].dtype)}
    return reference


LIBRARY = "the engine's functions are within 2 ulp of the true value (cbrt: 4), libdevice's within what CUDA's guide says"
GROUPS = (
    ("exponential_functions", exponential_functions, ("exp", "exp10", "expm1", "sinh", "cosh", "tanh"), -20, 20,
     (np.exp, lambda x: np.longdouble(10) ** x, np.expm1, np.sinh, np.cosh, np.tanh)),
    ("logarithmic_functions", logarithmic_functions, ("log", "log10", "log1p", "asinh", "acosh", "cbrt"), 1.001, 100,
     (np.log, np.log10, np.log1p, np.arcsinh, np.arccosh, np.cbrt)),
    ("circular_functions", circular_functions, ("sin", "cos", "tan", "atan", "asin", "acos"), -1, 1,
     (np.sin, np.cos, np.tan, np.arctan, np.arcsin, np.arccos)))
for name, kernel, rows, low, high, functions in GROUPS:
    for t, tail in ((f32, "f32"), (f64, "f64")):
        case(f"{name}.{tail}", kernel, lambda rng, t=t, low=low, high=high: dict(x=uniform(rng, t, low, high, N), out=zeros((6, N), t)), N=N,
             rows={"out": rows}, bounds={r: Ulps(4 if r == "cbrt" else 2, LIBRARY) for r in rows}, interpreter=NONE.format("device libraries"),
             reference=of_functions(*functions), libm=True)
    case(f"{name}_edges.f32", kernel, lambda rng: dict(x=wild(rng, f32, N), out=zeros((6, N), f32)), N=N, rows={"out": rows},
         bounds={r: Ulps(4 if r == "cbrt" else 2, LIBRARY) for r in rows}, interpreter=NONE.format("device libraries"), reference=of_functions(*functions), libm=True,
         gpu={r: Ulps(4 if r == "cbrt" else 2, "libdevice is compiled with flush to zero", flushed="x") for r in rows})


@triton.jit
def special_functions(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, libdevice.erf(v))
    tl.store(out + N + i, libdevice.erfc(v))
    tl.store(out + 2 * N + i, libdevice.tgamma(v))
    tl.store(out + 3 * N + i, libdevice.lgamma(v))


SPECIAL = ("erf", "erfc", "tgamma", "lgamma")


def of_specials(a):
    each = lambda f: np.array([f(v) for v in a["x"].astype(f64).tolist()])
    return {**a, "out": np.stack([each(f) for f in (math.erf, math.erfc, math.gamma, math.lgamma)]).astype(a["out"].dtype)}


case("special_functions.f32", special_functions, lambda rng: dict(x=uniform(rng, f32, 0.1, 8, N), out=zeros((4, N), f32)), N=N, rows={"out": SPECIAL},
     bounds={r: Ulps(4, LIBRARY) for r in SPECIAL}, interpreter=NONE.format("device libraries"), reference=of_specials, libm=True)


@triton.jit
def functions_of_two(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, libdevice.pow(a, b))
    tl.store(out + N + i, libdevice.atan2(b, a))
    tl.store(out + 2 * N + i, libdevice.hypot(a, b))
    tl.store(out + 3 * N + i, libdevice.fmod(b, a))
    tl.store(out + 4 * N + i, libdevice.copysign(a, b))
    tl.store(out + 5 * N + i, libdevice.fdim(a, b))


TWO = ("pow", "atan2", "hypot", "fmod", "copysign", "fdim")


def of_two(a):
    x, y = a["x"].astype(np.longdouble), a["y"].astype(np.longdouble)
    with np.errstate(all="ignore"):
        rows = [x ** y, np.arctan2(y, x), np.hypot(x, y), np.fmod(y, x), np.copysign(x, y), np.maximum(x - y, 0)]
    return {**a, "out": np.stack(rows).astype(a["out"].dtype)}


for t, tail in ((f32, "f32"), (f64, "f64")):
    case(f"functions_of_two.{tail}", functions_of_two, lambda rng, t=t: dict(x=uniform(rng, t, 0.01, 9, N), y=uniform(rng, t, -9, 9, N),
                                                                            out=zeros((6, N), t)), N=N, rows={"out": TWO},
         bounds={r: Ulps(2, LIBRARY) for r in TWO[:3]}, interpreter=NONE.format("device libraries"), reference=of_two, libm=True)


@triton.jit
def rounding_functions(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, libdevice.rint(v))
    tl.store(out + N + i, libdevice.trunc(v))
    tl.store(out + 2 * N + i, libdevice.floor(v))
    tl.store(out + 3 * N + i, libdevice.ceil(v))
    tl.store(out + 4 * N + i, libdevice.round(v))


def half_away(x):
    return np.trunc(x) + np.where(np.abs(x - np.trunc(x)) >= 0.5, np.sign(x), 0)


NORMAL = Exact("libdevice is compiled with flush to zero", lambda a: ~subnormal(a["x"]), "but for subnormal x")
ROUND = ("rint", "trunc", "floor", "ceil", "round")
for t, tail in ((f32, "f32"), (f64, "f64")):
    case(f"rounding_functions.{tail}", rounding_functions, lambda rng, t=t: dict(
        x=np.concatenate([wild(rng, t, N // 2), rng.integers(-9, 9, N // 2).astype(t) / 2]), out=zeros((5, N), t)), N=N, rows={"out": ROUND},
         gpu={r: NORMAL for r in ("floor", "ceil")} if t == f32 else None, bounds={"round": Ulps(0, "the reference loses the sign of zero")}, interpreter=NONE.format("device libraries"),
         reference=of_functions(np.rint, np.trunc, np.floor, np.ceil, half_away))


@triton.jit
def bit_functions(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, libdevice.popc(a))
    tl.store(out + N + i, libdevice.clz(a))
    tl.store(out + 2 * N + i, libdevice.ffs(a))
    tl.store(out + 3 * N + i, libdevice.brev(a))
    tl.store(out + 4 * N + i, libdevice.mulhi(a, b))
    tl.store(out + 5 * N + i, libdevice.byte_perm(a, b, 0x5173))


def of_bits(a):
    x, y = (a[k].view(u32).tolist() for k in "xy")
    mulhi = [int(p) * int(q) >> 32 for p, q in zip(a["x"].tolist(), a["y"].tolist())]
    pool = [p.to_bytes(4, "little") + q.to_bytes(4, "little") for p, q in zip(x, y)]
    permuted = [int.from_bytes(bytes(b[0x5173 >> 4 * k & 7] for k in range(4)), "little") for b in pool]
    rows = [[bin(v).count("1") for v in x], [32 - v.bit_length() for v in x], [(v & -v).bit_length() for v in x],
            [int(f"{v:032b}"[::-1], 2) for v in x], [v & 0xFFFFFFFF for v in mulhi], permuted]
    return {**a, "out": np.array(rows, u32).view(i32)}


case("bit_functions", bit_functions, lambda rng: dict(x=ints(rng, i32, N), y=ints(rng, i32, N), out=zeros((6, N), i32)), N=N,
     rows={"out": ("popc", "clz", "ffs", "brev", "mulhi", "byte_perm")}, interpreter=NONE.format("device libraries"), reference=of_bits)


@triton.jit
def fast_functions(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, libdevice.fast_expf(v))
    tl.store(out + N + i, libdevice.fast_logf(v * v))
    tl.store(out + 2 * N + i, libdevice.fast_sinf(v))
    tl.store(out + 3 * N + i, libdevice.fast_cosf(v))
    tl.store(out + 4 * N + i, libdevice.fast_dividef(v, v + 10.0))


FAST = ("fast_expf", "fast_logf", "fast_sinf", "fast_cosf", "fast_dividef")


def of_fast(a):
    x = a["x"].astype(f64)
    return {**a, "out": np.stack([np.exp(x), np.log((a["x"] * a["x"]).astype(f64)), np.sin(x), np.cos(x), x / (a["x"] + f32(10)).astype(f64)]).astype(f32)}


case("fast_functions", fast_functions, lambda rng: dict(x=uniform(rng, f32, -6, 6, N), out=zeros((5, N), f32)), N=N, rows={"out": FAST},
     bounds={r: Ulps(2, OWN) for r in FAST}, interpreter=NONE.format("device libraries"), reference=of_fast,
     gpu={"fast_expf": Ulps(lambda a: 2 + 1.173 * np.abs(a["x"]), "the function is an approximation", "2 + 1.173 abs(x) ulp"),
          "fast_logf": stated(lambda a: np.maximum(2**-21.41, 3 * 2**-23 * np.abs(2 * np.log(np.abs(a["x"].astype(f64))))), "2^-21.41 or 3 ulp"),
          "fast_sinf": stated(lambda a: 2**-20.5, "2^-20.5"), "fast_cosf": stated(lambda a: 2**-20.5, "2^-20.5")})
