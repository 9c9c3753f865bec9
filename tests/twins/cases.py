"""How a twin says what must be found.

A module of twins holds small kernels, most of them in pairs: one with a mistake, and the same one put
right. A line that must be named carries a comment `# BUG: <kind> <operation> <argument>` (of several, with
commas between them); a case says what else must be said about it:

    @case(finds("out-of-bounds load x", program=(3, 0, 0), element=[232], index=[1000], past=96,
                elements=24, programs=1, because=["offs"]))
    def tail(run):
        run(copy_without_mask)[(4,)](x, y, 1000, BLOCK=256)

`@case()` says that nothing is to be found. `run` is `tilesight.check` or the oracle's equivalent.
"""

import ast
import inspect
import re
import sys
from dataclasses import dataclass, field

import numpy as np


def numbers(*shape, dtype=np.float32):
    """0, 1, 2, ... as an array."""
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


def ints(*values):
    return np.array(values, dtype=np.int32)


@dataclass
class Finds:
    """What one finding must say; None: not asked for."""

    kind: str
    op: str  # "load", "store", "atomic_add", "assert", "div", ...
    argument: str | None
    program: tuple | None = None
    element: list | None = None  # of the tile; [] for a scalar
    index: list | None = None  # of the tensor
    past: int | None = None  # bytes past the end, of the farthest element; negative: before the start
    elements: int | None = None
    programs: int | None = None
    iterations: list | None = None  # [(name, value)], outermost first; "" is a while loop
    because: list = field(default_factory=list)
    severity: str = "error"

    @property
    def marker(self):
        return " ".join(w for w in (self.kind, self.op, self.argument) if w)


def finds(marker, **said):
    kind, op, *argument = marker.split()
    if kind == "out-of-view" and op == "load":
        said.setdefault("severity", "warning")
    return Finds(kind, op, argument[0] if argument else None, **said)


@dataclass
class Case:
    name: str
    launch: object  # launch(run)
    expect: list
    module: object
    oracle: bool = True  # False: beyond what brute force judges
    triton: tuple = ()  # releases ("3.6", ..) it is for; () for all
    slow: bool = False

    def line(self, expected):
        """Line of the marker of `expected`: in the functions this case's kernels reach."""
        source = inspect.getsource(self.module)
        inside = reachable_lines(source, self.launch.__name__)
        hits = [n for n, text in enumerate(source.splitlines(), 1) if n in inside and expected.marker in markers(text)]
        assert len(hits) == 1, f"{self.name}: {len(hits)} lines say '# BUG: {expected.marker}'"
        return hits[0]


def markers(line):
    """What a line's comment says must be found there."""
    said = re.search(r"#\s*BUG:(.*)$", line)
    return [marker.strip() for marker in said.group(1).split(",")] if said else []


def reachable_lines(source, name):
    """Numbers of the lines of the top-level function `name` and of those it names, and so on."""
    functions = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    inside, todo, seen = set(), [name], set()
    while todo:
        node = functions.get(todo.pop())
        if node is None or node.name in seen:
            continue
        seen.add(node.name)
        inside.update(range(node.lineno, node.end_lineno + 1))
        todo += [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
    return inside


def register(module_globals):
    """The decorator of a module's cases, and the list they go to."""
    cases = module_globals["CASES"] = []

    def case(*expect, oracle=True, triton=(), slow=False):
        def add(launch):
            module = sys.modules[launch.__module__]
            cases.append(Case(launch.__name__, launch, list(expect), module, oracle, triton, slow))
            return launch
        return add

    return case
