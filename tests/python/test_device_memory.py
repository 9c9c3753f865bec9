"""Tensors whose memory is on a device: pages of 64 KiB travel, by a device that counts them."""

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

import tilesight as ts
from tilesight.capture import storage
from tilesight.capture.device_memory import DevicePages

PAGE = 64 << 10
BASE = 1 << 40  # of the first device tensor: no memory of this process


class OnDevice:
    """`nbytes` bytes on a device that is a dictionary of pages; the others hold zeros."""

    allocated = 0

    def __init__(self, count, dtype=np.float32):
        self.dtype = np.dtype(dtype)
        self.shape = (count,)
        self.nbytes = count * self.dtype.itemsize
        self.address = BASE + OnDevice.allocated
        OnDevice.allocated += self.nbytes + PAGE & ~(PAGE - 1)
        self.pages = {}
        self.reads, self.writes = [], []  # (first page, pages)
        self.fail = None

    def data_ptr(self):
        return self.address

    def element_size(self):
        return self.dtype.itemsize

    def stride(self):
        return (1,)

    def page(self, number):
        return self.pages.setdefault(number, np.zeros(PAGE, np.uint8))

    def elements(self, number):
        return self.page(number).view(self.dtype)

    def _span(self, start, view):
        assert start % PAGE == 0 and start + len(view) <= self.nbytes
        assert len(view) % PAGE == 0 or start + len(view) == self.nbytes
        return start // PAGE, -(-len(view) // PAGE)

    def read(self, start, view):
        if self.fail:
            raise RuntimeError(self.fail)
        first, count = self._span(start, view)
        self.reads.append((first, count))
        bytes_ = np.frombuffer(view, np.uint8)
        for k in range(count):
            if first + k in self.pages:
                bytes_[k * PAGE:(k + 1) * PAGE] = self.pages[first + k][:len(bytes_) - k * PAGE]

    def write(self, start, view):
        first, count = self._span(start, view)
        self.writes.append((first, count))
        bytes_ = np.frombuffer(view, np.uint8)
        for k in range(count):
            part = bytes_[k * PAGE:(k + 1) * PAGE]
            self.page(first + k)[:len(part)] = part

    def pages_read(self):
        return sorted(first + k for first, count in self.reads for k in range(count))

    def pages_written(self):
        return sorted(first + k for first, count in self.writes for k in range(count))


@pytest.fixture(autouse=True)
def device(monkeypatch):
    plain = storage.of_object

    def of_object(obj):
        memory = plain(obj)
        if isinstance(obj, OnDevice):
            memory.stage = lambda base, nbytes: DevicePages(nbytes, obj.read, obj.write)
        return memory

    monkeypatch.setattr(storage, "of_object", of_object)


GIB2 = 1 << 29  # elements of float32
PER_PAGE = PAGE // 4


@triton.jit
def add_one(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) + 1, mask=offs < n)


@pytest.mark.parametrize("threads", [1, 4])
def test_only_touched_pages_of_a_large_tensor_travel(threads):
    ts.config.threads = threads
    x, y = OnDevice(GIB2), OnDevice(GIB2)
    x.elements(0)[:] = np.arange(PER_PAGE)
    n = PER_PAGE + 10  # one page and ten elements
    report = ts.check(add_one)[(triton.cdiv(n, 256),)](x, y, n, BLOCK=256)
    assert report.verdict == "ok", report.text()
    assert x.pages_read() == [0, 1] and x.writes == []
    assert y.pages_written() == [0, 1]
    assert (y.elements(0) == np.arange(PER_PAGE) + 1).all()
    assert y.elements(1)[:11].tolist() == [1] * 10 + [0]


def test_neighbours_are_fetched_in_one_call():
    x, y = OnDevice(GIB2), OnDevice(GIB2)
    assert ts.check(add_one)[(1,)](x, y, GIB2, BLOCK=4 * PER_PAGE).verdict == "ok"
    assert x.reads == [(0, 4)] and y.writes == [(0, 4)]


