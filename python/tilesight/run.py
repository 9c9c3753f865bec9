"""`tilesight run`: runs a program unmodified and reports on every kernel launch in it.

The program runs in a process of its own, just as Python (or the command) would run it; a
sitecustomize on PYTHONPATH puts the hook into it and into every Python process that it starts.
Each of them leaves its reports in a folder; they are merged when the program has ended.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from . import wire
from .config import COMMAND_LINE_VARIABLE, check_environment
from .engine import native
from .errors import Error
from .process import RUN_DIR
from .run_options import STOP, USAGE, parse
from .session import reason

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


class Refused(Exception):
    """Bad usage: one line, exit status 2."""


def main(arguments):
    """Runs the command and returns its exit status."""
    if arguments[:1] in (["--help"], ["-h"]):
        print(USAGE, end="")
        return 0
    try:
        options, program = parse(arguments)
        command = command_of(program)
        check_environment()
        check_files(options)
        session = session_of(options)
    except (Refused, Error, ValueError) as error:
        text = str(error)
        print(text if ": error: " in text else f"tilesight: error: {text} (see tilesight run --help)",
              file=sys.stderr)
        return 2
    folder = tempfile.mkdtemp(prefix="tilesight-run-")
    try:
        try:
            stop = os.path.join(folder, STOP) if options.fail_fast else None
            status, interrupted = execute(command, environment(options, folder), stop)
        except OSError as error:
            print(f"tilesight: error: {command[0]} cannot be started: {error.strerror}", file=sys.stderr)
            return 2
        outcome = collect(session, folder, options)
        outcome.of_program = said_by_pytest(program, status)
        if outcome.of_program and session.launches:
            session.add_note(outcome.of_program)
        stopped = stop is not None and os.path.exists(stop)
        if stopped:
            status = None  # it is ours, not the program's
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if interrupted and session.launches and not stopped:
        session.add_note("the program was interrupted: this is what it did until then")
    return finish(session, options, status, outcome.without_launches(options, interrupted),
                  partial=bool(interrupted or stopped or status))


def session_of(options):
    """An empty session that judges findings as the options say."""
    return native().Session(**options.accepted, print_limit=options.print_limit, fail_on=options.fail_on,
                            error_exitcode=options.error_exitcode, quiet=options.quiet,
                            option_prefix=options.prefix)


def command_of(program):
    """The command line to execute for what stands after the options."""
    if not program:
        raise Refused("there is nothing to run: give a script.py, -m module, pytest, or -- command")
    first, rest = program[0], program[1:]
    if first == "--":
        if not rest:
            raise Refused("there is no command after --")
        return rest
    if first == "-m":
        if not rest:
            raise Refused("-m needs the name of a module")
        return [sys.executable, "-m", *rest]
    if first in ("pytest", "py.test"):
        beside = os.path.join(os.path.dirname(sys.executable), "pytest")
        return [sys.executable, *([beside] if os.path.exists(beside) else ["-m", "pytest"]), *rest]
    if os.path.basename(first).startswith("python") and shutil.which(first):
        return program
    if os.path.exists(first) or first.endswith(".py"):
        if not os.path.exists(first):
            raise Refused(f"there is no file {first}")
        return [sys.executable, *program]
    raise Refused(f"{first} is no script: give a script.py, -m module, pytest, or put -- before a "
                   "command")


_OF_PYTEST = {2: "was interrupted", 3: "had an internal error", 4: "was used wrongly", 5: "found no tests"}


def said_by_pytest(program, status):
    """What an exit status of pytest's own says that a status of `tilesight run` would not, or None."""
    of_pytest = program[1:2] == ["pytest"] if program[0] == "-m" else \
        os.path.basename(program[1 if program[0] == "--" else 0]) in ("pytest", "py.test")
    said = _OF_PYTEST.get(status) if of_pytest else None
    return said and f"pytest {said} (its exit status {status})"


def check_files(options):
    """Refuses what cannot be written, before anything has run for nothing."""
    if options.save is not None:
        check_writable("--save", options.save, folder=options.save_is_folder)
    if options.trace is not None:
        check_writable("--trace", options.trace, folder=True)
        if os.path.isdir(options.trace) and os.listdir(options.trace):
            raise Refused(f"--trace {options.trace} is not empty: a trace needs a folder of its own")
    used = {"--save": options.save, "--baseline": options.baseline}
    native().check_reports(**options.reports, others=[(name, file) for name, file in used.items() if file])


