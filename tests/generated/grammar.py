"""Random kernels, well-typed and without undefined behaviour: what they do is defined element for element."""

import random
from dataclasses import dataclass, field

import numpy as np

import affine
import nodes as n
import nodes_memory as m
import nodes_regions as r
from nodes import Value
from nodes_memory import Memory
from values import FLOATS, INTEGERS, NARROW, Type, held, to_memory

MOST = 256  # elements of a tile
SIZES = (1, 2, 4, 8, 16)
COMPUTED = ("f16", "bf16", "f32", "f64")  # floats that are computed with; fp8 is only converted
LARGE = {"i8": (-128, 127), "i16": (-32768, 32767, 255), "i32": (-(2**31), 2**31 - 1, 65536, 46341),
         "i64": (-(2**63), 2**63 - 1, 2**32, 2**31)}


def power(size):
    """The largest power of two that is not more."""
    return 1 << (size.bit_length() - 1)


@dataclass
class Kernel:
    seed: int
    memories: list
    scalars: list  # (Value, number)
    grid: tuple
    contents: dict  # of the memories, by name
    exact: bool = True  # false: it has functions that each library approximates in its own way
    body: list = field(default_factory=list)
    functions: list = field(default_factory=list)

    def evaluate(self):
        """The memories after the launch, by name."""
        memory = {name: array.copy() for name, array in self.contents.items()}
        scalars = {value.name: np.asarray(number, held(value.type.element)) for value, number in self.scalars}
        for z in range(self.grid[2]):
            for y in range(self.grid[1]):
                for x in range(self.grid[0]):
                    n.Frame(memory, self.grid, (x, y, z), scalars, self.functions).run(self.body)
        return memory


