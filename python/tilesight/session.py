"""Which launches are checked, by which clients, and where their reports go.

There is one recorder a process. Outside `tilesight run`, kernels are checked that `@ts.trace` marks
or that `ts.check` launches; under it, all are.
"""

import collections
import itertools
import json
import os
import sys
import threading

from . import engine
from .config import client_list, config
from .errors import Error, InternalError
from .report import Report
from .traced import Traced
from .wire import Wire

DEFAULT_CLIENTS = ["sanitizer"]
RING = 1024  # launches that ts.launches remembers
KEEP_INPUTS = 256 << 10   # bytes of a launch that keeps a copy of its inputs, unless set
INPUT_BUDGET = 256 << 20  # bytes of their inputs

_thread = threading.local()  # .checks: the ts.check calls that are being made
_MARK = "__tilesight_client__"


# --- which kernels are checked -------------------------------------------------------------------

def mark(function, client):
    """Marks a kernel's Python function, or its JIT function, as traced by `client`."""
    function.__dict__[_MARK] = client


def marked(function):
    """(is it marked, the decorator's client)."""
    for owner in (function, getattr(function, "fn", None)):
        if owner is not None and _MARK in getattr(owner, "__dict__", ()):
            return True, owner.__dict__[_MARK]
    return False, None


def plan(function):
    """What to do with launches of this JIT function: a Plan, or None to leave them to Triton."""
    checks = getattr(_thread, "checks", None)
    if checks:
        check = checks[-1]
        clients = client_list(check.client)
        if clients is None:
            clients = client_list(config.resolve("client")) or DEFAULT_CLIENTS
        return Plan(clients, check)
    traced, client = marked(function)
    if not traced and not recorder.everything:
        return None
    clients = client_list(config.resolve("client", client))
    if clients is None:
        clients = DEFAULT_CLIENTS
    if not clients and not recorder.everything:
        return None  # "off": as without Tilesight
    return Plan(clients, None)


class Check:
    """One `ts.check(...)[grid](...)`: collects the reports of the launches it makes."""

    def __init__(self, client, uninitialized=()):
        self.client = client
        self.uninitialized = uninitialized
        self.reports = []
        self.problem = None

    def __enter__(self):
        _thread.__dict__.setdefault("checks", []).append(self)
        return self

    def __exit__(self, *_):
        _thread.checks.pop()


class Plan:
    """How one launch is checked."""

    __slots__ = ("clients", "check")

    def __init__(self, clients, check):
        self.clients = clients
        self.check = check

    def launch(self, kernel, bound, grid, autotune):
        recorder.stop_with_others()
        uninitialized = self.check.uninitialized if self.check else ()
        clients = self.clients
        counted = recorder.counts(kernel.name)
        index = recorder.next_index()
        try:
            with recorder.traced.one(config.command_line() if counted and recorder.wire is not None else {}) as (trace, limit):
                report = engine.launch(kernel, bound, grid, clients if counted else [], autotune=autotune,
                                       index=index, uninitialized=uninitialized,
                                       keep=max(recorder.keep_limit(), limit) if counted else 0,
                                       keep_short=recorder.wire is not None, trace=trace)
                if trace is not None:
                    recorder.of_trace(report)
        except Error as error:
            if recorder.wire is None or self.check is not None:
                raise
            # The rest of the program is still worth checking.
            if isinstance(error, InternalError):
                recorder.wire.internal_error(str(error))
            if counted:
                self._unknown(kernel.function, str(error), index)
            return
        if not counted:
            recorder.left_out(kernel.name)
            return
        if autotune:
            recorder.configuration(kernel, autotune)
        recorder.save(report)
        self._done(Report(report, kernel))

    def _done(self, report):
        if self.check is not None:
            self.check.reports.append(report)
            recorder.remember(report)
            if recorder.wire is not None:
                recorder.wire.checked()
            return
        recorder.add(report)

    def rejected(self, function, error, of_triton, place, message, remedy):
        """Triton, or Tilesight if not `of_triton`, does not accept the kernel, or its arguments; the program gets
        `error`. `place`: file, line, column."""
        source = (function.fn.__code__.co_filename, getattr(function, "starting_line_number", 0), 1)
        recorder.rejected(error, function.__name__, of_triton, source, place, message, remedy)

    def unsupported(self, function, reason):
        """The launch cannot be executed at all."""
        self._unknown(function, reason, recorder.next_index())

    def _unknown(self, function, reason, index):
        file = function.fn.__code__.co_filename
        line = getattr(function, "starting_line_number", 0)
        self._done(Report(engine.unknown_launch(index, function.__name__, reason, file, line), None))


def interpreted(function):
    """A kernel is about to run under Triton's own interpreter."""
    traced, _ = marked(function)
    if traced or recorder.everything or getattr(_thread, "checks", None):
        recorder.note(f"{function.__name__} runs under Triton's interpreter (TRITON_INTERPRET=1 was set "
                      "when its file was imported) and is not checked; remove that setting")


