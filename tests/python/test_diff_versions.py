"""`tilesight diff` of the same kernels saved with two releases of Triton, and of two configurations of an autotuned one."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

KERNELS = """
import sys
import numpy as np, triton, triton.language as tl

SHIFT = int(sys.argv[1]) if len(sys.argv) > 1 else 0

@triton.jit
def softmax(x_ptr, y_ptr, n, stride, BLOCK: tl.constexpr, SHIFT: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + offs, mask=offs < n - SHIFT, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * stride + offs, e / tl.sum(e, axis=0), mask=offs < n)

@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rn[None, :] < N) & (rk[:, None] < K), other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))

@triton.jit
def histogram(x_ptr, counts_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    tl.atomic_add(counts_ptr + x, 1, mask=offs < n)

rng = np.random.default_rng(0)
x = rng.standard_normal((8, 12)).astype(np.float32)
softmax[(8,)](x, np.zeros_like(x), 12, 12, BLOCK=16, SHIFT=SHIFT)
a, b = rng.standard_normal((40, 48)).astype(np.float16), rng.standard_normal((48, 36)).astype(np.float16)
matmul[(3, 3)](a, b, np.zeros((40, 36), np.float32), 40, 36, 48, BM=16, BN=16, BK=16)
histogram[(4,)](rng.integers(0, 10, 100, dtype=np.int32), np.zeros(10, np.int32), 100, BLOCK=32)
"""

TUNED = """
import numpy as np, triton, triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 32}, num_warps=8)], key=["n"])
@triton.jit
def tuned(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < MASKED)
    tl.store(y_ptr + offs, x * 2, mask=offs < MASKED)

tuned[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](np.arange(100, dtype=np.float32), np.zeros(100, np.float32), 100)
"""


@functools.cache
def pythons():
    """{version of Triton: an interpreter that has it}, of those that are here."""
    named = [p for p in os.environ.get("TILESIGHT_TRITON_PYTHONS", "").split(":") if p]
    found = {}
    for python in [sys.executable, *named, ROOT / ".venv/bin/python", *sorted(ROOT.glob(".venv-triton-*/bin/python"))]:
        asked = subprocess.run([str(python), "-c", "import triton; print(triton.__version__)"], text=True, capture_output=True) if Path(python).exists() else None
        if asked and asked.returncode == 0:
            found.setdefault(asked.stdout.strip(), str(python))
    return found


def run(python, *arguments, cwd):
    return subprocess.run([python, "-m", "tilesight", *arguments], text=True, capture_output=True, cwd=cwd, timeout=300,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python")})


def save(python, bundle, cwd, *arguments, program=KERNELS, options=()):
    (cwd / "p.py").write_text(program)
    done = run(python, "run", *options, "--save-all", "--save", bundle, "p.py", *arguments, cwd=cwd)
    assert (cwd / bundle).exists(), done.stderr
    return bundle


def compared(cwd, *arguments):
    """(exit status, what --json has)"""
    done = run(sys.executable, "diff", "--json", "-", *arguments, cwd=cwd)
    return done.returncode, json.loads(done.stdout)


def test_two_releases_do_the_same(tmp_path):
    versions = pythons()
    if len(versions) < 2:
        pytest.skip(f"not run: no other Triton than {', '.join(versions)} (scripts/triton-venv 3.6.0, or TILESIGHT_TRITON_PYTHONS)")
    (first, one), (second, other) = sorted(versions.items())[0], sorted(versions.items())[-1]
    save(one, "a.tsb", tmp_path)
    save(other, "b.tsb", tmp_path)
    for bundle, version in ("a.tsb", first), ("b.tsb", second):
        assert f"Triton {version}" in run(sys.executable, "info", bundle, cwd=tmp_path).stdout
    status, said = compared(tmp_path, "a.tsb", "b.tsb")
    assert (status, said["verdict"], len(said["launches"])) == (0, "same", 3), said
    save(other, "c.tsb", tmp_path, "1")
    status, said = compared(tmp_path, "a.tsb", "c.tsb")
    softmax, matmul, histogram = said["launches"]
    assert (status, said["verdict"]) == (1, "differ") and [launch["same"] for launch in said["launches"]] == [False, True, True]
    x, y = softmax["tensors"]
    assert x["read"]["only_a"]["count"] == 8 and x["read"]["only_a"]["first"] == [0, 11], "a column that the mask left out"
    assert y["written"]["both"] == 96 and y["values"]["different"] > 0


def test_two_configurations_of_an_autotuned_kernel(tmp_path):
    program = TUNED.replace("MASKED", "n")
    save(sys.executable, "all.tsb", tmp_path, program=program, options=["--all-configs"])
    status, said = compared(tmp_path, "all.tsb", "all.tsb", "--launch", "0:1")
    (launch,) = said["launches"]
    assert (status, said["verdict"]) == (0, "same"), said
    assert launch["tensors"][1]["values"] == {**launch["tensors"][1]["values"], "compared": 100, "different": 0}


def test_a_configuration_that_does_less(tmp_path):
    program = TUNED.replace("MASKED", "n // BLOCK * BLOCK")  # forgets the tail: 96 elements of either
    program = program.replace('{"BLOCK": 32}', '{"BLOCK": 64}')  # now 64
    save(sys.executable, "all.tsb", tmp_path, program=program, options=["--all-configs"])
    status, said = compared(tmp_path, "all.tsb", "all.tsb", "--launch", "0:1")
    (launch,) = said["launches"]
    x, y = launch["tensors"]
    counts = sorted(y["written"][side]["count"] for side in ("only_a", "only_b"))
    assert (status, said["verdict"]) == (1, "differ") and y["written"]["both"] == 64 and counts == [0, 32]
