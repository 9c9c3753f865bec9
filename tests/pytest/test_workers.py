"""Workers of pytest-xdist, threads, child processes, runs within runs, and memory over a long suite."""

import os
import subprocess
import sys

import pytest

BOTH = """
    @pytest.mark.parametrize("n", [128, 100, 101, 64])
    def test_copy(n): launch(n)

    @pytest.fixture(scope="module")
    def before(): buggy()

    def test_fixture(before): pass
"""


def test_workers(check):
    pytest.importorskip("xdist")
    suite = check("-n", "2", tests=BOTH)
    suite.counts(passed=2, failed=2, errors=1)
    assert "error: out-of-bounds" in suite.section("test_copy[100]")
    said = suite.section("tilesight")
    assert said.count("error: out-of-bounds") == 1
    assert "copy: 5 launches, 1 error" in said
    assert "FAILED test_it.py::test_copy[100] - tilesight: out-of-bounds" in suite.out
    assert suite.report["findings"][0]["counts"]["launches"] == 3


def test_a_worker_that_dies_has_reported(check):
    pytest.importorskip("xdist")
    suite = check("-n", "1", "--max-worker-restart=0", tests="""
        import os

        def test_dies():
            buggy()
            os._exit(3)
    """)
    assert "met by test_it.py::test_dies" in suite.section("tilesight")


def test_workers_share_the_cores(check, monkeypatch):
    pytest.importorskip("xdist")
    tests = """
        from tilesight import engine

        @pytest.mark.parametrize("i", range(4))
        def test_threads(i):
            clean()
            print(f"engine threads: {engine.threads()}")
    """
    cores = len(os.sched_getaffinity(0))
    suite = check("-n", "2", "-rP", tests=tests)
    suite.counts(passed=4)
    assert suite.out.count(f"engine threads: {max(1, cores // 2)}") == 4
    suite = check("-n", "2", "-rP", "--tilesight-threads=3", tests=tests)
    assert suite.out.count("engine threads: 3") == 4


def test_threads_of_a_test(check):
    suite = check(tests="""
        import threading

        def test_thread():
            worker = threading.Thread(target=buggy)
            worker.start()
            worker.join()

        def test_next(): clean()
    """)
    suite.counts(passed=1, failed=1)
    assert "out-of-bounds" in suite.section("test_thread")


def test_child_processes_of_a_test(check):
    suite = check(tests="""
        import multiprocessing
        import subprocess
        import sys

        def test_program():
            subprocess.run([sys.executable, "-c", "import kernels; kernels.buggy()"], check=True)

        def test_fork():
            worker = multiprocessing.get_context("fork").Process(target=buggy)
            worker.start()
            worker.join()

        def test_next(): clean()
    """)
    suite.counts(passed=1, failed=2)
    assert "out-of-bounds" in suite.section("test_program")
    assert "out-of-bounds" in suite.section("test_fork")
    assert suite.report["findings"][0]["test"] == "test_it.py::test_program"
    assert suite.report["summary"]["launches"] == 3


def test_under_tilesight_run_nothing_is_checked_twice(check):
    check(on=False, tests=BOTH)  # writes the files
    done = subprocess.run([sys.executable, "-m", "tilesight", "run", "--json", "outer.json", "pytest", "-p",
                           "tilesight.pytest_plugin", "-p", "no:cacheprovider", "--tilesight"],
                          cwd=check.folder, capture_output=True, text=True)
    assert done.returncode == 1
    assert "2 failed, 2 passed, 1 error" in done.stdout
    assert "copy: 5 launches, 1 error" in done.stdout  # pytest's summary
    assert "copy: 5 launches, 1 error" in done.stderr  # the run's report


def test_a_pytest_in_a_test(check):
    """A suite that tests a pytest plugin of its own: the inner runs' launches are the inner tests'."""
    suite = check(conftest='pytest_plugins = "pytester"\n', tests="""
        def test_outer(pytester):
            pytester.makepyfile(test_inner="from kernels import *\\ndef test_bug(): buggy()\\n")
            result = pytester.runpytest_inprocess("--tilesight", "-p", "tilesight.pytest_plugin")
            result.assert_outcomes(failed=1)
            clean()

        def test_after(): buggy()
    """)
    suite.counts(passed=1, failed=1)
    assert suite.report["summary"]["launches"] == 3


def test_memory_does_not_grow_with_the_suite(check):
    """300 tests with arrays of a megabyte each."""
    suite = check("-q", tests="""
        import resource

        @pytest.mark.parametrize("i", range(300))
        def test_copy(i):
            launch((1 << 18) - i % 2, block=1 << 12)

        @pytest.fixture(scope="module", autouse=True)
        def memory():
            launch(1 << 18, block=1 << 12)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            yield
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            assert grown < 60 << 10, f"{grown >> 10} MB more"
    """)
    suite.counts(passed=150, failed=150)
    assert suite.report["findings"][0]["counts"]["launches"] == 150
    assert suite.report["summary"]["launches"] == 301
