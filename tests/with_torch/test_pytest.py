"""`pytest --tilesight` on tests that put their tensors on a GPU."""

import os

from paths import ROOT

TESTS = """
import pytest
import torch
import triton
import triton.language as tl

@triton.jit
def double(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs) * 2, mask=offs < n)

@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("n", [128, 100])
def test_double(n):
    x = torch.randn(n, device="cuda")
    y = torch.empty_like(x)
    double[(triton.cdiv(n, 64),)](x, y, n, BLOCK=64)
    torch.testing.assert_close(y, 2 * x)

class Double(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        y = torch.empty_like(x)
        double[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
        return y

    backward = staticmethod(lambda context, grad: Double.apply(grad.contiguous()))

def test_backward():
    x = torch.randn(64, device="cuda", requires_grad=True)
    Double.apply(x).sum().backward()
    assert (x.grad == 2).all()
"""


def test_cuda_is_the_cpu(pytester, monkeypatch):
    for name in [name for name in os.environ if name.startswith(("TILESIGHT_RUN", "PYTEST_XDIST"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", str(ROOT / "python")))
    pytester.makepyfile(test_it=TESTS)
    result = pytester.runpytest_subprocess("-p", "tilesight.pytest_plugin", "--tilesight", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=2, failed=1)
    said = result.stdout.str()
    assert "error: out-of-bounds: load from x_ptr reads up to 112 bytes past its end" in said
    assert "there is no GPU here" in said
    assert "double: 4 launches, 1 error" in said
