"""Tensors on a GPU. Skipped where there is none; `python -m pytest tests/python/test_gpu.py` there does it
all. Pages of 64 KiB travel: these tests look at which do."""

import numpy as np
import pytest
import triton
import triton.language as tl

import tilesight as ts
from tilesight.capture import device_memory

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)


@triton.jit
def add_one(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(y_ptr + offs, x + 1, mask=offs < n)


PAGE = 64 << 10


@pytest.fixture
def traffic(monkeypatch):
    """{address of a storage: (pages read, pages written)} of the launches in this test."""
    seen = {}
    plain = device_memory.of_torch_storage

    def recorded(tensor, base, nbytes):
        pages = plain(tensor, base, nbytes)
        bring_back = pages.bring_back

        def and_note():
            written = bring_back()
            numbers = lambda spans: [n for start, end in spans for n in range(start // PAGE, -(-end // PAGE))]
            seen[base] = (sorted(numbers(pages.pager.fetched)), numbers(written))
            return written

        pages.bring_back = and_note
        return pages

    monkeypatch.setattr("tilesight.capture.storage.of_torch_storage", recorded)
    return seen


def of(traffic, tensor):
    return traffic[tensor.untyped_storage().data_ptr()]


@pytest.mark.parametrize("threads", [1, 4])
def test_only_touched_pages_of_large_tensors_travel(traffic, threads):
    ts.config.threads = threads
    x = torch.arange(1 << 29, dtype=torch.float32, device="cuda")  # 2 GiB
    y = torch.zeros_like(x)
    n = PAGE // 4 + 10
    report = ts.check(add_one)[(triton.cdiv(n, 256),)](x[1 << 28:], y[1 << 28:], n, BLOCK=256)
    assert {f.kind for f in report.findings} == {"out-of-bounds"} or report.verdict == "ok", report.text()
    first = (1 << 30) // PAGE
    assert of(traffic, x) == ([first, first + 1], [])
    assert of(traffic, y) == ([first, first + 1], [first, first + 1])
    assert torch.equal(y[1 << 28:][:n], x[1 << 28:][:n] + 1)
    assert not y[:1 << 28].any() and not y[(1 << 28) + n:].any()


def test_indirect_and_strided_pages(traffic):
    @triton.jit
    def gather(x_ptr, index_ptr, y_ptr, step, BLOCK: tl.constexpr):
        offs = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + tl.load(index_ptr + offs))
        tl.store(y_ptr + offs.to(tl.int64) * step, x, mask=offs % 2 == 0)

    x = torch.arange(1 << 26, dtype=torch.float32, device="cuda")
    y = torch.full_like(x, -1)
    pages = [9, 3, 4, 3000, 3, 8, 5, 4]
    index = torch.tensor([page * PAGE // 4 + 7 for page in pages], device="cuda")
    report = ts.check(gather)[(1,)](x, index, y, PAGE // 4 * 3, BLOCK=8)
    assert report.verdict == "ok", report.text()
    assert of(traffic, x) == ([3, 4, 5, 8, 9, 3000], [])
    assert of(traffic, y) == ([0, 6, 12, 18], [0, 6, 12, 18])
    assert torch.equal(y[::PAGE // 4 * 6][:4], x[index[::2]]) and (y != -1).sum() == 4


def test_atomics_and_descriptors(traffic):
    from triton.tools.tensor_descriptor import TensorDescriptor

    @triton.jit
    def histogram(desc, counts_ptr, step):
        block = desc.load([tl.program_id(0) * 4, 0])
        tl.atomic_add(counts_ptr + block.to(tl.int64) * step, 1)

    x = torch.randint(0, 4, (64, PAGE // 4), dtype=torch.int32, device="cuda")
    counts = torch.zeros(1 << 20, dtype=torch.int32, device="cuda")
    desc = TensorDescriptor.from_tensor(x, [4, 16])
    report = ts.check(histogram)[(2,)](desc, counts, PAGE // 2)
    assert report.verdict == "ok", report.text()
    assert of(traffic, x)[0] == list(range(8)) and of(traffic, counts)[1] == [0, 2, 4, 6]
    assert torch.equal(counts[::PAGE // 2][:4].long(), torch.bincount(x[:8, :16].flatten(), minlength=4))


def test_work_on_other_streams_is_waited_for():
    x, y = torch.zeros(1 << 20, device="cuda"), torch.zeros(1 << 20, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(200):
            x += 1
        assert ts.check(add_one)[(1 << 14,)](x, y, 1 << 20, BLOCK=64).verdict == "ok"
        assert (y == 201).all()


def test_addresses_of_gpu_tensors_in_tables(traffic):
    @triton.jit
    def through(table_ptr, out_ptr, COUNT: tl.constexpr, BLOCK: tl.constexpr):
        offs = tl.arange(0, BLOCK)
        for i in range(COUNT):
            p = tl.load(table_ptr + i).to(tl.pointer_type(tl.float32))
            tl.store(out_ptr + i * BLOCK + offs, tl.load(p + offs))

    tensors = [torch.arange(1 << 20, dtype=torch.float32, device="cuda") + i for i in range(3)]
    table = torch.tensor([ts.data_ptr(t) for t in tensors], device="cuda")
    out = torch.zeros(24, device="cuda")
    report = ts.check(through)[(1,)](table, out, COUNT=3, BLOCK=8)
    assert report.verdict == "ok", report.text()
    assert torch.equal(out, torch.cat([t[:8] for t in tensors]))
    assert all(of(traffic, t) == ([0], []) for t in tensors)


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
