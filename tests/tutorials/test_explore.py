"""The traces of examples/explore: they are what the programs beside them do, and what their page says of them holds."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXPLORE = ROOT / "examples" / "explore"
NAMES = sorted(program.stem for program in EXPLORE.glob("*.py"))


def tilesight(*arguments):
    return subprocess.run([sys.executable, "-m", "tilesight", *map(str, arguments)], text=True, capture_output=True,
                          timeout=300, cwd=EXPLORE)


def test_there_are_three():
    assert len(NAMES) == 3 and all((EXPLORE / f"{name}.trace").is_dir() for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_trace_is_what_the_program_does(name, tmp_path):
    trace = tmp_path / "now.trace"
    done = tilesight("run", "--trace", trace, "--data", "all", f"{name}.py")
    assert done.returncode == 0, done.stderr
    same = tilesight("diff", f"{name}.trace", trace)
    assert same.returncode == 0, same.stdout + same.stderr
    assert same.stdout.count("bit for bit the same") == (2 if name == "swizzle" else 1), same.stdout


@pytest.mark.parametrize("name", NAMES)
def test_the_trace_says_nothing_of_the_machine_that_it_was_made_on(name):
    for file in (EXPLORE / f"{name}.trace").rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            assert b'loc("/' not in data and b"site-packages" not in data and b"/tmp/" not in data, file


def test_the_first_nan_of_attention_came_from_an_empty_sequence():
    done = tilesight("show", "attention_lengths.trace", "--first-nan")
    assert "program (0, 2, 0), start_n = 0" in done.stdout
    # Triton calls all values of the line `p`: the operands have their own names all the same.
    assert "qk - m_new is nan at [0, 0]" in done.stdout and "m_new = -inf" in done.stdout
    assert done.stdout.index("it came from") < done.stdout.index("Lengths[2]")


def test_layer_norm_is_wrong_everywhere_and_centred_shows_why():
    done = tilesight("show", "layer_norm_tail.trace", "--expect", "out_ptr=layer_norm_expected.npy")
    assert "6,400 of 6,400 elements of out_ptr are not as expected" in done.stdout
    zeros = tilesight("show", "layer_norm_tail.trace", "--name", "x")
    assert "28 of 128 are zero" in zeros.stdout
    centred = tilesight("show", "layer_norm_tail.trace", "--name", "centred")
    assert "are zero" not in centred.stdout, "the elements behind the row count in the variance"