def check_writable(option, path, folder):
    """Refuses a place where no file can be written, before the program has run for nothing."""
    if not path:
        raise Refused(f"{option} needs the name of a file")
    place = os.path.abspath(path)
    if not folder:
        if os.path.isdir(place):
            raise Refused(f"{option} {path} is a folder")
        place = os.path.dirname(place)
        if not os.path.isdir(place):
            raise Refused(f"{option} {path}: there is no folder {place}")
    while not os.path.exists(place):  # the folder of --save DIR/ is made when it is needed
        place = os.path.dirname(place)
    if not os.path.isdir(place):
        raise Refused(f"{option} {path}: {place} is no folder")
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise Refused(f"{option} {path} cannot be written: {error.strerror}") from None


def environment(options, folder):
    """The environment of the program."""
    result = dict(os.environ)
    paths = [os.path.join(_PACKAGE, "startup")]
    if result.get("PYTHONPATH"):
        paths.append(result["PYTHONPATH"])
    result["PYTHONPATH"] = os.pathsep.join(paths)
    result["TILESIGHT_HOME"] = os.path.dirname(_PACKAGE)
    result[RUN_DIR] = folder
    result[COMMAND_LINE_VARIABLE] = json.dumps(options.for_processes(folder))
    return result


def execute(command, env, stop=None):
    """Runs the program to its end: its exit status as a shell would give it, and whether it was
    interrupted. `stop` is a file: once it is there, the program is ended."""
    interrupted = []

    def interrupt(*_):
        interrupted.append(True)

    with subprocess.Popen(command, env=env) as child:
        # Ctrl-C reaches the program by itself; the report on what it did until then is still due.
        handlers = {signal.SIGINT: signal.signal(signal.SIGINT, interrupt),
                    signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: child.terminate())}
        try:
            status = child.wait() if stop is None else _wait(child, stop)
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
    return status if status >= 0 else 128 - status, bool(interrupted)


def _wait(child, stop):
    """The status of a program that ends by itself, or is ended once the file `stop` is there."""
    patience = 30  # tenths of a second, for a program that has an end of its own to make
    while True:
        try:
            return child.wait(timeout=0.1)
        except subprocess.TimeoutExpired:
            if not os.path.exists(stop):
                continue
        child.terminate() if patience else child.kill()
        patience = max(0, patience - 1)


class Outcome:
    """What the processes said beside the reports of launches."""

    def __init__(self):
        self.left_out = []  # names of kernels
        self.saved = 0      # launches
        self.checked = 0    # launches by ts.check
        self.of_program = None  # what its exit status says, where that is known

    def without_launches(self, options, interrupted):
        """The report's line where no launch was checked."""
        if self.left_out:
            return native().no_launch_left(options.prefix, options.kernel_text or "", self.left_out)
        if interrupted:
            return "interrupted before a kernel was launched"
        if self.checked:
            one = self.checked == 1
            return (f"{self.checked} launch{'' if one else 'es'} by ts.check, whose report{' is' if one else 's are'} the "
                    "program's own, and no other kernel was launched")
        return f"{self.of_program}, and no kernel was launched" if self.of_program else "no kernel was launched"


def collect(session, folder, options, entries=None):
    """Takes the reports of all processes into the session: `entries`, or those of the folder. Returns the
    Outcome."""
    module = native()
    outcome = Outcome()
    rejected, uncaught, withdrawn = {}, set(), set()  # launches by number
    configurations = {}  # (kernel, file, how many there are) -> number -> what its launches said
    traced, launches = False, 0
    for kind, value in entries or _as_markers_say(wire.read(folder)):
        if kind == "launch":
            traced |= bool(value.get("traceRecords"))
            launches += 1
            session.add(module.LaunchReport.from_json(json.dumps(value)))
        elif kind == "note":
            session.add_note(value)
        elif kind == "problem":
            session.add_problem(*value)
        elif kind == "internal":
            session.add_internal_error(value)
        elif kind == "left out":
            if value not in outcome.left_out:
                outcome.left_out.append(value)
        elif kind == "saved":
            outcome.saved += 1
        elif kind == "checked":
            outcome.checked += 1
        elif kind == "rejected":
            rejected[value[0]] = value[1:]
        elif kind == "uncaught":
            uncaught.add(value)
        elif kind == "withdrawn":
            withdrawn.add(value)
        elif kind == "configuration":
            kernel, file, tuned = value
            configurations.setdefault((kernel, file, tuned["of"]), {})[tuned["configuration"]] = tuned
    for (kernel, _, count), checked in configurations.items():
        if len(checked) < count:
            session.add_note(_of_configurations(kernel, count, checked))
    for number in withdrawn:
        rejected.pop(number, None)
    for number, (kernel, of_triton, source, place, message, remedy) in sorted(rejected.items()):
        if number in uncaught:
            session.add_problem(relative(place[0]), *place[1:], message, remedy)
        elif of_triton:  # the program was told, and went on
            session.add_refusal(kernel, source[0], *source, message)
        else:
            session.add(module.unknown_launch(number, kernel, message, *source[:2]))
    if traced:
        session.add_note(module.tracer_remark(""))
    if options.address_only:
        session.add_note(module.address_only_remark(options.prefix))
    if options.save:
        save(session, folder, options, outcome.saved)
    if options.trace:
        trace(session, options, launches + outcome.checked)
    return outcome


