"""The operations of generated kernels: each knows its text and, in numpy, its meaning.

A node's `results` are values, (name, Type). `text(printer)` gives lines; `run(frame)` reads its operands from
frame.values and adds its results. What it means is written down here from the definitions of the operations, and
shares no code with the engine.
"""

from dataclasses import dataclass

import numpy as np

from values import NARROW, Type, held, rounded, unsigned


@dataclass(frozen=True)
class Value:
    name: str
    type: Type


def base(value):
    """The name of an operation with several results, of one of them: `%v3#1` is the second of %v3."""
    return value.name.split("#")[0]


class Frame:
    """One program of a launch, while it runs."""

    def __init__(self, memory, grid, program, scalars, functions):
        self.memory, self.grid, self.program, self.functions = memory, grid, program, functions
        self.values = dict(scalars)

    def __getitem__(self, value):
        return self.values[value.name]

    def __setitem__(self, value, array):
        array = np.asarray(array)
        assert array.shape == value.type.shape and array.dtype == held(value.type.element), (value, array.shape, array.dtype)
        self.values[value.name] = array

    def run(self, nodes):
        with np.errstate(all="ignore"):
            for node in nodes:
                node.run(self)


# -- one result from elementwise functions ------------------------------------------------------------------------------

def truncating(a, b):
    """Quotient toward zero, of divisors that are not zero."""
    quotient = np.abs(a.astype(object)) // np.abs(b.astype(object))
    return np.where((a < 0) != (b < 0), -quotient, quotient)


def wrapped(values, dtype):
    bits = 8 * np.dtype(dtype).itemsize
    flat = [(int(v) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1) for v in np.asarray(values, object).reshape(-1)]
    return np.array(flat, dtype).reshape(np.shape(values))


def signed_quotient(a, b):
    return wrapped(truncating(a, b), a.dtype)


def signed_rest(a, b):
    return wrapped(a.astype(object) - truncating(a, b) * b.astype(object), a.dtype)


def on_unsigned(function):
    return lambda a, b: function(unsigned(a), unsigned(b)).view(a.dtype)


def high_half(a, b):
    product = unsigned(a).astype(object) * unsigned(b).astype(object)
    return wrapped(product >> 8 * a.itemsize, a.dtype)


INTEGER_BINARY = {
    "arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply, "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor, "arith.minsi": np.minimum, "arith.maxsi": np.maximum,
    "arith.minui": on_unsigned(np.minimum), "arith.maxui": on_unsigned(np.maximum),
}
# With a second operand that is made harmless first.
DIVISIONS = {"arith.divsi": signed_quotient, "arith.remsi": signed_rest, "arith.divui": on_unsigned(np.floor_divide),
             "arith.remui": on_unsigned(np.remainder)}
