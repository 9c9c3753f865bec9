"""Columns of what a range of programs did, as clients written in Python get them."""

import numpy as np

from .errors import Error

SPLAT, AFFINE, SEPARABLE, DENSE = range(4)  # how a tile of addresses or a mask is held
FAULTS = {"out-of-view": 1, "out-of-bounds": 2, "null-pointer": 4, "foreign-pointer": 8, "misaligned": 16,
          "read-only-write": 32}
KINDS = ("load", "store", "atomic_rmw", "atomic_cas", "copy", "dot", "reduce")

_TYPES = {
    "program": np.int64, "order": np.int64, "op": np.uint32, "kind": np.uint8, "faults": np.uint32,
    "argument": np.int32, "element_bytes": np.uint32, "elements": np.int64, "active": np.int64,
    "base": np.int64, "rank": np.uint32, "form": np.uint8, "mask_form": np.uint8, "mask_all": np.uint8,
    "start": np.int64, "mask_start": np.int64, "numbers": np.int64, "bytes": np.uint8,
    "value_start": np.int64, "before_start": np.int64, "compared_start": np.int64, "values": np.uint8,
    "sem": np.uint8, "scope": np.uint8, "m": np.int64, "n": np.int64, "k": np.int64, "value": np.int64,
    "trip": np.int64,
}
# Of the values of accesses, by the number of the element kind (src/ir/type.h). Formats that numpy lacks come
# as their bits; pointers are virtual addresses.
_VALUES = ("", "bool", "uint8", "int8", "int16", "int32", "int64", "", "float16", "uint16", "float32", "float64",
           "float32") + ("uint8",) * 7 + ("int64",)
_KEPT = ("start", "mask_start", "numbers", "bytes", "rank", "value_start", "before_start", "compared_start", "values")
SEMS = ("not atomic", "relaxed", "acquire", "release", "acq_rel")
SCOPES = ("", "gpu", "cta", "sys")


class Batch:
    """One row an event, in program order; columns are numpy arrays and attributes.

    All have `program` (linear: x + grid.x * (y + grid.y * z)) and `order` (of the event among those of
    its range, across hooks).

    Accesses: `op` (number of the operation in the IR), `argument` (index of the tensor argument, -1 if
    unknown), `elements` and `active` (of the tile; those that the mask lets through), `element_bytes`,
    `base` (virtual address of the first element where the form is not dense), `faults` (bits of
    FAULTS), `kind`, `form`, `element` (number of the element's kind), `sem` and `scope` (indices of SEMS and
    SCOPES; loads and stores may be atomic, too). `addresses(i)` and `mask(i)` give row i written out, and
    where the client needs "values", `values(i)`, `before(i)` and `compared(i)` what was moved.
    Computations: `op`, `element`, `m`, `n`, `k`. Iterations: `op`, `value`, `trip`.
    """

    def __init__(self, columns, places, client):
        self._places = places
        self._client = client
        for name, data in columns.items():
            setattr(self, "_" + name if name in _KEPT else name, np.frombuffer(data, self._type(name, columns)))

    @staticmethod
    def _type(name, columns):
        if name == "element":
            return np.uint8 if "element_bytes" in columns else np.uint32
        return _TYPES[name]

    def __len__(self):
        return len(self.program)

    def place(self, row):
        """(file, line, column) of the row's operation; ("", 0, 0) if it has none."""
        return self._places.get(int(self.op[row]), ("", "", 0, 0))[1:]

    def shape(self, row):
        """Of the row's tile."""
        start, rank = int(self._start[row]), int(self._rank[row])
        return tuple(self._numbers[start:start + rank].tolist())

    def addresses(self, row):
        """Virtual byte addresses of all elements of the row's tile, as an array of its shape."""
        shape = self.shape(row)
        rank = len(shape)
        form, base = self.form[row], int(self.base[row])
        if form == SPLAT:
            return np.full(shape, base, np.int64)
        start = int(self._start[row])
        strides = self._numbers[start + rank:start + 2 * rank]
        at = start + 4 * rank
        if form == DENSE:
            self._needs_elements(row)
            return self._numbers[at:at + int(self.elements[row])].reshape(shape)
        result = np.full(shape, base, np.int64)
        for axis, size in enumerate(shape):
            steps = np.arange(size, dtype=np.int64) * strides[axis]
            if form == SEPARABLE:
                given = self._numbers[at]
                at += 1
                if given:
                    steps = self._numbers[at:at + size]
                    at += size
            result = result + steps.reshape((size,) + (1,) * (rank - axis - 1))
        return result

    def mask(self, row):
        """Which elements of the row's tile are active, as an array of its shape."""
        shape = self.shape(row)
        rank = len(shape)
        form = self.mask_form[row]
        if form == SPLAT:
            return np.full(shape, bool(self.mask_all[row]))
        start, at = int(self._start[row]), int(self._mask_start[row])
        if form == DENSE:
            self._needs_elements(row)
            return self._bytes[at:at + int(self.elements[row])].astype(bool).reshape(shape)
        low = self._numbers[start + 2 * rank:start + 3 * rank]
        high = self._numbers[start + 3 * rank:start + 4 * rank]
        result = np.ones(shape, bool)
        for axis, size in enumerate(shape):
            index = np.arange(size)
            inside = (index >= low[axis]) & (index < high[axis])
            if form == SEPARABLE:
                given = self._bytes[at]
                at += 1
                if given:
                    inside = inside & self._bytes[at:at + size].astype(bool)
                    at += size
            result &= inside.reshape((size,) + (1,) * (rank - axis - 1))
        return result

    def values(self, row):
        """What the row's access loaded or is about to store, or an atomic operation's operand: an array of the
        tile's shape, masked elements included. bfloat16 and 8-bit floats come as unsigned bits, pointers as
        virtual addresses. None where the operation has no such value."""
        return self._moved("value_start", row)

    def before(self, row):
        """What memory held before the row's atomic operation; None for loads and stores, and for reductions
        through descriptors."""
        return self._moved("before_start", row)

    def compared(self, row):
        """What the row's compare-and-swap compared memory with; None for other operations."""
        return self._moved("compared_start", row)

    def _moved(self, column, row):
        if "values" not in self._client.needs:
            raise Error("this client does not get values: add \"values\" to its needs")
        starts = getattr(self, "_" + column, None)
        if starts is None or starts[row] < 0:
            return None
        at, count = int(starts[row]), int(self.elements[row])
        width = int(self.element_bytes[row])
        dtype = np.dtype(_VALUES[self.element[row]] or "V16")
        if dtype.itemsize != width:
            dtype = np.dtype(f"V{width}")
        return self._values[at:at + count * width].view(dtype).reshape(self.shape(row))

    def _needs_elements(self, row):
        if "elements" not in self._client.needs:
            raise Error(f"the addresses or mask of row {row} have no short form: add \"elements\" to the "
                        "client's needs to get them")

    def report(self, row, kind, message, severity="error", element=(), count=1):
        """Reports a finding at the row's operation. `element` is the index of the witness in the tile,
        `count` the number of elements concerned."""
        argument = int(self.argument[row]) if hasattr(self, "argument") else -1
        self._client._report(int(self.op[row]), int(self.program[row]), argument, kind, severity, message,
                             element, count)
