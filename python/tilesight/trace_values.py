"""Values of a launch, computed again: `report.trace.at(...)` and its kin. See docs/values.md."""

import collections
import operator

import numpy as np

from . import engine
from .errors import Error

_DTYPES = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "index": np.int64,
           "f16": np.float16, "f32": np.float32, "tf32": np.float32, "f64": np.float64, "ptr": np.int64}


class Tile(np.ndarray):
    """The elements of a tile: a numpy array. `element` is what the kernel holds ("f16", "bf16", "i32", ...); formats
    that numpy lacks (bf16, the 8-bit floats) come as float32, which holds each of their values exactly."""

    element = None  # of what is computed from a Tile

    def __array_finalize__(self, source):
        pass

    def __array_wrap__(self, array, context=None, return_scalar=False):
        array = np.asarray(array)
        return array[()] if array.ndim == 0 else array


class Pointers:
    """A tile of pointers, or one pointer: into which tensor, and at which element.

    tensor     the argument's name; None if they point into several, or into none that is known
    tensors    the same per element: an array of names ("" where not known)
    offsets    elements behind the tensor's element [0,..,0] (where the tensor is not known: bytes); an int or an array
    addresses  virtual addresses in bytes
    shape      of the tile; () is one pointer
    """

    def __init__(self, raw, tensors):
        shape = raw["shape"]
        arguments = np.frombuffer(raw["arguments"], np.int32).reshape(shape)
        self.shape = shape
        self._of = {number: (name, sizes, strides) for number, name, _, sizes, strides in tensors}
        self.addresses = np.frombuffer(raw["bytes"], np.int64).reshape(shape)
        self.offsets = np.frombuffer(raw["offsets"], np.int64).reshape(shape)
        self._arguments = arguments
        self.tensors = np.vectorize(lambda a: self._of[a][0] if a in self._of else "", otypes=[object])(arguments) \
            if arguments.size else np.empty(shape, object)
        names = set(np.atleast_1d(self.tensors).ravel())
        self.tensor = names.pop() or None if len(names) == 1 else None
        if shape == ():
            self.addresses, self.offsets = int(self.addresses), int(self.offsets)
            self.tensors = self.tensor or ""

    @property
    def indices(self):
        """Where they point in the tensor: a tuple of arrays (of ints for one pointer), one an axis, as numpy indexing
        takes it. Outside the tensor some are not in their axis. Raises Error unless there is one tensor."""
        if self.tensor is None:
            raise Error("these pointers are not all of one tensor, so they have no common indices: see .tensors and .offsets")
        number = int(np.atleast_1d(self._arguments).ravel()[0])
        _, sizes, strides = self._of[number]
        rest = np.asarray(self.offsets)
        result = [np.zeros_like(rest) for _ in sizes]
        for axis in sorted((a for a in range(len(sizes)) if sizes[a] > 1 and strides[a]), key=lambda a: -abs(strides[a])):
            steps = rest // strides[axis] if strides[axis] > 0 else -(rest // -strides[axis])
            steps = np.clip(steps, None, sizes[axis] - 1) if axis != self._outermost(sizes, strides) else steps
            result[axis] = steps
            rest = rest - steps * strides[axis]
        return tuple(int(i) for i in result) if self.shape == () else tuple(result)

    @staticmethod
    def _outermost(sizes, strides):
        return max((a for a in range(len(sizes)) if sizes[a] > 1), key=lambda a: abs(strides[a]), default=0)

    def __len__(self):
        if not self.shape:
            raise TypeError("this is one pointer")
        return self.shape[0]

    def __repr__(self):
        where = self.tensor or ("several tensors" if len(set(np.atleast_1d(self.tensors).ravel())) > 1 else "memory that is no tensor of the launch")
        if self.shape == ():
            return f"<pointer to {where}[{self.offsets}]>" if self.tensor else f"<pointer {self.addresses:#x}>"
        span = f", elements {self.offsets.min()} to {self.offsets.max()}" if self.tensor and np.size(self.offsets) else ""
        return f"<pointers {self.shape} into {where}{span}>"


Turn = collections.namedtuple("Turn", "trip variables value")
Turn.__doc__ = """One occurrence of a value: `trip` {loop variable: turn from 0}, `variables` {loop variable: its value}, `value`."""


