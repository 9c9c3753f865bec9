"""Traces as users read them: the queries of docs/trace.md, killed writers, full disks."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import triton
import triton.language as tl

import tilesight as ts

ROOT = Path(__file__).resolve().parents[2]


@triton.jit
def scatter(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr, STEP: tl.constexpr):
    offs = tl.program_id(0) * STEP + tl.arange(0, BLOCK)
    mask = offs < n
    at = tl.load(index_ptr + offs, mask=mask, other=0)
    tl.store(out_ptr + offs, tl.load(x_ptr + at, mask=mask), mask=mask)


def save(path, collect_only=False):
    """Programs of 16 elements every 12, and 100 elements of 128: 4 of 16 are written twice, 28 never."""
    rng = np.random.default_rng(0)
    index = rng.integers(0, 50, 128).astype(np.int32)
    ts.check(scatter)[(9,)](np.arange(128, dtype=np.float32), index, np.zeros(128, np.float32), 100, BLOCK=16, STEP=12)
    ts.save(str(path))
    ts.clear()
    return index


def tilesight(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "tilesight", *map(str, arguments)], text=True, capture_output=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, timeout=300, **options)


@pytest.fixture
def traced(tmp_path, monkeypatch):
    index = save(tmp_path / "run.tsb")
    done = tilesight("trace", "run.tsb", "-o", "run.trace", "--elements", "--perfetto", "run.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(tmp_path)
    return index


def test_the_queries_of_the_page(traced):
    for module in ("pyarrow", "polars", "pandas", "duckdb"):
        pytest.importorskip(module, reason=f"{module} is not installed: the queries of docs/trace.md were not run")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "trace.md").read_text(), re.DOTALL)
    assert len(blocks) >= 8
    scope = {}
    for block in blocks:
        exec(compile(block, "docs/trace.md", "exec"), scope)

    # 9 programs of at most 16 elements below 100, every 12.
    active = sum(min(100 - 12 * p, 16) for p in range(9))
    by_line = scope["bytes_per_line"]
    assert len(by_line) == 3 and set(by_line["bytes"]) == {4.0 * active}
    assert sorted(scope["bytes_per_line_polars"]["bytes"]) == [4 * active] * 3
    assert sorted(scope["bytes_per_line_pandas"]) == [4 * active] * 3

    written = np.zeros(128, int)
    for p in range(9):
        written[12 * p:min(12 * p + 16, 100)] += 1
    twice = scope["written_twice"]
    assert [cell // 4 for cell in twice["cell"]] == list(np.flatnonzero(written > 1))
    assert list(twice["programs"].iloc[0]) == [0, 1]

    never = scope["never_touched"]
    for tensor, touched in (("out_ptr", np.flatnonzero(written)), ("index_ptr", np.flatnonzero(written)),
                            ("x_ptr", np.unique(traced[:100]))):
        got = sorted(never[never["tensor"] == tensor]["element"])
        assert got == sorted(set(range(128)) - set(touched)), tensor
    masked = scope["masked_off"]
    assert np.allclose(masked["masked_off"], 1 - active / (9 * 16))
    assert len(scope["idle"]) == 9


def test_every_segment_is_valid_arrow(traced):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed: segments were not validated")
    for table in ("launches", "tensors", "programs", "accesses", "findings"):
        segments = sorted(Path("run.trace", table).glob("*.arrow"))
        assert segments
        for segment in segments:
            reader = pyarrow.ipc.open_file(segment)
            for i in range(reader.num_record_batches):
                reader.get_batch(i).validate(full=True)


def test_the_file_for_perfetto(traced):
    events = json.loads(Path("run.json").read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    accesses = [event for event in slices if "args" in event]
    assert len(accesses) == 27 and [event["ts"] for event in accesses] == list(range(27))
    programs = [event for event in slices if event["name"].startswith("program")]
    assert len(programs) == 9 and all(event["dur"] == 3 for event in programs)
    assert any("not time" in event["args"]["name"] for event in events if event["name"] == "thread_name")
    done = tilesight("trace", "run.trace", "--perfetto", "few.json", "--perfetto-limit", "10")
    assert done.returncode == 0 and "the first 10 of 27 accesses" in done.stderr
    assert sum("args" in event for event in json.loads(Path("few.json").read_text())["traceEvents"] if event["ph"] == "X") == 10


def test_a_full_disk_is_a_clear_error(tmp_path):
    @triton.jit
    def many(x_ptr, n, BLOCK: tl.constexpr):
        for i in range(n):
            at = (i * i * 7919 + tl.program_id(0) * 104729) % 65521
            tl.store(x_ptr + at + tl.arange(0, BLOCK), i)

    ts.check(many)[(64,)](np.zeros(65536, np.int32), 20000, BLOCK=4)
    ts.save(str(tmp_path / "many.tsb"))
    ts.clear()
    done = tilesight("trace", "many.tsb", "-o", "t", cwd=tmp_path,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)))
    assert done.returncode == 2, done.stderr
    assert re.search(r"(cannot|cannot be) .*written: File too large", done.stderr), done.stderr
    left = [path for path in (tmp_path / "t").rglob("*") if path.is_file()]
    assert all(path.suffix == ".arrow" for path in left), left  # nothing half-written


def test_a_killed_writer_leaves_whole_segments(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed: what a killed writer left was not read")

    @triton.jit
    def slow(x_ptr, n, BLOCK: tl.constexpr):
        for i in range(n):
            tl.store(x_ptr + (i * 7919) % 60000 + tl.arange(0, BLOCK), i)

    for _ in range(100):  # segments are closed after 64 launches
        ts.check(slow)[(64,)](np.zeros(65536, np.int32), 200, BLOCK=4)
    ts.save(str(tmp_path / "slow.tsb"))
    ts.clear()
    command = [sys.executable, "-m", "tilesight", "trace", "slow.tsb", "slow.tsb", "slow.tsb", "slow.tsb", "-o", "t"]
    with subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT / "python")}) as process:
        end = time.monotonic() + 60
        while not list((tmp_path / "t").glob("accesses/*.arrow")) and time.monotonic() < end and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    segments = list((tmp_path / "t").glob("accesses/*.arrow"))
    assert segments
    from pyarrow import dataset

    assert dataset.dataset(str(tmp_path / "t" / "accesses"), format="ipc", exclude_invalid_files=True).count_rows() > 0
    for segment in segments:
        assert pyarrow.ipc.open_file(segment).read_all().num_rows > 0


def test_what_is_no_place_for_a_trace(tmp_path):
    save(tmp_path / "run.tsb")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")
    for arguments, said in ((["-o", "full"], "full: error: is not empty"), (["-o", "run.tsb"], "is a file"),
                            ([], "-o FOLDER is missing"), (["-o", "t", "--kernel-name", "other"], "no launch is left")):
        done = tilesight("trace", "run.tsb", *arguments, cwd=tmp_path)
        assert done.returncode == 2 and said in done.stderr, done.stderr
    assert (tmp_path / "full" / "x").read_text() == "x"
