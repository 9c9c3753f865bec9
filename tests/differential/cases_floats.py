"""Arithmetic of floats, and what compares and selects them."""

import numpy as np
import triton
import triton.language as tl

from bounds import Exact, Ulps, Within, subnormal
from case import case
from inputs import FLOATS, f16, f32, f64, normal, short, uniform, wild, wild_pairs, zeros

N = 1024


def two(dtype, rows):
    """x, y and a row of outputs for each of several operations."""
    def make(rng):
        x, y = wild_pairs(rng, dtype, N)
        return dict(x=x, y=y, out=zeros((rows, N), dtype))
    return make


def one(dtype, rows, low=None, high=None):
    def make(rng):
        x = wild(rng, dtype, N) if low is None else uniform(rng, dtype, low, high, N)
        return dict(x=x, out=zeros((rows, N), dtype))
    return make


@triton.jit
def add_sub_mul(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a + b)
    tl.store(out + N + i, a - b)
    tl.store(out + 2 * N + i, a * b)
    tl.store(out + 3 * N + i, -a)


for t in FLOATS:
    case(f"add_sub_mul.{short(t)}", add_sub_mul, two(t, 4), N=N, rows={"out": ("x + y", "x - y", "x * y", "-x")},
         gpu={"-x": Ulps(0, "Triton 3.6 makes 0 - x of it, which is +0 for +0; 3.9 changes the sign")})


@triton.jit
def divide(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i) / tl.load(y + i))


FULL = Ulps(2, "`/` of f32 becomes div.full.f32, which is within 2 ulp")
for t in FLOATS:
    case(f"divide.{short(t)}", divide, two(t, 1), N=N, gpu={"out": FULL} if t == f32 else None)


@triton.jit
def divide_rounded(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, tl.math.div_rn(a, b))
    tl.store(out + N + i, tl.fdiv(a, b, ieee_rounding=True))


case("divide_rounded", divide_rounded, two(f32, 2), N=N, rows={"out": ("div_rn", "fdiv ieee_rounding")},
     gpu={"fdiv ieee_rounding": Ulps(2, "Triton 3.6 makes div.full.f32 of it all the same")})


@triton.jit
def remainder(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i) % tl.load(y + i))


def moderate_pairs(dtype):
    return lambda rng: dict(x=normal(rng, dtype, N) * dtype(50), y=normal(rng, dtype, N) + dtype(0.01), out=zeros(N, dtype))


for t in (f32, f64):
    case(f"remainder.{short(t)}", remainder, moderate_pairs(t), N=N)


@triton.jit
def square_roots(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, tl.sqrt(v))
    tl.store(out + N + i, tl.rsqrt(v))


for t in (f32, f64):
    case(f"square_roots.{short(t)}", square_roots, one(t, 2), N=N, rows={"out": ("sqrt", "rsqrt")},
         bounds={"rsqrt": Ulps(2, "the engine's is within 1.5 ulp, the interpreter's 1/sqrt rounds twice")},
         gpu={"sqrt": Ulps(1, "sqrt.approx.ftz.f32", flushed="x"), "rsqrt": Ulps(2, "rsqrt.approx.ftz.f32", flushed="x")} if t == f32 else None)


@triton.jit
def square_root_rounded(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.sqrt_rn(tl.load(x + i)))


case("square_root_rounded", square_root_rounded, one(f32, 1), N=N)


@triton.jit
def fused_multiply_add(x, y, z, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.fma(tl.load(x + i), tl.load(y + i), tl.load(z + i)))


def three(dtype):
    def make(rng):
        x, y = wild_pairs(rng, dtype, N)
        z = wild(rng, dtype, N)
        x[512:], y[512:], z[512:] = normal(rng, dtype, 3, 512)
        z[700:] = -(x[700:] * y[700:])  # what is left is the product's rounding error
        return dict(x=x, y=y, z=z, out=zeros(N, dtype))
    return make


for t in (f32, f64):
    case(f"fused_multiply_add.{short(t)}", fused_multiply_add, three(t), N=N, since=(3, 9))


@triton.jit
def multiply_then_add(x, y, z, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i) * tl.load(y + i) + tl.load(z + i))


def fused_bound(dtype):
    """A rounding of the product, which may overflow, and one of the sum."""
    def size(a):
        with np.errstate(all="ignore"):
            product, info = np.abs(a["x"].astype(np.longdouble) * a["y"]), np.finfo(dtype)
            total = np.abs(a["x"].astype(np.longdouble) * a["y"] + a["z"])
            return np.where(product > info.max, np.inf, info.eps * (product + total) + info.smallest_subnormal).astype(np.float64)
    return Within(size, "2 u (abs(x y) + abs(x y + z))", "x * y + z is fused into one rounding, unless enable_fp_fusion=False")


for t in FLOATS:
    case(f"multiply_then_add.{short(t)}", multiply_then_add, three(t), N=N, gpu={"out": fused_bound(t)})
    case(f"multiply_then_add_apart.{short(t)}", multiply_then_add, three(t), N=N, enable_fp_fusion=False)


@triton.jit
def extremes(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, tl.minimum(a, b))
    tl.store(out + N + i, tl.maximum(a, b))
    tl.store(out + 2 * N + i, tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + 3 * N + i, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL))


