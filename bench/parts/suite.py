"""A suite of 200 small tests, one launch each, under pytest: with --tilesight, under Triton's interpreter, and
with the launches left out. What the launches add is told in processor time: other work on the machine changes that
least.
"""

import os
import subprocess
import tempfile
import time
from pathlib import Path

import processor
from context import HERE
from results import table

TITLE = "A suite of 200 small tests under pytest"
TESTS = 200
ROUNDS = 3

SUITE = '''
import os
import sys

import numpy as np
import pytest
import triton
import triton.language as tl

sys.path.append({here!r})
from tensor import Tensor

SIDE = os.environ["SUITE_SIDE"]


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=mask) + tl.load(y_ptr + offs, mask=mask), mask=mask)


@triton.jit
def softmax(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + offs, mask=offs < cols, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * cols + offs, e / tl.sum(e, 0), mask=offs < cols)


def launch(kernel, grid, *arguments, **constants):
    if SIDE == "nothing":
        return False
    wrap = Tensor if SIDE == "interpreter" else lambda array: array
    kernel[grid](*(wrap(a) if isinstance(a, np.ndarray) else a for a in arguments), **constants)
    return True


@pytest.mark.parametrize("n", range(1000, 1000 + {half}))
def test_add(n):
    x, y, out = np.ones(n, np.float32), np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    if launch(add, (triton.cdiv(n, 256),), x, y, out, n, BLOCK=256):
        np.testing.assert_array_equal(out, x + y)


@pytest.mark.parametrize("cols", range(20, 20 + {half}))
def test_softmax(cols):
    x, out = np.linspace(0, 1, 8 * cols, dtype=np.float32).reshape(8, cols), np.zeros((8, cols), np.float32)
    if launch(softmax, (8,), x, out, cols, BLOCK=128):
        e = np.exp(x - x.max(1, keepdims=True))
        np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5)
'''


def seconds(python, folder, side, options=(), **environment):
    """(of the clock, of processors) that pytest takes."""
    paths = [str(HERE.parent / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
    start, before = time.perf_counter(), processor.children()
    done = subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tilesight.pytest_plugin",
                           *options], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(reversed(paths)), "SUITE_SIDE": side,
                               "TILESIGHT_CACHE_DIR": str(Path(folder) / "cache"), **environment})
    elapsed = time.perf_counter() - start, processor.children() - before
    if f"{TESTS} passed" not in done.stdout:
        raise SystemExit(done.stdout[-3000:] + done.stderr[-1000:])
    return elapsed


def measure(context):
    """side -> {"clock", "processor"}: the least of ROUNDS, in turns, after one that fills the caches."""
    python = context.python
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_suite.py").write_text(SUITE.format(here=str(HERE), half=TESTS // 2))
        sides = {"launches left out": lambda: seconds(python, folder, "nothing"),
                 "pytest --tilesight": lambda: seconds(python, folder, "tilesight", ["--tilesight"]),
                 "TRITON_INTERPRET=1": lambda: seconds(python, folder, "interpreter", TRITON_INTERPRET="1")}
        found = {"pytest --tilesight, IR not cached": [sides["pytest --tilesight"]()]}
        for _ in range(ROUNDS):
            for side, run in sides.items():
                found.setdefault(side, []).append(run())
    return {side: {"clock": min(clock for clock, _ in times), "processor": min(used for _, used in times)}
            for side, times in found.items()}


def text(numbers):
    floor = numbers["launches left out"]["processor"]
    rows = [["", "clock", "processor", "a test, beyond its launch left out"]]
    for side in ("launches left out", "TRITON_INTERPRET=1", "pytest --tilesight", "pytest --tilesight, IR not cached"):
        clock, used = numbers[side]["clock"], numbers[side]["processor"]
        rows.append([side, f"{clock:.2f} s", f"{used:.2f} s", f"{(used - floor) / TESTS * 1e3:.2f} ms"])
    ratio = (numbers["TRITON_INTERPRET=1"]["processor"] - floor) / (numbers["pytest --tilesight"]["processor"] - floor)
    return (f"{table(rows)}\n\nThe launches take {ratio:.1f} times as long under Triton's interpreter as under "
            "`--tilesight`.")
