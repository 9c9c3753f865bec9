"""`tilesight run`: which launches are checked and saved, under which numbers, and what is said of it."""

import json
import os
import zipfile

import pytest

import tilesight as ts
from tilesight import run_options

THREE_AND_ONE = {"p.py": "import kernels\nfor _ in range(3): kernels.run_buggy()\nkernels.run_clean()\n"}


def said(done):
    return " ".join(done.stderr.split())


def saved_launches(path):
    """(kernel, number) of every launch in a bundle, in its order."""
    with zipfile.ZipFile(path) as bundle:
        names = sorted(name for name in bundle.namelist() if name.endswith("launch.json"))
        documents = [json.loads(bundle.read(name)) for name in names]
    return [(document["kernel"], document["launch"]) for document in documents]


def test_launches_left_out_are_not_saved(tilesight_run, tmp_path):
    done = tilesight_run("--save", "run.tsb", "--save-all", "--launch-skip", "1", "--launch-count", "2", "p.py",
                         files=THREE_AND_ONE)
    assert "saved 2 launches to run.tsb" in said(done)
    assert saved_launches(tmp_path / "run.tsb") == [("buggy", 1), ("buggy", 2)]
    tilesight_run("--save", "kept", "--save-all", "--kernel-name", "clean", "p.py")
    assert [name.split("-")[0] for name in os.listdir(tmp_path / "kept")] == ["clean"]


def test_bundles_hold_launches_in_the_order_they_ran(tilesight_run, tmp_path):
    files = {"p.py": """
        import os, subprocess, sys, kernels
        kernels.run_clean()
        subprocess.run([sys.executable, "-c", "import kernels; kernels.run_buggy()"], check=True)
        if os.fork() == 0:
            kernels.run_clean()
            os._exit(0)
        os.wait()
        kernels.run_buggy()
    """}
    done = tilesight_run("--save", "run.tsb", "--save-all", "p.py", files=files)
    assert done.returncode == 1, done.stderr
    assert saved_launches(tmp_path / "run.tsb") == [("clean", 0), ("buggy", 1), ("clean", 2), ("buggy", 3)]


def test_nothing_saved_is_said(tilesight_run, tmp_path):
    done = tilesight_run("--save", "run.tsb", "p.py", files={"p.py": "import kernels; kernels.run_clean()"})
    assert "nothing was saved: no launch had findings" in said(done)
    assert not (tmp_path / "run.tsb").exists()


def test_no_launch_matches(tilesight_run):
    done = tilesight_run("--kernel-name", "nope", "p.py", files=THREE_AND_ONE)
    assert done.returncode == 3
    assert "no launch matches --kernel-name nope (kernels seen: buggy, clean)" in done.stderr
    assert "leave no launch" in tilesight_run("--launch-skip", "9", "p.py").stderr


@pytest.mark.parametrize("option", ["--save", "--json"])
@pytest.mark.parametrize("path, message", [("missing/x.tsb", "there is no folder"), (".", "")])
def test_places_that_cannot_be_written(tilesight_run, option, path, message):
    if (option, path) == ("--save", "."):
        path, message = "p.py/kept", "is no folder"
    done = tilesight_run(option, path, "p.py", files={"p.py": "print('started')"})
    assert done.returncode == 2 and done.stdout == ""
    assert message in done.stderr and done.stderr.count("error:") == 1


@pytest.mark.parametrize("path", ["out/x.tsb", "out/kept"])
def test_a_place_that_goes_away_does_not_cost_the_report(tilesight_run, path, tmp_path):
    (tmp_path / "out").mkdir()
    program = "import kernels, os; os.rmdir('out'); open('out', 'w'); kernels.run_buggy(); print('went on')"
    done = tilesight_run("--save", path, "p.py", files={"p.py": program})
    assert done.returncode == 2 and done.stdout == "went on\n"
    assert "out-of-bounds: load from x_ptr" in done.stderr
    assert done.stderr.count(" error: error:") == 0 and path in done.stderr


@pytest.mark.parametrize("variable, value, message", [
    ("TILESIGHT_CLIENT", "nope", "nope"), ("TILESIGHT_THREADS", "abc", "whole number"),
    ("TILESIGHT_ON_FINDING", "shout", "collect")])
def test_the_environment_is_checked_first(tilesight_run, variable, value, message):
    done = tilesight_run("p.py", files={"p.py": "print('started')"}, env={variable: value})
    assert done.returncode == 2 and done.stdout == ""
    assert variable in done.stderr and message in done.stderr and done.stderr.count("\n") == 1


def test_settings_are_checked_at_once():
    with pytest.raises(ts.Error, match="nonesuch"):
        ts.config.client = "nonesuch"
    ts.config.client = "sanitizer,tracer"
    ts.config.client = "off"


def test_the_environment_s_error_names_the_variable(monkeypatch):
    monkeypatch.setenv("TILESIGHT_CLIENT", "nonesuch")
    with pytest.raises(ts.Error, match="TILESIGHT_CLIENT: there is no client"):
        ts.config.client


@pytest.mark.parametrize("text", ["x", "0", "-1", "inf", "nan"])
def test_a_time_limit_is_a_number_of_seconds(text):
    with pytest.raises(ts.Error, match="--timeout is .* it must be a number of seconds above 0"):
        run_options.parse(["--timeout", text, "script.py"])