SHIFTS = {"arith.shli": np.left_shift, "arith.shrsi": np.right_shift, "arith.shrui": on_unsigned(np.right_shift)}
HIGH = {"tt.mulhiui": high_half}
TRUTH_BINARY = {"arith.andi": np.logical_and, "arith.ori": np.logical_or, "arith.xori": np.logical_xor}
FLOAT_BINARY = {"arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide}
FLOAT_EXTREMES = {"arith.maxnumf": np.fmax, "arith.minnumf": np.fmin, "arith.maximumf": np.maximum, "arith.minimumf": np.minimum}
FLOAT_UNARY = {"math.sqrt": np.sqrt, "math.floor": np.floor, "math.ceil": np.ceil, "math.absf": np.abs, "arith.negf": np.negative}
# Each library's own approximations: kernels that use them are compared with themselves alone.
APPROXIMATE = {"math.exp": np.exp, "math.exp2": np.exp2, "math.log": np.log, "math.log2": np.log2, "math.sin": np.sin, "math.cos": np.cos,
               "math.erf": np.tanh, "math.rsqrt": lambda x: 1 / np.sqrt(x)}
COMPARE_INTEGERS = {
    "eq": np.equal, "ne": np.not_equal, "slt": np.less, "sle": np.less_equal, "sgt": np.greater, "sge": np.greater_equal,
    "ult": lambda a, b: unsigned(a) < unsigned(b), "ule": lambda a, b: unsigned(a) <= unsigned(b),
    "ugt": lambda a, b: unsigned(a) > unsigned(b), "uge": lambda a, b: unsigned(a) >= unsigned(b)}
either_nan = lambda a, b: np.isnan(a) | np.isnan(b)
COMPARE_FLOATS = {
    "oeq": np.equal, "ogt": np.greater, "oge": np.greater_equal, "olt": np.less, "ole": np.less_equal,
    "one": lambda a, b: (a < b) | (a > b), "ord": lambda a, b: ~either_nan(a, b), "ueq": lambda a, b: (a == b) | either_nan(a, b),
    "ugt": lambda a, b: ~(a <= b), "uge": lambda a, b: ~(a < b), "ult": lambda a, b: ~(a >= b), "ule": lambda a, b: ~(a > b),
    "une": np.not_equal, "uno": either_nan}


def in_type(element, function):
    """Narrow floats are computed in f32 and rounded once more."""
    if element in NARROW or element == "f16":
        return lambda *operands: rounded(element, function(*(np.asarray(o).astype(np.float32) for o in operands)))
    return lambda *operands: np.asarray(function(*operands)).astype(held(element))


@dataclass
class Apply:
    """One result, by a function of the operands' arrays. `form` is its text, with {0}, {1} for the operands."""
    result: Value
    operands: tuple
    form: str
    function: object

    def text(self, printer):
        yield f"{self.result.name} = " + self.form.format(*(o.name for o in self.operands))

    def run(self, frame):
        frame[self.result] = self.function(*(frame[o] for o in self.operands))


@dataclass
class Constant:
    result: Value
    value: object

    def text(self, printer):
        yield from printer.constant(self)

    def run(self, frame):
        value = rounded(self.result.type.element, self.value) if self.result.type.is_float else self.value
        frame[self.result] = np.full(self.result.type.shape, value, held(self.result.type.element))


@dataclass
class Range:
    result: Value
    start: int

    def text(self, printer):
        yield from printer.range(self)

    def run(self, frame):
        frame[self.result] = np.arange(self.start, self.start + self.result.type.shape[0], dtype=np.int32)


@dataclass
class Splat:
    result: Value
    operand: Value

    def text(self, printer):
        yield from printer.splat(self)

    def run(self, frame):
        frame[self.result] = np.full(self.result.type.shape, frame[self.operand], held(self.result.type.element))


@dataclass
class ProgramId:
    result: Value
    axis: int
    count: bool

    def text(self, printer):
        yield f"{self.result.name} = tt.get_{'num_programs' if self.count else 'program_id'} {'xyz'[self.axis]} : i32"

    def run(self, frame):
        frame[self.result] = np.int32((frame.grid if self.count else frame.program)[self.axis])


# -- reductions and scans -----------------------------------------------------------------------------------------------

COMBINE = {"arith.addi": np.add, "arith.muli": np.multiply, "arith.minsi": np.minimum, "arith.maxsi": np.maximum,
           "arith.maxui": on_unsigned(np.maximum), "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor,
           "arith.addf": np.add, "arith.mulf": np.multiply, "arith.maxnumf": np.fmax, "arith.minimumf": np.minimum}


@dataclass
class Reduce:
    """x[i] op x[i + half] for the lower half, until one is left."""
    result: Value
    operand: Value
    axis: int
    op: str

    def text(self, printer):
        a, b, c = printer.fresh(), printer.fresh(), printer.fresh()
        element = self.operand.type.element
        yield f"{self.result.name} = \"tt.reduce\"({self.operand.name}) <{{axis = {self.axis} : i32}}> ({{"
        yield f"^bb0({a}: {element}, {b}: {element}):"
        yield f"  {c} = {self.op} {a}, {b} : {element}"
        yield f"  tt.reduce.return {c} : {element}"
        yield f"}}) : ({self.operand.type}) -> {self.result.type}"

    def run(self, frame):
        x = np.moveaxis(frame[self.operand], self.axis, 0)
        element = self.operand.type.element
        step = in_type(element, COMBINE[self.op]) if self.operand.type.is_float else COMBINE[self.op]
        while len(x) > 1:
            half = len(x) // 2
            x = step(x[:half], x[half:])
        frame[self.result] = np.asarray(x[0]).astype(held(element))


@dataclass
class FindExtreme:
    """The greatest element and the first index where it is."""
    value: Value
    index: Value
    operand: Value
    positions: Value
    axis: int

    def text(self, printer):
        n = [printer.fresh() for _ in range(10)]
        e = self.operand.type.element
        yield f"{base(self.value)}:2 = \"tt.reduce\"({self.operand.name}, {self.positions.name}) <{{axis = {self.axis} : i32}}> ({{"
        yield f"^bb0({n[0]}: {e}, {n[1]}: i32, {n[2]}: {e}, {n[3]}: i32):"
        yield f"  {n[4]} = arith.cmpi sgt, {n[0]}, {n[2]} : {e}"
        yield f"  {n[5]} = arith.cmpi eq, {n[0]}, {n[2]} : {e}"
        yield f"  {n[6]} = arith.cmpi slt, {n[1]}, {n[3]} : i32"
        yield f"  {n[7]} = arith.andi {n[5]}, {n[6]} : i1"
        yield f"  {n[8]} = arith.ori {n[4]}, {n[7]} : i1"
        yield f"  {n[9]} = arith.select {n[8]}, {n[0]}, {n[2]} : {e}"
        second = printer.fresh()
        yield f"  {second} = arith.select {n[8]}, {n[1]}, {n[3]} : i32"
        yield f"  tt.reduce.return {n[9]}, {second} : {e}, i32"
        yield f"}}) : ({self.operand.type}, {self.positions.type}) -> ({self.value.type}, {self.index.type})"

    def run(self, frame):
        x, at = frame[self.operand], frame[self.positions]
        best = x.max(self.axis)
        first = np.where(x == np.expand_dims(best, self.axis), at, np.iinfo(np.int32).max).min(self.axis)
        frame[self.value], frame[self.index] = np.asarray(best, x.dtype), np.asarray(first, np.int32)


@dataclass
class Scan:
    result: Value
    operand: Value
    axis: int
    op: str
    reverse: bool

    def text(self, printer):
        a, b, c = printer.fresh(), printer.fresh(), printer.fresh()
        element = self.operand.type.element
        yield (f"{self.result.name} = \"tt.scan\"({self.operand.name}) <{{axis = {self.axis} : i32, "
               f"reverse = {str(self.reverse).lower()}}}> ({{")
        yield f"^bb0({a}: {element}, {b}: {element}):"
        yield f"  {c} = {self.op} {a}, {b} : {element}"
        yield f"  tt.scan.return {c} : {element}"
        yield f"}}) : ({self.operand.type}) -> {self.result.type}"

    def run(self, frame):
        x = np.moveaxis(frame[self.operand], self.axis, 0)
        x = x[::-1] if self.reverse else x
        out = [x[0]]
        step = in_type(self.operand.type.element, COMBINE[self.op]) if self.operand.type.is_float else COMBINE[self.op]
        for row in x[1:]:
            out.append(step(out[-1], row))
        out = np.stack(out)
        frame[self.result] = np.moveaxis(out[::-1] if self.reverse else out, 0, self.axis)


@dataclass
class LinearScan:
    """h[i] = a[i] h[i - 1] + b[i], by a combine function of pairs, which do not commute."""
    result: Value
    factors: Value
    terms: Value
    axis: int

    def text(self, printer):
        a, b, c, d, e, f, g, out = (printer.fresh() for _ in range(8))
        element, kind = self.result.type.element, self.result.type
        yield f"{out}:2 = \"tt.scan\"({self.factors.name}, {self.terms.name}) <{{axis = {self.axis} : i32, reverse = false}}> ({{"
        yield f"^bb0({a}: {element}, {b}: {element}, {c}: {element}, {d}: {element}):"
        yield f"  {e} = arith.muli {a}, {c} : {element}"
        yield f"  {f} = arith.muli {b}, {c} : {element}"
        yield f"  {g} = arith.addi {f}, {d} : {element}"
        yield f"  tt.scan.return {e}, {g} : {element}, {element}"
        yield f"}}) : ({kind}, {kind}) -> ({kind}, {kind})"
        zero = printer.fresh()
        yield f"{zero} = arith.constant {'dense<0>' if kind.shape else '0'} : {kind}"
        yield f"{self.result.name} = arith.addi {out}#1, {zero} : {kind}"

    def run(self, frame):
        a, b = (np.moveaxis(frame[v], self.axis, 0) for v in (self.factors, self.terms))
        h, out = b[0] * 0, []
        for factor, term in zip(a, b):
            h = factor * h + term
            out.append(h)
        frame[self.result] = np.moveaxis(np.stack(out), 0, self.axis)


@dataclass
class Split:
    results: tuple
    operand: Value

    def text(self, printer):
        a, b = self.results
        yield f"{a.name}, {b.name} = tt.split {self.operand.name} : {self.operand.type} -> {a.type}"

    def run(self, frame):
        for k, result in enumerate(self.results):
            frame[result] = frame[self.operand][..., k]