class Story(dict):
    """What was found about a value: a dict whose keys are attributes, too, and whose text tells it."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r}; there are {', '.join(self)}") from None

    def __str__(self):
        return self["text"] if "text" in self else dict.__repr__(self)

    __repr__ = __str__


def value_of(raw, tensors):
    """The Python object of a value that the native module gave."""
    if raw["text"]:
        return raw["text"]
    element = raw["element"]
    if element == "ptr":
        return Pointers(raw, tensors)
    dtype = _DTYPES.get(element, np.float32)
    array = np.frombuffer(raw["bytes"], dtype)
    if raw["shape"] == ():
        return array[0].item()
    tile = array.reshape(raw["shape"]).copy().view(Tile)
    tile.element = element
    return tile


def program_of(program, grid):
    """(x, y, z) of what a user gives: x, (x,), (x, y) or (x, y, z)."""
    given = program if isinstance(program, (tuple, list)) else (program,)
    try:
        numbers = tuple(operator.index(number) for number in given)
    except TypeError:
        numbers = ()
    if not 1 <= len(numbers) <= 3:
        raise Error(f"program is {program!r}; it must be x, (x, y) or (x, y, z): the grid is {tuple(grid)}")
    return (*numbers, 0, 0)[:3]


def _turns(trip, where):
    turns = []
    for given, by_value, word in ((trip, False, "trip"), (where, True, "where")):
        if given is None:
            continue
        if not isinstance(given, dict):
            raise Error(f"{word} is {given!r}; it must be a dict of loop variables, such as {word}={{\"start_n\": 15}}")
        for loop, number in given.items():
            try:
                turns.append((str(loop), operator.index(number), by_value))
            except TypeError:
                raise Error(f"{word}[{loop!r}] is {number!r}; it must be a whole number") from None
    return turns


class Values:
    """What `report.trace` can compute again. Every question runs one program (or, where programs read what others
    wrote, first the launch once more) on the inputs of the launch; nothing of the caller's changes."""

    _report = None  # the native report

    def at(self, line=None, name=None, program=(0, 0, 0), trip=None, *, where=None, occurrence=None, file=None, op=None,
           result=0, operand=None):
        """The value of a variable after its line, in one program; or of operation `op`.

        line, name   the variable's line in the kernel's file (or a file that ends in `file`). Without `line`, the last
                     assignment to it. "%qk_43" names a value of the IR.
        program      x, (x, y) or (x, y, z)
        trip         {loop variable: turn, from 0}: which turns of the loops around it; where it does not say, the last
        where        {loop variable: its value}: the same by what the variable is in that turn
        occurrence   which of the times that fit, from 0
        op           instead of line and name: an operation by its number in the IR (pre-order), with `result`, or an
                     `operand` of it

        Returns a Tile (a numpy array), an int, float or bool, Pointers, or for descriptors and block pointers a text.
        Raises Error, which says what there is instead.
        """
        native = self._values()
        raw = native.at(*self._query(line, name, program, trip, where, file, op, result, operand), occurrence)
        return value_of(raw, native.tensors())

    def history(self, name=None, line=None, program=(0, 0, 0), trip=None, *, where=None, file=None, op=None, result=0,
                operand=None, limit=4096):
        """Every time that a program comes to a value: a list of Turn(trip, variables, value), the first `limit`."""
        native = self._values()
        tensors = native.tensors()
        return [Turn(raw["trips"], raw["variables"], value_of(raw, tensors))
                for raw in native.all(*self._query(line, name, program, trip, where, file, op, result, operand), limit)]

    def names(self, line=None, file=None):
        """The variables that get a value on a line; without one, {line: names} of the kernel's file."""
        lines = self._values().names(file or "")
        return lines if line is None else lines.get(line, [])

    def first_nan(self):
        """The first NaN or infinity, in program order, that an operation makes of operands that have none: a Story, or
        None. `.name`, `.file`, `.line`, `.program`, `.trip`, `.element`, `.operands`, `.chain` and `.inputs` of it;
        `.nan` is the first NaN where the first is an infinity. print() it."""
        found = engine.native().first_non_finite(self._values())
        if found["first"] is None:
            return None
        return Story({**found["first"], "nan": found["nan"] and Story(found["nan"]), "text": found["text"]})

    def explain(self, rtol=None, atol=None, *, expected=None, out=None, **outputs):
        """Compares an output with what was expected, and tells who wrote the first wrong element and where it came
        from: explain(y=ref), or explain(out="y", expected=ref). A Story, or None where they agree."""
        if out is not None:
            outputs = {**outputs, out: expected}
        elif expected is not None:
            outputs = {**outputs, self._only_output(): expected}
        if len(outputs) != 1:
            raise Error("explain one output at a time: explain(y=expected), with the name of the kernel's parameter")
        (name, array), = outputs.items()
        array = np.asarray(array.detach().cpu().double() if hasattr(array, "detach") else array, dtype=np.float64)
        found = engine.native().explain(self._values(), name, list(array.shape), array.tobytes(), rtol, atol)
        return Story(found) if found["wrong"] else None

    def slice(self, tensor, index):
        """Where the value of an element of a tensor came from, as the launch left it: a Story. `.inputs` has, by
        tensor, the `boxes` of elements (tuples of slices); `.chain` the variables on the way, backwards."""
        index = index if isinstance(index, (tuple, list)) else (index,)
        try:
            numbers = [operator.index(number) for number in index]
        except TypeError:
            raise Error(f"index is {index!r}; it must be whole numbers, one an axis of {tensor}") from None
        return Story(engine.native().slice_of(self._values(), str(tensor), numbers))

    def _only_output(self):
        raise Error("which output? explain(out=\"y\", expected=...), with the name of the kernel's parameter")

    def _values(self):
        return engine.native().values(self._report)

    def _query(self, line, name, program, trip, where, file, op, result, operand):
        if isinstance(line, str) and name is None:  # at("qk", 57) and at("qk") read well, too
            line, name = None, line
        if op is None and name is None:
            raise Error("which value? give line= and name=, or op=; trace.names() lists the names by line")
        if op is not None and name is not None:
            raise Error("give either name= or op=, not both")
        return (program_of(program, self.grid), op, result, operand, file or "", line or 0, name or "", _turns(trip, where))
