"""How far apart two arrays may be. A bound knows which elements are `wrong`, and which are `promised` at all."""

from dataclasses import dataclass
from typing import Callable

import numpy as np


def is_float(array):
    return array.dtype.kind == "f"


def places(array):
    """Floats as integers such that neighbours differ by one; both zeros are 0."""
    signed = array.view({2: np.int16, 4: np.int32, 8: np.int64}[array.itemsize])
    lowest = np.iinfo(signed.dtype).min
    return np.where(signed < 0, lowest - signed, signed)


def ulps(got, expected):
    """Distance in units in the last place, as f64; 0 between NaNs, infinite between a NaN and a number."""
    a, b = places(got), places(expected)
    far = np.abs(a.astype(np.float64) - b.astype(np.float64))
    near = np.where(far < 2**52, np.abs(np.where(far < 2**52, a - b, 0)).astype(np.float64), far)
    one, other = np.isnan(got), np.isnan(expected)
    return np.where(one & other, 0.0, np.where(one | other, np.inf, near))


def same(got, expected):
    """Equal bits, any NaN being any other."""
    raw = f"u{got.itemsize}"
    equal = got.view(raw) == expected.view(raw) if got.dtype != bool else got == expected
    return equal | (np.isnan(got) & np.isnan(expected)) if is_float(got) else equal


def subnormal(array):
    return is_float(array) & (np.abs(array) < np.finfo(array.dtype).tiny) & (array != 0) if is_float(array) else np.zeros(array.shape, bool)


@dataclass(frozen=True)
class Exact:
    """The same bits; which NaN is not looked at. `where`: for which elements, of the arguments, by name."""
    why: str = ""
    where: Callable | None = None
    text: str = ""  # where, in words

    def promised(self, got, expected, arguments):
        return self.where(arguments) if self.where else np.ones(got.shape, bool)

    def wrong(self, got, expected, arguments):
        return ~same(got, expected) & self.promised(got, expected, arguments)

    def __str__(self):
        return f"same bits {self.text}".strip()


@dataclass(frozen=True)
class Ulps:
    """So many units in the last place; both zeros are the same. `most` may depend on the arguments (`text` says how).
    `flushed`: an argument of which elements are left out that are subnormal, or whose results are."""
    most: float | Callable
    why: str
    text: str = ""
    flushed: str | None = None

    def wrong(self, got, expected, arguments):
        most = self.most(arguments) if callable(self.most) else self.most
        return (ulps(got, expected) > most) & self.promised(got, expected, arguments)

    def promised(self, got, expected, arguments):
        if not self.flushed:
            return np.ones(got.shape, bool)
        return ~(subnormal(arguments[self.flushed]) | subnormal(got) | subnormal(expected))

    def __str__(self):
        return (self.text or f"{self.most:g} ulp") + (", but for subnormal numbers" if self.flushed else "")


@dataclass(frozen=True)
class Within:
    """An absolute difference, of the arguments; infinities and NaNs where the other has them."""
    size: Callable  # of the arguments, by name: an array that broadcasts to the output
    text: str
    why: str

    def wrong(self, got, expected, arguments):
        return self.apart(got, expected) > self.size(arguments)

    def promised(self, got, expected, arguments):
        return np.ones(got.shape, bool)

    def used(self, got, expected, arguments):
        """The largest share of the bound that a difference takes."""
        with np.errstate(all="ignore"):
            share = self.apart(got, expected) / self.size(arguments)
        return float(np.nanmax(np.where(np.isfinite(share), share, 0)))

    @staticmethod
    def apart(got, expected):
        a, b = got.astype(np.float64), expected.astype(np.float64)
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(a) & np.isfinite(b), np.abs(a - b), np.where(same(got, expected), 0.0, np.inf))

    def __str__(self):
        return self.text


@dataclass(frozen=True)
class NotCompared:
    """Nothing is promised."""
    why: str

    def wrong(self, got, expected, arguments):
        return np.zeros(got.shape, bool)

    promised = wrong

    def __str__(self):
        return "not compared"


EXACT = Exact()
