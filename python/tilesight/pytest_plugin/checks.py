"""Launches of tests: captured as under `tilesight run`, and held against the test that made them."""

import dataclasses
import json
import os
import shutil
import sys
import tempfile
import threading

import pytest

from .. import process, run, wire
from ..config import COMMAND_LINE_VARIABLE, check_environment, client_list, config as settings
from ..engine import native
from ..errors import Error
from ..session import recorder
from ..startup import sitecustomize
from . import marks, options, summary
from .failure import FindingsFailure, representation

_TEXT = pytest.StashKey()


class Checks:
    """The plugin while `--tilesight` is on: one a process, in each worker of pytest-xdist too.

    Reports go to a folder. Workers, and pytests under a `tilesight run` or another pytest, find one in the
    environment and make theirs in it: what is in a folder belongs to the tests of that pytest, the processes
    that they start included, and the outermost run sums up over all."""

    def __init__(self, config, arguments):
        self.around = os.environ.get(process.RUN_DIR)
        self.is_worker = "PYTEST_XDIST_WORKER" in os.environ and os.environ.get(_CONTROLLER) == str(os.getppid())
        try:
            self.options = options.parse(arguments)
            check_environment()
            native()
            if not self.is_worker:
                run.check_files(self.options)
            # Baselines are read before a test goes to another folder. What a test's launches spend of the
            # counts of one, other tests cannot.
            self.session = run.session_of(self.options)  # of the whole run, filled when it has ended
            self._spending = run.session_of(dataclasses.replace(self.options, quiet=True))
            self._start(arguments)
            self.options.fix_files()
        except (run.Refused, Error, ValueError) as error:
            raise pytest.UsageError(f"tilesight: {options.worded(error)}") from None
        self.merged = None

    # --- the run

    def _start(self, arguments):
        if self.around and self.options.save and not self.is_worker:
            raise ValueError("--save: the run around this one saves launches")
        self._environment = dict(os.environ)
        self.folder = tempfile.mkdtemp(prefix=f"tilesight-pytest-{os.getpid()}-", dir=self.around)
        if self.around:
            os.symlink(os.path.join(self.around, "launches"), os.path.join(self.folder, "launches"))  # one count
            os.environ[COMMAND_LINE_VARIABLE] = marks.with_options(
                os.environ.get(COMMAND_LINE_VARIABLE, "{}"), self.options, arguments)
        else:
            os.environ.update(run.environment(self.options, self.folder))
            os.environ.pop("PYTEST_CURRENT_TEST", None)  # of a pytest that started this one
        os.environ[process.RUN_DIR] = self.folder
        os.environ[_CONTROLLER] = str(os.getpid())
        marks.reread_options()
        self._recorder = recorder.everything, recorder.wire
        recorder.start_run(self.folder)
        recorder.wire = self.wire = TestWire(self.folder, self._spending.sibling)
        if "torch" in sys.modules:
            process.after_torch()
        if "triton" in sys.modules:
            process.before_triton()
            process.after_triton()
        sitecustomize.watch()

    def pytest_unconfigure(self):
        recorder.everything, recorder.wire = self._recorder
        for name in _CHANGED:
            if name in self._environment:
                os.environ[name] = self._environment[name]
            else:
                os.environ.pop(name, None)
        marks.reread_options()
        if not self.around:  # else the run around reads it
            shutil.rmtree(self.folder, ignore_errors=True)

    # --- tests

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        given = list(item.iter_markers("tilesight"))
        if not given:
            return (yield)
        try:
            chosen, arguments = marks.read(given)
        except ValueError as error:
            item.stash[_WRONG_MARK] = str(error)
            return (yield)
        with marks.in_force(item.nodeid, chosen, arguments, self.wire):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item):
        result = yield from self._phase(item)
        if _WRONG_MARK in item.stash:
            pytest.fail(item.stash[_WRONG_MARK], pytrace=False)
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item):
        return (yield from self._phase(item))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item):
        return (yield from self._phase(item))

    def _phase(self, item):
        try:
            result = yield
        except pytest.skip.Exception:
            self._judge(item)
            raise
        except BaseException:
            self._judge(item, fails=False)  # its own failure says more
            raise
        self._judge(item)
        return result

    def _judge(self, item, fails=True):
        """Takes what the launches since the last call amount to; raises FindingsFailure if that is too bad."""
        found = self.wire.take()
        if found is None:
            return
        item.stash[_TEXT] = found.text(False)
        failure = self._failure(found)
        if fails and failure:
            raise failure

    def _failure(self, found):
        """What to raise for a session, or None. Its findings are told from now on."""
        status = found.exit_status(0)
        if self.options.write_baseline and status != 4:
            return None  # what is written down is accepted
        if status in (0, 3):
            return None
        document = json.loads(found.json(None))
        self.wire.told(summary.key_of(finding, finding["location"]["stack"]) for finding in document["findings"])
        return FindingsFailure(found.text(False), document)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        text = item.stash.get(_TEXT, "")
        item.stash[_TEXT] = ""
        if call.excinfo is not None and isinstance(call.excinfo.value, FindingsFailure):
            report.longrepr = representation(call.excinfo.value)
        elif text:
            report.sections.append(("tilesight", text))
        return report

    # --- launches outside tests

    def _judge_outside(self):
        found = self.wire.take()
        if found and self._failure(found):
            self.wire.outside()

    def pytest_sessionstart(self):
        self._judge_outside()  # conftest.py and other plugins

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector):
        report = yield
        found = self.wire.take()
        failure = found and self._failure(found)
        if failure and report.outcome != "failed":
            report.outcome, report.longrepr = "failed", failure.text
        elif failure:
            report.sections.append(("tilesight", failure.text))
        return report

    @pytest.hookimpl(trylast=True)  # after pytest-xdist has waited for its workers
    def pytest_sessionfinish(self, session):
        self._judge_outside()
        if self.is_worker:
            return
        self.merged = summary.Summary(self)
        if self.merged.outside and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        self.merged.write(int(session.exitstatus), _is_selection(session))
        if self.merged.fails and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    # --- what is said

    def pytest_report_header(self):
        clients = ", ".join(client_list(settings.client) or ["sanitizer"])
        return f"tilesight: every Triton kernel launch is checked ({clients})"

    def pytest_terminal_summary(self, terminalreporter):
        if self.merged is not None:
            self.merged.show(terminalreporter)


