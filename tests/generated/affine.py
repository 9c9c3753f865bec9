"""Addresses and masks that move evenly from a program to the next, or nearly so: what the engine works out for a
whole row of programs (or all trips of a loop) from the first and the last one of them. They begin where the
program's numbers and a loop's variable say; how far apart a tile's rows are may depend on them, too."""

import numpy as np

import nodes as n
import nodes_memory as m
from nodes import Value
from nodes_memory import Memory
from values import Type

I32 = Type("i32")
WIDE = ((70, 1, 1), (33, 1, 1), (17, 2, 1), (9, 3, 1), (12, 2, 2), (8, 1, 3), (1, 40, 1), (1, 9, 3), (2, 11, 1), (1, 1, 20), (1, 2, 9))
LARGE = 2048  # elements of what only affine addresses read


class Affine:
    """Part of a Writer."""

    def scalar(self, op, function, a, b):
        b = b if isinstance(b, Value) else self.constant(I32, b)
        return self.apply(I32, f"{op} {{0}}, {{1}} : i32", function, a, b)

    def times(self, a, b):
        return self.scalar("arith.muli", np.multiply, a, b)

    def plus(self, a, b):
        return self.scalar("arith.addi", np.add, a, b)

    def place(self):
        """(a scalar that is not negative, the most that it is): a program's number, a loop's variable, or one of these
        counted in another way."""
        if self.inductions and self.chance(0.6):
            value, most = self.pick(*self.inductions)
        else:
            grid = self.kernel.grid
            axis = self.pick(*(a for a in range(3) for _ in range(1 + 3 * (grid[a] > 1))))
            value, most = Value(self.name(), I32), grid[axis] - 1
            self.add(n.ProgramId(value, axis, False), value)
        way, k = self.random.randrange(14), self.pick(2, 3, 4, 8)
        if way == 0:  # the other way round
            return self.apply(I32, "arith.subi {0}, {1} : i32", np.subtract, self.constant(I32, most), value), most
        if way == 1:
            return self.scalar("arith.divsi", n.DIVISIONS["arith.divsi"], value, k), most // k
        if way == 2:
            return self.scalar("arith.remsi", n.DIVISIONS["arith.remsi"], value, k), min(most, k - 1)
        if way == 3:
            return self.scalar("arith.andi", np.bitwise_and, value, 1), min(most, 1)
        if way == 4:
            return self.scalar("arith.minsi", np.minimum, value, k), min(most, k)
        if way == 5:
            return self.scalar("arith.xori", np.bitwise_xor, value, 1), most + 1
        if way == 6:
            return self.scalar("arith.shli", np.left_shift, value, 1), 2 * most
        return value, most

    def begin(self, numel):
        """(a scalar, the most that it is): where a tile begins."""
        value, most = self.constant(I32, number := self.pick(0, 0, 0, 1, 5, 16)), number
        for _ in range(self.pick(1, 1, 2, 3)):
            at, far = self.place()
            step = self.pick(numel, numel, 1, 2, 16, 7, 0)
            if self.chance(0.15):
                factor, factor_most = self.place()
                if far * factor_most < 2**20:
                    at, far = self.times(at, factor), far * factor_most
            value, most = self.plus(value, self.times(at, step)), most + far * step
        return value, most

    def along(self, shape, axis, factor):
        """The positions along an axis, times a scalar."""
        flat = Value(self.name(), Type("i32", (shape[axis],)))
        self.add(n.Range(flat, 0), flat)
        value = self.spread(flat, Type("i32", shape), axis)
        if factor == 1 and self.chance(0.7):
            return value
        factor = factor if isinstance(factor, Value) else self.constant(I32, factor)
        return self.tiles("arith.muli", np.multiply, value, self.splat(factor, shape))

    def splat(self, value, shape):
        if not shape:
            return value
        result = Value(self.name(), Type(value.type.element, shape))
        return self.add(n.Splat(result, value), result)

    def tiles(self, op, function, a, b):
        return self.apply(a.type, f"{op} {{0}}, {{1}} : {a.type}", function, a, b)

    def inner(self, shape):
        """(indices of a tile that begins at 0, the most that they are): row by row, with the rows apart, or otherwise."""
        total, most = None, 0
        step, order = 1, list(reversed(range(len(shape))))
        if self.chance(0.1):
            order.reverse()
        for k, axis in enumerate(order):
            factor, factor_most = step, step
            if k and self.chance(0.5):
                if self.chance(0.5):
                    factor = factor_most = self.pick(0, 1, step + 1, 2 * step, 32)
                else:  # apart or side by side, as the program's numbers say
                    more, more_most = self.place()
                    by = self.pick(1, step, 4)
                    factor = self.plus(self.times(more, by), step)
                    factor_most = step + by * more_most
            elif self.chance(0.05):
                factor = factor_most = 2
            at = self.along(shape, axis, factor)
            total = at if total is None else self.tiles("arith.addi", np.add, total, at)
            most += (shape[axis] - 1) * factor_most
            step *= shape[axis]
        return total, most

    def truth(self, shape, index, most):
        """A mask that depends on the program's numbers."""
        way = self.random.randrange(3)
        if way == 0:  # for all elements
            value, limit = self.place()
            word = self.pick(*n.COMPARE_INTEGERS)
            value = self.apply(Type("i1"), f"arith.cmpi {word}, {{0}}, {{1}} : i32", n.COMPARE_INTEGERS[word], value,
                               self.constant(I32, self.random.randint(0, limit + 1)))
            return self.splat(value, shape)
        bound = self.constant(I32, self.random.randint(0, most + 2))
        if way == 1:
            value, _ = self.place()
            bound = self.times(value, self.pick(1, 4, index.type.numel))
        word = self.pick("slt", "slt", "slt", "sle", "ult", "sge", "ne")
        return self.apply(Type("i1", shape), f"arith.cmpi {word}, {{0}}, {{1}} : {index.type}", n.COMPARE_INTEGERS[word], index,
                          self.splat(bound, shape))

    def affine(self, shape, memory):
        """(scalar, index, mask or None): elements scalar + index of a memory, inside where the mask is true."""
        numel = int(np.prod(shape, dtype=np.int64))
        begin, most = self.begin(numel)
        if shape:
            index, far = self.inner(shape)
        else:
            index, far = self.constant(I32, 0), 0
        whole = self.tiles("arith.addi", np.add, self.splat(begin, shape), index)
        masks = []
        if most + far >= memory.size:
            masks.append(self.apply(Type("i1", shape), f"arith.cmpi slt, {{0}}, {{1}} : {whole.type}", np.less, whole,
                                    self.constant(whole.type, memory.size)))
        for _ in range(self.pick(0, 0, 0, 1, 1, 2)):
            masks.append(self.truth(shape, self.pick(whole, whole, index), most + far))
        mask = None
        for other in masks:
            mask = other if mask is None else self.tiles("arith.andi", np.logical_and, mask, other)
        if self.chance(0.5):  # the tile's own begin added to the pointer of all
            return begin, index, mask
        if self.chance(0.2):
            wide = whole.type.of("i64")
            whole = self.apply(wide, f"arith.extsi {{0}} : {whole.type} to {wide}", lambda x: x.astype(np.int64), whole)
        return None, whole, mask

    def large(self, element):
        """A memory that is only read, of this element type."""
        for memory in self.kernel.memories:
            if memory.element == element and memory.size == LARGE:
                return memory
        memory = Memory(f"%large_{element.lower()}", element, LARGE)
        self.kernel.memories.append(memory)
        self.kernel.contents[memory.name] = self.contents(memory, np.random.default_rng(len(self.kernel.memories)))
        return memory

    def swept(self, kind, depth):
        """A load of affine addresses."""
        if self.in_function or kind.element == "i1":
            return None
        others = [memory for memory in self.kernel.memories if memory.element == kind.element]
        memory = self.pick(*others) if others and self.chance(0.2) else self.large(kind.element)
        begin, index, mask = self.affine(kind.shape, memory)
        other = None if mask is None else self.constant(kind)
        result = Value(self.name(), kind)
        return self.add(m.Load(result, memory, index, mask, other, begin), result)

    def strided(self, kind, depth):
        """A pointer that steps through memory, the same for all elements."""
        if self.in_function or not kind.shape or kind.element == "i1":
            return None
        memory = self.large(kind.element)
        begin, _ = self.begin(kind.numel)
        begin = self.scalar("arith.andi", np.bitwise_and, begin, 511)
        index, _ = self.inner(kind.shape)
        index = self.tiles("arith.addi", np.add, self.splat(begin, kind.shape), index)
        step, _ = self.place() if self.chance(0.3) else (self.constant(I32, self.pick(0, 1, 8, kind.numel)), 0)
        times = self.constant(I32, self.pick(1, 4, 5, 8, 10 if self.programs < 8 else 6))
        result = Value(self.name(), kind)
        return self.add(m.Walk(result, memory, index, step, times), result)

    def own(self, kind, numbers):
        """(scalar, index) of a program's own elements of an output of all: one after the other, or blocks of a matrix,
        or either as a number of the program's row says."""
        x, px, y, py, z = numbers
        row = self.plus(self.times(z, py), y)
        shape = kind.shape
        columns = shape[-1]
        across = self.times(self.constant(I32, columns), px)  # elements of a matrix's row
        if self.chance(0.5):
            odd, step, apart = None, self.constant(I32, columns), across
        else:
            odd = self.scalar("arith.andi", np.bitwise_and, self.pick(row, y, z), 1)
            step = self.plus(self.times(odd, columns - kind.numel), kind.numel)
            apart = self.plus(self.times(odd, self.plus(across, -columns)), columns)
        begin = self.plus(self.times(self.times(row, px), kind.numel), self.times(x, step))
        index = self.along(shape, len(shape) - 1, 1)
        rows = 1
        for axis in reversed(range(len(shape) - 1)):
            at = self.along(shape, axis, apart if rows == 1 else self.times(apart, rows))
            index = self.tiles("arith.addi", np.add, index, at)
            rows *= shape[axis]
        return begin, index
