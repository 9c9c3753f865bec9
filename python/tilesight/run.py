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
from .config import COMMAND_LINE_VARIABLE
from .engine import native
from .errors import Error
from .process import RUN_DIR
from .run_options import USAGE, parse

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


class _Refused(Exception):
    """Bad usage: one line, exit status 2."""


def main(arguments):
    """Runs the command and returns its exit status."""
    if arguments[:1] in (["--help"], ["-h"]):
        print(USAGE, end="")
        return 0
    try:
        options, program = parse(arguments)
        command = command_of(program)
        session = native().Session(ignore=options.ignore, print_limit=options.print_limit,
                                   fail_on=options.fail_on, error_exitcode=options.error_exitcode,
                                   quiet=options.quiet)
    except (_Refused, Error, ValueError) as error:
        print(f"tilesight: error: {error} (see tilesight run --help)", file=sys.stderr)
        return 2
    folder = tempfile.mkdtemp(prefix="tilesight-run-")
    try:
        try:
            status = execute(command, environment(options, folder))
        except OSError as error:
            print(f"tilesight: error: {command[0]} cannot be started: {error.strerror}", file=sys.stderr)
            return 2
        collect(session, folder, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return finish(session, options, status)


def command_of(program):
    """The command line to execute for what stands after the options."""
    if not program:
        raise _Refused("there is nothing to run: give a script.py, -m module, pytest, or -- command")
    first, rest = program[0], program[1:]
    if first == "--":
        if not rest:
            raise _Refused("there is no command after --")
        return rest
    if first == "-m":
        if not rest:
            raise _Refused("-m needs the name of a module")
        return [sys.executable, "-m", *rest]
    if first in ("pytest", "py.test"):
        beside = os.path.join(os.path.dirname(sys.executable), "pytest")
        return [sys.executable, *([beside] if os.path.exists(beside) else ["-m", "pytest"]), *rest]
    if os.path.basename(first).startswith("python") and shutil.which(first):
        return program
    if os.path.exists(first) or first.endswith(".py"):
        if not os.path.exists(first):
            raise _Refused(f"there is no file {first}")
        return [sys.executable, *program]
    raise _Refused(f"{first} is no script: give a script.py, -m module, pytest, or put -- before a "
                   "command")


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


def execute(command, env):
    """Runs the program to its end; its exit status as a shell would give it."""
    with subprocess.Popen(command, env=env) as child:
        # Ctrl-C reaches the program by itself; the report on what it did until then is still due.
        handlers = {signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN),
                    signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: child.terminate())}
        try:
            status = child.wait()
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
    return status if status >= 0 else 128 - status


def collect(session, folder, options):
    """Takes the reports of all processes into the session."""
    module = native()
    for kind, value in wire.read(folder):
        if kind == "launch":
            session.add(module.LaunchReport.from_json(json.dumps(value)))
        elif kind == "note":
            session.add_note(value)
        elif kind == "problem":
            session.add_problem(*value)
        elif kind == "internal":
            session.add_internal_error(value)
    if options.address_only:
        session.add_note("--address-only: outputs were not computed, so launches that use them may be "
                         "judged on other data than in a full run")
    if options.save and not options.save_is_folder:
        saved = sorted(name for name in os.listdir(folder) if name.endswith(".tsb"))
        if saved:
            module.merge_bundles([os.path.join(folder, name) for name in saved], options.save)


def finish(session, options, status):
    """Writes the reports; the exit status of the contract."""
    if options.json:
        text = session.json(status)
        if options.json == "-":
            sys.stdout.write(text)
        else:
            try:
                _write_whole(options.json, text)
            except OSError as error:
                session.add_problem(options.json, 0, 0, f"cannot be written: {error.strerror}")
    colour = sys.stderr.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    sys.stdout.flush()
    sys.stderr.write(session.text(colour))
    return session.exit_status(status)


def _write_whole(path, text):
    """Under its name when complete, or not at all."""
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(dir=folder, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
