"""Clients written in Python."""

import dataclasses

from .batch import Batch
from .errors import Error

_SEVERITIES = {"note": 0, "warning": 1, "error": 2}


@dataclasses.dataclass
class LaunchInfo:
    kernel: str
    grid: tuple


@dataclasses.dataclass
class ArgumentInfo:
    """An argument as clients see it; addresses are virtual."""
    index: int
    name: str
    element: int
    is_tensor: bool
    bits: int
    shape: tuple
    strides: tuple
    address: int
    allocation: int
    allocation_bytes: int


@dataclasses.dataclass
class Summary:
    programs: int
    seconds: float


class Client:
    """An analysis of what launches do. Subclass it, say what it `needs`, and write the hooks you want:

        class Bytes(ts.Client):
            name = "bytes"
            needs = {"addresses"}

            def launch_begin(self, launch):
                self.read = 0

            def on_load(self, batch):
                self.read += int((batch.active * batch.element_bytes).sum())

    Hooks get batches: columns with one row an event, for a range of programs at a time, ranges in
    program order. Needs: "addresses" (loads, stores, atomics), "elements" (these also written out where
    they have no short form), "values" (these with what was loaded and stored), "compute" (dots, reduces),
    "programs", "loops", "order". Without the first three, only accesses with faults come. What no client
    and no output needs is not computed.
    """

    name = "client"
    needs = frozenset({"addresses"})

    # --- hooks, all optional

    def launch_begin(self, launch):
        """`launch`: LaunchInfo."""

    def argument(self, argument):
        """`argument`: ArgumentInfo; once for each, after launch_begin."""

    def launch_end(self, summary):
        """`summary`: Summary."""

    def program_begin(self, batch):
        pass

    def program_end(self, batch):
        pass

    def loop_iteration(self, batch):
        pass

    def on_load(self, batch):
        pass

    def on_store(self, batch):
        pass

    def on_atomic(self, batch):
        pass

    def on_copy(self, batch):
        """From memory to memory: no operation of a Triton kernel does that."""

    def on_dot(self, batch):
        pass

    def on_reduce(self, batch):
        pass

    # --- what the native module calls

    def _launch_begin(self, kernel, grid):
        self._findings = []
        self.launch_begin(LaunchInfo(kernel, tuple(grid)))

    def _argument(self, *fields):
        self.argument(ArgumentInfo(*fields))

    def _batch(self, hook, columns, places):
        getattr(self, hook)(Batch(columns, places, self))

    def _launch_end(self, programs, seconds):
        self.launch_end(Summary(programs, seconds))

    def _report(self, op, program, argument, kind, severity, message, element, count):
        if severity not in _SEVERITIES:
            raise Error(f"severity is {severity!r}; it can be note, warning or error")
        index = tuple(int(i) for i in element)
        self._findings.append((op, program, argument, str(kind), _SEVERITIES[severity], str(message),
                               index, int(count)))

    def _take_findings(self):
        findings, self._findings = self._findings, []
        return findings
