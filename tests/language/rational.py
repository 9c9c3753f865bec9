"""Rounding of exact rationals to floating-point formats, by the definition: slow, and shared with nothing."""

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nan


@dataclass(frozen=True)
class Format:
    """A binary format; `finite` ones have no infinities, `fnuz` ones no -0 either."""
    exponent: int
    mantissa: int
    bias: int
    finite: bool = False
    fnuz: bool = False

    @property
    def bits(self):
        return 1 + self.exponent + self.mantissa

    def value(self, code):
        """The number a code stands for: a Fraction, inf, -inf or nan. -0 gives Fraction(0)."""
        sign = -1 if code >> (self.bits - 1) else 1
        magnitude = code & ((1 << (self.bits - 1)) - 1)
        top = (1 << self.exponent) - 1
        exponent, mantissa = magnitude >> self.mantissa, magnitude & ((1 << self.mantissa) - 1)
        if self.fnuz and code == 1 << (self.bits - 1):
            return nan
        if self.finite and not self.fnuz and self.mantissa > 1 and magnitude == (1 << (self.bits - 1)) - 1:
            return nan
        if not self.finite and exponent == top:
            return nan if mantissa else sign * inf
        if exponent:
            mantissa += 1 << self.mantissa
        return sign * mantissa * Fraction(2) ** (max(exponent, 1) - self.bias - self.mantissa)

    @property
    def largest(self):
        code = (1 << (self.bits - 1)) - 1
        if not self.finite:  # below the exponent of infinity
            code -= 1 << self.mantissa
        elif not self.fnuz and self.mantissa > 1:  # below the one NaN
            code -= 1
        return self.value(code)

    def rounded(self, x, mode="rn", overflow="infinity"):
        """The number of the format that the rational `x` becomes. Modes: rn (ties to even), rz, rd, ru.
        `overflow`: "infinity" as IEEE 754 has it, or "saturate"."""
        x = Fraction(x)
        if x == 0:
            return Fraction(0)
        sign, size = (-1 if x < 0 else 1), abs(x)
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        if Fraction(2) ** exponent > size:
            exponent -= 1
        step = Fraction(2) ** (max(exponent, 1 - self.bias) - self.mantissa)
        steps, rest = divmod(size, step)
        away = {"rn": rest > step / 2 or (rest == step / 2 and steps % 2 == 1), "rz": False,
                "rd": rest > 0 and sign < 0, "ru": rest > 0 and sign > 0}[mode]
        result = (steps + away) * step
        if result > self.largest:
            outward = {"rn": True, "rz": False, "rd": sign < 0, "ru": sign > 0}[mode]
            return sign * (inf if overflow == "infinity" and outward and not self.finite else self.largest)
        return sign * result


F64 = Format(11, 52, 1023)
F32 = Format(8, 23, 127)
F16 = Format(5, 10, 15)
BF16 = Format(8, 7, 127)
E4M3 = Format(4, 3, 7, finite=True)
E5M2 = Format(5, 2, 15)
E4M3FNUZ = Format(4, 3, 8, finite=True, fnuz=True)
E5M2FNUZ = Format(5, 2, 16, finite=True, fnuz=True)
E2M1 = Format(2, 1, 1, finite=True)
