"""Runs a case under Tilesight and says what came out in the oracle's words."""

import re

import tilesight as ts

ACCESS = {"load": "read", "store": "write"}


class Run:
    """`Run().check` is handed to a case as `run`; the reports of its launches gather here."""

    def __init__(self, client="sanitizer"):
        self.client = client
        self.reports = []

    def check(self, kernel):
        checked = ts.check(kernel, client=self.client)

        class Launcher:
            def __getitem__(_, grid):
                def launch(*args, **kwargs):
                    self.reports.append(checked[grid](*args, **kwargs))
                    return self.reports[-1]
                return launch

        return Launcher()

    @property
    def findings(self):
        return [finding for report in self.reports for finding in report.findings]

    @property
    def unknowns(self):
        return [unknown for report in self.reports for unknown in report.unknowns]


def argument(finding):
    return (finding["operand"] or {}).get("argument") or None


def access_kind(op):
    """What the contract calls the access of a twin's operation; None for asserts, divisions, .."""
    if op.startswith("atomic"):
        return "atomic"
    return ACCESS.get(op)


def farthest(finding):
    """The bytes of "up to N bytes past its end" (or before its start: negative)."""
    match = re.search(r"up to ([\d,]+) bytes? (past|before)", finding["message"])
    if not match:
        return 0
    number = int(match.group(1).replace(",", ""))
    return number if match.group(2) == "past" else -number
