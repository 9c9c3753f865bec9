"""The plugin that sitecustomize gives to a pytest under `tilesight run`: the marker counts there, too. It imports
nothing of Tilesight before a test has one."""

import os
import sys

import pytest

_CHECKS = "tilesight-checks"  # of `pytest --tilesight`, which does all this by itself
_WRONG = "_tilesight_wrong_mark"


def pytest_configure(config):
    config.addinivalue_line("markers", "tilesight(ignore=[KIND, ...], client=NAME, ...): options of `tilesight run` for "
                                       "the launches of this test; client=\"off\" leaves them unchecked")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    given = list(item.iter_markers("tilesight"))
    if not given or item.config.pluginmanager.has_plugin(_CHECKS):
        yield
        return
    sys.path.append(os.environ["TILESIGHT_HOME"])
    try:
        from tilesight import process
        from tilesight.pytest_plugin import marks
    finally:
        sys.path.remove(os.environ["TILESIGHT_HOME"])
    recorder = process.started()
    try:
        chosen, arguments = marks.read(given)
    except ValueError as error:
        setattr(item, _WRONG, str(error))
        yield
        return
    with marks.in_force(item.nodeid, chosen, arguments, recorder.wire):
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if hasattr(item, _WRONG):
        pytest.fail(getattr(item, _WRONG), pytrace=False)
