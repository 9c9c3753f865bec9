"""`tilesight run`: the program's own behaviour, child processes, exit status, reports."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from paths import ROOT

def test_clean_program(tilesight_run):
    done = tilesight_run("p.py", files={"p.py": "import kernels; kernels.run_clean()"})
    assert done.returncode == 0, done.stderr
    assert "clean: 1 launch, ok" in done.stderr
    assert "Not checked: races" in done.stderr


def test_finding_names_line_program_and_tensor(tilesight_run):
    done = tilesight_run("p.py", files={"p.py": "import kernels; kernels.run_buggy(); print('asserts held')"})
    assert done.returncode == 1
    assert done.stdout == "asserts held\n"
    assert "kernels.py:15:" in done.stderr and "out-of-bounds: load from x_ptr" in done.stderr
    assert "112 bytes past its end" in done.stderr
    assert "x = tl.load(x_ptr + offs)" in done.stderr
    assert "program (1,0,0)" in done.stderr


def test_arguments_main_and_paths_are_as_with_python(tilesight_run, tmp_path):
    program = """
        import kernels, os, sys
        kernels.run_clean()
        print(sys.argv, __name__, sys.path[0] == os.path.dirname(os.path.abspath(__file__)), os.getcwd())
        print(any("startup" in entry for entry in sys.path))
    """
    done = tilesight_run("p.py", "--client", "-m", "x", files={"p.py": program})
    assert done.stdout.splitlines() == [f"['p.py', '--client', '-m', 'x'] __main__ True {tmp_path}", "False"]


def test_module_command_and_pytest(tilesight_run):
    files = {"p.py": "import kernels; kernels.run_buggy()",
             "test_p.py": "import kernels\ndef test_buggy():\n    kernels.run_buggy()\n"}
    assert tilesight_run("-m", "p", files=files).returncode == 1
    assert tilesight_run("--", sys.executable, "p.py").returncode == 1
    assert tilesight_run("--", "sh", "-c", f"'{sys.executable}' p.py; exit 5").returncode == 1
    done = tilesight_run("pytest", "-q", "test_p.py")
    assert "1 passed" in done.stdout
    assert done.returncode == 1 and "x_ptr" in done.stderr


def test_program_s_status_stands_without_findings(tilesight_run):
    files = {"p.py": "import kernels, sys; kernels.run_clean(); sys.exit(7)",
             "raises.py": "import kernels; kernels.run_clean(); raise ValueError('mine')",
             "buggy.py": "import kernels, sys; kernels.run_buggy(); sys.exit(7)"}
    assert tilesight_run("p.py", files=files).returncode == 7
    done = tilesight_run("raises.py")
    assert done.returncode == 1 and "ValueError: mine" in done.stderr
    assert tilesight_run("buggy.py").returncode == 1
    assert tilesight_run("--fail-on", "never", "buggy.py").returncode == 7
    assert tilesight_run("--error-exitcode", "40", "buggy.py").returncode == 40


def test_no_launch_is_incomplete(tilesight_run):
    done = tilesight_run("p.py", files={"p.py": "print('nothing')"})
    assert done.returncode == 3
    assert "no kernel was launched" in done.stderr


def test_child_processes_are_checked(tilesight_run):
    files = {"p.py": """
        import multiprocessing, subprocess, sys
        import kernels
        def work(_):
            kernels.run_buggy()
        if __name__ == "__main__":
            kernels.run_clean()
            for method in ("fork", "spawn"):
                with multiprocessing.get_context(method).Pool(1) as pool:
                    pool.map(work, [0])
            subprocess.run([sys.executable, "-c", "import kernels; kernels.run_buggy()"], check=True)
    """}
    done = tilesight_run("--json", "report.json", "p.py", files=files)
    assert done.returncode == 1, done.stderr
    assert "clean: 1 launch, ok" in done.stderr
    assert "buggy: 3 launches, 1 error" in done.stderr


def test_a_crash_does_not_lose_what_was_found(tilesight_run):
    done = tilesight_run("p.py", files={
        "p.py": "import kernels, os; kernels.run_buggy(); os.kill(os.getpid(), 9)"})
    assert done.returncode == 1 and "out-of-bounds" in done.stderr
    done = tilesight_run("q.py", files={
        "q.py": "import kernels, os; kernels.run_clean(); os.kill(os.getpid(), 9)"})
    assert done.returncode == 128 + signal.SIGKILL


def test_json_has_the_program_s_exit(tilesight_run, tmp_path):
    done = tilesight_run("--json", "out.json", "p.py",
                         files={"p.py": "import kernels, sys; kernels.run_buggy(); sys.exit(7)"})
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["program_exit"] == 7 and document["exit_status"] == done.returncode == 1
    finding = document["findings"][0]
    assert finding["kind"] == "out-of-bounds" and finding["kernel"] == "buggy"
    assert finding["operand"]["argument"] == "x_ptr" and finding["operand"]["index"] == [100]
    assert finding["program"] == [1, 0, 0] and finding["counts"]["elements"] == 28


def test_rejected_kernels(tilesight_run):
    program = """
        import numpy as np, triton, triton.language as tl
        @triton.jit
        def helper(v):
            return v.nothing
        @triton.jit
        def kernel(x_ptr):
            tl.store(x_ptr, helper(tl.load(x_ptr)))
        kernel[(1,)](np.zeros(4, np.float32))
    """
    done = tilesight_run("p.py", files={"p.py": program})
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if "is rejected" in line]
    assert line.startswith("p.py:5:12: error: kernel kernel is rejected by Triton:") and "nothing" in line
    assert "change the kernel" in line
    frames = [line for line in done.stderr.splitlines() if line.startswith("  File ")]
    assert len(frames) == 1 and "p.py" in frames[0]


CATCHES = """
        import numpy as np, triton, triton.language as tl
        @triton.jit
        def kernel(x_ptr):
            tl.store(x_ptr, x_ptr.nothing)
        try:
            kernel[(1,)](np.zeros(4, np.float32))
        except triton.CompilationError:
            print("seen by the program")
    """


def test_a_refusal_that_the_program_catches_is_told(tilesight_run, tmp_path):
    done = tilesight_run("--json", "r.json", "p.py", files={"p.py": CATCHES + "\n        import kernels; kernels.run_clean()"})
    assert done.stdout == "seen by the program\n"
    assert done.returncode == 0, done.stderr
    assert "kernel: 0 launches; 1 launch refused by Triton" in done.stderr
    assert "1 launch was refused by Triton (the program was told)." in done.stderr
    document = json.loads((tmp_path / "r.json").read_text())
    refusal, = document["refused"]
    assert refusal["location"]["file"].endswith("p.py") and refusal["location"]["line"] == 5
    assert not document["unknowns"] and document["summary"]["refused"] == 1 and document["summary"]["launches"] == 1


def test_where_all_is_refused_nothing_was_checked(tilesight_run):
    done = tilesight_run("p.py", files={"p.py": CATCHES})
    assert done.returncode == 3
    assert "nothing was checked; 1 launch was refused by Triton (the program was told)" in done.stderr


def test_a_refusal_behind_the_exception_that_ends_the_program(tilesight_run):
    program = CATCHES.replace("except triton.CompilationError:", "except triton.CompilationError as error:").replace(
        'print("seen by the program")', 'raise RuntimeError("no kernel") from error')
    done = tilesight_run("p.py", files={"p.py": program})
    assert done.returncode == 2 and "p.py:5:" in done.stderr


def test_refused_arguments_are_filed_under_the_kernels_file(tilesight_run, tmp_path):
    program = """
        import kernels
        try:
            kernels.clean[(2,)](kernels.x, 100)
        except TypeError:
            kernels.run_clean()
    """
    done = tilesight_run("--json", "r.json", "p.py", files={"p.py": program})
    assert done.returncode == 0, done.stderr
    kernel, = json.loads((tmp_path / "r.json").read_text())["kernels"]
    assert kernel["file"].endswith("kernels.py") and kernel["launches"] == kernel["refused"] == 1


@pytest.mark.parametrize("arguments, status, said", [
    (["pytest", "--no-such-option"], 4, "pytest was used wrongly (its exit status 4), and no kernel was launched"),
    (["pytest", "empty"], 5, "pytest found no tests (its exit status 5), and no kernel was launched"),
    (["-m", "pytest", "empty"], 5, "pytest found no tests"),
    (["pytest", "-p", "kernels", "empty"], 5, "note: pytest found no tests (its exit status 5)"),
    (["pytest", "-p", "launches", "empty"], 1, "note: pytest found no tests (its exit status 5)"),
])
def test_what_the_status_of_pytest_says(tilesight_run, tmp_path, arguments, status, said):
    (tmp_path / "empty").mkdir()
    run = "import sys; sys.path.insert(0, '.'); import kernels; kernels."
    files = {"launches.py": run + "run_buggy()", "clean.py": run + "run_clean()"}
    arguments = ["clean" if argument == "kernels" else argument for argument in arguments]
    done = tilesight_run(*arguments, files=files, env={"PYTHONPATH": f"{ROOT / 'python'}:{tmp_path}"})
    assert done.returncode == status, done.stderr
    assert said in " ".join(done.stderr.split())
    assert ("out-of-bounds" in done.stderr) == (status == 1)


def test_a_wrong_call_is_placed_where_it_is_made(tilesight_run):
    done = tilesight_run("p.py", files={"p.py": "import kernels\n\nkernels.clean[(2,)](kernels.x, 100)"})
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(
        "p.py:3:1: error: kernel clean: argument BLOCK (a tl.constexpr) is missing: give BLOCK=...")
    assert "python/tilesight" not in done.stderr


def test_interpreter_mode_is_overridden_and_said(tilesight_run):
    done = tilesight_run("p.py", files={"p.py": "import kernels; kernels.run_buggy()"},
                         env={"TRITON_INTERPRET": "1"})
    assert done.returncode == 1
    assert "TRITON_INTERPRET=1 is ignored" in done.stderr


def test_an_unknown_newer_triton_is_a_warning(tilesight_run):
    program = """
        import sys, triton
        from tilesight.capture import hook
        hook.uninstall()
        triton.__version__ = "4.1.0"
        hook.install()
        import kernels
        kernels.run_clean()
    """
    done = tilesight_run("p.py", files={"p.py": program})
    assert done.returncode == 0, done.stderr
    assert "Triton 4.1.0 is newer than 3.9" in " ".join(done.stderr.split())


def test_users_sitecustomize_still_runs(tilesight_run, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import sys; sys.mine = 'here'")
    done = tilesight_run("p.py", files={"p.py": "import sys, kernels; kernels.run_clean(); print(sys.mine)"},
                         env={"PYTHONPATH": f"{ROOT / 'python'}{os.pathsep}{own}"})
    assert done.stdout == "here\n", done.stderr
    assert "clean: 1 launch" in done.stderr


def test_selecting_launches(tilesight_run):
    program = {"p.py": "import kernels\nfor _ in range(3): kernels.run_buggy()\nkernels.run_clean()\n"}
    done = tilesight_run("--kernel-name", "clean", "p.py", files=program)
    assert done.returncode == 0 and "buggy:" not in done.stderr.replace("buggy: autotune", "")
    assert "executed without checks" in " ".join(done.stderr.split())
    assert "buggy: 3 launches" in tilesight_run("--kernel-name", "regex:bug", "p.py").stderr
    assert "buggy: 1 launch," in tilesight_run("--launch-skip", "1", "--launch-count", "1", "p.py").stderr


def test_ignore_and_quiet(tilesight_run):
    program = {"p.py": "import kernels; kernels.run_buggy()"}
    assert tilesight_run("--ignore", "out-of-bounds", "p.py", files=program).returncode == 0
    assert tilesight_run("--quiet", "--ignore", "out-of-bounds", "p.py").stderr == ""


@pytest.mark.parametrize("arguments, message", [
    ([], "nothing to run"), (["--nonsense", "p.py"], "no option --nonsense"),
    (["--clint", "x"], "did you mean --client"), (["missing.py"], "no file missing.py"),
    (["--client", "sanitiser", "p.py"], "sanitizer"), (["--threads", "-1", "p.py"], "whole number"),
    (["--ignore", "out-of-bound", "p.py"], "did you mean out-of-bounds"),
    (["--fail-on", "maybe", "p.py"], "error, warning or never"),
    (["--kernel-name", "regex:(", "p.py"], "expression"), (["--seed", "-1", "p.py"], "whole number"),
    (["--like", "h1000", "p.py"], "h100, h200"), (["--save-all", "p.py"], "needs --save"), (["--json"], "needs a value"), (["--"], "no command"),
    (["-m"], "name of a module"), (["--", "no-such-command"], "cannot be started"),
])
def test_bad_usage_is_one_line(tilesight_run, arguments, message):
    done = tilesight_run(*arguments, files={"p.py": ""})
    assert done.returncode == 2
    assert message in done.stderr and done.stderr.count("\n") == 1


def test_help_has_an_example(tilesight_run):
    done = tilesight_run("--help")
    assert done.returncode == 0 and "Example:" in done.stdout and "--save" in done.stdout
    examples = [word for word in done.stdout.split() if word.startswith("examples/")]
    assert examples and all((ROOT / example).exists() for example in examples)


def test_help_names_the_clients(tilesight_run):
    (error,) = tilesight_run("--client", "nonesuch", "p.py").stderr.splitlines()
    available = error.split("(available: ")[1].split(")")[0].split(", ")
    text = tilesight_run("--help").stdout
    assert "sanitizer" in available and all(f"  {name}  " in text for name in [*available, "off"])


def test_saved_launches_give_the_same_findings(tilesight_run, tmp_path):
    files = {"p.py": "import kernels; kernels.run_clean(); kernels.run_buggy(); kernels.run_buggy()"}
    done = tilesight_run("--save", "run.tsb", "--json", "run.json", "p.py", files=files)
    assert done.returncode == 1, done.stderr
    check = subprocess.run([sys.executable, "-m", "tilesight", "check", "run.tsb", "--json", "check.json"],
                           cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
                           capture_output=True, text=True)
    assert check.returncode == 1, check.stderr

    def findings(name):
        entries = json.loads((tmp_path / name).read_text())["findings"]
        for entry in entries:
            for field in ("test", "bundle"):
                entry.pop(field, None)
            entry["counts"].pop("launches", None)
        return entries

    assert findings("run.json") == findings("check.json")


def test_saving_everything_in_a_folder(tilesight_run, tmp_path):
    files = {"p.py": "import kernels; kernels.run_clean(); kernels.run_buggy()"}
    assert tilesight_run("--save", "kept", "p.py", files=files).returncode == 1
    assert [name.split("-")[0] for name in os.listdir(tmp_path / "kept")] == ["buggy"]
    tilesight_run("--save", "all", "--save-all", "p.py")
    assert sorted(name.split("-")[0] for name in os.listdir(tmp_path / "all")) == ["buggy", "clean"]
    done = tilesight_run("--save", "none", "--save-limit", "100", "p.py")
    assert "--save-limit" in done.stderr and not (tmp_path / "none").exists()


def test_kernels_that_cannot_be_executed_are_unknown(tilesight_run):
    program = """
        import numpy as np
        import triton
        from triton.experimental import gluon
        from triton.experimental.gluon import language as gl
        @gluon.jit
        def kernel(x_ptr):
            gl.store(x_ptr, 1.0)
        kernel[(1,)](np.zeros(4, np.float32))
    """
    done = tilesight_run("p.py", files={"p.py": program})
    assert done.returncode == 3, done.stderr
    assert "Gluon kernels cannot be executed yet" in done.stderr


def test_a_launch_that_cannot_be_made_leaves_the_rest_checked(tilesight_run):
    program = """
        import numpy as np, kernels
        class Bare:
            dtype = np.dtype("float32")
            def data_ptr(self):
                return 4096
        kernels.clean[(1,)](Bare(), 64, BLOCK=64)
        kernels.run_buggy()
    """
    done = tilesight_run("p.py", files={"p.py": program})
    assert done.returncode == 1
    assert "neither shape nor nbytes" in " ".join(done.stderr.split()) and "out-of-bounds" in done.stderr


def test_internal_errors_are_status_4(tilesight_run):
    program = """
        import kernels
        from tilesight import engine, InternalError
        launch = engine.launch
        def failing(*args, **kwargs):
            raise InternalError("internal error in a launch of clean: out of memory")
        engine.launch = failing
        kernels.clean[(2,)](kernels.x, 100, BLOCK=64)
        engine.launch = launch
        kernels.run_buggy()
    """
    done = tilesight_run("p.py", files={"p.py": program})
    assert done.returncode == 4, done.stderr
    assert "out of memory" in done.stderr and "out-of-bounds" in done.stderr


def test_an_interrupted_program_is_still_reported(tilesight_run, tmp_path):
    tilesight_run("--help")  # writes kernels.py
    (tmp_path / "p.py").write_text(
        "import kernels, time; kernels.run_buggy(); print('waiting', flush=True); time.sleep(60)")
    process = subprocess.Popen([sys.executable, "-m", "tilesight", "run", "p.py"], cwd=tmp_path, text=True,
                               env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    assert process.stdout.readline() == "waiting\n"
    os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C in a terminal does
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "KeyboardInterrupt" in errors and "out-of-bounds" in errors
    assert "the program was interrupted" in " ".join(errors.split())


def test_an_interrupted_program_without_a_launch(tmp_path):
    (tmp_path / "p.py").write_text("import time; print('waiting', flush=True); time.sleep(60)")
    process = subprocess.Popen([sys.executable, "-m", "tilesight", "run", "p.py"], cwd=tmp_path, text=True,
                               env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    assert process.stdout.readline() == "waiting\n"
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGINT
    assert "interrupted before a kernel was launched" in errors


def test_check_has_the_options_of_run():
    """All that say how launches are judged and reported; the others are about running a program."""
    from tilesight import run_options

    of_run = {"--save", "--save-all", "--save-limit", "--trace", "--data", "--like", "--all-configs", "--no-block-pointers"}
    text = subprocess.run([sys.executable, "-m", "tilesight", "check", "--help"], capture_output=True, text=True).stdout
    of_check = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", text))
    assert {"--json", "--client"} <= of_check
    assert set(run_options._OPTIONS) - of_check == of_run


def test_the_process_that_starts_the_program_loads_neither_numpy_nor_triton():
    """They are the program's to load; what is loaded before it starts is waited for."""
    code = "import sys, tilesight.run; print([name for name in ('numpy', 'triton', 'torch') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    assert done.stdout.strip() == "[]", done.stderr
