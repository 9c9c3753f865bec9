"""The table leaves the same bytes with 1, 2 and 16 threads, and with every instruction set."""

import platform

import pytest

from captured import arrays_of, capture
from case import differences
from launches import launcher_or_skip
from table import CASES

THREADS = [1, 2, 16]


@pytest.fixture(scope="module", params=["x86-64-v3", "x86-64-v4", "aarch64"])
def launcher(request):
    with launcher_or_skip(request.param) as launcher:
        yield launcher


@pytest.mark.parametrize("name", CASES)
def test_same_bytes(name, launcher, collect, monkeypatch):
    request, before, after, report = capture(CASES[name], monkeypatch)
    runs = launcher.run({**request, "threads": THREADS}, before)
    assert [run["threads"] for run, _ in runs] == THREADS
    for run, bytes_after in runs:
        assert run["unknowns"] == []
        assert run["findings"] == [finding["kind"] for finding in report.findings]
        if CASES[name].libm and launcher.isa == "aarch64" != platform.machine():  # another machine's libm
            arrays = [arrays_of(CASES[name], request, storages) for storages in (bytes_after, after)]
            apart = differences(CASES[name], *arrays, CASES[name].arguments())
            assert not apart, "\n".join(apart)
        else:
            assert bytes_after == after, f"{run['threads']} threads"
