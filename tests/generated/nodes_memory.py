"""Operations on memory: loads, stores, atomics, pointers that walk, descriptors."""

from dataclasses import dataclass

import numpy as np

from nodes import Value, in_type, on_unsigned
from values import Type, from_memory, held, to_memory


@dataclass(frozen=True)
class Memory:
    """A parameter that points to `size` elements."""
    name: str
    element: str
    size: int


def pointers(printer, memory, index, begin=None):
    """Lines, and the name of the pointers to elements `index` of a memory, counted from its element `begin`."""
    if begin:
        here = printer.fresh()
        lines, name = pointers(printer, Memory(here, memory.element, memory.size), index)
        return [f"{here} = tt.addptr {memory.name}, {begin.name} : !tt.ptr<{memory.element}>, {begin.type}", *lines], name
    if not index.type.shape:
        name = printer.fresh()
        return [f"{name} = tt.addptr {memory.name}, {index.name} : !tt.ptr<{memory.element}>, {index.type}"], name
    kind = index.type.of(f"!tt.ptr<{memory.element}>")
    base, name = printer.fresh(), printer.fresh()
    return [f"{base} = tt.splat {memory.name} : !tt.ptr<{memory.element}> -> {kind}",
            f"{name} = tt.addptr {base}, {index.name} : {kind}, {index.type}"], name


def where(access, frame):
    """(indices, mask) of a load or store."""
    index = frame[access.index] + (frame[access.begin] if access.begin else 0)
    return index, frame[access.mask] if access.mask else np.ones(index.shape, bool)


@dataclass
class Load:
    result: Value
    memory: Memory
    index: Value  # inside, where the mask is true
    mask: Value | None
    other: Value | None
    begin: Value | None = None  # a scalar that is added to each index

    def text(self, printer):
        lines, at = pointers(printer, self.memory, self.index, self.begin)
        yield from lines
        kind = self.index.type.of(f"!tt.ptr<{self.memory.element}>")
        masked = "".join(f", {v.name}" for v in (self.mask, self.other) if v)
        yield f"{self.result.name} = tt.load {at}{masked} : {kind}"

    def run(self, frame):
        index, mask = where(self, frame)
        stored = frame.memory[self.memory.name]
        value = from_memory(self.memory.element, stored[np.where(mask, index, 0)])
        frame[self.result] = np.where(mask, value, frame[self.other] if self.other else 0).astype(held(self.memory.element))


@dataclass
class Store:
    memory: Memory
    index: Value  # elements apart
    value: Value
    mask: Value | None
    begin: Value | None = None  # a scalar that is added to each index

    def text(self, printer):
        lines, at = pointers(printer, self.memory, self.index, self.begin)
        yield from lines
        masked = f", {self.mask.name}" if self.mask else ""
        yield f"tt.store {at}, {self.value.name}{masked} : {self.index.type.of(f'!tt.ptr<{self.memory.element}>')}"

    def run(self, frame):
        index, mask = where(self, frame)
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


@dataclass
class Compare:
    """Compare and swap, of elements apart."""
    result: Value
    memory: Memory
    index: Value
    expected: Value
    value: Value

    def text(self, printer):
        lines, at = pointers(printer, self.memory, self.index)
        yield from lines
        kind = self.index.type.of(f"!tt.ptr<{self.memory.element}>")
        yield (f"{self.result.name} = tt.atomic_cas acq_rel, gpu, {at}, {self.expected.name}, {self.value.name} : "
               f"({kind}, {self.value.type}, {self.value.type}) -> {self.result.type}")

    def run(self, frame):
        index, stored = frame[self.index], frame.memory[self.memory.name]
        old = stored[index]
        stored[index] = np.where(old == frame[self.expected], frame[self.value], old)
        frame[self.result] = old


