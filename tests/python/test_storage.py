"""The memory behind tensor arguments, of numpy, torch, DLPack and anything with data_ptr()."""

import ctypes

import numpy as np
import pytest
import triton
import triton.language as tl

import tilesight as ts
from tilesight.capture import storage


@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) * 2, mask=offs < n)


def address_of(array):
    return array.__array_interface__["data"][0]


def test_the_root_of_nested_views_is_found():
    whole = np.zeros((4, 6), np.int16)
    view = whole.T[1:][::-1]
    memory = storage.of(view)
    assert memory.base == address_of(whole) and memory.nbytes == 48 and memory.known
    assert memory.shape == (5, 4) and memory.strides == (-1, 6)
    assert memory.extent() == (address_of(whole) + 2, address_of(whole) + 48)


def test_the_array_below_as_strided_is_found():
    whole = np.zeros((4, 6), np.int16)
    view = np.lib.stride_tricks.as_strided(whole[1:], (3, 8), (12, 0))[:, 2:]
    memory = storage.of(view)
    assert memory.base == address_of(whole) and memory.nbytes == 48 and memory.known and not memory.frozen
    assert memory.address == address_of(whole) + 12 and memory.strides == (6, 0)
    again = np.lib.stride_tricks.as_strided(view, (3,), (12,), writeable=False)
    assert storage.of(again).base == address_of(whole) and storage.of(again).read_only
    with pytest.raises(ts.Error, match="reaches 12 bytes beyond"):
        storage.of(np.lib.stride_tricks.as_strided(whole, (5, 6), (12, 2)))
    assert storage.of(np.lib.stride_tricks.as_strided(whole, (0, 9), (12, 2))).nbytes == 48


def test_memory_maps(tmp_path):
    path = tmp_path / "data"
    np.arange(64, dtype=np.float32).tofile(path)
    writable = np.memmap(path, np.float32, "r+", offset=64, shape=(16,))
    memory = storage.of(writable)
    assert memory.nbytes >= 64 + 64 and memory.stage is None
    assert ts.check(double)[(1,)](writable, 16, BLOCK=16).verdict == "ok"
    assert writable.tolist() == [2 * (16 + i) for i in range(16)]
    frozen = np.memmap(path, np.float32, "r")
    before = frozen.copy()
    report = ts.check(double)[(1,)](frozen, 16, BLOCK=16)  # its pages cannot be written: no crash
    assert [finding.kind for finding in report.findings] == ["read-only-write"]
    assert (frozen == before).all()


def test_large_read_only_maps_are_not_copied(tmp_path):
    @triton.jit
    def pick(x_ptr, out_ptr, at):
        tl.store(out_ptr, tl.load(x_ptr + at))

    path = tmp_path / "data"
    with open(path, "wb") as file:
        file.truncate(32 << 30)  # more than there is memory for: a hole
    large = np.memmap(path, np.float32, "r")
    out = np.ones(1, np.float32)
    assert ts.check(pick)[(1,)](large, out, large.size - 1).verdict == "ok"
    assert out[0] == 0


def test_ctypes_and_bytearrays():
    numbers = (ctypes.c_float * 10)()
    assert storage.of(np.ctypeslib.as_array(numbers)[3:]).nbytes == 40
    assert storage.of(np.frombuffer(bytearray(32), np.float32)[2:]).nbytes == 32


def test_empty_and_scalar_arrays():
    empty = storage.of(np.zeros((0, 4), np.float32))
    assert empty.shape == (0, 4) and empty.extent()[0] == empty.extent()[1]
    assert ts.check(double)[(1,)](np.zeros((0, 4), np.float32), 0, BLOCK=16).verdict == "ok"
    one = np.array(3.0, np.float32)
    assert ts.check(double)[(1,)](one, 1, BLOCK=16).verdict == "ok"
    assert one == 6


def test_strides_that_are_no_multiples_of_the_element_are_refused():
    records = np.zeros(4, np.dtype([("a", np.uint8), ("b", np.float32)]))
    with pytest.raises(ts.Error, match="argument x_ptr: .*byte strides"):
        ts.check(double)[(1,)](records["b"], 4, BLOCK=4)


def test_dlpack_objects_are_used_in_place():
    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **kwargs):
            return self.array.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    array = np.arange(16, dtype=np.float32)
    report = ts.check(double)[(1,)](Foreign(array), 16, BLOCK=16)
    assert report.verdict == "ok" and array.tolist() == [2 * i for i in range(16)]
    report = ts.check(double)[(1,)](Foreign(array), 17, BLOCK=32)
    assert [finding.kind for finding in report.findings][:1] == ["out-of-bounds"]


def test_gpu_arrays_without_torch_are_refused_clearly():
    class OnGpu:
        dtype = np.dtype("float32")
        __cuda_array_interface__ = {"data": (4096, False), "shape": (4,), "typestr": "<f4", "version": 3}

    with pytest.raises(ts.Error, match="GPU memory"):
        ts.check(double)[(1,)](OnGpu(), 4, BLOCK=4)


