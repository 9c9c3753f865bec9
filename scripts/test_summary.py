"""Adds up the reports of scripts/test: `test_summary.py [--without-ctest] FOLDER SUITE...` names the failed tests and
ends with `N passed, N failed`, which FOLDER/summary has too.

What is skipped because the machine lacks something ("not run: ...") is listed by reason, too.

FOLDER holds ctest.junit, one XML file for each GoogleTest program that came to its end, and
SUITE.junit for each suite of Python tests. A report that is missing is a failure.
"""

import html
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path


def reason(case):
    """Why a skipped test was not run on this machine, or ""."""
    found = re.search(r'not run: [^\n"]*', html.unescape(ElementTree.tostring(case, "unicode")))
    return found.group() if found else ""


class Sum:
    def __init__(self):
        self.passed, self.skipped, self.failed = 0, 0, []
        self.not_run = Counter()  # by reason

    def add(self, case, suite):
        name = f"{suite}: {case.get('classname', '')} {case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
            self.failed.append(name)
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            self.skipped += 1
            if why := reason(case):
                self.not_run[why] += 1
        else:
            self.passed += 1


def cases(path):
    return list(ElementTree.parse(path).iter("testcase"))


def add_ctest(total, folder):
    for program in cases(folder / "ctest.junit"):
        details = folder / f"{program.get('name')}.xml"
        inner = cases(details) if details.exists() else []
        before = len(total.failed)
        for case in inner:
            total.add(case, program.get("name"))
        if not inner or (program.get("status") == "fail" and len(total.failed) == before):
            total.add(program, "ctest")


def main(*arguments):
    with_ctest = arguments[0] != "--without-ctest"
    folder, *suites = arguments[0 if with_ctest else 1:]
    folder = Path(folder)
    total = Sum()
    for suite in (*(["ctest"] if with_ctest else []), *suites):
        report = folder / f"{suite}.junit"
        try:
            if suite == "ctest":
                add_ctest(total, folder)
            else:
                for case in cases(report):
                    total.add(case, suite)
        except (OSError, ElementTree.ParseError):
            total.failed.append(f"{suite}: no report in {report}")
    for name in total.failed:
        print(f"FAILED {name}")
    for why, count in sorted(total.not_run.items()):
        print(f"{why} ({count} tests)")
    if total.skipped:
        print(f"{total.skipped} skipped")
    summary = f"{total.passed} passed, {len(total.failed)} failed"
    print(summary)
    if folder.is_dir():
        (folder / "summary").write_text(summary + "\n")  # .ci/run adds them up
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
