"""A kernel as TTIR text. The ranges, splats and constants of one kernel can be written in two ways: as what they are,
which the engine holds in a symbolic form, or as loads of the same values from memory, which it can only hold element
by element. Both must give the same bytes."""

import random

import numpy as np

from values import Type, literal

TABLE = 1024  # elements of the parameter %iota, which holds 0, 1, 2, ..


class Printer:
    """`dense`: how many of the symbolic values are loaded instead, 0 to 1; which ones, by the seed."""

    def __init__(self, dense=0.0, seed=0):
        self.count, self.dense, self.random = 0, dense, random.Random(seed)

    def fresh(self):
        self.count += 1
        return f"%t{self.count}"

    def block(self, nodes):
        for node in nodes:
            for line in node.text(self):
                yield "  " + line

    def loaded(self, name, shape, start):
        """`name` is start, start + 1, .. along the last axis, from memory."""
        kind, length = Type("i32", shape), shape[-1]
        flat = Type("i32", (length,))
        a, b = self.fresh(), self.fresh()
        rank = len(shape)
        yield f"{a} = tt.make_range {{end = {start + length} : i32, start = {start} : i32}} : {flat}"
        at, at_kind = a, flat
        for _ in range(rank - 1):
            wider, new = Type("i32", (1, *at_kind.shape)), self.fresh()
            yield f"{new} = tt.expand_dims {at} {{axis = 0 : i32}} : {at_kind} -> {wider}"
            at, at_kind = new, wider
        if at_kind != kind:
            new = self.fresh()
            yield f"{new} = tt.broadcast {at} : {at_kind} -> {kind}"
            at = new
        pointer, here = kind.of("!tt.ptr<i32>"), self.fresh()
        yield f"{b} = tt.splat %iota : !tt.ptr<i32> -> {pointer}"
        yield f"{here} = tt.addptr {b}, {at} : {pointer}, {kind}"
        yield f"{name} = tt.load {here} : {pointer}"

    def hidden(self, name, value):
        """`name` is the tile `value`, an integer or a truth, after an operation with zeros from memory."""
        kind, table, zeros = value[1], self.fresh(), self.fresh()
        yield from self.loaded(table, kind.shape, 0)
        shape = kind.of("i32")
        # Elements of %iota shifted out: zeros that only memory knows.
        width, none = self.fresh(), self.fresh()
        yield f"{width} = arith.constant dense<16> : {shape}"
        yield f"{none} = arith.shrui {table}, {width} : {shape}"
        if kind.element == "i32":
            zeros = none
        elif kind.element == "i64":
            yield f"{zeros} = arith.extsi {none} : {shape} to {kind}"
        else:
            yield f"{zeros} = arith.trunci {none} : {shape} to {kind}"
        yield f"{name} = arith.xori {value[0]}, {zeros} : {kind}"

    def chosen(self, kind):
        return bool(kind.shape) and (kind.is_integer or kind.element == "i1") and self.random.random() < self.dense

    def _tile(self, name, kind, form):
        if not self.chosen(kind):
            yield f"{name} = {form}"
            return
        plain = self.fresh()
        yield f"{plain} = {form}"
        yield from self.hidden(name, (plain, kind))

    def constant(self, node):
        kind = node.result.type
        value = literal(kind.element, node.value)
        if not kind.shape:
            yield f"{node.result.name} = arith.constant {value}" + ("" if kind.element == "i1" else f" : {kind}")
        else:
            yield from self._tile(node.result.name, kind, f"arith.constant dense<{value}> : {kind}")

    def splat(self, node):
        yield from self._tile(node.result.name, node.result.type, f"tt.splat {node.operand.name} : {node.operand.type} -> {node.result.type}")

    def range(self, node):
        kind = node.result.type
        if self.random.random() < self.dense:
            yield from self.loaded(node.result.name, kind.shape, node.start)
        else:
            yield f"{node.result.name} = tt.make_range {{end = {node.start + kind.shape[0]} : i32, start = {node.start} : i32}} : {kind}"


def text(kernel, dense=0.0, seed=0):
    """The module of a grammar.Kernel."""
    printer = Printer(dense, seed)
    parameters = [f"{m.name}: !tt.ptr<{m.element}>" for m in kernel.memories] + ["%iota: !tt.ptr<i32>"]
    parameters += [f"{value.name}: {value.type}" for value, _ in kernel.scalars]
    lines = ["module {", f"  tt.func public @kernel({', '.join(parameters)}) attributes {{noinline = false}} {{"]
    lines += [f"  {line}" for line in printer.block(kernel.body)] + ["    tt.return", "  }"]
    for function in kernel.functions:
        parameters = ", ".join(["%iota: !tt.ptr<i32>", *(f"{p.name}: {p.type}" for p in function.parameters)])
        lines.append(f"  tt.func private @{function.name}({parameters}) -> {function.returned.type} attributes {{noinline = false}} {{")
        lines += [f"  {line}" for line in printer.block(function.body)]
        lines += [f"    tt.return {function.returned.name} : {function.returned.type}", "  }"]
    return "\n".join([*lines, "}", ""])


def table():
    return np.arange(TABLE, dtype=np.int32)
