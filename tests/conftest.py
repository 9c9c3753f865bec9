"""What the Python tests share."""

import signal

import pytest

import recorder

pytest_plugins = "pytester"  # pytest wants this at the top


def pytest_configure(config):
    recorder.start()
    # A shell that starts the tests in its background has Ctrl-C ignored; some tests press it.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "slow: takes long; left out by `-m 'not slow'`")


@pytest.fixture
def collect():
    """Findings are collected, not raised, while a test runs."""
    import tilesight as ts

    ts.config.on_finding = "collect"
    yield
    ts.config.reset()
    ts.clear()