def _is_selection(session):
    """Did only some of the tests run?"""
    given = session.config.option
    chosen = ("keyword", "markexpr", "maxfail", "lf", "stepwise", "deselect", "ignore", "ignore_glob")
    return (any(getattr(given, name, None) for name in chosen) or
            session.exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) or
            _names_a_part(session.config))


def _names_a_part(config):
    """Are the arguments of pytest less than its root folder, or all its testpaths?"""
    if getattr(getattr(config, "args_source", None), "name", "") == "TESTPATHS":
        return False
    start = config.invocation_params.dir
    root = config.rootpath if config.inipath else start
    given = {os.path.realpath(os.path.join(start, argument)) for argument in config.args}
    tests = {os.path.realpath(os.path.join(root, path)) for path in config.getini("testpaths")}
    return os.path.realpath(root) not in given and not (tests and tests <= given)


_WRONG_MARK = pytest.StashKey()
_CONTROLLER = "TILESIGHT_PYTEST"  # the process whose children may be workers of pytest-xdist
_CHANGED = (process.RUN_DIR, COMMAND_LINE_VARIABLE, "TILESIGHT_HOME", "PYTHONPATH", "PYTEST_CURRENT_TEST", _CONTROLLER)


class TestWire(wire.Wire):
    """Also remembers what was found since the last look, here and in the processes that tests started."""

    __test__ = False  # no test class, whatever its name

    def __init__(self, folder, new_session):
        super().__init__(folder)
        self._new_session = new_session
        self._found = None
        self._finding = threading.Lock()
        self._ignored = ()
        self._read = {}  # file of another process -> bytes taken

    def ignored(self, test, kinds):
        super().ignored(test, kinds)
        self._ignored = tuple(kinds)

    def told(self, keys):
        """The findings of these keys have failed a test, or would have."""
        for key in keys:
            self._write("told", key)

    def outside(self):
        """Launches outside all tests have findings."""
        self._write("outside", None)

    def launch(self, report):
        super().launch(report)
        if not report.native.clean:
            with self._finding:
                self._add(report.native)

    def internal_error(self, text):
        super().internal_error(text)
        with self._finding:
            self._session().add_internal_error(text)

    def _session(self):
        if self._found is None:
            self._found = self._new_session()
        return self._found

    def _add(self, report):
        if self._ignored:
            report = native().LaunchReport.from_json(
                json.dumps(summary.without(json.loads(report.to_json()), self._ignored)))
        self._session().add(report)

    def take(self):
        """A session with the launches since the last call that are not clean; None without one."""
        with self._finding:
            for kind, value in self._of_others():
                if kind == "launch" and (value["findings"] or value["unknowns"]):
                    self._add(native().LaunchReport.from_json(json.dumps(value)))
                elif kind == "internal":
                    self._session().add_internal_error(value)
            found, self._found = self._found, None
        return found

    def _of_others(self):
        """What processes that tests started have written since the last call."""
        for found in sorted(os.scandir(self.folder), key=lambda found: found.name):
            name = found.name
            if f"-{os.getpid()}-" in name or not name.endswith(".jsonl"):
                continue
            if found.stat().st_size == self._read.get(name, 0):
                continue
            with open(os.path.join(self.folder, name), "rb") as file:
                file.seek(self._read.get(name, 0))
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    self._read[name] = self._read.get(name, 0) + len(line)
                    entry = json.loads(line)
                    yield entry["kind"], entry["value"]
