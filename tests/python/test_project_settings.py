"""[tool.tilesight] of pyproject.toml, for `run`, `check` and the Python API."""

import subprocess
import sys
import textwrap

import pytest

from test_reports import check, checkout_on_path  # noqa: F401

PROGRAM = "from kernels import *\nrun_buggy()\n"


def settings(text):
    return {"p.py": PROGRAM, "pyproject.toml": "[tool.tilesight]\n" + textwrap.dedent(text)}


@pytest.mark.parametrize("text, status", [
    ('fail-on = "never"', 0),
    ('ignore = ["out-of-bounds"]', 0),
    ('ignore = "misaligned"', 1),
    ('client = "null"', 0),
    ('baseline = "known.json"', 0),
    ('[tool.tilesight.ignore-in]\n"kernels.py" = ["out-of-bounds"]', 0),
    ('[tool.tilesight.ignore-in]\n"ker*" = ["out-of-bounds"]', 0),
    ('[tool.tilesight.ignore-in]\n"other.py" = ["out-of-bounds"]', 1),
    ('[tool.tilesight.ignore-in]\n"kernels.py" = ["misaligned"]', 1),
    ('[tool.tilesight.ignore-kernel]\n"bug*" = ["out-of-bounds"]', 0),
    ('[tool.tilesight.ignore-kernel]\n"clean" = ["out-of-bounds"]', 1),
])
def test_run_and_check_heed_it(tilesight_run, tmp_path, text, status):
    tilesight_run("--save-all", "--save", "r.tsb", "--write-baseline", "known.json", "p.py", files={"p.py": PROGRAM})
    done = tilesight_run("p.py", files=settings(text))
    assert done.returncode == status, done.stderr
    assert check(tmp_path, "r.tsb").returncode == status


def test_the_nearest_file_upwards_counts(tilesight_run, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.tilesight.ignore-in]\n"sub/*.py" = ["out-of-bounds"]\n')
    (tmp_path / "sub").mkdir()
    program = PROGRAM.replace("run_buggy()", """
@triton.jit
def k(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)

k[(1,)](x, BLOCK=128)
""")
    (tmp_path / "sub" / "p.py").write_text("import sys; sys.path.insert(0, '..')\n" + program)
    tilesight_run("p.py", files={"p.py": ""})  # writes kernels.py
    done = subprocess.run([sys.executable, "-m", "tilesight", "run", "p.py"], cwd=tmp_path / "sub",
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "1 suppressed" in done.stderr, done.stderr


def test_a_folder_is_a_pattern(tilesight_run, tmp_path):
    (tmp_path / "old").mkdir()
    program = "import sys; sys.path.insert(0, '.')\nfrom kernels import *\n" + textwrap.dedent("""
        @triton.jit
        def k(x_ptr, BLOCK: tl.constexpr):
            tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)
        k[(1,)](x, BLOCK=128)
        """)
    (tmp_path / "old" / "p.py").write_text(program)
    done = tilesight_run("old/p.py", files=settings('[tool.tilesight.ignore-in]\n"old" = "out-of-bounds"'))
    assert done.returncode == 0, done.stderr


def test_the_command_line_wins(tilesight_run):
    files = settings('fail-on = "never"\nclient = "null"\nprint-limit = 1')
    assert tilesight_run("--client", "sanitizer", "--fail-on", "error", "p.py", files=files).returncode == 1
    assert tilesight_run("--client", "sanitizer", "p.py").returncode == 0


SHOWS = """
    import tilesight as ts
    print(ts.config.num_sms, ts.config.threads, ts.config.timeout)
    ts.config.num_sms = 9
    print(ts.config.num_sms)
    """


def test_the_order_of_settings(tilesight_run):
    """Command line > ts.config > TILESIGHT_* > pyproject.toml > decorators."""
    files = {"p.py": SHOWS, "pyproject.toml": "[tool.tilesight]\nnum-sms = 5\nthreads = 3\ntimeout = 7\n"}
    shown = tilesight_run("p.py", files=files).stdout
    assert shown == "5 3 7.0\n9\n"
    assert tilesight_run("p.py", env={"TILESIGHT_NUM_SMS": "6"}).stdout == "6 3 7.0\n9\n"
    assert tilesight_run("--num-sms", "4", "p.py", env={"TILESIGHT_NUM_SMS": "6"}).stdout == "4 3 7.0\n4\n"


def test_the_python_api_heeds_it(tmp_path, monkeypatch):
    import numpy as np
    import triton
    import triton.language as tl
    import tilesight as ts

    @triton.jit
    def k(x_ptr, BLOCK: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)

    (tmp_path / "pyproject.toml").write_text('[tool.tilesight]\nnum-sms = 5\nignore = ["out-of-bounds"]\n')
    monkeypatch.chdir(tmp_path)
    ts.config.reset()
    assert ts.config.num_sms == 5
    assert ts.check(k)[(1,)](np.zeros(100, np.float32), BLOCK=128).verdict == "ok"
    (tmp_path / "pyproject.toml").write_text('[tool.tilesight]\nclient = "sanitiser"\n')
    ts.config.reset()
    with pytest.warns(UserWarning, match='pyproject.toml:2:10: error: there is no client "sanitiser"; did you mean sanitizer'):
        ts.config.client
    (tmp_path / "pyproject.toml").unlink()


@pytest.mark.parametrize("text, message", [
    ("fail_on = 'error'", 'pyproject.toml:2:1: error: [tool.tilesight] has no setting "fail_on"; did you mean fail-on?'),
    ("client = ['sanitiser']", 'pyproject.toml:2:10: error: there is no client "sanitiser"; did you mean sanitizer?'),
    ("timeout = 'long'", "pyproject.toml:2:11: error: timeout must be a number of seconds above 0"),
    ("ignore = [", "pyproject.toml:2:11: error: is no TOML: "),
])
def test_what_is_wrong_is_one_line(tilesight_run, tmp_path, text, message):
    done = tilesight_run("p.py", files=settings(text))
    assert done.returncode == 2
    assert done.stderr.startswith(message) and done.stderr.count("\n") == 1, done.stderr
    checked = check(tmp_path, "r.tsb")
    assert checked.returncode == 2
    assert checked.stderr.startswith(message), checked.stderr


def test_gpus_are_named_in_any_case(tilesight_run):
    program = "import triton; print(triton.runtime.driver.active.get_current_target().arch)"
    assert tilesight_run("p.py", files={**settings('like = "A100"'), "p.py": program}).stdout == "80\n"


def test_a_working_folder_that_is_gone(tmp_path):
    command = f"mkdir gone && cd gone && rmdir ../gone && {sys.executable} -m tilesight run -- true"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == "tilesight: error: the working folder is gone (see tilesight run --help)\n"


def test_a_gpu_that_there_is_not(tilesight_run):
    done = tilesight_run("p.py", files=settings('like = "h1000"'))
    assert done.returncode == 2
    assert done.stderr.startswith("pyproject.toml:2:8: error: like is 'h1000'; it can be t4, "), done.stderr


def test_a_missing_baseline_is_written_first(tilesight_run):
    files = settings('baseline = "ci/known.json"')
    assert tilesight_run("p.py", files=files).returncode == 2
    assert tilesight_run("--write-baseline", "known.json", "p.py",
                         files=settings('baseline = "known.json"')).returncode == 0
    assert tilesight_run("p.py").returncode == 0
