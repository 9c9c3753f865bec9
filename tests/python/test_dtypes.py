"""Every dtype that a launch can have is one that its bundle can have."""
import ml_dtypes
import numpy as np
import pytest
import triton
import triton.language as tl

import tilesight as ts

DTYPES = [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16,
          np.float32, np.float64, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]


@triton.jit
def touch(x_ptr, out_ptr):
    tl.store(out_ptr, tl.load(x_ptr + 3).to(tl.float32))


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_a_saved_launch_can_be_read(collect, tmp_path, dtype):
    x, out = np.ones(4, dtype), np.zeros(1, np.float32)
    assert ts.check(touch)[(1,)](x, out).verdict == "ok"
    assert out[0] == 1
    ts.save(tmp_path / "x.tsb")
    assert [report.verdict for report in ts.load(tmp_path / "x.tsb")] == ["ok"]


def test_every_name_that_triton_knows_is_known_to_bundles(collect, tmp_path):
    from triton._utils import type_canonicalisation_dict

    from tilesight.capture.arguments import ELEMENTS

    class Tensor:
        def __init__(self, dtype):
            self.dtype, self.memory = dtype, np.ones(8, np.uint64)

        def data_ptr(self):
            return ts.data_ptr(self.memory)

    @triton.jit
    def nothing(x_ptr):
        pass

    for name, canonical in type_canonicalisation_dict.items():
        if canonical in ("void", "fp8e4b8", "fp8e5b16"):  # the last two are AMD's alone: tests/language/test_amd.py
            continue
        assert canonical in ELEMENTS
        ts.clear()
        ts.check(nothing)[(1,)](Tensor(name))
        ts.save(tmp_path / "x.tsb")
        assert len(ts.load(tmp_path / "x.tsb")) == 1, name
