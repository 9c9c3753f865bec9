"""How far apart two arrays may be."""

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


@dataclass(frozen=True)
class Exact:
    """The same bits; which NaN is not looked at."""
    why: str = ""

    def wrong(self, got, expected, arguments):
        return ~same(got, expected)

    def __str__(self):
        return "same bits"


@dataclass(frozen=True)
class Ulps:
    """So many units in the last place; both zeros are the same."""
    most: float
    why: str

    def wrong(self, got, expected, arguments):
        return ulps(got, expected) > self.most

    def __str__(self):
        return f"{self.most:g} ulp"


@dataclass(frozen=True)
class Within:
    """An absolute difference, of the arguments; infinities and NaNs where the other has them."""
    size: Callable  # of the arguments, by name: an array that broadcasts to the output
    text: str
    why: str

    def wrong(self, got, expected, arguments):
        a, b = got.astype(np.float64), expected.astype(np.float64)
        with np.errstate(invalid="ignore"):
            apart = np.where(np.isfinite(a) & np.isfinite(b), np.abs(a - b), np.where(same(got, expected), 0.0, np.inf))
        return apart > self.size(arguments)

    def __str__(self):
        return self.text


@dataclass(frozen=True)
class NotCompared:
    """Nothing is promised."""
    why: str

    def wrong(self, got, expected, arguments):
        return np.zeros(got.shape, bool)

    def __str__(self):
        return "not compared"


EXACT = Exact()