# --- where reports go ----------------------------------------------------------------------------

def reason(error):
    """What an error says, without the "FILE: error: " that some begin with."""
    text = getattr(error, "strerror", None) or str(error)
    return text.split(": error: ", 1)[-1]


def _program_line():
    """"FILE:LINE: " of the program's own code that is running, or ""."""
    own = os.path.dirname(os.path.abspath(__file__)) + os.sep
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(own) and os.sep + "triton" + os.sep not in file and not file.startswith("<"):
            here = os.getcwd() + os.sep
            return f"{file[len(here):] if file.startswith(here) else file}:{frame.f_lineno}: "
        frame = frame.f_back
    return ""


def _end():
    """Ends the process at once, whatever the program would catch."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass
    os._exit(1)


class Recorder:
    """The reports of this process."""

    def __init__(self):
        self.launches = collections.deque(maxlen=RING)
        self.everything = False  # under `tilesight run`: check every kernel
        self.wire = None         # under `tilesight run`: the file the parent reads
        self._numbers = itertools.count()
        self._matching = itertools.count()
        self._shown = set()      # fingerprints of findings that were printed
        self._notes = set()
        self._left_out = set()   # names of kernels
        self._lock = threading.Lock()
        self._filter = None
        self._judges = {}        # with --fail-fast: what is accepted (a test's marker may add to it) -> a Session
        self._saved = 0          # bytes written by --save
        self.traced = Traced(self.problem)  # what --trace writes
        self._holding = collections.deque()  # reports of ts.launches that hold inputs, oldest first
        self._kept = 0           # bytes of these

    def start_run(self, folder):
        """This process belongs to a `tilesight run`."""
        self.everything = True
        self.wire = Wire(folder)

    def next_index(self):
        """The number of a launch: they count, in order, in this process or in the `tilesight run`."""
        return next(self._numbers) if self.wire is None else self.wire.next_number()

    def left_out(self, kernel):
        """A launch was executed without checks, because the command line chose others."""
        with self._lock:
            new = kernel not in self._left_out
            self._left_out.add(kernel)
        if new:
            self.wire.left_out(kernel)
        self.note("launches left out by --kernel-name, --launch-skip or --launch-count were executed "
                  "without checks")

    def counts(self, kernel):
        """Is this launch among those that --kernel-name, --launch-skip and --launch-count choose?"""
        options = config.command_line()
        pattern = options.get("kernel_name")
        skip, count = options.get("launch_skip") or 0, options.get("launch_count")
        if pattern is None and not skip and count is None:
            return True
        if pattern is not None:
            if self._filter is None:
                import re
                self._filter = re.compile(pattern)
            if not self._filter.search(kernel):
                return False
        number = next(self._matching)
        return number >= skip and (count is None or number < skip + count)

    def keep_limit(self):
        """Launches with at most this many bytes keep a copy of their inputs, for bundles."""
        options = config.command_line()
        if self.wire is not None:
            return options.get("save_limit", 0) if options.get("save") else 0
        kept = config.resolve("keep_inputs")
        return KEEP_INPUTS if kept is None else kept

    def of_trace(self, native_report):
        """`run --trace`: the launch was recorded, with its data if that was kept."""
        self.traced.kept(native_report.input_bytes)
        if not native_report.has_inputs:
            self.note("the limit of --save-limit was reached: the trace does not have the data of all launches")
        if not config.command_line().get("save"):
            native_report.drop_inputs()

    def save(self, native_report):
        """`run --save`: writes the launch as a bundle if it is to be kept."""
        options = config.command_line()
        if self.wire is None or not options.get("save"):
            return
        try:
            if not native_report.clean or options.get("save_all"):
                self._save(native_report, options)
        except (Error, OSError) as error:  # the program goes on, and so does the report
            self.problem(options.get("save_name") or options["save"], 0, 0, reason(error))
        native_report.drop_inputs()

    def _save(self, native_report, options):
        if not native_report.has_inputs or self._saved + native_report.input_bytes > options["save_limit"]:
            self.note("the limit of --save-limit was reached: not all launches were saved")
            return
        self._saved += native_report.input_bytes
        folder = options["save"]
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"{native_report.kernel}-{os.getpid()}-{native_report.index:05}.tsb")
        if options.get("save_name"):  # to be merged in the order of the launches
            path = os.path.join(folder, f"{native_report.index:012}.tsb")
        writer = engine.native().BundleWriter(path)
        writer.add(native_report, options.get("data") or "all")
        writer.finish()
        native_report.set_bundle(options.get("save_name") or path)
        self.wire.saved()

    def remember(self, report):
        with self._lock:
            if len(self.launches) == RING and self._holding and self._holding[0] is self.launches[0]:
                self._kept -= self._holding.popleft().native.input_bytes
            self.launches.append(report)
            if not report.native.input_bytes:
                return
            self._holding.append(report)
            self._kept += report.native.input_bytes
            while self._kept > INPUT_BUDGET and len(self._holding) > 1:  # the oldest go first; those of the last launch stay
                old = self._holding.popleft().native
                self._kept -= old.input_bytes
                old.drop_inputs()

    def add(self, report):
        """Takes the report of a launch; prints or raises what ts.config.on_finding says."""
        self.remember(report)
        if self.wire is not None:
            self.wire.launch(report)
            self._stop_at_error(report)
        action = config.resolve("on_finding")
        if action is None:
            action = "collect" if self.wire is not None else \
                "raise" if "PYTEST_CURRENT_TEST" in os.environ else "print"
        if action == "collect" or report.native.clean or report.session.clean:
            return
        if action == "raise":
            report.raise_for_findings()
        self._print(report)

    def _print(self, report):
        marks = set(report.session.fingerprints)
        with self._lock:
            new = marks - self._shown
            self._shown |= marks
        if new:
            print(report.text(colour=sys.stderr.isatty()), end="", file=sys.stderr, flush=True)

    def _stop_at_error(self, report):
        """`run --fail-fast`: ends the program if this launch has an error that nothing accepts."""
        options = config.command_line().get("fail_fast")
        if not options or report.native.clean:
            return
        accepted = json.dumps(options["accepted"])
        with self._lock:
            if accepted not in self._judges:
                self._judges[accepted] = engine.native().Session(**options["accepted"])
            self._judges[accepted].add(report.native)
            if not self._judges[accepted].errors:
                return
        self.note(f"{_program_line()}the program was ended at the first launch with an error (--fail-fast)")
        with open(options["stop"], "w"):
            pass
        self._end()

    def stop_with_others(self):
        """`run --fail-fast`: ends this process if another one of the program has met an error."""
        options = config.command_line().get("fail_fast")
        if options and self.wire is not None and os.path.exists(options["stop"]):
            self._end()

    def _end(self):
        self.traced.finish(config.command_line())
        _end()

    def note(self, text):
        """Something to say once that is no finding."""
        with self._lock:
            if text in self._notes:
                return
            self._notes.add(text)
        if self.wire is not None:
            self.wire.note(text)
        elif config.resolve("on_finding") in (None, "print"):
            print(f"tilesight: {text}", file=sys.stderr)

    def problem(self, file, line, column, message):
        """Unusable input; the program sees the exception behind it."""
        if self.wire is not None:
            self.wire.problem(file, line, column, message)
        else:
            print(f"{file}:{line}:{column}: error: {message}", file=sys.stderr)

    def rejected(self, error, kernel, of_triton, source, place, message, remedy):
        """A launch that could not be made. If the program catches `error`, it is told where Triton refused it, and
        unknown where Tilesight did; if it does not, it is bad input: `uncaught` tells."""
        if self.wire is not None:
            error._tilesight_rejection = number = self.next_index()
            # In the kernel, where Triton found fault with it; at the call, where it is about arguments.
            at = place if place[0] == source[0] and remedy else source
            self.wire.rejected(number, kernel, of_triton, at, place, message, remedy)
        elif remedy and hasattr(error, "add_note"):
            error.add_note(f"{place[0]}:{place[1]}:{place[2]}: error: {message}; {remedy}")

    def withdrawn(self, error):
        """The launch behind `error` was a trial, which nobody is told of."""
        number = getattr(error, "_tilesight_rejection", None)
        if number is not None and self.wire is not None:
            self.wire.withdrawn(number)

    def configuration(self, kernel, tuned):
        """A launch with one configuration of an autotuned kernel; `tuned` as the report has it."""
        text = (f"{kernel.name}: autotune configuration {tuned['configuration']} of {tuned['of']} ({tuned['text']}); "
                f"{tuned['not_checked']} not checked ({tuned['why']})")
        if self.wire is None:
            if tuned["not_checked"]:
                self.note(text)
            return
        with self._lock:
            if text in self._notes:
                return
            self._notes.add(text)
        self.wire.configuration(kernel.name, kernel.function.fn.__code__.co_filename, tuned)

    def uncaught(self, error):
        """An exception ends the program."""
        while error.__cause__ is not None and not hasattr(error, "_tilesight_rejection"):
            error = error.__cause__
        number = getattr(error, "_tilesight_rejection", None)
        if number is not None and self.wire is not None:
            self.wire.uncaught(number)

    def clear(self):
        with self._lock:
            self.launches.clear()
            self._holding.clear()
            self._kept = 0
            self._shown.clear()
            self._notes.clear()


recorder = Recorder()
