"""What the oracle saw, merged the way a finding is: by kind, call chain, operation and argument."""

import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

OWN_FOLDER = str(Path(__file__).parent)


@dataclass
class Fault:
    kind: str
    line: int
    file: str
    function: str
    stack: list  # lines of the callers, innermost first
    op: str  # "load", "store", "atomic_add", ..., "assert", "sdiv"
    argument: str | None
    # The first one in program order, row-major within a tile:
    program: tuple
    element: list
    iterations: list
    byte_offset: int | None = None
    bytes_past: int | None = None
    index: list | None = None
    width: int = 0
    # All of them:
    most_past: int = 0
    elements: int = 0
    programs: set = field(default_factory=set)

    def as_json(self):
        out = asdict(self)
        out["programs"] = len(self.programs)
        return out


def user_frames(triton_folder):
    """(file, line, function) of the frames that belong to the kernel, innermost first."""
    frames = []
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if name == f"{OWN_FOLDER}/kernels.py" and frame.f_code.co_name == "run_program":
            break
        if not name.startswith((OWN_FOLDER, triton_folder)) and not name.startswith("<"):
            if frame.f_code.co_name not in ("<lambda>", "<listcomp>", "<genexpr>"):
                frames.append((name, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return frames


class Faults:
    """`faults` are findings; `events` happened but need a sink to be one (divisions by zero, shifts
    past the width), which brute force does not follow."""

    def __init__(self, triton_folder):
        self.triton_folder = triton_folder
        self.program = (0, 0, 0)
        self.loops = []  # [name, value, trip], outermost first
        self.faults = {}
        self.events = {}

    def record(self, kind, op, argument, element, elements, *, event=False, **details):
        frames = user_frames(self.triton_folder)
        file, line, function = frames[0] if frames else ("", 0, "")
        stack = [frame[1] for frame in frames[1:]]
        table = self.events if event else self.faults
        key = (kind, file, line, tuple(stack), op, argument)
        if key not in table:
            iterations = [{"name": n, "value": v, "trip": t} for n, v, t in self.loops]
            table[key] = Fault(kind, line, file, function, stack, op, argument, self.program,
                               [int(i) for i in element], iterations, **details)
        fault = table[key]
        fault.elements += int(elements)
        fault.programs.add(self.program)
        return fault
