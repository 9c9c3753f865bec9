"""What a kernel's values are: element types, as MLIR names them, and their meaning in numpy."""

from dataclasses import dataclass

import numpy as np

from formats import BF16, E4M3, E5M2, decode, encode

INTEGERS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
NARROW = {"bf16": (BF16, np.uint16), "f8E4M3FN": (E4M3, np.uint8), "f8E5M2": (E5M2, np.uint8)}  # held as f32


@dataclass(frozen=True)
class Type:
    element: str
    shape: tuple = ()

    def __str__(self):
        return f"tensor<{'x'.join(map(str, self.shape))}x{self.element}>" if self.shape else self.element

    def of(self, element):
        return Type(element, self.shape)

    def shaped(self, *shape):
        return Type(self.element, shape)

    @property
    def numel(self):
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def is_integer(self):
        return self.element in INTEGERS

    @property
    def is_float(self):
        return not self.is_integer and self.element != "i1"

    @property
    def bits(self):
        return {"i1": 1, "bf16": 16, "f8E4M3FN": 8, "f8E5M2": 8}.get(self.element) or int(self.element[1:])


def held(element):
    """The numpy type that values of an element type are computed in."""
    return bool if element == "i1" else INTEGERS.get(element) or FLOATS.get(element) or np.float32


def rounded(element, values):
    """Floats rounded once to an element type, ties to even."""
    values = np.asarray(values)
    if element not in NARROW:
        with np.errstate(all="ignore"):
            return values.astype(FLOATS[element])
    format = NARROW[element][0]
    return decode(format, encode(format, values, "rtne")).astype(np.float32)


def to_memory(element, values):
    """Values as they lie in memory."""
    if element in NARROW:
        format, dtype = NARROW[element]
        return encode(format, values, "rtne").astype(dtype)
    return np.asarray(values).astype(np.int8 if element == "i1" else held(element))


def from_memory(element, memory):
    return decode(NARROW[element][0], memory).astype(np.float32) if element in NARROW else memory.astype(held(element))


def unsigned(values):
    return values.view(f"u{values.itemsize}")


def literal(element, value):
    """A constant as MLIR writes it."""
    if element == "i1":
        return "true" if value else "false"
    if element in INTEGERS:
        return str(int(value))
    raw = to_memory(element, np.asarray(value, held(element)).reshape(1))
    return f"0x{int.from_bytes(raw.tobytes(), 'little'):0{2 * raw.itemsize}X}"
