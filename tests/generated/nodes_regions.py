"""Operations with regions: loops, branches, functions."""

from dataclasses import dataclass, field

import numpy as np

from nodes import Frame, Value, base
from values import held


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
class While:
    """Goes on while a truth that the body yields holds, at most `most` times."""
    results: tuple  # the counter, then what is carried
    most: Value
    carried: tuple
    initial: tuple
    condition: tuple  # (nodes, the truth), of the carried values
    body: list = field(default_factory=list)
    yielded: tuple = ()

    def text(self, printer):
        name = base(self.results[0])
        kinds = ["i32", *(str(v.type) for v in self.carried)]
        count, zero, one, below, go, next_count, inner = (printer.fresh() for _ in range(7))
        nodes, truth = self.condition
        yield f"{zero} = arith.constant 0 : i32"
        yield f"{one} = arith.constant 1 : i32"
        pairs = ", ".join([f"{count} = {zero}", *(f"{v.name} = {i.name}" for v, i in zip(self.carried, self.initial))])
        yield f"{name}:{len(kinds)} = scf.while ({pairs}) : ({', '.join(kinds)}) -> ({', '.join(kinds)}) {{"
        yield from printer.block(nodes)
        yield f"  {below} = arith.cmpi slt, {count}, {self.most.name} : i32"
        yield f"  {go} = arith.andi {below}, {truth.name} : i1"
        yield f"  scf.condition({go}) {', '.join([count, *(v.name for v in self.carried)])} : {', '.join(kinds)}"
        yield "} do {"
        # The body sees the values by other names; here they keep theirs, each region being a scope of its own.
        arguments = ", ".join([f"{inner}: i32", *(f"{v.name}: {v.type}" for v in self.carried)])
        yield f"^bb0({arguments}):"
        yield f"  {next_count} = arith.addi {inner}, {one} : i32"
        yield from printer.block(self.body)
        yield f"  scf.yield {', '.join([next_count, *(v.name for v in self.yielded)])} : {', '.join(kinds)}"
        yield "}"

    def run(self, frame):
        count, values = 0, [frame[v] for v in self.initial]
        nodes, truth = self.condition
        while True:
            for carried, value in zip(self.carried, values):
                frame[carried] = value
            frame.run(nodes)
            if not (count < int(frame[self.most]) and frame[truth]):
                break
            frame.run(self.body)
            values, count = [frame[v] for v in self.yielded], count + 1
        frame[self.results[0]] = np.int32(count)
        for result, value in zip(self.results[1:], values):
            frame[result] = value


@dataclass
class Map:
    """A function of scalars for each element."""
    result: Value
    operands: tuple
    parameters: tuple
    body: list
    returned: Value

    def text(self, printer):
        names, kinds = ", ".join(o.name for o in self.operands), ", ".join(str(o.type) for o in self.operands)
        yield f"{self.result.name} = \"tt.map_elementwise\"({names}) <{{pack = 1 : i32}}> ({{"
        yield f"^bb0({', '.join(f'{p.name}: {p.type}' for p in self.parameters)}):"
        yield from printer.block(self.body)
        yield f"  tt.map_elementwise.return {self.returned.name} : {self.returned.type}"
        yield f"}}) : ({kinds}) -> {self.result.type}"

    def run(self, frame):
        operands = [frame[o].reshape(-1) for o in self.operands]
        out = np.zeros(operands[0].shape, held(self.result.type.element))
        for k in range(len(out)):
            for parameter, operand in zip(self.parameters, operands):
                frame[parameter] = operand[k]
            frame.run(self.body)
            out[k] = frame[self.returned]
        frame[self.result] = out.reshape(self.result.type.shape)
