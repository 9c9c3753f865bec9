"""The shipped examples, run the way a user runs them."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "triton"


def tilesight_run(name):
    return subprocess.run([sys.executable, "-m", "tilesight", "run", str(EXAMPLES / name)], text=True,
                          capture_output=True, timeout=300)


def line_of(name, text):
    lines = (EXAMPLES / name).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.strip() == text)


def test_the_tail_bug_is_named():
    done = tilesight_run("attention.py")
    assert done.returncode == 1, done.stderr
    assert "max error" in done.stdout  # the outputs are there: its own assert holds
    for tensor, text in (("K", "k = tl.load(k_ptrs)"), ("V", "v = tl.load(v_ptrs)")):
        place = f"attention.py:{line_of('attention.py', text)}:13: error: out-of-bounds: load from {tensor}"
        assert f"{place} reads up to 3,072 bytes past its end (2,048,000 bytes)" in done.stderr
        assert f"program (0,15,0), iteration start_n=960, element [40,0] = {tensor}[1,7,1000,0]" in done.stderr
    assert done.stderr.count("offs_n = start_n + arange(0, 64) = 960..1023") == 2
    assert done.stderr.count("8 programs, 12,288 elements") == 2


@pytest.mark.parametrize("name", ["attention_fixed.py", "vector_add.py", "softmax.py", "matmul.py"])
def test_clean_examples(name):
    done = tilesight_run(name)
    assert done.returncode == 0, done.stderr
    assert "max error" in done.stdout
    assert "error:" not in done.stderr and "warning:" not in done.stderr
