"""What the tracer recorded of one launch: ordered records of tile operations."""

import functools

import numpy as np

from .batch import FAULTS, KINDS
from .errors import Error
from .trace_values import Values

SPLAT, AFFINE, SEPARABLE, DENSE = range(4)  # ts_form of include/tilesight/client.h

_TYPES = {"program": np.int64, "base": np.int64, "op": np.uint32, "pattern": np.uint32,
          "active": np.uint32, "argument": np.int16, "kind": np.uint8, "faults": np.uint8,
          "m": np.uint32, "n": np.uint32}


class Record:
    """One tile operation of one program."""

    def __init__(self, trace, row):
        columns = trace.columns
        self.row = row
        self.kind = KINDS[columns["kind"][row]]
        linear = int(columns["program"][row])
        x, y, _ = trace.grid
        self.program = (linear % x, linear // x % y, linear // (x * y))
        self._trace = trace
        self._linear = linear
        self.op = int(columns["op"][row])
        self.operation, self.file, self.line, self.column = trace.operations.get(self.op, ("", "", 0, 0))
        self.argument = None
        self.faults = []
        if self.kind in ("dot", "reduce"):
            self.m, self.n = int(columns["m"][row]), int(columns["n"][row])
            self.k = int(columns["active"][row])
            return
        pattern = trace.patterns[columns["pattern"][row]]
        self.shape = pattern["shape"]
        self.strides = pattern["strides"]  # in bytes; () where addresses have no affine form
        self.element_bytes = pattern["element_bytes"]
        self.active = int(columns["active"][row])
        self.base = int(columns["base"][row])
        number = int(columns["argument"][row])
        self.argument = trace.arguments[number] if number >= 0 else None
        self.faults = [name for name, bit in FAULTS.items() if columns["faults"][row] & bit]

    def addresses(self):
        """The virtual byte address of every element, an int64 array of the tile's shape. Affine tiles
        are written out; others are computed again, which runs the launch up to this program on a copy
        of its inputs. Raises Error if those are gone, or for dots and reductions."""
        self._is_access()
        pattern = self._trace.patterns[self._trace.columns["pattern"][self.row]]
        if pattern["form"] == AFFINE:
            at = np.full(self.shape, self.base, np.int64)
            for axis, stride in enumerate(self.strides):
                steps = np.arange(self.shape[axis], dtype=np.int64) * stride
                at += steps.reshape([-1 if d == axis else 1 for d in range(len(self.shape))])
            return at
        if pattern["form"] == SPLAT:
            return np.full(self.shape, self.base, np.int64)
        return self._replay()[0]

    def mask(self):
        """Which elements the mask lets through: a bool array of the tile's shape; see addresses()."""
        self._is_access()
        pattern = self._trace.patterns[self._trace.columns["pattern"][self.row]]
        if pattern["mask_form"] == SPLAT:
            return np.full(self.shape, pattern["mask_all"], bool)
        if pattern["mask_form"] == AFFINE:
            inside = np.zeros(self.shape, bool)
            inside[tuple(slice(low, high) for low, high in zip(pattern["lo"], pattern["hi"]))] = True
            return inside
        return self._replay()[1]

    def _is_access(self):
        if self.kind in ("dot", "reduce"):
            raise Error(f"a {self.kind} has no addresses")

    def _replay(self):
        columns = self._trace.columns
        mine = np.flatnonzero(columns["program"] == self._linear)
        accesses = [row for row in mine if KINDS[columns["kind"][row]] not in ("dot", "reduce")]
        addresses, mask = self._trace.replay(self._linear, accesses.index(self.row))
        return (np.frombuffer(addresses, np.int64).reshape(self.shape),
                np.frombuffer(mask, np.uint8).reshape(self.shape).astype(bool))

    def __repr__(self):
        what = f" {self.argument}" if self.argument else ""
        return f"<{self.kind}{what} by program {self.program} at {self.file}:{self.line}>"


class Trace(Values):
    """Values of the launch (`at`, `history`, `names`), and what client="tracer" recorded of it.

    The records, in program order: `len`, indexing and iteration give Records; `columns` gives
    numpy arrays with one row a record. Without the tracer there are none: Error."""

    def __init__(self, native, grid, arguments, report=None):
        self._recorded = native
        self._report = report
        self.grid = tuple(max(size, 1) for size in grid)
        self.arguments = arguments

    @property
    def _native(self):
        if self._recorded is None:
            raise Error("this launch was not traced, so there are no records: ask for client=\"tracer\"")
        return self._recorded

    @functools.cached_property
    def columns(self):
        return {name: np.frombuffer(data, _TYPES[name]) for name, data in self._native.columns().items()}

    @functools.cached_property
    def patterns(self):
        return self._native.patterns()

    @functools.cached_property
    def operations(self):
        return self._native.operations()

    def __len__(self):
        return len(self.columns["program"])

    def __getitem__(self, row):
        if isinstance(row, slice):
            return [Record(self, i) for i in range(*row.indices(len(self)))]
        if row < 0:
            row += len(self)
        if not 0 <= row < len(self):
            raise IndexError(f"the trace has {len(self)} records")
        return Record(self, row)

    def __iter__(self):
        return (Record(self, row) for row in range(len(self)))

    def of(self, program):
        """The records of one program: (x, y, z), or x alone."""
        x, y, z = (*(program if isinstance(program, (tuple, list)) else (program,)), 0, 0)[:3]
        linear = x + self.grid[0] * (y + self.grid[1] * z)
        return [Record(self, row) for row in np.flatnonzero(self.columns["program"] == linear)]

    def replay(self, linear, ordinal):
        """Addresses and mask of access `ordinal` of program number `linear`, as bytes."""
        return self._native.replay(self._report, linear, ordinal)

    def __repr__(self):
        return f"<tilesight trace: {'no' if self._recorded is None else len(self)} records>"
