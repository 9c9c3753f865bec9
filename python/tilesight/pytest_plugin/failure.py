"""How a test looks that fails because of what its launches did: the report, and no frames of the plugin."""

import pytest


class FindingsFailure(pytest.fail.Exception):
    """Raised when a phase of a test (setup, call, teardown) has ended, unless it failed by itself."""

    def __init__(self, text, document):
        super().__init__(text, pytrace=False)
        self.text = text
        self.document = document
        self.headline, self.place = _headline(document)


def _headline(document):
    """One sentence for the short summary, and the (file, line) it is about."""
    for error in document["internal_errors"]:
        return f"tilesight: internal error: {error}", ("", 0)
    entries = sorted(document["findings"], key=lambda finding: _ORDER.index(finding["severity"]))
    entries += document["unknowns"]
    if not entries:
        return "tilesight: " + "; ".join(problem["message"] for problem in document["problems"]), ("", 0)
    entry, more = entries[0], len(entries) - 1
    what = f"{entry['kind']}: {entry['message']}" if "kind" in entry else f"unknown: {entry['reason']}"
    place = entry["location"]
    return f"tilesight: {what}" + (f" (and {more} more)" if more else ""), (place["file"], place["line"])


_ORDER = ("error", "warning", "note")


def representation(failure):
    """The failure as pytest shows it and sends it between workers."""
    from _pytest._code import code

    try:
        lines = code.ReprEntryNative([failure.text.rstrip("\n") + "\n"])
        return code.ReprExceptionInfo(reprtraceback=code.ReprTraceback([lines], None, style="native"),
                                      reprcrash=code.ReprFileLocation(*failure.place, failure.headline))
    except TypeError:  # another pytest, with other classes of its own
        return failure.text
