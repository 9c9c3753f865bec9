"""What the Python tests share."""

import os
import signal

import pytest

import recorder
import replayer

pytest_plugins = "pytester"  # pytest wants this at the top


def pytest_configure(config):
    recorder.start()
    replayer.start()
    # A shell that starts the tests in its background has Ctrl-C ignored; some tests press it.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "slow: takes long; left out by `-m 'not slow'`")


def pytest_collection_modifyitems(config, items):
    """TILESIGHT_ONE_TEST_IN=N: a sample, the first of N and every Nth after it, of what -m leaves (scripts/test-slow)."""
    every = int(os.environ.get("TILESIGHT_ONE_TEST_IN", 1))
    if every > 1 and "slow" == config.getoption("markexpr"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        chosen = set(slow[::every])
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = [item for item in items if item in chosen]


@pytest.fixture
def collect():
    """Findings are collected, not raised, while a test runs."""
    import tilesight as ts

    ts.config.on_finding = "collect"
    yield
    ts.config.reset()
    ts.clear()