@pytest.mark.parametrize("extra, known", [({"shape": (10,)}, False), ({"nbytes": 64}, True),
                                          ({"shape": (2, 5), "strides": (24, 4)}, False),
                                          ({"shape": (2, 5), "stride": lambda: (6, 1)}, False),
                                          ({"shape": (10,), "nbytes": 64}, True)])
def test_objects_with_data_ptr(extra, known):
    array = np.zeros(16, np.float32)
    kind = type("Tensor", (), {"dtype": "float32", "data_ptr": lambda self: address_of(array)})
    tensor = kind()
    tensor.__dict__.update(extra)
    memory = storage.of(tensor)
    assert memory.known is known and memory.base == address_of(array) and memory.itemsize == 4
    if "strides" in extra or "stride" in extra:
        assert memory.strides == (6, 1) and memory.nbytes == 44
    assert ts.check(double)[(1,)](tensor, 5, BLOCK=8).verdict == "ok"


def test_reinterpreted_tensors_have_the_new_type():
    class Tensor:
        def __init__(self, array):
            self.array, self.dtype, self.shape = array, array.dtype, array.shape
            self.device, self.is_cuda, self.data = "cpu", False, self

        def data_ptr(self):
            return address_of(self.array)

        def element_size(self):
            return self.array.itemsize

    @triton.jit
    def widen(x_ptr, y_ptr, BLOCK: tl.constexpr):
        offs = tl.arange(0, BLOCK)
        tl.store(y_ptr + offs, tl.load(x_ptr + offs).to(tl.float32))

    codes = np.array([0x00, 0x3C, 0x40, 0xC0], np.uint8)  # fp8e5: 0, 1, 2, -2
    y = np.zeros(4, np.float32)
    report = ts.check(widen)[(1,)](triton.reinterpret(Tensor(codes), tl.float8e5), y, BLOCK=4)
    assert report.verdict == "ok", report.text()
    assert y.tolist() == [0, 1, 2, -2]


def test_reinterpreted_tensors_are_the_elements_that_fit_into_their_bytes():
    torch = pytest.importorskip("torch")

    def view(tensor, dtype):
        memory = storage.of(triton.reinterpret(tensor, dtype))
        return memory.shape, memory.strides, memory.itemsize

    codes = torch.zeros(8, dtype=torch.int8)
    assert view(codes, tl.float32) == ((2,), (1,), 4)
    assert view(codes[:7], tl.float32) == ((1,), (1,), 4)
    assert view(torch.zeros(3, 8, dtype=torch.int16), tl.int64) == ((3, 2), (2, 1), 8)
    assert view(torch.zeros(3, 5, dtype=torch.int16), tl.int32) == ((7,), (1,), 4)
    assert view(torch.zeros(3, 2, dtype=torch.float32), tl.int8) == ((3, 8), (8, 1), 1)

    @triton.jit
    def fill(x_ptr, BLOCK: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)

    assert ts.check(fill)[(1,)](triton.reinterpret(codes, tl.float32), BLOCK=2).verdict == "ok"
    [finding] = ts.check(fill)[(1,)](triton.reinterpret(codes, tl.float32), BLOCK=4).findings
    assert finding.kind == "out-of-bounds" and finding.counts.elements == 2


def test_torch_tensors_on_the_cpu():
    torch = pytest.importorskip("torch")
    whole = torch.arange(32, dtype=torch.float32)
    memory = storage.of(whole[8:].view(4, 6).T)
    assert memory.nbytes == 128 and memory.address - memory.base == 32
    assert memory.shape == (6, 4) and memory.strides == (1, 6) and memory.dtype == "float32"
    report = ts.check(double)[(1,)](whole[8:16], 8, BLOCK=8)
    assert report.verdict == "ok"
    assert whole[8:16].tolist() == [2 * i for i in range(8, 16)] and whole[16] == 16
    report = ts.check(double)[(1,)](whole[8:16], 9, BLOCK=16)
    assert {finding.kind for finding in report.findings} == {"out-of-view"}
    half = torch.ones(8, dtype=torch.bfloat16)
    assert ts.check(double)[(1,)](half, 8, BLOCK=8).verdict == "ok" and half.float().sum() == 16
    shared = storage.of(whole.numpy()[2:])
    assert shared.base == whole.data_ptr() and shared.nbytes == 128


@triton.jit
def give_address(x_ptr, table_ptr, at):
    tl.store(table_ptr, (x_ptr + at).to(tl.int64, bitcast=True))


