"""The kernels that tests/gpu times give the same results in all their flavours, with tails, on the engine."""

import sys
from pathlib import Path

import numpy as np
import pytest

import tilesight as ts

from flavours import NATIVE, library

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gpu"))
import block_pointer_kernels as kernels

HALF, FLOAT = np.float16, np.float32


def random(dtype, *shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


def subjects():
    """name: (arguments, output, grid, constants)"""
    return {
        "add": (dict(x=random(FLOAT, 100), y=random(FLOAT, 100), z=random(FLOAT, 100), n=100), "z", (4,), dict(B=32)),
        "softmax": (dict(x=random(FLOAT, 10, 52), y=random(FLOAT, 10, 52), M=10, N=52, stride=52), "y", (3,),
                    dict(BM=4, BN=16)),
        "swap": (dict(x=random(FLOAT, 2, 20, 36), y=random(FLOAT, 2, 36, 20), A=2, M=20, N=36), "y", (2, 3, 2),
                 dict(BM=16, BN=16)),
        "matmul": (dict(a=random(HALF, 40, 72), b=random(HALF, 72, 48), c=random(HALF, 40, 48), M=40, N=48, K=72,
                        lda=72, ldb=48, ldc=48), "c", (3, 2), dict(BT=False, BM=16, BN=32, BK=32)),
        "matmul_column_major": (dict(a=random(HALF, 40, 72), b=random(HALF, 48, 72), c=random(HALF, 40, 48), M=40, N=48,
                                     K=72, lda=72, ldb=72, ldc=48), "c", (3, 2), dict(BT=True, BM=16, BN=32, BK=32)),
        "attention": (dict(q=random(HALF, 2, 40, 32), k=random(HALF, 2, 40, 32), v=random(HALF, 2, 40, 32),
                           o=random(HALF, 2, 40, 32), T=40, stride=32, scale=0.25), "o", (3, 2),
                      dict(BM=16, BN=16, W=32)),
    }


def result(name, flavour, **own):
    arguments, output, grid, constants = subjects()[name]
    kernel = getattr(kernels, f"{name.split('_')[0]}_{flavour}")
    report = ts.check(kernel)[grid](**arguments, **constants, **own)
    assert report.verdict == "ok", report.text()
    return arguments[output]


@pytest.mark.parametrize("name", subjects())
def test_equal(name, collect, monkeypatch):
    monkeypatch.setenv("TILESIGHT_CACHE_DIR", "")  # remarks are made while a kernel is compiled
    expected = result(name, "by_hand", D="never")
    assert not np.array_equal(expected, subjects()[name][0][subjects()[name][1]])
    np.testing.assert_array_equal(result(name, "library", D="never"), expected)
    if NATIVE:
        np.testing.assert_array_equal(result(name, "triton", D="never"), expected)
    checks = dict(CHECK=(0, 1), CHECK_T=(0, 1)) if name == "attention" else {}
    np.testing.assert_array_equal(result(name, "library", D="promise", **checks), expected)
    assert any(f"{name.split('_')[0]}_library: load: descriptor" in line for line in library().remarks())
