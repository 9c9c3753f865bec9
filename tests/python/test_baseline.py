"""Findings that a project knows: ignore comments, baselines, --fail-fast."""

import json
import os
import re
import subprocess
import sys

import pytest

from test_reports import check, checkout_on_path  # noqa: F401

PROGRAM = "from kernels import *\nrun_buggy()\n"

# A second bug of the same text and a different one.
MORE = """
    from kernels import *

    @triton.jit
    def other(x_ptr, BLOCK: tl.constexpr):
        offs = tl.arange(0, BLOCK)
        tl.store(x_ptr + offs, 1.0)

    run_buggy()
    other[(1,)](x, BLOCK=128)
    """


# --- baselines

def test_round_trip(tilesight_run, tmp_path):
    first = tilesight_run("--write-baseline", "known.json", "p.py", files={"p.py": PROGRAM})
    assert first.returncode == 0 and "error: out-of-bounds" in first.stderr, first.stderr
    again = tilesight_run("--baseline", "known.json", "--json", "r.json", "p.py")
    assert again.returncode == 0, again.stderr
    assert "1 accepted by baseline" in again.stderr and "error: out-of-bounds" not in again.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["verdict"] == "ok" and report["findings"] == []
    assert [finding["kind"] for finding in report["accepted"]["findings"]] == ["out-of-bounds"]
    new = tilesight_run("--baseline", "known.json", "q.py", files={"q.py": MORE})
    assert new.returncode == 1
    assert "q.py:7:5: error: out-of-bounds" in new.stderr and "kernels.py" not in new.stderr.split("\n\n")[0]


def test_the_file_is_stable_and_fit_for_a_diff(tilesight_run, tmp_path):
    tilesight_run("--write-baseline", "a.json", "q.py", files={"q.py": MORE})
    tilesight_run("--write-baseline", "b.json", "--threads", "1", "q.py")
    text = (tmp_path / "a.json").read_text()
    assert text == (tmp_path / "b.json").read_text()
    entries = [json.loads(line.rstrip(",")) for line in text.splitlines() if "fingerprint" in line]
    assert [(entry["file"], entry["kernel"], entry["kind"]) for entry in entries] == \
        [("kernels.py", "buggy", "out-of-bounds"), ("q.py", "other", "out-of-bounds")]
    assert entries[0]["line"] == "x = tl.load(x_ptr + offs)" and entries[0]["argument"] == "x_ptr"
    assert str(tmp_path) not in text


def test_known_findings_stay_known_when_lines_move(tilesight_run, tmp_path):
    tilesight_run("--write-baseline", "known.json", "q.py", files={"q.py": MORE})
    done = tilesight_run("--baseline", "known.json", "q.py", files={"q.py": MORE.replace("    @triton.jit", "    # a new line\n\n    @triton.jit")})
    assert done.returncode == 0, done.stderr


def test_as_many_as_the_baseline_has(tilesight_run):
    """The same line once more is a new finding."""
    tilesight_run("--write-baseline", "known.json", "q.py", files={"q.py": MORE})
    twice = MORE.replace("        tl.store(x_ptr + offs, 1.0)\n", "        tl.store(x_ptr + offs, 1.0)\n" * 2)
    done = tilesight_run("--baseline", "known.json", "q.py", files={"q.py": twice})
    assert done.returncode == 1 and "q.py:8:5: error: out-of-bounds" in done.stderr, done.stderr


def test_what_no_longer_occurs_is_told(tilesight_run):
    tilesight_run("--write-baseline", "known.json", "p.py", files={"p.py": PROGRAM})
    done = tilesight_run("--baseline", "known.json", "p.py", files={"p.py": "from kernels import *\nrun_clean()\n"})
    assert done.returncode == 0
    assert "note: 1 finding of the baseline occurs no longer: out-of-bounds in buggy" in done.stderr
    failed = tilesight_run("--baseline", "known.json", "f.py", files={"f.py": "from kernels import *\nrun_clean()\n1 / 0\n"})
    assert "occurs no longer" not in failed.stderr
    partly = tilesight_run("--baseline", "known.json", "--kernel-name", "clean", "p.py")
    assert "occurs no longer" not in partly.stderr


def test_unknowns_are_accepted_too(tilesight_run):
    program = """
        from kernels import *
        @triton.jit
        def odd(x_ptr):
            offs = tl.arange(0, 64)
            v = tl.inline_asm_elementwise("nonsense.f32 $0, $1;", "=r,r", [offs], tl.int32, True, 1)
            tl.store(x_ptr + offs, v.to(tl.float32))
        odd[(1,)](x)
        """
    first = tilesight_run("p.py", files={"p.py": program})
    assert first.returncode == 3, first.stderr
    assert tilesight_run("--write-baseline", "known.json", "p.py").returncode == 0
    again = tilesight_run("--baseline", "known.json", "p.py")
    assert again.returncode == 0, again.stderr
    assert "1 accepted by baseline" in again.stderr