ZEROS = Ulps(0, "which zero is the lesser one is not said by numpy")
for t in FLOATS:
    case(f"extremes.{short(t)}", extremes, two(t, 4), N=N, rows={"out": ("min", "max", "min, NaN kept", "max, NaN kept")},
         bounds={r: ZEROS for r in ("min", "max", "min, NaN kept", "max, NaN kept")}, since=(3, 9))


@triton.jit
def clamp(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, tl.clamp(v, -1.5, 2.0))
    tl.store(out + N + i, tl.clamp(v, -1.5, 2.0, propagate_nan=tl.PropagateNan.ALL))


case("clamp", clamp, one(f32, 2), N=N, rows={"out": ("clamp", "clamp, NaN kept")}, since=(3, 9))


@triton.jit
def compare_floats(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, (a < b).to(tl.int32) + 2 * (a <= b).to(tl.int32) + 4 * (a > b).to(tl.int32)
             + 8 * (a >= b).to(tl.int32) + 16 * (a == b).to(tl.int32) + 32 * (a != b).to(tl.int32))


for t in FLOATS:
    case(f"compare_floats.{short(t)}", compare_floats,
         lambda rng, t=t: dict(zip(("x", "y"), wild_pairs(rng, t, N))) | dict(out=zeros(N, "i4")), N=N)


@triton.jit
def select(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, tl.where(a > b, a, b))
    tl.store(out + N + i, tl.where(i % 3 == 0, a, 1.0))


for t in (f16, f32, f64):
    case(f"select.{short(t)}", select, two(t, 2), N=N, rows={"out": ("greater", "every third")})


@triton.jit
def whole(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, tl.floor(v))
    tl.store(out + N + i, tl.ceil(v))
    tl.store(out + 2 * N + i, tl.abs(v))


NORMAL = Exact("subnormal numbers become zero first (ftz)", lambda a: ~subnormal(a["x"]), "but for subnormal x")
for t in (f32, f64):
    case(f"whole.{short(t)}", whole, one(t, 3), N=N, rows={"out": ("floor", "ceil", "abs")},
         gpu={k: NORMAL for k in ("floor", "ceil")} if t == f32 else None)


FUNCTION = "each library's own approximation: the engine's is within 1 ulp of the true value (sin, cos, erf: 2), numpy's within 1"


@triton.jit
def exponentials(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, tl.exp(v))
    tl.store(out + N + i, tl.exp2(v))


SCALED = Ulps(lambda a: 2 + 1.173 * np.abs(a["x"]), "exp is ex2.approx.f32 of x log2(e), rounded before", "2 + 1.173 abs(x) ulp", flushed="x")
for t, top in ((f32, 95), (f64, 720)):
    for name, make in (("", one(t, 2, -top, top)), ("_edges", one(t, 2))):
        case(f"exponentials{name}.{short(t)}", exponentials, make, N=N, rows={"out": ("exp", "exp2")},
             bounds={"exp": Ulps(2, FUNCTION), "exp2": Ulps(2, FUNCTION)}, gpu={"exp": SCALED} if t == f32 else None)


@triton.jit
def logarithms(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, tl.log(v))
    tl.store(out + N + i, tl.log2(v))


for t in (f32, f64):
    for name, low, high in (("", 1e-3, 1e3), ("_near_one", 0.9, 1.1), ("_edges", None, None)):
        case(f"logarithms{name}.{short(t)}", logarithms, one(t, 2, low, high), N=N, rows={"out": ("log", "log2")},
             bounds={"log": Ulps(2, FUNCTION), "log2": Ulps(2, FUNCTION)})


@triton.jit
def circular(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, tl.sin(v))
    tl.store(out + N + i, tl.cos(v))


for t in (f32, f64):
    for name, low, high in (("", -10, 10), ("_large", -1e6, 1e6)):
        case(f"circular{name}.{short(t)}", circular, one(t, 2, low, high), N=N, rows={"out": ("sin", "cos")},
             bounds={"sin": Ulps(3, FUNCTION), "cos": Ulps(3, FUNCTION)})


@triton.jit
def error_function(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.erf(tl.load(x + i)))


for t in (f32, f64):
    case(f"error_function.{short(t)}", error_function, one(t, 1, -5, 5), N=N, bounds={"out": Ulps(3, FUNCTION)})


@triton.jit
def activations(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, tl.sigmoid(v))
    tl.store(out + N + i, v * tl.sigmoid(v))
    tl.store(out + 2 * N + i, 0.5 * v * (1.0 + tl.erf(v * 0.70710678118)))
    tl.store(out + 3 * N + i, tl.where(v > 0, v, 0.01 * v))
    tl.store(out + 4 * N + i, 1 - 2 / (tl.exp(2 * v) + 1))


COMPOSED = "a composition of functions that are within 2 ulp each"
NEAR_ONE = Within(lambda a: 8 * 2**-24 * (1 + abs(a["x"].astype("f8"))), "8 eps (1 + |x|)", "differences of numbers near 1")
case("activations", activations, one(f32, 5, -6, 6), N=N,
     rows={"out": ("sigmoid", "silu", "gelu", "leaky relu", "tanh by exp")},
     bounds={"sigmoid": Ulps(6, COMPOSED), "silu": Ulps(7, COMPOSED), "gelu": NEAR_ONE, "tanh by exp": NEAR_ONE})
