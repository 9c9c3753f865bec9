"""Narrow floating-point formats, by numpy in f64: what a code stands for, and the code that a number becomes."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Format:
    exponent: int
    mantissa: int
    bias: int
    top: int  # the largest finite code
    saturates: bool  # as Triton's casts to it do on NVIDIA
    has_infinity: bool = True

    @property
    def bits(self):
        return 1 + self.exponent + self.mantissa


F16 = Format(5, 10, 15, 0x7BFF, False)
BF16 = Format(8, 7, 127, 0x7F7F, False)
E4M3 = Format(4, 3, 7, 0x7E, True, has_infinity=False)
E5M2 = Format(5, 2, 15, 0x7B, True)


def decode(format, codes):
    """The numbers as f64."""
    codes = np.asarray(codes).astype(np.int64)
    sign, size = np.where(codes >> (format.bits - 1) & 1, -1.0, 1.0), codes & ((1 << (format.bits - 1)) - 1)
    exponent, mantissa = size >> format.mantissa, size & ((1 << format.mantissa) - 1)
    value = np.ldexp(np.where(exponent > 0, mantissa + (1 << format.mantissa), mantissa).astype(np.float64),
                     np.maximum(exponent, 1) - format.bias - format.mantissa)
    infinite = (size == format.top + 1) & format.has_infinity
    return sign * np.where(infinite, np.inf, np.where(size > format.top, np.nan, value))


def encode(format, values, rounding):
    """The codes of f16, f32 or f64, rounded once: "rtne" to nearest even, "rtz" toward zero. What is too large
    becomes infinity (toward zero: the largest number), or the largest number where the format saturates."""
    x = np.asarray(values).astype(np.float64)
    sign = np.signbit(x).astype(np.int64) << (format.bits - 1)
    size = np.abs(x)
    with np.errstate(invalid="ignore"):
        exponent = np.frexp(np.where(np.isfinite(size), size, 1.0))[1] - 1
        exponent = np.maximum(np.where(size == 0, 1 - format.bias, exponent), 1 - format.bias)
        steps = np.ldexp(np.where(np.isfinite(size), size, 0.0), format.mantissa - exponent)
        steps = (np.rint(steps) if rounding == "rtne" else np.floor(steps)).astype(np.int64)
    code = steps + ((exponent + format.bias - 1).astype(np.int64) << format.mantissa)
    too_large = (code > format.top) & np.isfinite(size)
    over = format.top if format.saturates or rounding == "rtz" else format.top + 1
    infinity = format.top if format.saturates else format.top + 1
    code = np.where(too_large, over, np.where(np.isinf(size), infinity, code))
    nan = (1 << (format.bits - 1)) - 1 if not format.has_infinity else format.top + 1 + (1 << (format.mantissa - 1))
    return np.where(np.isnan(x), nan, sign | code)