def test_check_takes_the_baseline_of_a_run(tilesight_run, tmp_path):
    tilesight_run("--save", "r.tsb", "--write-baseline", "known.json", "p.py", files={"p.py": PROGRAM})
    assert check(tmp_path, "r.tsb").returncode == 1
    assert check(tmp_path, "r.tsb", "--baseline", "known.json").returncode == 0
    assert check(tmp_path, "r.tsb", "--write-baseline", "again.json").returncode == 0
    assert (tmp_path / "again.json").read_text() == (tmp_path / "known.json").read_text()


@pytest.mark.parametrize("text, message", [
    ("hello", "is no baseline"),
    ('{"format": "tilesight-report", "version": 1}', "is no baseline"),
    ('{"format": "tilesight-baseline", "version": 9}', "has a version that this Tilesight does not know"),
    ('{"format": "tilesight-baseline", "version": 1, "findings": [{"kind": "x"}]}', "finding 1 has no fingerprint"),
    ('{"format": "tilesight-baseline", "version": 1, "findings": [{"fingerprint": 3}]}', "fingerprint of finding 1"),
    ('{"format": "tilesight-baseline", "version": 1, "findings": [{"fingerprint": "x", "count": 0}]}', "count of finding 1"),
])
def test_a_bad_baseline_is_one_line(tilesight_run, tmp_path, text, message):
    done = tilesight_run("--baseline", "known.json", "p.py", files={"p.py": PROGRAM, "known.json": text})
    assert done.returncode == 2
    assert re.match(r"known\.json(:\d+:\d+)?: error: ", done.stderr) and message in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1


# --- comments

def commented(line, replacement):
    from programs import KERNELS
    assert line in KERNELS
    return {"kernels.py": KERNELS.replace(line, replacement), "p.py": PROGRAM}


LOAD = "    x = tl.load(x_ptr + offs)\n"