def test_strided_rows():
    @triton.jit
    def column(x_ptr, stride, ROWS: tl.constexpr):
        rows = tl.arange(0, ROWS)
        tl.store(x_ptr + rows.to(tl.int64) * stride, rows.to(tl.float32) + 1)

    x = OnDevice(GIB2)
    assert ts.check(column)[(1,)](x, 5 * PER_PAGE, ROWS=8).verdict == "ok"
    assert x.pages_written() == [5 * row for row in range(8)]
    assert [x.elements(5 * row)[0] for row in range(8)] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_indirect_elements_in_any_order():
    @triton.jit
    def gather(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
        offs = tl.arange(0, BLOCK)
        tl.store(out_ptr + offs, tl.load(x_ptr + tl.load(index_ptr + offs)))

    x = OnDevice(GIB2)
    pages = [9, 3, 4, 30000, 3, 8, 5, 4]
    for page in pages:
        x.elements(page)[7] = page
    index = np.array([page * PER_PAGE + 7 for page in pages], np.int64)
    out = np.zeros(8, np.float32)
    assert ts.check(gather)[(1,)](x, index, out, BLOCK=8).verdict == "ok"
    assert out.tolist() == pages
    assert x.reads == [(3, 3), (8, 2), (30000, 1)]


def test_masked_off_elements_bring_nothing():
    @triton.jit
    def every_other(x_ptr, y_ptr, step, BLOCK: tl.constexpr):
        offs = tl.arange(0, BLOCK)
        mask = offs % 2 == 0
        x = tl.load(x_ptr + offs.to(tl.int64) * step, mask=mask, other=5.0)
        tl.store(y_ptr + offs.to(tl.int64) * step, x, mask=mask)

    x, y = OnDevice(GIB2), OnDevice(GIB2)
    x.elements(2)[0] = 3
    assert ts.check(every_other)[(1,)](x, y, PER_PAGE, BLOCK=8).verdict == "ok"
    assert x.pages_read() == [0, 2, 4, 6] and y.pages_read() == [0, 2, 4, 6]
    assert y.pages_written() == [2]  # the other pages got the zeros that they held


def test_atomics_with_several_threads():
    @triton.jit
    def count(x_ptr, step, N: tl.constexpr):
        slots = tl.arange(0, N)
        tl.atomic_add(x_ptr + slots.to(tl.int64) * step, 1)

    ts.config.threads = 4
    x = OnDevice(GIB2, np.int32)
    x.elements(0)[0] = 100
    assert ts.check(count)[(500,)](x, 2 * PER_PAGE, N=4).verdict == "ok"
    assert x.pages_written() == [0, 2, 4, 6]
    assert [x.elements(2 * slot)[0] for slot in range(4)] == [600, 500, 500, 500]


def test_programs_that_depend_on_each_other_are_undone_rightly():
    @triton.jit
    def chain(x_ptr, step):
        i = tl.program_id(0).to(tl.int64)
        tl.store(x_ptr + (i + 1) * step, tl.load(x_ptr + i * step) + 1)

    ts.config.threads = 4
    x = OnDevice(GIB2)
    x.elements(0)[0] = 10
    report = ts.check(chain)[(3000,)](x, 8)
    assert report.verdict == "ok", report.text()
    assert x.elements(0)[0] == 10 and x.elements(3000 * 8 // PER_PAGE)[3000 * 8 % PER_PAGE] == 3010


def test_descriptors():
    @triton.jit
    def tile(desc, out_ptr):
        block = desc.load([4, 16])
        desc.store([8, 16], block + 1)
        tl.store(out_ptr + tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :], block)

    x = OnDevice(GIB2)
    desc = TensorDescriptor(x, [GIB2 // PER_PAGE, PER_PAGE], [PER_PAGE, 1], [4, 16])
    out = np.ones((4, 16), np.float32)
    report = ts.check(tile)[(1,)](desc, out)
    assert report.verdict == "ok", report.text()
    assert x.pages_read() == list(range(4, 12)) and x.pages_written() == [8, 9, 10, 11]
    assert (out == 0).all() and (x.elements(9)[16:32] == 1).all()


def test_address_only_runs_bring_what_decides_addresses():
    @triton.jit
    def gather(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
        offs = tl.arange(0, BLOCK)
        tl.store(out_ptr + offs, tl.load(x_ptr + tl.load(index_ptr + offs)))

    ts.config.address_only = True
    x, index, out = OnDevice(GIB2), OnDevice(GIB2, np.int64), OnDevice(GIB2)
    assert ts.check(gather)[(1,)](x, index, out, BLOCK=8).verdict == "ok"
    assert x.reads == [] and index.pages_read() == [0] and out.writes == [] and out.reads == []


def test_the_last_page_is_shorter():
    x, y = OnDevice(PER_PAGE + 3), OnDevice(PER_PAGE + 3)
    n = PER_PAGE + 3
    assert ts.check(add_one)[(1,)](x, y, n, BLOCK=2 * PER_PAGE).verdict == "ok"
    assert x.reads == [(0, 2)] and y.elements(1)[:4].tolist() == [1, 1, 1, 0]


def test_what_cannot_be_fetched_is_an_error_and_nothing_is_written():
    x, y = OnDevice(GIB2), OnDevice(GIB2)
    x.fail = "the device is gone"
    with pytest.raises(ts.Error, match="tensor x_ptr cannot be read from its device: .*the device is gone"):
        ts.check(add_one)[(4,)](x, y, 1024, BLOCK=256)
    assert y.writes == []


@triton.jit
def read_then_loop(x_ptr, y_ptr, n):
    total = tl.load(x_ptr)
    for i in range(n):
        total += (i & 3).to(tl.float32)
    tl.store(y_ptr, total)


@pytest.mark.parametrize("size", [64, GIB2])  # small ones are copied before the launch
def test_what_cannot_be_fetched_ends_the_launch_at_once(size):
    x, y = OnDevice(size), OnDevice(64)
    x.fail = "the device is gone"
    with pytest.raises(ts.Error, match="the device is gone"):
        ts.check(read_then_loop)[(1,)](x, y, 2**31 - 1)  # an hour on zeros


def test_saved_launches_are_complete(tmp_path):
    x, y = OnDevice(3 * PER_PAGE), OnDevice(3 * PER_PAGE)
    x.elements(2)[5] = 41
    y.elements(2)[6] = 7

    ts.config.keep_inputs = "64M"
    report = ts.check(add_one)[(1,)](x, y, 64, BLOCK=64)
    report.save(tmp_path / "launch.tsb")
    assert x.pages_read() == [0, 1, 2] and y.pages_written() == [0]
    import zipfile
    stored = b"".join(zipfile.ZipFile(tmp_path / "launch.tsb").read(name)
                      for name in zipfile.ZipFile(tmp_path / "launch.tsb").namelist())
    assert np.float32(41).tobytes() in stored and np.float32(7).tobytes() in stored
