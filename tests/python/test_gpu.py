"""Tensors on a GPU. Skipped where there is none."""

import numpy as np
import pytest
import triton
import triton.language as tl

import tilesight as ts

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)


@triton.jit
def add_one(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(y_ptr + offs, x + 1, mask=offs < n)


def test_results_come_back_and_inputs_stay():
    x = torch.arange(128, dtype=torch.float32, device="cuda")
    y = torch.zeros(128, device="cuda")
    report = ts.check(add_one)[(2,)](x, y, 128, BLOCK=64)
    assert report.verdict == "ok", report.text()
    assert torch.equal(y, x + 1) and x.sum().item() == 127 * 64


def test_findings_are_those_of_the_cpu():
    x, y = torch.ones(100, device="cuda"), torch.zeros(100, device="cuda")
    report = ts.check(add_one)[(2,)](x, y, 100, BLOCK=64)
    (finding,) = report.findings
    assert finding.operand.argument == "x_ptr" and finding.operand.index == [100]
    assert torch.equal(y, x + 1)


def test_views_of_one_storage_share_their_copy():
    whole = torch.zeros(256, device="cuda")
    whole[:128] = 3
    report = ts.check(add_one)[(1,)](whole[:64], whole[128:192], 64, BLOCK=64)
    assert report.verdict == "ok", report.text()
    assert whole[128:192].eq(4).all() and whole[:128].eq(3).all() and whole[192:].eq(0).all()


def test_mixed_with_arrays_of_the_cpu():
    x = torch.ones(64, device="cuda")
    y = np.zeros(64, np.float32)
    assert ts.check(add_one)[(1,)](x, y, 64, BLOCK=64).verdict == "ok"
    assert (y == 2).all()


def test_traced_and_native_launches_agree():
    x, native = torch.rand(1000, device="cuda"), torch.zeros(1000, device="cuda")
    padded = torch.zeros(1024, device="cuda")
    padded[:1000] = x
    traced = ts.trace(client="sanitizer")(triton.jit(add_one.fn))
    mine = torch.zeros(1000, device="cuda")
    traced[(16,)](padded, mine, 1000, BLOCK=64)
    ts.config.client = "off"
    traced[(16,)](padded, native, 1000, BLOCK=64)
    assert torch.equal(mine, native)


def test_arrays_with_the_cuda_interface():
    cupy = pytest.importorskip("cupy")
    x, y = cupy.ones(64, dtype=cupy.float32), cupy.zeros(64, dtype=cupy.float32)
    assert ts.check(add_one)[(1,)](x, y, 64, BLOCK=64).verdict == "ok"
    assert (y == 2).all()