@pytest.mark.parametrize("replacement, accepted", [
    ("    x = tl.load(x_ptr + offs)  # tilesight: ignore[out-of-bounds] padded\n", True),
    ("    # tilesight: ignore[out-of-bounds] padded\n    x = tl.load(x_ptr + offs)\n", True),
    ("    x = tl.load(x_ptr  # tilesight: ignore[out-of-bounds] padded\n                + offs)\n", True),
    ("    x = tl.load(\n        x_ptr + offs,\n    )  # tilesight: ignore[misaligned, out-of-bounds] padded\n", True),
    ("    # tilesight: ignore[out-of-bounds] another statement's\n    offs += 0\n    x = tl.load(x_ptr + offs)\n", False),
    ("    x = tl.load(x_ptr + offs)  # tilesight: ignore[misaligned] another kind\n", False),
    ("    x = tl.load(x_ptr + offs); s: tl.constexpr = '# tilesight: ignore[out-of-bounds]'\n", False),
])
def test_a_comment_accepts(tilesight_run, tmp_path, replacement, accepted):
    for name, text in commented(LOAD, replacement).items():
        (tmp_path / name).write_text(text)
    done = subprocess.run([sys.executable, "-m", "tilesight", "run", "--save", "r.tsb", "p.py"], cwd=tmp_path,
                          capture_output=True, text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == (0 if accepted else 1), done.stderr
    assert ("1 suppressed" in done.stderr) == accepted
    assert check(tmp_path, "r.tsb").returncode == done.returncode


def test_a_comment_at_the_call_accepts(tilesight_run):
    program = """
        from kernels import *

        @triton.jit
        def read(x_ptr, offs):
            return tl.load(x_ptr + offs)

        @triton.jit
        def outer(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
            offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            # tilesight: ignore[out-of-bounds] this caller pads
            x = read(x_ptr, offs)
            tl.store(y_ptr + offs, x, mask=offs < n)

        outer[(2,)](x, y, 100, BLOCK=64)
        """
    assert tilesight_run("p.py", files={"p.py": program}).returncode == 0
    assert tilesight_run("p.py", files={"p.py": program.replace("# tilesight:", "# not:")}).returncode == 1


@pytest.mark.parametrize("comment, note", [
    ("# tilesight: ignore", "`ignore` does nothing without a kind: write # tilesight: ignore[out-of-bounds] and why"),
    ("# tilesight: ignore[]", "`ignore` does nothing without a kind"),
    ("# tilesight: ignore[out-of-bound]", "`ignore[out-of-bound]` names no kind of finding; did you mean out-of-bounds?"),
])
def test_a_wrong_comment_is_told(tilesight_run, tmp_path, comment, note):
    program = f"""
        from kernels import *
        @triton.jit
        def k(x_ptr, BLOCK: tl.constexpr):
            tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)  {comment}
        k[(1,)](x, BLOCK=128)
        """
    done = tilesight_run("p.py", files={"p.py": program})
    assert done.returncode == 1
    assert f"note: p.py:5: {note}" in " ".join(done.stderr.split()), done.stderr


def test_comments_hold_in_the_python_api(tmp_path, collect_findings):
    import numpy as np
    import triton
    import triton.language as tl
    import tilesight as ts

    @triton.jit
    def k(x_ptr, BLOCK: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)  # tilesight: ignore[out-of-bounds] a test

    report = ts.check(k)[(1,)](np.zeros(100, np.float32), BLOCK=128)
    assert report.verdict == "ok" and report.findings == []
    report.raise_for_findings()


@pytest.fixture
def collect_findings():
    import tilesight as ts
    ts.config.on_finding = "collect"
    yield
    ts.config.reset()


# --- --fail-fast

FOLLOWED = "from kernels import *\nrun_buggy()\nprint('went on')\nrun_clean()\n"


def test_fail_fast_ends_the_program(tilesight_run, tmp_path):
    done = tilesight_run("--fail-fast", "--json", "r.json", "p.py", files={"p.py": FOLLOWED})
    assert done.returncode == 1
    assert "went on" not in done.stdout
    assert "the program was ended at the first launch with an error (--fail-fast)" in done.stderr
    assert json.loads((tmp_path / "r.json").read_text())["summary"]["launches"] == 1


def test_fail_fast_whatever_the_program_catches(tilesight_run):
    program = "from kernels import *\ntry:\n    run_buggy()\nexcept BaseException:\n    pass\nprint('went on')\n"
    done = tilesight_run("--fail-fast", "p.py", files={"p.py": program})
    assert done.returncode == 1 and "went on" not in done.stdout


def test_fail_fast_ends_all_processes(tilesight_run):
    program = """
        import subprocess, sys, time
        subprocess.run([sys.executable, "child.py"])
        time.sleep(60)
        print("went on")
        """
    done = tilesight_run("--fail-fast", "p.py", files={"p.py": program, "child.py": PROGRAM})
    assert done.returncode == 1 and "went on" not in done.stdout
    assert "child.py" in done.stderr or "kernels.py" in done.stderr


@pytest.mark.parametrize("accept", [["--ignore", "out-of-bounds"], ["--baseline", "known.json"]])
def test_fail_fast_goes_on_after_what_is_accepted(tilesight_run, accept):
    tilesight_run("--write-baseline", "known.json", "p.py", files={"p.py": FOLLOWED})
    done = tilesight_run("--fail-fast", *accept, "p.py")
    assert done.returncode == 0, done.stderr
    assert "went on" in done.stdout


def test_fail_fast_does_not_pass_its_own_kill_on(tilesight_run, tmp_path):
    done = tilesight_run("--fail-fast", "--fail-on", "never", "--json", "r.json", "p.py", files={"p.py": FOLLOWED})
    assert done.returncode == 0, done.stderr
    assert "went on" not in done.stdout
    assert json.loads((tmp_path / "r.json").read_text())["summary"]["launches"] == 1


def test_fail_fast_finds_the_baseline_from_another_folder(tilesight_run, tmp_path):
    tilesight_run("--write-baseline", "known.json", "p.py", files={"p.py": FOLLOWED})
    moved = "import os, sys\nsys.path.insert(0, os.getcwd())\nos.chdir('/')\n" + FOLLOWED
    done = tilesight_run("--fail-fast", "--baseline", "known.json", "q.py", files={"q.py": moved})
    assert done.returncode == 0 and "went on" in done.stdout, done.stderr


# --- runs that saw little

def test_a_program_that_dies_leaves_the_baseline(tilesight_run, tmp_path):
    tilesight_run("--write-baseline", "known.json", "p.py", files={"p.py": PROGRAM})
    known = (tmp_path / "known.json").read_text()
    assert json.loads(known)["findings"]
    for options in (["--baseline", "known.json"], []):
        done = tilesight_run(*options, "--write-baseline", "known.json", "bad.py", files={"bad.py": "import nowhere"})
        assert done.returncode == 1, done.stderr
        assert (tmp_path / "known.json").read_text() == known
    assert "known.json was not written: nothing was checked" in done.stderr


def test_fail_fast_goes_on_after_what_a_marker_ignores(tilesight_run):
    tests = """
        import pytest
        from kernels import *

        @pytest.mark.tilesight(ignore=["out-of-bounds"])
        def test_known(): run_buggy()

        def test_other(): run_buggy()

        def test_never(): pass
        """
    done = tilesight_run("--fail-fast", "pytest", "-v", "test_marked.py", files={"test_marked.py": tests})
    assert done.returncode == 1, done.stderr
    assert "test_known PASSED" in done.stdout and "test_never" not in done.stdout
