"""Input that makes no sense: a clear error or a finding for each, and no crash."""

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

import tilesight as ts


@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) * 2, mask=offs < n)


def check(x, n=4, grid=(1,)):
    return ts.check(double)[grid](x, n, BLOCK=4)


class Tensor:
    """An object with data_ptr(), which says what it likes about itself."""

    def __init__(self, **fields):
        self.array = np.ones(16, np.float32)
        self.dtype = "float32"
        self.__dict__.update(fields)

    def data_ptr(self):
        return self.array.__array_interface__["data"][0]


@pytest.mark.parametrize("fields, message", [
    ({"shape": (2, 2), "strides": (4,)}, r"shape \[2, 2\] has 2 axes, its strides \[1\] have 1"),
    ({"shape": (16, 2), "nbytes": 64}, r"shape \[16, 2\] .* spans 128 bytes, its nbytes says 64"),
    ({"shape": (-4,)}, r"shape \[-4\]: sizes cannot be negative"),
])
def test_contradictory_shapes(fields, message):
    with pytest.raises(ts.Error, match="argument x_ptr: .*" + message):
        check(Tensor(**fields))


def test_descriptors_that_reach_before_their_tensor():
    @triton.jit
    def load(desc, out_ptr):
        tl.store(out_ptr + tl.arange(0, 16), desc.load([0]))

    from tilesight.capture import hook
    hook.install()
    desc = TensorDescriptor(np.zeros(64, np.float32), [64], [1], [16])
    desc.strides = [-1]
    with pytest.raises(ts.Error, match="argument desc: the descriptor's strides .* before the start"):
        ts.check(load)[(1,)](desc, np.zeros(16, np.float32))


def test_arrays_of_many_axes(tmp_path):
    x = np.ones((1,) * 62 + (2, 2), np.float32)
    assert check(x).verdict == "ok" and (x == 2).all()
    (finding,) = [f for f in check(x, n=5, grid=(2,)).findings if f.access.kind == "read"]
    assert finding.kind == "out-of-bounds" and len(finding.operand.index) == 64
    ts.launches[-1].save(tmp_path / "saved.tsb")
    (again,) = ts.load(tmp_path / "saved.tsb")
    assert again.findings[0].operand.index == finding.operand.index


def test_descriptors_of_too_many_axes():
    @triton.jit
    def load(desc):
        desc.store([0] * 6, desc.load([0] * 6))

    from tilesight.capture import hook
    hook.install()
    with pytest.raises(Exception, match="rank|axes|dimension"):
        desc = TensorDescriptor(np.zeros((2,) * 5 + (16,), np.float32), [2] * 5 + [16],
                                [512, 256, 128, 64, 32, 16][1:] + [1], [1] * 5 + [16])
        ts.check(load)[(1,)](desc)


@pytest.mark.parametrize("grid", [(-1,), (2, -3), (1, 1, -5)])
def test_negative_grids_are_a_finding(grid):
    x = np.ones(4, np.float32)
    (finding,) = check(x, grid=grid).findings
    assert finding.kind == "launch-limit" and "-" in finding.message and (x == 1).all()


@pytest.mark.parametrize("grid", [(0,), (4, 0), (0, 1, 1)])
def test_empty_grids_are_skipped_silently(grid):
    x = np.ones(4, np.float32)
    report = check(x, grid=grid)
    assert report.verdict == "ok" and report.findings == [] and (x == 1).all()


@pytest.mark.parametrize("grid, axis", [((1 << 31,), "x"), ((1 << 40,), "x"), ((1, 65536), "y"),
                                        ((1, 1, 1 << 33), "z"), ((1 << 62, 1 << 62, 1 << 62), "x")])
def test_grids_over_the_limits(grid, axis):
    x = np.ones(4, np.float32)
    report = check(x, grid=grid)
    assert report.findings[0].kind == "launch-limit" and f"grid.{axis} is" in report.findings[0].message
    assert (x == 1).all()


@pytest.mark.parametrize("grid", [(1 << 63,), (1 << 70,), (-(1 << 64),)])
def test_grids_of_more_than_64_bits(grid):
    with pytest.raises(ts.Error, match="grid.x is .* 64 bits"):
        check(np.ones(4, np.float32), grid=grid)


@pytest.mark.parametrize("grid", [(1.5,), ("4",), (None,)])
def test_grids_that_are_no_numbers(grid):
    with pytest.raises(TypeError):
        check(np.ones(4, np.float32), grid=grid)


def test_resized_arrays():
    x = np.ones(4, np.float32)
    assert check(x).verdict == "ok"
    x.resize(2, refcheck=False)
    kinds = {finding.kind for finding in check(x).findings}
    assert kinds == {"out-of-bounds"}


def test_resized_torch_storages():
    torch = pytest.importorskip("torch")
    x = torch.ones(1024)
    x.untyped_storage().resize_(8)  # the view still says 1024 elements
    with pytest.raises(ts.Error, match=r"argument x_ptr: .*reaches 4,096 bytes into its storage, .* resized to 8 bytes"):
        check(x)


def test_byte_swapped_arrays():
    with pytest.raises(ts.Error, match="x_ptr.*>f4.*byte order"):
        check(np.ones(4, ">f4"))


@pytest.mark.parametrize("value", [np.ones(4, np.complex64), 1 + 2j, np.complex128(3)])
def test_complex_numbers(value):
    with pytest.raises(ts.Error, match="argument x_ptr.*complex"):
        check(value)


@pytest.mark.parametrize("x", [np.array(["a", "b"]), np.array([object()]), np.array(["2020-01-01"], "M8[D]"),
                               np.zeros(2, [("a", "f4"), ("b", "i4")])])
def test_arrays_of_no_numbers(x):
    with pytest.raises(ts.Error, match="argument x_ptr"):
        check(x)
