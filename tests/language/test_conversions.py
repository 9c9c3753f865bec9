"""Conversions between narrow floats, every code of the source, against the exact values of both formats."""

import bisect
import math

import ml_dtypes
import numpy as np
import pytest

from launch import clean, kernel
from rational import BF16, E4M3, E5M2, F16

FORMATS = {"float16": (F16, np.float16), "bfloat16": (BF16, ml_dtypes.bfloat16), "float8e4nv": (E4M3, ml_dtypes.float8_e4m3fn),
           "float8e5": (E5M2, ml_dtypes.float8_e5m2)}
WIDE = {"float32": np.float32, "float64": np.float64}
INTEGERS = {"int8": np.int8, "uint8": np.uint8, "int16": np.int16, "uint16": np.uint16}

CONVERT = """
@triton.jit
def kernel(x, out, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + i, tl.load(x + i).to(tl.{to}{rounding}))
"""


def every(format, dtype):
    codes = np.arange(1 << format.bits)
    return codes.astype(np.uint8 if format.bits == 8 else np.uint16).view(dtype), [format.value(int(c)) for c in codes]


def convert(folder, x, to, dtype, rounding=None):
    out = np.zeros(len(x), dtype)
    text = f', fp_downcast_rounding="{rounding}"' if rounding else ""
    clean(kernel(folder, CONVERT.format(to=to, rounding=text)), x, out, grid=(len(x) // 256,), N=256)
    return out


def nearest(format, mode):
    """Rounding to a format by looking it up among all its values."""
    bits = format.bits - 1
    table = [(v, c) for c in range(1 << bits) if (v := format.value(c)) == v and v != math.inf]
    values, codes = [v for v, _ in table], [c for _, c in table]
    step = values[-1] - values[-2]

    def rounded(x):
        size = abs(x)
        if format.bits == 8:
            size = min(size, values[-1])  # fp8 saturates
        elif size == math.inf or (mode == "rtne" and size >= values[-1] + step / 2):
            return math.copysign(math.inf, x)
        below = min(bisect.bisect_right(values, size), len(values)) - 1
        if below + 1 == len(values) or mode == "rtz":
            result = values[below]
        else:
            low, high = size - values[below], values[below + 1] - size
            result = values[below + 1] if high < low or (high == low and codes[below] % 2) else values[below]
        return -result if x < 0 else result
    return rounded


@pytest.mark.parametrize("rounding", ["rtne", "rtz"])
@pytest.mark.parametrize("source, target", [(s, t) for s in FORMATS for t in FORMATS if FORMATS[t][0].bits < FORMATS[s][0].bits])
def test_narrow_to_narrow(source, target, rounding, tmp_path, collect):
    (from_format, from_dtype), (format, dtype) = FORMATS[source], FORMATS[target]
    x, values = every(from_format, from_dtype)
    out = convert(tmp_path, x, target, dtype, rounding)
    codes = out.view(np.uint8 if format.bits == 8 else np.uint16)
    round_once = nearest(format, rounding)
    memo = {v: round_once(v) for v in set(values) if v == v}
    for value, code in zip(values, codes.tolist()):
        got = format.value(code)
        assert (got != got) if value != value else got == memo[value], (value, got)
    negative = x.view(np.uint16) >> 15 == 1
    assert ((codes >> (format.bits - 1) == 1) == negative)[~np.isnan(x.astype(np.float64))].all()  # -0 too


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("target", WIDE)
def test_narrow_to_wide(source, target, tmp_path, collect):
    format, dtype = FORMATS[source]
    x, values = every(format, dtype)
    out = convert(tmp_path, x, target, WIDE[target])
    for value, got in zip(values, out.tolist()):
        assert (got != got) if value != value else got == value, (value, got)


@pytest.mark.parametrize("target", ["float16", "bfloat16"])
@pytest.mark.parametrize("source", ["float8e4nv", "float8e5"])
def test_fp8_to_halves(source, target, tmp_path, collect):
    (from_format, from_dtype), (format, dtype) = FORMATS[source], FORMATS[target]
    x, values = every(from_format, from_dtype)
    codes = convert(tmp_path, x, target, dtype).view(np.uint16)
    for value, code in zip(values, codes.tolist()):
        got = format.value(code)
        assert (got != got) if value != value else got == value, (value, got)


@pytest.mark.parametrize("rounding", ["rtne", "rtz"])
@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("source", WIDE)
def test_wide_to_narrow_around_every_value(source, target, rounding, tmp_path, collect):
    """Every value of the target, every midpoint, and their neighbours in the source's format."""
    format, dtype = FORMATS[target]
    wide = WIDE[source]
    exact = sorted(float(v) for c in range(1 << (format.bits - 1)) if (v := format.value(c)) == v and v != math.inf)
    exact = np.array(exact[:: 1 if format.bits == 8 else 37], np.float64)
    middle = (exact[1:] + exact[:-1]) / 2
    x = np.concatenate([exact, middle]).astype(wide)
    x = np.concatenate([x, np.nextafter(x, wide(np.inf)), np.nextafter(x, wide(0))])
    x = np.concatenate([x, -x, np.array([np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-30], wide)])
    x = np.concatenate([x, np.zeros(-len(x) % 256, wide)])
    out = convert(tmp_path, x, target, dtype, rounding).view(np.uint8 if format.bits == 8 else np.uint16)
    round_once = nearest(format, rounding)
    from fractions import Fraction
    for value, code in zip(x.tolist(), out.tolist()):
        got = format.value(code)
        if value != value:
            assert got != got
        else:
            assert got == round_once(Fraction(value) if math.isfinite(value) else value), (value, got)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])
def test_round_to_nearest_as_ml_dtypes(dtype, tmp_path, collect):
    """Within the format's range, where both agree on what overflow is."""
    name = {ml_dtypes.bfloat16: "bfloat16", ml_dtypes.float8_e4m3fn: "float8e4nv", ml_dtypes.float8_e5m2: "float8e5"}[dtype]
    limit = float(ml_dtypes.finfo(dtype).max)
    x = np.random.default_rng(0).integers(0, 2**32, 1 << 16, dtype=np.uint32).view(np.float32)
    x = np.where(np.isfinite(x) & (abs(x) <= limit), x, np.float32(0))
    out = convert(tmp_path, x, name, dtype, "rtne")
    assert (out.view(np.uint8) == x.astype(dtype).view(np.uint8)).all()


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", ["float16", "bfloat16", "float32"])
def test_every_small_integer(source, target, tmp_path, collect):
    x = np.arange(np.iinfo(INTEGERS[source]).min, np.iinfo(INTEGERS[source]).max + 1).astype(INTEGERS[source])
    if target == "float32":
        assert (convert(tmp_path, x, target, np.float32) == x.astype(np.float64)).all()
        return
    format, dtype = FORMATS[target]
    out = convert(tmp_path, x, target, dtype).view(np.uint16)
    round_once = nearest(format, "rtne")
    assert [format.value(c) for c in out.tolist()] == [round_once(v) for v in x.tolist()]
