"""Conversions between types."""

import numpy as np
import triton
import triton.language as tl

from bounds import Exact
from case import case
from formats import BF16, E4M3, E5M2, F16, decode, encode
from inputs import FLOATS, SIGNED, UNSIGNED, codes, f16, f32, f64, i8, i32, i64, ints, short, special, u8, u16, u32, u64, wild, zeros

N = 1024


@triton.jit
def to_signed(x, a, b, c, d, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(a + i, v.to(tl.int8))
    tl.store(b + i, v.to(tl.int16))
    tl.store(c + i, v.to(tl.int32))
    tl.store(d + i, v.to(tl.int64))


@triton.jit
def to_unsigned(x, a, b, c, d, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(a + i, v.to(tl.uint8))
    tl.store(b + i, v.to(tl.uint16))
    tl.store(c + i, v.to(tl.uint32))
    tl.store(d + i, v.to(tl.uint64))


def named(types):
    return dict(zip("abcd", map(short, types)))


def outputs(types):
    return {k: zeros(N, t) for k, t in zip("abcd", types)}


for t in FLOATS:
    case(f"to_signed.{short(t)}", to_signed, lambda rng, t=t: dict(x=rng.uniform(-127, 127, N).astype(t)) | outputs(SIGNED), N=N,
         labels=named(SIGNED))
    case(f"to_unsigned.{short(t)}", to_unsigned, lambda rng, t=t: dict(x=rng.uniform(0, 255, N).astype(t)) | outputs(UNSIGNED), N=N,
         labels=named(UNSIGNED))


CUT = "8 bits are cut from a wider conversion, and NaN gives the top bit alone from f64 or in 64 bits (invalid-conversion)"


def fitting(dtype, types):
    """What a GPU gives where a number does not fit is another value for some types."""
    result = {}
    for k, t in zip(map(short, types), types):
        info = np.iinfo(t)
        if np.dtype(t).itemsize == 1:
            result[k] = Exact(CUT, lambda a, info=info: (a["x"] > float(info.min) - 1) & (a["x"] < float(info.max) + 1), "where x fits")
        elif np.dtype(t).itemsize == 8 or dtype == f64:
            result[k] = Exact(CUT, lambda a: ~np.isnan(a["x"]), "but for NaN")
    return result


def saturated(types):
    """Toward zero; what does not fit is the nearest that does, and NaN is 0."""
    def reference(a):
        out = dict(a)
        for k, t in zip("abcd", types):
            info = np.iinfo(t)
            out[k] = np.array([0 if v != v else info.min if v <= info.min else info.max if v >= info.max else int(v)
                               for v in a["x"].astype(np.float64).tolist()], t)
        return out
    return reference


for t in FLOATS:
    for name, kernel, types in (("to_signed", to_signed, SIGNED), ("to_unsigned", to_unsigned, UNSIGNED)):
        case(f"{name}_out_of_range.{short(t)}", kernel, lambda rng, t=t, types=types: dict(x=wild(rng, t, N)) | outputs(types),
             N=N, interpreter="what does not fit is left undefined by C, and by numpy with it", reference=saturated(types),
             finds=("invalid-conversion",), gpu=fitting(t, types), labels=named(types))


@triton.jit
def from_integers(x, a, b, c, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(a + i, v.to(tl.float16))
    tl.store(b + i, v.to(tl.float32))
    tl.store(c + i, v.to(tl.float64))


for t in SIGNED + UNSIGNED:
    case(f"from_integers.{short(t)}", from_integers,
         lambda rng, t=t: dict(x=ints(rng, t, N), a=zeros(N, f16), b=zeros(N, f32), c=zeros(N, f64)), N=N,
         labels=named(FLOATS))


@triton.jit
def between_floats(x, a, b, c, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(a + i, v.to(tl.float16))
    tl.store(b + i, v.to(tl.float32))
    tl.store(c + i, v.to(tl.float64))


def around_halves(rng, dtype):
    """Random bits; then numbers of f16's size with midpoints of f16 among them."""
    x = wild(rng, dtype, N)
    near = rng.uniform(-4, 4, N // 2).astype(f16)
    x[N // 2:] = (near.astype(f64) + np.spacing(near).astype(f64) / 2).astype(dtype)
    return x


for t in FLOATS:
    case(f"between_floats.{short(t)}", between_floats,
         lambda rng, t=t: dict(x=around_halves(rng, t), a=zeros(N, f16), b=zeros(N, f32), c=zeros(N, f64)), N=N,
         labels=named(FLOATS))


@triton.jit
def to_narrow(x, out, N: tl.constexpr, TO: tl.constexpr, ROUNDING: tl.constexpr):
    i = tl.arange(0, N)
    y = tl.load(x + i).to(TO, fp_downcast_rounding=ROUNDING)
    if TO.primitive_bitwidth == 8:
        tl.store(out + i, y.to(tl.uint8, bitcast=True))
    else:
        tl.store(out + i, y.to(tl.uint16, bitcast=True))


def around(rng, dtype, format):
    """The format's own numbers, midpoints between them and their neighbours, and random bits."""
    exact = decode(format, rng.choice(np.arange(1 << format.bits), 300))
    exact = exact[np.isfinite(exact)]
    middle = decode(format, encode(format, exact * 1.0001, "rtz"))
    middle = (middle + decode(format, encode(format, middle * (1 + 2.0**-format.mantissa), "rtz"))) / 2
    x = np.concatenate([exact, middle[np.isfinite(middle)]])
    with np.errstate(all="ignore"):
        x = x.astype(dtype)
        x = np.concatenate([x, np.nextafter(x, dtype(np.inf)), special(dtype), wild(rng, dtype, N)])[:N]
    return x


NARROW = {"bf16": (tl.bfloat16, BF16, u16), "e4m3": (tl.float8e4nv, E4M3, u8), "e5m2": (tl.float8e5, E5M2, u8)}
DOWNCAST = "its conversion rounds ties away from zero, lets overflow become NaN, and loses subnormal numbers and what f64 holds"


def narrowed(format, rounding):
    return lambda a: {**a, "out": encode(format, a["x"], rounding).astype(a["out"].dtype)}


for name, (to, format, dtype) in NARROW.items():
    for t in FLOATS:
        for rounding in ("rtne", "rtz"):
            if (t == f64) != (name == "bf16") and t != f32:
                continue  # Triton has none
            case(f"to_{name}_{rounding}.{short(t)}", to_narrow,
                 lambda rng, t=t, format=format, dtype=dtype: dict(x=around(rng, t, format), out=zeros(N, dtype)), N=N, TO=to,
                 ROUNDING=rounding, reference=narrowed(format, rounding),
                 interpreter=None if rounding == "rtz" and (name == "e4m3" or (name, t) in (("e5m2", f32), ("bf16", f64))) else DOWNCAST,
                 no_gpu="Triton does not compile it for sm_90" if rounding == "rtz" and (name != "bf16" or t == f64) else None)
for rounding in ("rtne", "rtz"):
    case(f"to_f16_{rounding}.f32", to_narrow, lambda rng: dict(x=around(rng, f32, F16), out=zeros(N, u16)), N=N, TO=tl.float16,
         ROUNDING=rounding, reference=narrowed(F16, rounding))


@triton.jit
def from_narrow(x, out, N: tl.constexpr, FROM: tl.constexpr, TO: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + i, tl.load(x + i).to(FROM, bitcast=True).to(TO))


for name, (kind, format, dtype) in NARROW.items():
    for to, t in ((tl.float32, f32), (tl.float16, f16)):
        if name == "bf16" and t == f16:
            continue
        n = 1 << format.bits
        step = 1 if n == 256 else 16
        case(f"from_{name}_to_{short(t)}", from_narrow, lambda rng, dtype=dtype, t=t, n=n, step=step:
             dict(x=codes(dtype)[5 % step::step].copy(), out=zeros(n // step, t)), N=256, grid=n // step // 256, FROM=kind, TO=to,
             interpreter="its conversion makes numbers of infinities and NaNs, and loses subnormal numbers",
             reference=lambda a, format=format: {**a, "out": decode(format, a["x"]).astype(a["out"].dtype)})


@triton.jit
def bfloat_arithmetic(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i).to(tl.bfloat16, bitcast=True), tl.load(y + i).to(tl.bfloat16, bitcast=True)
    tl.store(out + i, (a + b).to(tl.uint16, bitcast=True))
    tl.store(out + N + i, (a - b).to(tl.uint16, bitcast=True))
    tl.store(out + 2 * N + i, (a * b).to(tl.uint16, bitcast=True))


def bfloats(rng):
    value = lambda: encode(BF16, (rng.standard_normal(N) * 2.0 ** rng.integers(-20, 20, N)).astype(f32), "rtne").astype(u16)
    return dict(x=value(), y=value(), out=zeros((3, N), u16))


def of_bfloats(a):
    x, y = decode(BF16, a["x"]), decode(BF16, a["y"])
    return {**a, "out": np.stack([encode(BF16, v, "rtne") for v in (x + y, x - y, x * y)]).astype(u16)}


case("bfloat_arithmetic", bfloat_arithmetic, bfloats, N=N, rows={"out": ("x + y", "x - y", "x * y")},
     interpreter="it adds the bit patterns of bfloat16", reference=of_bfloats)


@triton.jit
def reinterpret(x, y, out, back, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i).to(tl.int32, bitcast=True))
    tl.store(back + i, tl.load(y + i).to(tl.float32, bitcast=True))


case("reinterpret", reinterpret, lambda rng: dict(x=wild(rng, f32, N), y=ints(rng, i32, N), out=zeros(N, i32), back=zeros(N, f32)), N=N)