class Writer(affine.Affine):
    def __init__(self, seed, approximate=False):
        self.random, self.count, self.approximate = random.Random(seed), 0, approximate
        numbers = np.random.default_rng(seed)
        memories = [Memory("%x", "i32", 64), Memory("%w", self.pick("i8", "i16", "i64"), 32), Memory("%f", self.pick("f32", "f64"), 64),
                    Memory("%h", self.pick("f16", "bf16", "f8E4M3FN", "f8E5M2"), 32), Memory("%z", self.pick("i32", "i64"), 64)]
        self.wide = self.chance(0.3)  # many programs, each a short one
        grid = self.pick(*affine.WIDE) if self.wide else self.pick((1, 1, 1), (3, 1, 1), (4, 2, 1), (2, 1, 3), (7, 1, 1))
        scalars = [(Value("%n", Type("i32")), self.random.randint(-5, 70)), (Value("%s", Type("i32")), self.pick(1, 2, 3, 7, -1, 2**31 - 1)),
                   (Value("%k", Type("i64")), self.pick(0, 5, -3, 2**40)), (Value("%r", Type("f32")), self.pick(0.5, -1.25, 3.0, 0.0))]
        self.kernel = Kernel(seed, memories, scalars, grid, {}, exact=not approximate)
        self.programs = grid[0] * grid[1] * grid[2]
        self.pool = [[value for value, _ in scalars]]  # a list for each scope
        self.nodes = [self.kernel.body]
        for memory in memories:
            self.kernel.contents[memory.name] = self.contents(memory, numbers)

    # -- small things ---------------------------------------------------------------------------------------------------

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, probability):
        return self.random.random() < probability

    def contents(self, memory, numbers):
        if memory.element in INTEGERS:
            info = np.iinfo(INTEGERS[memory.element])
            small = numbers.integers(-20, 100, memory.size)
            any_size = numbers.integers(info.min, info.max, memory.size, INTEGERS[memory.element], endpoint=True)
            return np.where(numbers.random(memory.size) < 0.8, small, any_size).astype(INTEGERS[memory.element])
        values = np.round(numbers.standard_normal(memory.size) * 8) / 4
        values = np.where(numbers.random(memory.size) < 0.3, values * numbers.standard_normal(memory.size), values)
        values[numbers.integers(0, memory.size, 3)] = [np.inf, np.nan, -0.0]
        return to_memory(memory.element, values)

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def add(self, node, *values):
        self.nodes[-1].append(node)
        self.pool[-1] += values
        return values[0] if len(values) == 1 else values

    def apply(self, kind, form, function, *operands):
        result = Value(self.name(), kind)
        return self.add(n.Apply(result, operands, form, function), result)

    def constant(self, kind, number=None):
        if number is None:
            number = self.number(kind)
        result = Value(self.name(), kind)
        return self.add(n.Constant(result, number), result)

    def number(self, kind):
        if kind.element == "i1":
            return self.chance(0.6)
        if kind.is_integer:
            if self.chance(0.15):
                return self.pick(*LARGE[kind.element])
            return self.pick(0, 1, 2, 3, 5, 8, 16, 31, -1, -7, self.random.randint(-20, 100))
        return self.pick(0.0, 1.0, -1.0, 0.5, 2.0, -3.5, 0.125, 100.0)

    # -- tiles of a given type ------------------------------------------------------------------------------------------

    def make(self, kind, depth):
        """A value of this type."""
        known = [v for scope in self.pool for v in scope if v.type == kind]
        if known and self.chance(0.35 if depth > 0 else 0.75):
            return self.random.choice(known)
        if depth <= 0:
            return self.leaf(kind)
        if self.in_map:
            ways = self.of_scalars(kind)
        else:
            ways = self.of_tiles(kind, depth)
        for _ in range(6):
            result = self.pick(*ways)(kind, depth)
            if result is not None:
                assert result.type == kind
                return result
        return self.leaf(kind)

    def of_scalars(self, kind):
        """What a function of single elements may do."""
        ways = [self.selected, self.leaf, self.branched]
        if kind.element == "i1":
            return ways + [self.compared] * 4 + [self.truth_binary] * 2
        if kind.is_integer:
            return ways + [self.integer_binary] * 8 + [self.division, self.shift, self.cast, self.magnitude, self.high_product]
        return ways + [self.float_binary] * 6 + [self.float_unary, self.cast, self.fused, self.clamped]

    def of_tiles(self, kind, depth):
        ways = [self.reshaped, self.reshaped, self.selected] + [self.swept] * (12 if self.wide else 2)
        if kind.element == "i1":
            ways += [self.compared] * 6 + [self.truth_binary] * 2
        elif kind.is_integer:
            ways += [self.integer_binary] * 8 + [self.division, self.shift, self.shift, self.cast, self.cast, self.loaded, self.loaded]
            ways += [self.reduced, self.scanned, self.recurrence, self.magnitude, self.walked, self.strided]
            ways += [self.found, self.histogram] if kind.element == "i32" else []
            ways += [self.high_product] * (kind.element in ("i32", "i64"))
        else:
            ways += [self.cast, self.loaded]
            if kind.element in COMPUTED:
                ways += [self.float_binary] * 6 + [self.float_unary, self.float_unary, self.reduced, self.running]
                ways += [self.fused, self.clamped, self.walked, self.strided]
                ways += [self.multiplied] * (kind.element == "f32")
        ways += [self.leaf, self.called, self.gathered, self.described, self.swapped]
        if depth > 1:
            ways += [self.looped, self.branched, self.repeated, self.mapped]
        return ways

    def leaf(self, kind, depth=0):
        if not kind.shape:
            if kind.element == "i32" and self.chance(0.5):
                result = Value(self.name(), kind)
                return self.add(n.ProgramId(result, self.pick(0, 0, 1, 2), self.chance(0.2)), result)
            return self.constant(kind)
        if kind.element == "i32" and self.chance(0.7):
            return self.positions(kind)
        if self.chance(0.4):
            scalar = self.make(kind.shaped(), 0)
            result = Value(self.name(), kind)
            return self.add(n.Splat(result, scalar), result)
        return self.constant(kind)

    def positions(self, kind, axis=None):
        """Indices along one axis."""
        axis = self.random.randrange(len(kind.shape)) if axis is None else axis
        flat = Type("i32", (kind.shape[axis],))
        value = Value(self.name(), flat)
        self.add(n.Range(value, self.pick(0, 0, 0, 1, 16, 100)), value)
        return self.spread(value, kind, axis)

    def spread(self, value, kind, axis):
        for k in range(len(kind.shape)):
            if k != axis:
                shape = list(value.type.shape)
                shape.insert(k, 1)
                wider = Type(kind.element, tuple(shape))
                value = self.apply(wider, f"tt.expand_dims {{0}} {{{{axis = {k} : i32}}}} : {value.type} -> {wider}",
                                   lambda x, k=k: np.expand_dims(x, k), value)
        return self.broadcast(value, kind)

    def broadcast(self, value, kind):
        if value.type == kind:
            return value
        return self.apply(kind, f"tt.broadcast {{0}} : {value.type} -> {kind}", lambda x: np.broadcast_to(x, kind.shape).copy(), value)

    def reshaped(self, kind, depth):
        shape = kind.shape
        if not shape:
            inner = self.make(kind.shaped(1), depth - 1)
            return self.apply(kind, f"tt.unsplat {{0}} : {inner.type}", lambda x: x.reshape(()), inner)
        way = self.random.randrange(6)
        if way == 0:  # from fewer elements
            axis = self.random.randrange(len(shape))
            return self.broadcast(self.make(kind.shaped(*(1 if k == axis else s for k, s in enumerate(shape))), depth - 1), kind)
        if way == 1 and len(shape) > 1 and 1 in shape:
            axis = shape.index(1)
            inner = self.make(kind.shaped(*shape[:axis], *shape[axis + 1:]), depth - 1)
            return self.apply(kind, f"tt.expand_dims {{0}} {{{{axis = {axis} : i32}}}} : {inner.type} -> {kind}",
                              lambda x: np.expand_dims(x, axis), inner)
        if way == 2:
            inner = self.make(kind.shaped(*self.shape(kind.numel)), depth - 1)
            return self.apply(kind, f"tt.reshape {{0}} : {inner.type} -> {kind}", lambda x: x.reshape(shape), inner)
        if way == 3 and len(shape) > 1:
            order = self.random.sample(range(len(shape)), len(shape))
            source = [0] * len(shape)
            for k, o in enumerate(order):
                source[o] = shape[k]
            inner = self.make(kind.shaped(*source), depth - 1)
            return self.apply(kind, f"tt.trans {{0}} {{{{order = array<i32: {', '.join(map(str, order))}>}}}} : {inner.type} -> {kind}",
                              lambda x: np.transpose(x, order), inner)
        if way == 4 and len(shape) > 1 and shape[-1] == 2:
            a, b = (self.make(kind.shaped(*shape[:-1]), depth - 1) for _ in range(2))
            return self.apply(kind, f"tt.join {{0}}, {{1}} : {a.type} -> {kind}", lambda x, y: np.stack([x, y], -1), a, b)
        if way == 5 and 2 * kind.numel <= MOST and len(shape) < 3:
            both = self.make(kind.shaped(*shape, 2), depth - 1)
            results = Value(self.name(), kind), Value(self.name(), kind)
            return self.add(n.Split(results, both), *results)[self.random.randrange(2)]
        return None

    def shape(self, numel):
        """Any shape with so many elements."""
        dims = []
        while numel > 1 and len(dims) < 2:
            size = min(self.pick(*SIZES[1:]), numel)
            dims.append(size)
            numel //= size
        if numel > 1 or not dims or self.chance(0.2):
            dims.append(numel)
        return self.random.sample(dims, len(dims))

    def selected(self, kind, depth):
        condition = self.make(kind.of("i1"), depth - 1)
        a, b = self.make(kind, depth - 1), self.make(kind, self.random.randrange(depth))
        return self.apply(kind, f"arith.select {{0}}, {{1}}, {{2}} : {condition.type}, {kind}", np.where, condition, a, b)

    def compared(self, kind, depth):
        operand = kind.of(self.pick("i32", "i32", "i64", "i16", "i8", "f32", "f64", "f16"))
        a, b = self.make(operand, depth - 1), self.make(operand, 0)
        table, word = (n.COMPARE_FLOATS, "cmpf") if operand.is_float else (n.COMPARE_INTEGERS, "cmpi")
        predicate = self.pick(*table)
        return self.apply(kind, f"arith.{word} {predicate}, {{0}}, {{1}} : {operand}", table[predicate], a, b)

    def binary(self, kind, table, depth, wrap=lambda f: f):
        op = self.pick(*table)
        a, b = self.make(kind, depth - 1), self.make(kind, self.random.randrange(depth))
        if self.chance(0.5):
            a, b = b, a
        return self.apply(kind, f"{op} {{0}}, {{1}} : {kind}", wrap(table[op]), a, b)

    def truth_binary(self, kind, depth):
        return self.binary(kind, n.TRUTH_BINARY, depth)

    def integer_binary(self, kind, depth):
        table = n.INTEGER_BINARY
        if self.chance(0.6):
            table = {op: table[op] for op in ("arith.addi", "arith.subi", "arith.muli")}
        return self.binary(kind, table, depth)

    def high_product(self, kind, depth):
        if kind.element not in ("i32", "i64"):
            return None
        return self.binary(kind, n.HIGH, depth)

    def division(self, kind, depth):
        """By a number that is not zero, nor -1 (whose quotient may not fit)."""
        a, b = self.make(kind, depth - 1), self.make(kind, self.random.randrange(depth))
        if self.chance(0.6):
            b = self.constant(kind, self.pick(1, 2, 3, 4, 7, 8, 16, 33, 100, -2, -3))
        else:
            for op, number, function in (("arith.andi", 63, np.bitwise_and), ("arith.ori", 1, np.bitwise_or)):
                b = self.apply(kind, f"{op} {{0}}, {{1}} : {kind}", function, b, self.constant(kind, number))
        op = self.pick(*n.DIVISIONS)
        return self.apply(kind, f"{op} {{0}}, {{1}} : {kind}", n.DIVISIONS[op], a, b)

    def shift(self, kind, depth):
        a, b = self.make(kind, depth - 1), self.make(kind, 0)
        if self.chance(0.6):
            b = self.constant(kind, self.random.randrange(kind.bits))
        else:
            b = self.apply(kind, f"arith.andi {{0}}, {{1}} : {kind}", np.bitwise_and, b, self.constant(kind, kind.bits - 1))
        op = self.pick(*n.SHIFTS)
        return self.apply(kind, f"{op} {{0}}, {{1}} : {kind}", n.SHIFTS[op], a, b)

    def float_binary(self, kind, depth):
        if self.chance(0.25):  # +0 for -0: which zero is the greater one is left open
            value = self.binary(kind, n.FLOAT_EXTREMES, depth, lambda f: n.in_type(kind.element, f))
            return self.apply(kind, f"arith.addf {{0}}, {{1}} : {kind}", n.in_type(kind.element, np.add), value, self.constant(kind, 0.0))
        return self.binary(kind, n.FLOAT_BINARY, depth, lambda f: n.in_type(kind.element, f))

    def float_unary(self, kind, depth):
        table = {**n.FLOAT_UNARY, **(n.APPROXIMATE if self.approximate else {})}
        op = self.pick(*table)
        return self.apply(kind, f"{op} {{0}} : {kind}", n.in_type(kind.element, table[op]), self.make(kind, depth - 1))

    def magnitude(self, kind, depth):
        return self.apply(kind, f"math.absi {{0}} : {kind}", np.abs, self.make(kind, depth - 1))

    def fused(self, kind, depth):
        """A product and a sum, rounded once: longdouble holds a product of f32, and of f16, exactly."""
        if kind.element not in ("f16", "f32"):
            return None
        a, b, c = (self.make(kind, depth - 1) for _ in range(3))
        function = lambda x, y, z: (x.astype(np.longdouble) * y + z).astype(held(kind.element))
        return self.apply(kind, f"math.fma {{0}}, {{1}}, {{2}} : {kind}", function, a, b, c)

    def clamped(self, kind, depth):
        low, high = self.constant(kind, self.pick(-3.5, 0.5, -100.0)), self.constant(kind, self.pick(1.0, 2.0, 100.0))
        keep = self.chance(0.5)
        function = lambda x, a, b: np.where(np.isnan(x) & keep, x, np.fmin(np.fmax(x, a), b)).astype(held(kind.element))
        return self.apply(kind, f"tt.clampf {{0}}, {{1}}, {{2}}, propagateNan = {'all' if keep else 'none'} : {kind}", function,
                          self.make(kind, depth - 1), low, high)

    # -- between types --------------------------------------------------------------------------------------------------

    def cast(self, kind, depth):
        target = kind.element
        if kind.is_integer:
            source = self.pick("i1", *INTEGERS, "f32", "f64")
            if source == target:
                return None
            inner = self.make(kind.of(source), depth - 1)
            if source == "i1":
                signed = self.chance(0.5)
                return self.apply(kind, f"arith.ext{'s' if signed else 'u'}i {{0}} : {inner.type} to {kind}",
                                  lambda x: -x.astype(held(target)) if signed else x.astype(held(target)), inner)
            if source in INTEGERS:
                if inner.type.bits > kind.bits:
                    return self.apply(kind, f"arith.trunci {{0}} : {inner.type} to {kind}", lambda x: x.astype(held(target)), inner)
                signed = self.chance(0.5)
                return self.apply(kind, f"arith.ext{'s' if signed else 'u'}i {{0}} : {inner.type} to {kind}",
                                  lambda x: (x if signed else n.unsigned(x)).astype(held(target)), inner)
            return self.to_integer(kind, inner)
        if kind.element == "i1":
            return None
        source = self.pick("i32", "i64", "i8", *FLOATS, *NARROW)
        if source == target or (source in NARROW or source == "f16") and (target in NARROW or target == "f16"):
            return None
        inner = self.make(kind.of(source), depth - 1)
        if source in INTEGERS:
            if target not in FLOATS:
                return None
            signed = self.chance(0.6)
            convert = lambda x: self.integer_to_float(x if signed else n.unsigned(x), target)
            return self.apply(kind, f"arith.{'s' if signed else 'u'}itofp {{0}} : {inner.type} to {kind}", convert, inner)
        if target.startswith("f8") or source.startswith("f8"):
            if "f64" in (source, target):
                return None
            rounding = ", rounding = rtne" if target.startswith("f8") else ""
            return self.apply(kind, f"tt.fp_to_fp {{0}}{rounding} : {inner.type} -> {kind}", lambda x: n.rounded(target, x), inner)
        word = "extf" if inner.type.bits < kind.bits else "truncf"
        return self.apply(kind, f"arith.{word} {{0}} : {inner.type} to {kind}", lambda x: n.rounded(target, x), inner)

    @staticmethod
    def integer_to_float(x, target):
        """Rounded once: through f64 where that is exact, else from a number rounded to odd."""
        if target == "f64" or x.itemsize < 8:
            return n.rounded(target, x.astype(np.float64))
        if target == "f32":
            return x.astype(np.float32)
        most = x.dtype.type(2**40)  # more than that is infinity in f16
        least = -most if x.dtype.kind == "i" else x.dtype.type(0)
        return n.rounded(target, np.clip(x, least, most).astype(np.float64))

    def to_integer(self, kind, inner):
        """Of floats that fit."""
        limit = float(2 ** (min(kind.bits, 31) - 1) - 1) if kind.bits < 32 else 2.0**30
        element = inner.type.element
        for op, number in (("arith.maxnumf", -limit), ("arith.minnumf", limit)):
            inner = self.apply(inner.type, f"{op} {{0}}, {{1}} : {inner.type}", n.in_type(element, n.FLOAT_EXTREMES[op]), inner,
                               self.constant(inner.type, number))
        return self.apply(kind, f"arith.fptosi {{0}} : {inner.type} to {kind}", lambda x: np.trunc(x).astype(held(kind.element)), inner)

    # -- across elements ------------------------------------------------------------------------------------------------

    def reduced(self, kind, depth):
        if kind.numel * 2 > MOST or len(kind.shape) > 2:
            return None
        axis, size = self.random.randint(0, len(kind.shape)), self.pick(2, 4, 8, 16)
        while kind.numel * size > MOST:
            size //= 2
        operand = self.make(kind.shaped(*kind.shape[:axis], size, *kind.shape[axis:]), depth - 1)
        ops = [op for op in n.COMBINE if op.endswith("f") == kind.is_float]
        op = self.pick(*ops)
        result = Value(self.name(), kind)
        value = self.add(n.Reduce(result, operand, axis, op), result)
        if op in ("arith.maxnumf", "arith.minimumf"):
            return self.apply(kind, f"arith.addf {{0}}, {{1}} : {kind}", n.in_type(kind.element, np.add), value, self.constant(kind, 0.0))
        return value

    def found(self, kind, depth):
        """The index of the greatest element."""
        if kind.numel * 2 > MOST or len(kind.shape) > 2:
            return None
        axis, size = self.random.randint(0, len(kind.shape)), self.pick(2, 4, 8)
        while kind.numel * size > MOST:
            size //= 2
        wide = kind.shaped(*kind.shape[:axis], size, *kind.shape[axis:])
        operand = self.make(wide.of(self.pick("i32", "i8", "i64")), depth - 1)
        positions = self.positions(wide, axis)
        name = self.name()
        best, index = Value(f"{name}#0", kind.of(operand.type.element)), Value(f"{name}#1", kind)
        self.add(n.FindExtreme(best, index, operand, positions, axis), best, index)
        return index

    def scanned(self, kind, depth):
        if not kind.shape or not kind.is_integer:
            return None
        ops = [op for op in n.COMBINE if not op.endswith("f")]
        operand, result = self.make(kind, depth - 1), Value(self.name(), kind)
        return self.add(n.Scan(result, operand, self.random.randrange(len(kind.shape)), self.pick(*ops), self.chance(0.4)), result)

    def running(self, kind, depth):
        """A scan of floats, which goes along the axis in order."""
        if not kind.shape:
            return None
        operand, result = self.make(kind, depth - 1), Value(self.name(), kind)
        return self.add(n.Scan(result, operand, self.random.randrange(len(kind.shape)), self.pick("arith.addf", "arith.mulf"),
                               self.chance(0.4)), result)

    def recurrence(self, kind, depth):
        if not kind.shape:
            return None
        a, b, result = self.make(kind, depth - 1), self.make(kind, depth - 1), Value(self.name(), kind)
        return self.add(n.LinearScan(result, a, b, self.random.randrange(len(kind.shape))), result)

    def gathered(self, kind, depth):
        if not kind.shape:
            return None
        axis, size = self.random.randrange(len(kind.shape)), self.pick(2, 4, 8, 16)
        source = kind.shaped(*(size if k == axis else s for k, s in enumerate(kind.shape)))
        if source.numel > MOST:
            return None
        inner, index = self.make(source, depth - 1), self.make(kind.of("i32"), depth - 1)
        index = self.apply(index.type, f"arith.andi {{0}}, {{1}} : {index.type}", np.bitwise_and, index, self.constant(index.type, size - 1))
        return self.apply(kind, f"tt.gather {{0}}[{{1}}] {{{{axis = {axis} : i32}}}} : ({source}, {index.type}) -> {kind}",
                          lambda x, i: np.take_along_axis(x, i, axis), inner, index)

    def histogram(self, kind, depth):
        if len(kind.shape) != 1 or kind.numel < 2:
            return None
        bins, kind_in = kind.numel, Type("i32", (self.pick(4, 16, 64),))
        operand = self.make(kind_in, depth - 1)
        operand = self.apply(kind_in, f"arith.andi {{0}}, {{1}} : {kind_in}", np.bitwise_and, operand, self.constant(kind_in, bins - 1))
        return self.apply(kind, f"tt.histogram {{0}} : {kind_in} -> {kind}", lambda x: np.bincount(x, minlength=bins).astype(np.int32), operand)

    def multiplied(self, kind, depth):
        """A dot of small numbers, whose sums are exact in any order."""
        if len(kind.shape) != 2 or min(kind.shape) < 2:
            return None
        rows, k = kind.shape[0], self.pick(2, 4, 8)
        element = self.pick("f16", "f32")
        def side(shape):
            whole = self.make(Type("i32", shape), depth - 1)
            whole = self.apply(whole.type, f"arith.andi {{0}}, {{1}} : {whole.type}", np.bitwise_and, whole, self.constant(whole.type, 15))
            return self.apply(whole.type.of(element), f"arith.sitofp {{0}} : {whole.type} to {whole.type.of(element)}",
                              lambda x: x.astype(held(element)), whole)
        a, b, c = side((rows, k)), side((k, kind.shape[1])), self.constant(kind, self.pick(0.0, 1.0, -3.0))
        return self.apply(kind, f"tt.dot {{0}}, {{1}}, {{2}} : {a.type} * {b.type} -> {kind}",
                          lambda x, y, z: (x.astype(np.float64) @ y.astype(np.float64) + z).astype(np.float32), a, b, c)

    # -- memory ---------------------------------------------------------------------------------------------------------

    def inside(self, kind, memory, depth):
        """(index, mask): elements of a memory where the mask is true."""
        index = self.make(kind.of(self.pick("i32", "i32", "i32", "i64")), depth - 1)
        if self.chance(0.3):  # a mask of what is known to be inside
            index = self.apply(index.type, f"arith.andi {{0}}, {{1}} : {index.type}", np.bitwise_and, index,
                               self.constant(index.type, memory.size - 1))
            mask = self.make(kind.of("i1"), depth - 1)
            return index, mask
        masks = [self.apply(kind.of("i1"), f"arith.cmpi {word}, {{0}}, {{1}} : {index.type}", n.COMPARE_INTEGERS[word], index,
                            self.constant(index.type, number)) for word, number in (("sge", 0), ("slt", memory.size))]
        if self.chance(0.4):
            masks.append(self.make(kind.of("i1"), depth - 1))
        mask = masks[0]
        for other in masks[1:]:
            mask = self.apply(mask.type, f"arith.andi {{0}}, {{1}} : {mask.type}", np.logical_and, mask, other)
        return index, mask

    def loaded(self, kind, depth):
        memories = [memory for memory in self.kernel.memories if memory.element == kind.element]
        if not memories or self.in_function:
            return None
        memory = self.pick(*memories)
        index, mask = self.inside(kind, memory, depth)
        other, result = self.constant(kind), Value(self.name(), kind)
        return self.add(m.Load(result, memory, index, mask, other), result)

    def walked(self, kind, depth):
        """What a pointer that steps through memory meets."""
        memories = [memory for memory in self.kernel.memories if memory.element == kind.element]
        if not memories or self.in_function or not kind.shape:
            return None
        memory = self.pick(*memories)
        start = self.make(kind.of("i32"), depth - 1)
        small = self.make(self.pick(Type("i32"), kind.of("i32")), 0)
        step = self.apply(small.type, f"arith.andi {{0}}, {{1}} : {small.type}", np.bitwise_and, small, self.constant(small.type, 15))
        # Not so far that the sum of index and steps wraps.
        start = self.apply(start.type, f"arith.andi {{0}}, {{1}} : {start.type}", np.bitwise_and, start, self.constant(start.type, 255))
        start = self.apply(start.type, f"arith.addi {{0}}, {{1}} : {start.type}", np.add, start, self.constant(start.type, self.pick(0, 0, -40)))
        times = self.constant(Type("i32"), self.pick(0, 1, 2, 3, 5))
        result = Value(self.name(), kind)
        return self.add(m.Walk(result, memory, start, step, times), result)

    def matrix(self, memory):
        """(rows, columns) that a descriptor of a memory may have: the last stride is 1, rows are 16 bytes apart."""
        columns = self.pick(*(c for c in (4, 8, 16) if c * Type(memory.element).bits % 128 == 0))
        return (memory.size // columns - self.pick(0, 0, 1), columns)

    def offset(self, depth):
        i32 = Type("i32")
        value = self.apply(i32, "arith.andi {0}, {1} : i32", np.bitwise_and, self.make(i32, depth - 1), self.constant(i32, 15))
        return self.apply(i32, "arith.addi {0}, {1} : i32", np.add, value, self.constant(i32, self.pick(0, 0, -4)))

    def described(self, kind, depth):
        memories = [memory for memory in self.kernel.memories if memory.element == kind.element and memory.element[0] != "b"]
        if not memories or self.in_function or len(kind.shape) != 2 or kind.shape[1] * kind.bits < 128 or kind.element.startswith("f8"):
            return None
        memory, result = self.pick(*memories), Value(self.name(), kind)
        return self.add(m.Described(result, memory, self.matrix(memory), (self.offset(depth), self.offset(depth))), result)

    def swapped(self, kind, depth):
        """What compare-and-swap finds, where it looks at each element once."""
        if kind.element not in ("i32", "i64") or not kind.shape or self.in_function:
            return None
        memories = [memory for memory in self.kernel.memories if memory.element == kind.element and memory.size >= kind.numel]
        if not memories:
            return None
        memory, result = self.pick(*memories), Value(self.name(), kind)
        node = m.Compare(result, memory, self.apart(kind.shape, Memory("", "", kind.numel)), self.make(kind, depth - 1), self.make(kind, depth - 1))
        return self.add(node, result)

    # -- regions --------------------------------------------------------------------------------------------------------

    in_function = False
    inductions = []  # of the loops around: (value, the most that it is), where it is not negative

    def scope(self, write):
        """What `write` returns, and the nodes it made, whose values are known there alone."""
        self.pool.append([])
        self.nodes.append([])
        result = write()
        self.pool.pop()
        return self.nodes.pop(), result

    def looped(self, kind, depth):
        extra = self.pick(Type("i32"), kind, Type("i32", (8,)))
        low, high, step = self.pick(0, -2, 1), self.pick(0, 2, 3, 4), self.pick(1, 2)
        if not self.inductions and self.chance(0.3):  # trips that are worth a look ahead
            low, high = self.pick(0, 0, 1), self.pick(5, 6) if self.wide else self.pick(8, 9, 12)
        bounds = tuple(self.constant(Type("i32"), number) for number in (low, high, step))
        if self.chance(0.3):  # as many times as the program's number says
            pid = Value(self.name(), Type("i32"))
            self.add(n.ProgramId(pid, 0, False), pid)
            bounds = (bounds[0], pid, bounds[2])
            high = self.kernel.grid[0]
        trips = max(high - low, 0)
        steps = low >= 0 and self.chance(0.5)  # carries where a tile begins, too
        if steps:
            extra, (begin, most) = Type("i32"), self.place()
            further = self.pick(0, 1, 8, "induction" if trips < 16 else 2)
            most += trips * (high if further == "induction" else further)
        types = (kind, extra)
        initial = self.make(kind, depth - 2), begin if steps else self.make(extra, depth - 2)
        induction = Value(self.name(), Type("i32"))
        carried = tuple(Value(self.name(), t) for t in types)

        def write():
            self.pool[-1] += [induction, *carried]
            before = self.inductions
            if low >= 0:
                self.inductions = before + [(induction, max(high - 1, low))]
            if steps:
                self.inductions = self.inductions + [(carried[1], most)] * 2
            if self.chance(0.3):
                self.effect(depth - 1)
            made = self.make(kind, depth - 1)
            self.inductions = before
            if steps:
                return made, self.plus(carried[1], induction if further == "induction" else further)
            return made, self.make(extra, depth - 1)

        body, yielded = self.scope(write)
        name = self.name()
        results = tuple(Value(f"{name}#{k}", t) for k, t in enumerate(types))
        self.add(r.For(results, bounds, induction, carried, initial, body, yielded), *results)
        return results[0]

    def repeated(self, kind, depth):
        """A while loop."""
        initial = (self.make(kind, depth - 2),)
        most = self.constant(Type("i32"), self.pick(0, 1, 2, 4))
        carried = (Value(self.name(), kind),)

        def condition():
            self.pool[-1] += carried
            return self.make(Type("i1"), depth - 1)

        def write():
            self.pool[-1] += carried
            return (self.make(kind, depth - 1),)

        tested = self.scope(condition)
        body, yielded = self.scope(write)
        name = self.name()
        results = Value(f"{name}#0", Type("i32")), Value(f"{name}#1", kind)
        self.add(r.While(results, most, carried, initial, tested, body, yielded), *results)
        return results[1]

    def mapped(self, kind, depth):
        if not kind.shape or kind.numel > 64 or self.in_map or kind.element in NARROW or kind.element == "i1":
            return None
        operands = tuple(self.make(kind, depth - 1) for _ in range(2))
        parameters = tuple(Value(self.name(), kind.shaped()) for _ in range(2))
        pool, before = self.pool, (self.in_function, self.in_map)
        self.pool, self.in_function, self.in_map = [[]], True, True

        def write():
            self.pool[-1] += parameters
            return self.make(kind.shaped(), depth - 1)

        body, returned = self.scope(write)
        self.pool, (self.in_function, self.in_map) = pool, before
        result = Value(self.name(), kind)
        return self.add(r.Map(result, operands, parameters, body, returned), result)

    in_map = False

    def branched(self, kind, depth):
        condition = self.make(Type("i1"), depth - 1)
        extra = Type("i32") if self.in_map else self.pick(Type("i32"), Type("f32", (4,)))

        def write():
            if self.chance(0.3):
                self.effect(depth - 1)
            return self.make(kind, depth - 1), self.make(extra, depth - 2)

        branches = tuple(self.scope(write) for _ in range(2))
        name = self.name()
        results = Value(f"{name}#0", kind), Value(f"{name}#1", extra)
        self.add(r.If(results, condition, branches), *results)
        return results[0]

    def called(self, kind, depth):
        """A function of two values, of one of those that there are, or a new one."""
        known = [f for f in self.kernel.functions if f.returned.type == kind]
        if known and self.chance(0.6):
            function = self.pick(*known)
        elif len(self.kernel.functions) < 3 and not self.in_function and depth > 1:
            parameters = tuple(Value(self.name(), t) for t in (kind, kind.of("i32")))
            pool, nodes = self.pool, self.nodes
            self.pool, self.nodes, self.in_function = [list(parameters)], [[]], True
            returned = self.make(kind, depth - 1)
            if returned in parameters:  # something of its own
                returned = self.selected(kind, 1)
            body = self.nodes[0]
            self.pool, self.nodes, self.in_function = pool, nodes, False
            function = r.Function(f"helper{len(self.kernel.functions)}", parameters, body, returned)
            self.kernel.functions.append(function)
        else:
            return None
        if self.in_function:
            return None
        operands = tuple(self.make(p.type, depth - 1) for p in function.parameters)
        result = Value(self.name(), kind)
        return self.add(r.Call(result, function, operands), result)

    # -- effects --------------------------------------------------------------------------------------------------------

    def effect(self, depth):
        if self.in_function:
            return
        integers = [memory for memory in self.kernel.memories if memory.name == "%z"]
        if integers and self.chance(0.5):
            memory = integers[0]
            kind = Type(memory.element, tuple(self.shape(self.pick(1, 4, 16, 32))))
            index, mask = self.inside(kind, memory, depth)
            value = self.make(kind, depth - 1)
            result = Value(self.name(), kind)
            self.nodes[-1].append(m.Atomic(result, self.pick(*m.ATOMICS), memory, index, value, mask))
            return
        memory = self.pick(*self.kernel.memories)
        if memory.element in ("i32", "f32", "i64", "f64") and self.chance(0.25):
            kind = Type(memory.element, (self.pick(1, 2, 4), self.pick(4, 8)))
            value = self.make(kind, depth)
            self.nodes[-1].append(m.Described(None, memory, self.matrix(memory), (self.offset(depth), self.offset(depth)), value))
            return
        shape = tuple(self.shape(power(memory.size) // self.pick(1, 2, 4)))
        index = self.apart(shape, memory)
        value = self.make(Type(memory.element, shape), depth)
        mask = self.make(Type("i1", shape), depth - 1)
        self.nodes[-1].append(m.Store(memory, index, value, mask))

    def apart(self, shape, memory):
        """Indices of different elements: positions row by row, or mixed."""
        kind, step = Type("i32", shape), 1
        total = None
        for axis in reversed(range(len(shape))):
            flat = Value(self.name(), Type("i32", (shape[axis],)))
            self.add(n.Range(flat, 0), flat)
            at = self.spread(flat, kind, axis)
            at = self.apply(kind, f"arith.muli {{0}}, {{1}} : {kind}", np.multiply, at, self.constant(kind, step))
            total = at if total is None else self.apply(kind, f"arith.addi {{0}}, {{1}} : {kind}", np.add, total, at)
            step *= shape[axis]
        if self.chance(0.3):
            total = self.apply(kind, f"arith.xori {{0}}, {{1}} : {kind}", np.bitwise_xor, total,
                               self.constant(kind, self.random.randrange(power(memory.size))))
        return total

    def write(self):
        deep = 2 if self.wide else 4
        for _ in range(self.random.randint(0, 1) if self.wide else self.random.randint(1, 3)):
            self.effect(self.random.randint(2, deep))
        # Each program's own part of an output: what it computed is seen whole.
        for name in ("%out", "%out2")[:self.pick(1, 1, 2) if self.wide else 1]:
            self.output(name, self.random.randint(2, 4) if self.wide else self.random.randint(3, 5))
        return self.kernel

    def output(self, name, depth):
        element = self.pick("i32", "i32", "i64", "i16", "f32", "f64", "f16", "bf16", "i8")
        kind = Type(element, tuple(self.shape(self.pick(16, 32, 64, 128))))
        out = Memory(name, element, kind.numel * self.programs)
        value = self.make(kind, depth)
        ids = []
        for axis, count in ((0, False), (0, True), (1, False), (1, True), (2, False)):
            pid = Value(self.name(), Type("i32"))
            ids.append(self.add(n.ProgramId(pid, axis, count), pid))
        if self.chance(0.6):
            begin, index = self.own(kind, ids)
        else:
            x, px, y, py, z = ids
            begin = self.times(self.plus(self.times(self.plus(self.times(z, py), y), px), x), kind.numel)
            index = self.apart(kind.shape, Memory("", element, kind.numel))
        if self.chance(0.5):
            begin, index = None, self.tiles("arith.addi", np.add, self.splat(begin, kind.shape), index)
        self.kernel.memories.append(out)
        self.kernel.contents[out.name] = to_memory(element, np.zeros(out.size, held(element)))
        mask = self.pick(None, self.constant(kind.of("i1"), True))
        if self.chance(0.2):
            mask = self.truth(kind.shape, index, kind.numel)
        self.nodes[-1].append(m.Store(out, index, value, mask, begin))


def kernel(seed, approximate=False):
    """The kernel of a seed."""
    return Writer(seed, approximate).write()
