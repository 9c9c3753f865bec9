"""The operations of generated kernels: each knows its text and, in numpy, its meaning.

A node's `results` are values, (name, Type). `text(printer)` gives lines; `run(frame)` reads its operands from
frame.values and adds its results. What it means is written down here from the definitions of the operations, and
shares no code with the engine.
"""

from dataclasses import dataclass, field

import numpy as np

from values import FLOATS, INTEGERS, NARROW, Type, from_memory, held, literal, rounded, to_memory, unsigned


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


# -- memory -------------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Memory:
    """A parameter that points to `size` elements."""
    name: str
    element: str
    size: int


def pointers(printer, memory, index):
    """Lines, and the name of the pointers to elements `index` of a memory."""
    if not index.type.shape:
        name = printer.fresh()
        return [f"{name} = tt.addptr {memory.name}, {index.name} : !tt.ptr<{memory.element}>, {index.type}"], name
    kind = index.type.of(f"!tt.ptr<{memory.element}>")
    base, name = printer.fresh(), printer.fresh()
    return [f"{base} = tt.splat {memory.name} : !tt.ptr<{memory.element}> -> {kind}",
            f"{name} = tt.addptr {base}, {index.name} : {kind}, {index.type}"], name


@dataclass
class Load:
    result: Value
    memory: Memory
    index: Value  # inside, where the mask is true
    mask: Value
    other: Value

    def text(self, printer):
        lines, at = pointers(printer, self.memory, self.index)
        yield from lines
        kind = self.index.type.of(f"!tt.ptr<{self.memory.element}>")
        yield f"{self.result.name} = tt.load {at}, {self.mask.name}, {self.other.name} : {kind}"

    def run(self, frame):
        index, mask = frame[self.index], frame[self.mask]
        stored = frame.memory[self.memory.name]
        value = from_memory(self.memory.element, stored[np.where(mask, index, 0)])
        frame[self.result] = np.where(mask, value, frame[self.other]).astype(held(self.memory.element))


@dataclass
class Store:
    memory: Memory
    index: Value  # elements apart
    value: Value
    mask: Value

    def text(self, printer):
        lines, at = pointers(printer, self.memory, self.index)
        yield from lines
        yield f"tt.store {at}, {self.value.name}, {self.mask.name} : {self.index.type.of(f'!tt.ptr<{self.memory.element}>')}"

    def run(self, frame):
        index, mask = frame[self.index], frame[self.mask]
        frame.memory[self.memory.name][index[mask]] = to_memory(self.memory.element, frame[self.value][mask])


ATOMICS = {"add": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
           "umax": on_unsigned(np.maximum), "umin": on_unsigned(np.minimum), "exch": lambda old, new: new}


@dataclass
class Atomic:
    """Elements one after the other, row by row; the result is what was there before."""
    result: Value
    op: str
    memory: Memory
    index: Value
    value: Value
    mask: Value

    def text(self, printer):
        lines, at = pointers(printer, self.memory, self.index)
        yield from lines
        kind = self.index.type.of(f"!tt.ptr<{self.memory.element}>")
        yield (f"{self.result.name} = tt.atomic_rmw {self.op}, acq_rel, gpu, {at}, {self.value.name}, {self.mask.name} : "
               f"({kind}, {self.value.type}, {self.mask.type}) -> {self.result.type}")

    def run(self, frame):
        index, value, mask = (frame[o].reshape(-1) for o in (self.index, self.value, self.mask))
        stored = frame.memory[self.memory.name]
        old = np.zeros(value.shape, value.dtype)
        for k in np.flatnonzero(mask):
            old[k] = stored[index[k]]
            stored[index[k]] = ATOMICS[self.op](old[k:k + 1], value[k:k + 1])[0]
        # What a masked-off element gives is not defined: it is chosen away by the node that follows.
        frame[self.result] = old.reshape(self.result.type.shape)


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
        for row in x[1:]:
            out.append(COMBINE[self.op](out[-1], row))
        out = np.stack(out)
        frame[self.result] = np.moveaxis(out[::-1] if self.reverse else out, 0, self.axis)


# -- regions ------------------------------------------------------------------------------------------------------------

@dataclass
class For:
    results: tuple
    bounds: tuple  # lower, upper, step
    induction: Value
    carried: tuple
    initial: tuple
    body: list = field(default_factory=list)
    yielded: tuple = ()

    def text(self, printer):
        name = base(self.results[0])
        types = ", ".join(str(v.type) for v in self.carried)
        pairs = ", ".join(f"{v.name} = {i.name}" for v, i in zip(self.carried, self.initial))
        low, high, step = (b.name for b in self.bounds)
        yield f"{name}:{len(self.results)} = scf.for {self.induction.name} = {low} to {high} step {step} iter_args({pairs}) -> ({types}) : i32 {{"
        yield from printer.block(self.body)
        yield f"  scf.yield {', '.join(v.name for v in self.yielded)} : {types}"
        yield "}"

    def run(self, frame):
        low, high, step = (int(frame[b]) for b in self.bounds)
        values = [frame[v] for v in self.initial]
        for i in range(low, high, step):
            frame[self.induction] = np.int32(i)
            for carried, value in zip(self.carried, values):
                frame[carried] = value
            frame.run(self.body)
            values = [frame[v] for v in self.yielded]
        for result, value in zip(self.results, values):
            frame[result] = value


@dataclass
class If:
    results: tuple
    condition: Value
    branches: tuple = ()  # (nodes, yielded values), twice

    def text(self, printer):
        name = base(self.results[0])
        types = ", ".join(str(v.type) for v in self.results)
        yield f"{name}:{len(self.results)} = scf.if {self.condition.name} -> ({types}) {{"
        for k, (nodes, yielded) in enumerate(self.branches):
            yield from printer.block(nodes)
            yield f"  scf.yield {', '.join(v.name for v in yielded)} : {types}"
            yield "} else {" if k == 0 else "}"

    def run(self, frame):
        nodes, yielded = self.branches[0 if frame[self.condition] else 1]
        frame.run(nodes)
        for result, value in zip(self.results, yielded):
            frame[result] = frame[value]


@dataclass
class Function:
    name: str
    parameters: tuple
    body: list
    returned: Value


@dataclass
class Call:
    result: Value
    function: Function
    operands: tuple

    def text(self, printer):
        names = ", ".join(["%iota", *(o.name for o in self.operands)])  # which the dense form reads
        kinds = ", ".join(["!tt.ptr<i32>", *(str(o.type) for o in self.operands)])
        yield f"{self.result.name} = tt.call @{self.function.name}({names}) : ({kinds}) -> {self.result.type}"

    def run(self, frame):
        inner = Frame(frame.memory, frame.grid, frame.program, {}, frame.functions)
        for parameter, operand in zip(self.function.parameters, self.operands):
            inner[parameter] = frame[operand]
        inner.run(self.function.body)
        frame[self.result] = inner[self.function.returned]


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