def _of_configurations(kernel, count, checked):
    """How many configurations of an autotuned kernel no launch has had, and why."""
    some = next(iter(checked.values()))
    which = f" ({some['text']})" if len(checked) == 1 else ""
    why = "pruned, or refused by a static_assert" if some["why"] == "pruned" else some["why"]
    return (f"{kernel}: {len(checked)} of {count} autotune configurations checked{which}; {count - len(checked)} not "
            f"checked ({why})")


def _as_markers_say(entries):
    """The entries without the findings that markers of their tests ignore (a test's come after what its markers say)."""
    ignored, places = {}, set()  # test -> kinds
    for kind, value in entries:
        if kind == "ignored":
            ignored[value[0]] = value[1]
        elif kind == "launch" and ignored:
            kept = [finding for finding in value["findings"] if finding["kind"] not in ignored.get(finding["test"], ())]
            places |= {(finding["kind"], finding["kernel"], finding["location"]["file"], finding["location"]["line"])
                       for finding in value["findings"] if finding not in kept}
            value = {**value, "findings": kept}
        yield kind, value
    if places:
        yield "note", f"{len(places)} finding{'s' if len(places) > 1 else ''} ignored, as markers of tests say"


def relative(file):
    """A path as reports show it: relative where it lies below the working folder."""
    here = os.getcwd() + os.sep
    return file[len(here):] if file.startswith(here) else file


def save(session, folder, options, count):
    """Makes one bundle of what the processes saved, where one is asked for, and says what was saved."""
    if count and not options.save_is_folder:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".tsb"))
        try:
            native().merge_bundles([os.path.join(folder, name) for name in names], options.save)
        except (Error, OSError) as error:
            session.add_problem(options.save, 0, 0, reason(error))
            return
    if options.quiet:
        return
    if count:
        carried = {"all": "with their data", "indices": "with the data of integer tensors only",
                   "none": "without their data"}[options.data]
        session.add_note(f"saved {count} launch{'es' if count > 1 else ''} to {relative(options.save)}, {carried} and "
                         "the source: look at it before you give it away")
    elif session.launches:
        session.add_note("nothing was saved" if session.verdict != "ok" or options.save_all else
                         f"nothing was saved: no launch had findings ({options.prefix}save-all keeps every launch)")


def trace(session, options, launches):
    """Says what the processes recorded; `launches` is how many there were."""
    try:
        count = native().launches_in_trace(options.trace) if os.path.isdir(options.trace) else 0
    except (Error, OSError) as error:
        session.add_problem(options.trace, 0, 0, reason(error))
        return
    if options.quiet and count >= launches:
        return
    name = relative(options.trace)
    if count:
        carried = {"all": "with their data", "indices": "with the data of integer tensors",
                   "none": "without data"}[options.data]
        session.add_note(f"traced {count} launch{'es' if count > 1 else ''} to {name}, {carried}, with the source: "
                         f"tilesight view {name}")
    if count < launches:
        session.add_note(f"{launches - count} launch{'es' if launches - count > 1 else ''} not in {name}: not executed, or the "
                         "process ended abruptly")


def finish(session, options, status, without_launches, partial):
    """Writes the reports; the exit status of the contract. `partial`: the program did not come to its end."""
    session.set_no_launch_reason(without_launches)
    sys.stdout.flush()
    sys.stderr.flush()
    return session.write_reports(**options.reports, partial=options.partial or partial, program_exit=status)