@dataclass
class Walk:
    """Pointers that a loop carries: `times` loads, each `step` elements further than the one before, added up."""
    result: Value
    memory: Memory
    start: Value
    step: Value  # a scalar, or a tile like `start`
    times: Value

    def text(self, printer):
        kind, pointer = self.start.type, self.start.type.of(f"!tt.ptr<{self.memory.element}>")
        lines, at = pointers(printer, self.memory, self.start)
        yield from lines
        step, zero, one, size, none, total = (printer.fresh() for _ in range(6))
        if self.step.type.shape != kind.shape:
            yield f"{step} = tt.splat {self.step.name} : {self.step.type} -> {kind}"
        else:
            step = self.step.name
        value = self.result.type
        add = "arith.addf" if value.is_float else "arith.addi"
        nothing = f"dense<{'0.0' if value.is_float else '0'}>"
        yield f"{zero} = arith.constant 0 : i32"
        yield f"{one} = arith.constant 1 : i32"
        yield f"{none} = arith.constant dense<0> : {kind}"
        yield f"{size} = arith.constant dense<{self.memory.size}> : {kind}"
        yield f"{total} = arith.constant {nothing} : {value}"
        k, p, i, t, low, high, mask, v, p2, i2, t2 = (printer.fresh() for _ in range(11))
        out = printer.fresh()
        yield (f"{out}:3 = scf.for {k} = {zero} to {self.times.name} step {one} iter_args({p} = {at}, {i} = {self.start.name}, {t} = {total}) -> "
               f"({pointer}, {kind}, {value}) : i32 {{")
        yield f"  {low} = arith.cmpi sge, {i}, {none} : {kind}"
        yield f"  {high} = arith.cmpi slt, {i}, {size} : {kind}"
        yield f"  {mask} = arith.andi {low}, {high} : {kind.of('i1')}"
        yield f"  {v} = tt.load {p}, {mask}, {total} : {pointer}"
        yield f"  {t2} = {add} {t}, {v} : {value}"
        yield f"  {p2} = tt.addptr {p}, {step} : {pointer}, {kind}"
        yield f"  {i2} = arith.addi {i}, {step} : {kind}"
        yield f"  scf.yield {p2}, {i2}, {t2} : {pointer}, {kind}, {value}"
        yield "}"
        yield f"{self.result.name} = {add} {out}#2, {total} : {value}"

    def run(self, frame):
        index, element = frame[self.start], self.memory.element
        stored = from_memory(element, frame.memory[self.memory.name])
        add = in_type(element, np.add) if self.result.type.is_float else np.add
        total = np.zeros(index.shape, held(self.memory.element))
        for _ in range(int(frame[self.times])):
            mask = (index >= 0) & (index < self.memory.size)
            total = add(total, np.where(mask, stored[np.where(mask, index, 0)], 0).astype(total.dtype))
            index = index + frame[self.step]
        frame[self.result] = add(total, total.dtype.type(0))


@dataclass
class Described:
    """A block of a memory taken for a matrix: elements outside of it are 0. `store`: the value that goes there, what
    is outside of the matrix is dropped."""
    result: Value | None
    memory: Memory
    shape: tuple  # of the matrix
    offsets: tuple
    store: Value | None = None

    def text(self, printer):
        kind = (self.store or self.result).type
        described = f"!tt.tensordesc<{'x'.join(map(str, kind.shape))}x{self.memory.element}>"
        rows, columns, step, one, name = (printer.fresh() for _ in range(5))
        yield f"{rows} = arith.constant {self.shape[0]} : i32"
        yield f"{columns} = arith.constant {self.shape[1]} : i32"
        yield f"{step} = arith.constant {self.shape[1]} : i64"
        yield f"{one} = arith.constant 1 : i64"
        yield f"{name} = tt.make_tensor_descriptor {self.memory.name}, [{rows}, {columns}], [{step}, {one}] : <{self.memory.element}>, <{described[15:]}"
        at = ", ".join(o.name for o in self.offsets)
        if self.store:
            yield f"tt.descriptor_store {name}[{at}], {self.store.name} : {described}, {kind}"
        else:
            yield f"{self.result.name} = tt.descriptor_load {name}[{at}] : {described} -> {kind}"

    def run(self, frame):
        kind = (self.store or self.result).type
        matrix = frame.memory[self.memory.name][:self.shape[0] * self.shape[1]].reshape(self.shape)
        i, j = (int(frame[o]) + np.arange(size) for o, size in zip(self.offsets, kind.shape))
        inside = ((i >= 0) & (i < self.shape[0]))[:, None] & ((j >= 0) & (j < self.shape[1]))[None, :]
        i, j = np.clip(i, 0, self.shape[0] - 1), np.clip(j, 0, self.shape[1] - 1)
        if self.store:
            rows, columns = np.nonzero(inside)
            matrix[i[rows], j[columns]] = to_memory(self.memory.element, frame[self.store])[inside]
        else:
            frame[self.result] = np.where(inside, matrix[i[:, None], j[None, :]], 0).astype(held(self.memory.element))
