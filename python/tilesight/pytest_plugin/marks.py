"""`@pytest.mark.tilesight(...)`: what it says is in force while its test runs."""

import contextlib
import json
import os

from ..config import COMMAND_LINE_VARIABLE, config as settings
from ..errors import Error
from . import options


def with_options(text, chosen, given):
    """What processes get as options (JSON), changed by those that are given and may differ from test to test."""
    own = {name: value for name, value in chosen.for_processes(None).items()
           if name in options.FOR_ONE_TEST and "--" + name.replace("_", "-") in given}
    changed = {**json.loads(text), **own}
    if changed.get("fail_fast"):
        changed["fail_fast"]["accepted"]["ignore"] += chosen.ignore
    return json.dumps(changed)


def reread_options():
    settings.__dict__["_command_line"] = None


def read(marks):
    """(options, arguments of `tilesight run`) that markers stand for. Raises ValueError with what is wrong."""
    try:
        given = options.of_marker(marks)
        return options.parse(given), given
    except (Error, ValueError) as error:
        raise ValueError(options.worded(error)) from None


@contextlib.contextmanager
def in_force(test, chosen, given, wire):
    """Launches of this process, and of those that it starts, are as the markers of `test` say."""
    before = os.environ.get(COMMAND_LINE_VARIABLE, "{}")
    os.environ[COMMAND_LINE_VARIABLE] = with_options(before, chosen, given)
    reread_options()
    wire.ignored(test, chosen.ignore)
    try:
        yield
    finally:
        wire.ignored(test, ())
        os.environ[COMMAND_LINE_VARIABLE] = before
        reread_options()
