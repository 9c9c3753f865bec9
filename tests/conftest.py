"""What the Python tests share."""

import collections
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
    """TILESIGHT_ONE_TEST_IN=N: a sample, of each function the first test and every Nth after it (scripts/test-slow)."""
    every = int(os.environ.get("TILESIGHT_ONE_TEST_IN", 1))
    if every > 1 and "slow" == config.getoption("markexpr"):
        slow = {}  # by function
        for item in items:
            if item.get_closest_marker("slow"):
                slow.setdefault((item.path, item.originalname), []).append(item)
        chosen = {item for tests in slow.values() for item in tests[::every]}
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


@pytest.fixture
def counted(record_property):
    """`counted(n, "mutants")`: what a test has looked at; the run ends with the sums."""
    return lambda count, what: record_property("counted", [count, what])


def pytest_terminal_summary(terminalreporter):
    sums = collections.Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, value in report.user_properties if report.when == "call" else []:
                if name == "counted":
                    sums[value[1]] += value[0]
    if sums:
        terminalreporter.write_line("counted: " + ", ".join(f"{count:,} {what}" for what, count in sums.items()))
