"""The text cache on disk: shared between processes, whole or absent."""

import os
import subprocess
import sys
import textwrap

import pytest

from paths import ROOT
from tilesight.capture import cache


def test_what_is_stored_is_loaded():
    key = cache.key_of(["a", "b"])
    assert cache.load(key) is None
    cache.store(key, "module { ü }")
    assert cache.load(key) == "module { ü }"
    assert cache.key_of(["ab"]) != cache.key_of(["a", "b"])


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data + b"x", lambda data: b"",
                                    lambda data: b"\xff\xfe" + data, lambda data: data.replace(b"m", b"n")])
def test_damaged_entries_count_as_missing(damage):
    key = cache.key_of(["k"])
    cache.store(key, "module {}")
    path = cache._path(key)
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(damage(data))
    assert cache.load(key) is None
    cache.store(key, "module {}")
    assert cache.load(key) == "module {}"


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("TILESIGHT_CACHE_DIR", str(blocked))
    cache.store("0" * 64, "module {}")
    assert cache.load("0" * 64) is None


def test_it_can_be_switched_off(monkeypatch):
    monkeypatch.setenv("TILESIGHT_CACHE_DIR", "")
    assert cache.folder() is None
    cache.store("0" * 64, "module {}")
    assert cache.load("0" * 64) is None


PROGRAM = textwrap.dedent("""
    import sys
    sys.path[:0] = [{python!r}, {tests!r}]
    import numpy as np, triton, triton.language as tl
    from recording import recorded
    from tilesight.capture import triton as front

    @triton.jit
    def kernel(x_ptr, n, B: tl.constexpr, fn: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, B), n)

    made = []
    front_end = front.Specialiser._front_end
    front.Specialiser._front_end = lambda *args: made.append(1) or front_end(*args)
    with recorded() as launches:
        kernel[(1,)](np.zeros(8, np.float32), int(sys.argv[1]), B=8, fn={fn})
    print(len(made), len(launches[0].kernel.text))
""")


def texts_made(tmp_path, n, fn="None"):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.format(python=str(ROOT / "python"), tests=str(ROOT / "tests/python"), fn=fn))
    output = subprocess.run([sys.executable, str(script), str(n)], capture_output=True, text=True,
                            env={**os.environ, "PYTHONWARNINGS": "ignore"}, check=True).stdout.split()
    return int(output[0]), int(output[1])


def test_another_process_finds_the_text(tmp_path):
    first, length = texts_made(tmp_path, 7)
    again, same = texts_made(tmp_path, 9)
    assert (first, again) == (1, 0)
    assert length == same
    assert texts_made(tmp_path, 16)[0] == 1  # another specialisation


def test_constants_without_a_lasting_text_are_not_cached(tmp_path):
    assert texts_made(tmp_path, 7, fn="tl.constexpr(len)")[0] == 1
    assert texts_made(tmp_path, 7, fn="tl.constexpr(len)")[0] == 1


def test_text_that_names_files_which_are_gone_is_made_anew(tmp_path):
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "helpers.py").write_text(
            "import triton\n\n@triton.jit\ndef twice(v):\n    return v * 2\n")
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.format(python=str(ROOT / "python"), tests=str(ROOT / "tests/python"), fn="None")
                      .replace("import numpy", "from helpers import twice\nimport numpy")
                      .replace("tl.arange(0, B), n)", "tl.arange(0, B), twice(n))"))

    def made(folder):
        return subprocess.run([sys.executable, str(script), "7"], capture_output=True, text=True, check=True,
                              env={**os.environ, "PYTHONWARNINGS": "ignore",
                                   "PYTHONPATH": str(tmp_path / folder)}).stdout.split()[0]

    assert [made("old"), made("old")] == ["1", "0"]
    (tmp_path / "old" / "helpers.py").unlink()
    assert made("new") == "1"