@triton.jit
def use_address(table_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    p = tl.load(table_ptr).to(tl.pointer_type(tl.float32))
    tl.store(out_ptr + offs, tl.load(p + offs, mask=offs < n), mask=offs < n)


def test_addresses_that_one_kernel_stores_and_another_uses():
    # In other launches the same tensors have other numbers, and x is no argument of the second.
    before, x = np.zeros(4, np.float32), np.arange(16, dtype=np.float32)
    table, out = np.zeros(1, np.int64), np.zeros(8, np.float32)
    assert ts.check(give_address)[(1,)](x, table, 8).verdict == "ok"
    assert table[0] == address_of(x) + 32
    report = ts.check(use_address)[(1,)](table, out, 8, BLOCK=8)
    assert report.verdict == "ok", report.text()
    assert out.tolist() == list(range(8, 16))
    report = ts.check(use_address)[(1,)](table, out, 9, BLOCK=16)
    assert {finding.kind for finding in report.findings} == {"out-of-bounds"}
    assert before.sum() == 0


def test_addresses_of_arrays_that_are_gone_are_foreign():
    x = np.arange(16, dtype=np.float32)
    table, out = np.zeros(1, np.int64), np.zeros(8, np.float32)
    assert ts.check(give_address)[(1,)](x, table, 0).verdict == "ok"
    del x
    report = ts.check(use_address)[(1,)](table, out, 8, BLOCK=8)
    assert {finding.kind for finding in report.findings} == {"foreign-pointer"}


def test_arithmetic_on_addresses():
    @triton.jit
    def facts(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
        offs = tl.arange(0, BLOCK)
        first = x_ptr.to(tl.int64, bitcast=True)
        each = (x_ptr + offs).to(tl.int64, bitcast=True)
        mixed = tl.where(offs % 2 == 0, x_ptr + offs, y_ptr + offs).to(tl.int64, bitcast=True)
        tl.store(out_ptr + offs, each - first)
        tl.store(out_ptr + BLOCK + offs, each % 16)
        tl.store(out_ptr + 2 * BLOCK + offs, mixed)
        tl.store(out_ptr + 3 * BLOCK + offs, tl.load(mixed.to(tl.pointer_type(tl.float32))).to(tl.int64))

    x, y = np.arange(8, dtype=np.float32), 100 + np.arange(8, dtype=np.float32)
    out = np.zeros((4, 8), np.int64)
    report = ts.check(facts)[(1,)](x, y, out, BLOCK=8)
    assert report.verdict == "ok", report.text()
    assert out[0].tolist() == [4 * i for i in range(8)]
    assert out[1].tolist() == [(address_of(x) + 4 * i) % 16 for i in range(8)]
    assert out[2].tolist() == [address_of(x if i % 2 == 0 else y) + 4 * i for i in range(8)]
    assert out[3].tolist() == [i if i % 2 == 0 else 100 + i for i in range(8)]


def test_the_storage_below_a_view_is_remembered():
    x = np.arange(32, dtype=np.float32)
    table = np.array([ts.data_ptr(x[8:].reshape(4, 6))], np.int64)  # the views are gone
    out = np.zeros(8, np.float32)
    assert ts.check(use_address)[(1,)](table, out, 8, BLOCK=8).verdict == "ok"
    assert out.tolist() == list(range(8, 16))


def test_the_storage_below_a_torch_view_is_remembered():
    torch = pytest.importorskip("torch")
    x = torch.arange(32, dtype=torch.float32)
    table = torch.tensor([ts.data_ptr(x[8:].view(4, 6).T)])
    out = torch.zeros(8)
    assert ts.check(use_address)[(1,)](table, out, 8, BLOCK=8).verdict == "ok"
    assert out.tolist() == list(range(8, 16))


@pytest.mark.parametrize("view, n, index", [
    (lambda x: x[::-1], 5, [5]),                    # x[5] is before x's memory
    (lambda x: x.reshape(1, 5)[:, ::-1], 5, [0, 5]),
    (lambda x: x[:4].reshape(2, 2)[::-1, ::-1], 4, [1, 2]),
])
def test_indices_of_reversed_views(view, n, index):
    @triton.jit
    def backwards(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        offs = tl.arange(0, BLOCK)
        tl.store(out_ptr + offs, tl.load(x_ptr - offs, mask=offs <= n, other=0.0))

    x, out = np.arange(5, dtype=np.float32), np.zeros(8, np.float32)
    report = ts.check(backwards)[(1,)](view(x), out, n, BLOCK=8)
    (finding,) = report.findings
    assert finding.kind == "out-of-bounds" and finding.operand.index == index
    assert out[:n].tolist() == view(x).ravel().tolist()[:n]


def test_masked_off_elements_far_away_are_nobodys_business():
    @triton.jit
    def far(x_ptr, BLOCK: tl.constexpr):
        offs = tl.arange(0, BLOCK)
        p = x_ptr + tl.program_id(0) + (offs - 5).to(tl.int64) * 1000000000
        mask = offs % BLOCK == 5
        x = tl.load(p, mask=mask, other=0.0)
        for _ in range(20):
            x = x + 1
        tl.store(p, x, mask=mask)

    ts.config.threads = 4
    x = np.arange(4000, dtype=np.float32)
    assert ts.check(far)[(4000,)](x, BLOCK=64).verdict == "ok"
    assert (x == np.arange(4000) + 20).all()
