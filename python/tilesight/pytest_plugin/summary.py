"""The end of a run of tests: all launches merged, the files that were asked for, and the terminal's section."""

import json

from .. import run, wire
from ..engine import native

_TESTS = 3  # named for a finding


def without(launch, kinds):
    """A launch as the wire has it, without the findings of some kinds."""
    return {**launch, "findings": [finding for finding in launch["findings"] if finding["kind"] not in kinds]}


class Summary:
    """Everything that the processes of a run of tests left in its folder."""

    def __init__(self, checks):
        self.options = checks.options
        self._told = set()     # keys of findings that failed a test
        self.outside = False   # were there bad findings outside all tests
        self._ignored = {}     # test -> kinds
        self._tests = {}       # key of a finding -> tests that met it
        self._first = {}       # key of a finding -> a launch with nothing else, as the wire has it
        for kind, value in wire.read(checks.folder):
            if kind == "ignored":
                self._ignored[value[0]] = value[1]
            elif kind == "told":
                self._told.add(value)
            self.outside |= kind == "outside"
        self.session = checks.session
        self._outcome = run.collect(self.session, checks.folder, self.options, self._entries(checks.folder))
        self.document = None   # of the report, once it is written

    def _entries(self, folder):
        ignored = set()  # keys
        for kind, value in wire.read(folder):
            if kind == "launch":
                kept = value
                for test in {finding["test"] for finding in value["findings"]} & self._ignored.keys():
                    kept = without(kept, self._ignored[test])
                left = [key_of(finding, finding["stack"]) for finding in kept["findings"]]
                ignored.update({key_of(finding, finding["stack"]) for finding in value["findings"]}.difference(left))
                value = kept
                for finding in value["findings"]:
                    key = key_of(finding, finding["stack"])
                    self._first.setdefault(key, {**value, "findings": [{**finding, "test": ""}], "unknowns": []})
                    tests = self._tests.setdefault(key, [])
                    if finding["test"] not in tests:
                        tests.append(finding["test"])
            yield kind, value
        if ignored:
            yield "note", f"{len(ignored)} finding{'s' if len(ignored) > 1 else ''} ignored, as markers of tests say"

    def write(self, program_exit, partial):
        """Writes the files that were asked for; `program_exit` is the status of pytest, `partial` says that not
        all tests ran."""
        files = {name: value for name, value in self.options.reports.items() if name != "output"}
        self.session.write_files(**files, partial=self.options.partial or partial, program_exit=program_exit)
        self.document = json.loads(self.session.json(program_exit))

    @property
    def fails(self):
        """Is there something that no test has failed for: problems, errors of Tilesight itself, findings that
        are only too many for the baseline when all processes are taken together?"""
        status = self.session.exit_status(0)
        return status in (2, 4) or status == 1 and any(
            key_of(finding, finding["location"]["stack"]) not in self._told for finding in self.document["findings"]
            if finding["severity"] in self._levels)

    @property
    def _levels(self):
        words = self.options.fail_on
        return () if "never" in words else ("error", "warning") if "warning" in words else ("error",)

    def show(self, terminal):
        """Writes the section of the terminal."""
        launches = self.document["summary"]["launches"]
        said = self.document["notes"] or self.document["unknowns"] or self.document["problems"]
        if not launches and not said and terminal.config.option.collectonly:
            return
        terminal.section("tilesight")
        document = self.document
        for text in document["internal_errors"]:
            terminal.line(f"internal error: {text}", red=True)
        for problem in document["problems"]:
            terminal.line(f"{problem['file']}: error: {problem['message']}", red=True)
        for finding in document["findings"]:
            self._finding(terminal, finding)
        for unknown in document["unknowns"]:
            _unknown(terminal, unknown)
        for refusal in document["refused"]:
            place = refusal["location"]
            terminal.line(f"{run.relative(place['file'])}:{place['line']}: refused: {refusal['reason']}")
        for note in document["notes"]:
            terminal.line(f"note: {note}")
        if not launches:
            terminal.line(f"{self._outcome.without_launches(self.options, False)}: nothing was checked")
        else:
            lines = self.session.text(terminal.hasmarkup).splitlines()
            for line in lines[-len(document["kernels"]) - 1:]:  # one a kernel, and the total
                terminal.line(line)
        if self.options.format == "github":
            terminal.write(self.session.github())

    def _finding(self, terminal, finding):
        place = finding["location"]
        key = key_of(finding, place["stack"])
        if self._failed_a_test(finding["severity"], key):  # and is told in full there
            terminal.line(f"{run.relative(place['file'])}:{place['line']}:{place['column']}: "
                          f"{finding['severity']}: {finding['kind']}: {finding['message']}")
        else:
            terminal.write(self._text(key, terminal.hasmarkup))
        terminal.line(f"  met {_by(self._tests.get(key, ()))}")

    def _failed_a_test(self, severity, key):
        return severity in self._levels and key in self._told and any(self._tests.get(key, ()))

    def _text(self, key, colour):
        alone = native().Session(quiet=True)
        alone.add(native().LaunchReport.from_json(json.dumps(self._first[key])))
        return alone.text(colour).rstrip("\n") + "\n"


def _by(tests):
    """Who met a finding: "by A, B and 2 more", "outside all tests", "by A, and outside all tests"."""
    named = [test for test in tests if test]
    if not named:
        return "outside all tests"
    more = f" and {len(named) - _TESTS} more" if len(named) > _TESTS else ""
    return f"by {', '.join(named[:_TESTS])}{more}" + (", and outside all tests" if len(named) < len(tests) else "")


def key_of(finding, stack):
    """A text that is equal for findings that a session merges."""
    frames = [(frame["file"], frame["line"], frame["column"]) for frame in (finding["location"], *stack)]
    argument = (finding.get("operand") or {}).get("argument", "")
    return json.dumps([finding["kind"], finding["kernel"], finding["operation"], argument, *frames])


def _unknown(terminal, unknown):
    place = unknown["location"]
    where = f"{run.relative(place['file'])}:{place['line']}: " if place["file"] else ""
    count = unknown["launches"]
    terminal.line(f"{where}unknown: {unknown['reason']} (kernel {unknown['kernel']}, {count} launch"
                  f"{'es' if count > 1 else ''})", yellow=True)
