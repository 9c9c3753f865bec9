"""What a case is: a kernel, its arguments, and what must be equal."""

from dataclasses import dataclass, field
from typing import Callable

import numpy as np

from bounds import EXACT

CASES = {}


@dataclass(frozen=True)
class Case:
    name: str
    kernel: object
    make: Callable  # of a numpy Generator: the arguments by name; arrays are compared after the launch
    constants: dict = field(default_factory=dict)
    grid: tuple = (1,)
    rows: dict = field(default_factory=dict)  # of an array: what each index of its first axis holds
    labels: dict = field(default_factory=dict)  # of an array: what it holds, if its name does not say it
    # By label (array or row), against the reference; what is not named must have the same bits.
    bounds: dict = field(default_factory=dict)
    interpreter: str | None = None  # why Triton's interpreter is no reference for this kernel
    # Another reference: of the arguments before the launch, the arrays after it, by name.
    reference: Callable | None = None
    since: tuple = ()  # the first release of Triton whose interpreter is right
    # By label, against a GPU; what is not named has the bound above.
    gpu: dict = field(default_factory=dict)
    no_gpu: str | None = None  # why it is not run there
    libm: bool = False  # it uses functions of the machine's libm, which differ between machines within the bounds
    finds: tuple = ()  # kinds of findings that its launch has, rightly

    def arguments(self):
        seed = int.from_bytes(self.name.encode(), "little") % 2**63
        return self.make(np.random.default_rng(seed))

    def parts(self, arrays):
        """(label, argument, index) of everything that is compared: rows where they have names, else arrays."""
        for name, value in arrays.items():
            if not isinstance(value, np.ndarray):
                continue
            for k, row in enumerate(self.rows.get(name, ())):
                yield row, name, k
            if name not in self.rows:
                yield self.labels.get(name, name), name, ...

    def bound(self, label, gpu=False):
        own = self.bounds.get(label, EXACT)
        return self.gpu.get(label, own) if gpu else own


def case(name, kernel, make, *, grid=1, rows=None, labels=None, bounds=None, interpreter=None, reference=None, since=(), gpu=None,
         no_gpu=None, libm=False, finds=(), **constants):
    assert name not in CASES, name
    assert interpreter is None or reference is not None, f"{name}: it needs a reference"
    CASES[name] = Case(name, kernel, make, constants, grid if isinstance(grid, tuple) else (grid,), rows or {},
                       labels or {}, bounds or {}, interpreter, reference, since, gpu or {}, no_gpu, libm, finds)


def differences(case, got, expected, arguments, gpu=False):
    """One line for each part that is further from the expected one than its bound allows."""
    lines = []
    for label, name, index in case.parts(expected):
        a, b = np.ascontiguousarray(got[name][index]), np.ascontiguousarray(expected[name][index])
        bound = case.bound(label, gpu)
        wrong = bound.wrong(a, b, arguments)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            lines.append(f"{case.name}: {label} is not within {bound} in {int(wrong.sum())} of {wrong.size} elements; "
                         f"the first one, at {list(at)}: {a[at]!r} and not {b[at]!r}")
    return lines
