"""Replays the sanitizer's findings of every launch that a test makes: the program that is a finding's witness, run alone on what it
read, must make the same finding (docs/rationale/replay.md), or the test fails.

Off unless TILESIGHT_REPLAY_FINDINGS names a file: `scripts/test-slow replay` sets it. A launch with findings is a line of
the file: `test TAB findings that were replayed TAB why not, or nothing`.
"""

import json
import os
import tempfile
from pathlib import Path

OF_LAUNCHES = {"deadlock", "launch-limit"}  # no program makes these by itself


def start():
    path = os.environ.get("TILESIGHT_REPLAY_FINDINGS")
    if not path:
        return
    from tilesight import engine

    launch = engine.launch

    def launched(kernel, bound, grid, clients, *arguments, **keywords):
        report = launch(kernel, bound, grid, clients, *arguments, **keywords)
        if len(report.fingerprints) > len(report.unknowns):
            count, why = replayed(report, clients)
            with open(path, "a") as out:
                out.write(f"{os.environ.get('PYTEST_CURRENT_TEST', '').split(' ')[0]}\t{count}\t{why}\n")
        return report

    engine.launch = launched


def replayed(report, clients):
    """(how many findings were replayed, why none was). Raises AssertionError where a program says something else alone."""
    from tilesight.engine import native

    if not report.has_inputs:
        return 0, "no copy of the inputs"
    if "sanitizer" not in clients:
        return 0, "other clients"
    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(folder) / "launch.tsb"
        writer = native().BundleWriter(str(bundle))
        writer.add(report)
        writer.finish()
        again = native().replay_findings(str(bundle), ["sanitizer"], 2)
    different = [entry for entry in again if entry[2]]
    assert not different, f"findings of {report.kernel} are others when their programs run alone: {different}"
    session = native().Session()
    session.add(report)
    found = [(f["kind"], f["location"]["line"]) for f in json.loads(session.json(None))["findings"]
             if f["client"] == "sanitizer" and f["kind"] not in OF_LAUNCHES]
    missing = set(found) - {(kind, line) for kind, line, _ in again}
    assert not missing, f"findings of {report.kernel} that the same launch does not have again: {missing}"
    return len(again), ""
