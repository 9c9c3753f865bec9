"""Traces as input of view, show, info and diff, and `tilesight run --trace`."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

KERNEL = """
import sys
import numpy as np, triton, triton.language as tl

@triton.jit
def gather(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    at = tl.load(index_ptr + offs, mask=mask, other=0)
    x = tl.load(x_ptr + at, mask=mask)
    tl.store(out_ptr + offs, x, mask=mask)

def run(plus=0):
    index = np.arange(64, dtype=np.int32)[::-1].copy()
    gather[(4,)](np.arange(64, dtype=np.float32) + plus, index, np.zeros(64, np.float32), 60, BLOCK=16)
"""
LINE_OF_AT, LINE_OF_X = 9, 10


def tilesight(*arguments, cwd, **options):
    return subprocess.run([sys.executable, "-m", "tilesight", *map(str, arguments)], text=True, capture_output=True, cwd=cwd,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, timeout=300, **options)


def said(done):
    return " ".join(done.stderr.split())


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNEL)
    (tmp_path / "p.py").write_text("import kernels\nkernels.run()\nkernels.run(1000)\n")
    return tmp_path


def launches_of(trace):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed: the tables were not read")
    rows = []
    for segment in sorted(Path(trace, "launches").glob("*.arrow")):
        rows += pyarrow.ipc.open_file(segment).read_all().to_pylist()
    return sorted(rows, key=lambda row: row["launch"])


def value_of_x(path, cwd, *arguments):
    done = tilesight("show", path, "--name", "x", "--program", "1", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout[done.stdout.index("x: "):]


def test_a_trace_with_its_launches_answers_as_the_bundle_does(folder):
    assert tilesight("run", "--save-all", "--save", "run.tsb", "p.py", cwd=folder).returncode == 0
    done = tilesight("trace", "run.tsb", "-o", "whole", "--data", "all", cwd=folder)
    assert done.returncode == 0, done.stderr
    expected = value_of_x("run.tsb", folder, "--launch", "1")
    assert "1047" in expected  # x[63 - 16] + 1000
    (folder / "run.tsb").rename(folder / "gone.tsb")
    assert value_of_x("whole", folder, "--launch", "1") == expected
    info = tilesight("info", "whole", cwd=folder).stdout
    assert info.startswith("whole: a trace of 2 launches, 0 findings") and "launch 1: gather, 4 programs, 12 accesses, ok" in info
    assert "index_ptr            int32 [64]" in info and "data not saved" not in info
    same = tilesight("diff", "whole", "gone.tsb", cwd=folder)
    assert same.returncode == 0 and same.stdout.count("bit for bit the same") == 2, same.stdout
    page = tilesight("view", "whole", "--html", "page.html", cwd=folder)
    assert page.returncode == 0 and (folder / "page.html").stat().st_size > 1000, page.stderr


def test_the_bundle_that_a_trace_names_is_asked_while_it_is_as_it_was(folder):
    assert tilesight("run", "--save-all", "--save", "run.tsb", "p.py", cwd=folder).returncode == 0
    assert tilesight("trace", "run.tsb", "-o", "t", cwd=folder).returncode == 0
    expected = value_of_x("run.tsb", folder)
    assert value_of_x("t", folder) == expected
    assert value_of_x("../t", folder / "t") == expected  # from elsewhere: it lies beside the trace
    # Younger than the trace: it may hold other data.
    later = time.time() + 60
    os.utime(folder / "run.tsb", (later, later))
    refused = tilesight("show", "t", "--name", "x", cwd=folder)
    assert refused.returncode == 2 and "the data of x_ptr, index_ptr, out_ptr was not saved" in refused.stderr
    # Older, but other launches.
    (folder / "p.py").write_text("import kernels\nkernels.run()\n")
    assert tilesight("run", "--save-all", "--save", "run.tsb", "p.py", cwd=folder).returncode == 0
    os.utime(folder / "run.tsb", (1, 1))
    assert tilesight("show", "t", "--name", "x", cwd=folder).returncode == 2


def test_without_data_what_does_not_depend_on_it_is_shown(folder):
    done = tilesight("run", "--trace", "t", "--data", "none", "p.py", cwd=folder)
    assert done.returncode == 0 and "traced 2 launches to t, without data, with the source" in said(done)
    listed = tilesight("show", "t", cwd=folder)
    assert listed.returncode == 0 and "at = tl.load(index_ptr + offs" in listed.stdout
    offs = tilesight("show", "t", "--name", "offs", "--program", "1", cwd=folder)
    assert offs.returncode == 0 and "[0] 16 17 18" in offs.stdout
    for question in (["--name", "at"], ["--line", LINE_OF_X], ["--first-nan"], ["--from", "out_ptr[3]"]):
        done = tilesight("show", "t", *question, cwd=folder)
        assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1, done.stderr
        assert "the data of x_ptr, index_ptr, out_ptr was not saved; save the launch with its data" in done.stderr
    assert "data not saved" in tilesight("info", "t", cwd=folder).stdout
    unknown = tilesight("diff", "t", "t", cwd=folder)
    assert unknown.returncode == 3 and "which elements are touched may depend on it" in " ".join(unknown.stdout.split())


def test_indices_are_enough_for_addresses(folder):
    assert tilesight("run", "--trace", "t", "--data", "indices", "p.py", cwd=folder).returncode == 0
    at = tilesight("show", "t", "--line", LINE_OF_AT, cwd=folder)
    assert at.returncode == 0 and "[0] 63 62 61" in at.stdout
    assert tilesight("show", "t", "--name", "x", cwd=folder).returncode == 2


def test_a_trace_without_launches_has_its_tables(folder):
    assert tilesight("run", "--trace", "t", "p.py", cwd=folder).returncode == 0
    shutil.rmtree(folder / "t" / "bundles")
    info = tilesight("info", "t", cwd=folder)
    assert info.returncode == 0 and info.stdout.startswith("t: a trace of 2 launches")
    for command in (["show", "t"], ["view", "t", "--html", "page.html"], ["diff", "t", "t"]):
        done = tilesight(*command, cwd=folder)
        assert done.returncode == 2 and "t: error: is a trace without its launches" in done.stderr, done.stderr


def test_a_broken_trace_is_one_line(folder):
    assert tilesight("run", "--trace", "t", "p.py", cwd=folder).returncode == 0
    segment, = (folder / "t" / "launches").iterdir()
    segment.write_bytes(segment.read_bytes()[:200])
    for command in (["show", "t"], ["info", "t"], ["diff", "t", "t"]):
        done = tilesight(*command, cwd=folder)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "launches/" in done.stderr, done.stderr


def test_run_writes_a_trace(folder):
    done = tilesight("run", "--trace", "t", "p.py", cwd=folder)
    assert done.returncode == 0 and "traced 2 launches to t, with their data, with the source: tilesight view t" in said(done)
    assert [(row["launch"], row["kernel"], row["programs"], row["accesses"]) for row in launches_of(folder / "t")] == [
        (0, "gather", 4, 12), (1, "gather", 4, 12)]
    assert "1047" in value_of_x("t", folder, "--launch", "1")
    again = tilesight("run", "--trace", "t", "p.py", cwd=folder)
    assert again.returncode == 2 and "--trace t is not empty" in again.stderr and len(again.stderr.splitlines()) == 1


def test_findings_are_in_the_trace_and_others_are_left_out(folder):
    (folder / "p.py").write_text("""
import numpy as np, triton, triton.language as tl, kernels

@triton.jit
def buggy(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)

kernels.run()
buggy[(1,)](np.zeros(12, np.float32), BLOCK=16)
""")
    done = tilesight("run", "--trace", "t", "--kernel-name", "buggy", "--json", "r.json", "p.py", cwd=folder)
    assert done.returncode == 1 and "traced 1 launch to t" in said(done)
    row, = launches_of(folder / "t")
    assert row["kernel"] == "buggy" and row["verdict"] == "finding"
    assert "a trace of 1 launch, 1 finding" in tilesight("info", "t", cwd=folder).stdout
    assert len(json.loads((folder / "r.json").read_text())["findings"]) == 1


def test_every_process_writes_to_the_trace(folder):
    (folder / "p.py").write_text("""
import multiprocessing, os, subprocess, sys, threading
import kernels
kernels.run()
subprocess.run([sys.executable, "-c", "import kernels; kernels.run(1)"], check=True)
child = multiprocessing.get_context("fork").Process(target=kernels.run, args=(2,))
child.start(), child.join()
threads = [threading.Thread(target=kernels.run, args=(3 + i,)) for i in range(4)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
""")
    done = tilesight("run", "--trace", "t", "p.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "traced 7 launches to t" in said(done), done.stderr
    assert [row["launch"] for row in launches_of(folder / "t")] == list(range(7))
    shown = [value_of_x("t", folder, "--launch", i) for i in range(7)]
    assert "[0] 47 46" in shown[0] and "[0] 48 47" in shown[1] and len(set(shown)) == 7


def test_launches_of_a_process_that_ends_abruptly_are_missed_and_said(folder):
    (folder / "p.py").write_text("import os, kernels\nkernels.run()\nos._exit(0)\n")
    done = tilesight("run", "--trace", "t", "p.py", cwd=folder)
    assert "1 launch not in t: not executed, or the process ended abruptly" in said(done)
    (folder / "q.py").write_text("import os, signal, time, kernels\nkernels.run()\ntime.sleep(1.1)\nkernels.run()\nkernels.run()\n"
                                 "os.kill(os.getpid(), signal.SIGKILL)\n")
    done = tilesight("run", "--trace", "u", "q.py", cwd=folder)
    assert "traced 2 launches to u" in said(done) and "1 launch not in u" in said(done), done.stderr
    assert "[0] 47 46" in value_of_x("u", folder, "--launch", "1")


def test_data_beyond_the_limit_is_not_kept(folder):
    done = tilesight("run", "--trace", "t", "--save-limit", "1000", "p.py", cwd=folder)
    assert done.returncode == 0 and "the trace does not have the data of all launches" in said(done)
    assert "[0] 47 46" in value_of_x("t", folder, "--launch", "0")
    assert tilesight("show", "t", "--launch", "1", "--name", "x", cwd=folder).returncode == 2


def test_a_place_that_cannot_be_written_is_one_line(folder):
    (folder / "file").write_text("")
    done = tilesight("run", "--trace", "file", "p.py", cwd=folder)
    assert done.returncode == 2 and "--trace file: " in done.stderr and len(done.stderr.splitlines()) == 1


def test_launches_by_ts_check_are_named(folder):
    (folder / "p.py").write_text("import sys, tilesight as ts, kernels, numpy as np\n"
                                 "x = np.zeros(64, np.float32)\n"
                                 "for _ in range(int(sys.argv[1])): ts.check(kernels.gather)[(4,)](x, np.zeros(64, np.int32), x.copy(), 60, BLOCK=16)\n")
    one = tilesight("run", "p.py", "1", cwd=folder)
    assert one.returncode == 3
    assert "1 launch by ts.check, whose report is the program's own, and no other kernel was launched" in said(one)
    two = tilesight("run", "--trace", "t", "p.py", "2", cwd=folder)
    assert "2 launches by ts.check, whose reports are the program's own" in said(two) and "traced 2 launches to t" in said(two)


def test_a_launch_inside_of_a_launch_is_left_out_and_said(folder):
    (folder / "p.py").write_text("""
import kernels
import tilesight as ts

class Launches(ts.Client):
    def launch_end(self, launch):
        ts.config.client = "sanitizer"
        kernels.run(1)

ts.config.client = Launches()
kernels.run()
""")
    done = tilesight("run", "--trace", "t", "p.py", cwd=folder)
    assert "traced 1 launch to t" in said(done) and "a launch inside of another one is not recorded" in done.stderr, done.stderr
