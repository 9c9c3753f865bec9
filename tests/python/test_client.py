"""Clients written in Python: batches in program order, forms written out, findings, errors."""

import numpy as np
import pytest
import triton
import triton.language as tl

import tilesight as ts


@triton.jit
def gather(x_ptr, index_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, tl.load(x_ptr + index, mask=offs < n), mask=offs < n)


@triton.jit
def transpose(x_ptr, y_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m, n = tl.arange(0, BM), tl.arange(0, BN)
    mask = (m < M)[:, None] & (n < N)[None, :]
    x = tl.zeros((BM, BN), tl.float32)
    for _ in range(2):
        x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
    tl.store(y_ptr + (n % N)[None, :] * M + m[:, None], x, mask=mask)


class Recorder(ts.Client):
    name = "recorder"
    needs = {"elements", "programs", "loops", "compute"}

    def __init__(self):
        self.events = []
        self.arguments = []

    def launch_begin(self, launch):
        self.launch = launch

    def argument(self, argument):
        self.arguments.append(argument)

    def launch_end(self, summary):
        self.summary = summary

    def _keep(self, hook):
        return lambda batch: self.events.append((hook, batch))

    def __getattribute__(self, name):
        if name.startswith("on_") or name in ("program_begin", "program_end", "loop_iteration"):
            return self._keep(name)
        return super().__getattribute__(name)

    def rows(self, hook):
        return [(batch, row) for name, batch in self.events if name == hook for row in range(len(batch))]


def offsets(client, argument, addresses):
    start = next(a.address for a in client.arguments if a.name == argument)
    return (addresses - start) // 4


def test_gathers_are_written_out_in_program_order():
    x, index = np.arange(100, dtype=np.float32), np.random.default_rng(0).permutation(100).astype(np.int32)
    y = np.zeros(100, np.float32)
    client = Recorder()
    report = ts.check(gather, client=[client, "sanitizer"])[(2,)](x, index, y, 100, BLOCK=64)
    assert report.verdict == "ok" and (y == x[index]).all()
    assert client.launch.kernel == "gather" and client.launch.grid == (2, 1, 1)
    assert [a.name for a in client.arguments] == ["x_ptr", "index_ptr", "y_ptr", "n", "BLOCK"]
    assert client.arguments[0].allocation_bytes == 400 and client.arguments[3].bits == 100
    assert client.summary.programs == 2
    loads = client.rows("on_load")
    assert [int(batch.program[row]) for batch, row in loads] == [0, 0, 1, 1]
    assert [int(batch.argument[row]) for batch, row in loads] == [1, 0, 1, 0]
    batch, row = loads[3]
    mask = batch.mask(row)
    assert mask.tolist() == [i < 36 for i in range(64)]
    assert (offsets(client, "x_ptr", batch.addresses(row))[mask] == index[64:]).all()
    assert batch.place(row)[:2] == (__file__, 15) and batch.active[row] == 36
    assert [len(batch) for name, batch in client.events if name == "program_begin"]


def test_short_forms_are_written_out_alike():
    M, N = 5, 3
    x, y = np.arange(15, dtype=np.float32), np.zeros(15, np.float32)
    client = Recorder()
    ts.check(transpose, client=client)[(1,)](x, y, M, N, BM=8, BN=4)
    assert (y.reshape(N, M) == x.reshape(M, N).T).all()
    m, n = np.arange(8)[:, None], np.arange(4)[None, :]
    inside = (m < M) & (n < N)
    (load, first), _ = client.rows("on_load")
    assert load.shape(first) == (8, 4) and (load.mask(first) == inside).all()
    assert (offsets(client, "x_ptr", load.addresses(first)) == m * N + n).all()
    ((store, row),) = client.rows("on_store")
    assert (store.mask(row) == inside).all()
    assert (offsets(client, "y_ptr", store.addresses(row)) == n % N * M + m)[inside].all()
    assert [int(batch.trip[row]) for batch, row in client.rows("loop_iteration")] == [0, 1]


class Negative(ts.Client):
    """Reports every store of a program that writes less than a whole tile."""
    name = "partial"

    def on_store(self, batch):
        for row in np.flatnonzero(batch.active < batch.elements):
            batch.report(row, "partial-store", "this store is masked", severity="warning", element=(36,),
                         count=int(batch.elements[row] - batch.active[row]))


def test_findings_have_place_program_and_argument():
    x = np.arange(100, dtype=np.float32)
    report = ts.check(gather, client=Negative())[(2,)](x, np.zeros(100, np.int32), x.copy(), 100, BLOCK=64)
    (finding,) = report.findings
    assert finding.kind == "partial-store" and finding.severity == "warning"
    assert finding.client == "partial" and finding.program == [1, 0, 0] and finding.element == [36]
    assert finding.operand.argument == "y_ptr" and finding.counts.elements == 28
    assert finding.location.file == __file__ and finding.location.line == 15
    assert report.verdict == "ok"  # a warning


def test_an_exception_in_a_hook_reaches_the_launch():
    class Failing(ts.Client):
        def on_load(self, batch):
            raise ZeroDivisionError("mine")

    x = np.zeros(100, np.float32)
    with pytest.raises(ZeroDivisionError, match="mine"):
        ts.check(gather, client=Failing())[(1,)](x, np.zeros(100, np.int32), x, 64, BLOCK=64)


def test_dense_tiles_need_elements():
    class Short(ts.Client):
        def on_load(self, batch):
            for row in range(len(batch)):
                batch.addresses(row)

    x, index = np.zeros(64, np.float32), np.random.default_rng(0).permutation(64).astype(np.int32)
    with pytest.raises(ts.Error, match='add "elements"'):
        ts.check(gather, client=Short())[(1,)](x, index, x.copy(), 64, BLOCK=64)


def test_needs_are_checked():
    client = Recorder()
    client.needs = {"adresses"}
    x = np.zeros(64, np.float32)
    with pytest.raises(ts.Error, match="does not exist"):
        ts.check(gather, client=client)[(1,)](x, np.zeros(64, np.int32), x, 64, BLOCK=64)


@pytest.fixture
def address_only():
    ts.config.address_only = True
    yield
    ts.config.address_only = None


def gathered(needs):
    client = Recorder()
    client.needs = needs
    x, index = np.arange(100, dtype=np.float32) / 4, np.arange(100, dtype=np.int32)[::-1].copy()
    y = np.zeros(100, np.float32)
    report = ts.check(gather, client=client)[(2,)](x, index, y, 100, BLOCK=64)
    assert report.verdict == "ok"
    return client, x, index, y


def test_values_of_loads_and_stores():
    client, x, index, y = gathered({"values"})
    (first, row), (second, other), *_ = client.rows("on_load")
    assert first.values(row).dtype == np.int32 and (first.values(row) == index[:64]).all()
    assert second.values(other).dtype == np.float32 and (second.values(other) == x[index[:64]]).all()
    batch, row = client.rows("on_store")[1]
    assert (batch.values(row)[:36] == x[index[64:]]).all() and batch.mask(row).sum() == 36
    assert batch.before(row) is None and batch.compared(row) is None
    assert (y == x[index]).all()


def test_addresses_need_the_indices_and_no_more(address_only):
    client, x, index, y = gathered({"elements"})
    batch, row = client.rows("on_load")[1]
    assert (offsets(client, "x_ptr", batch.addresses(row)) == index[:64]).all()
    assert not y.any()
    with pytest.raises(ts.Error, match='add "values"'):
        batch.values(row)


def test_values_are_computed_where_outputs_are_not_asked_for(address_only):
    client, x, index, _ = gathered({"values"})
    batch, row = client.rows("on_store")[0]
    assert (batch.values(row) == x[index[:64]]).all()


@triton.jit
def reads_for_nothing(x_ptr, y_ptr):
    tl.load(x_ptr + tl.arange(0, 8))
    tl.store(y_ptr, 1)


def test_values_of_a_load_that_nothing_uses():
    client = Recorder()
    client.needs = {"values"}
    x = np.arange(4, dtype=np.int16)
    report = ts.check(reads_for_nothing, client=[client, "sanitizer"])[(1,)](x, np.zeros(1, np.int32))
    (finding,) = report.findings
    assert finding.severity == "warning" and "result unused" in report.text()  # whatever clients there are
    (batch, row), = client.rows("on_load")
    assert batch.values(row).tolist() == [0, 1, 2, 3, 0, 0, 0, 0]


@triton.jit
def atomics(counter, flag, half, out):
    pid = tl.program_id(0)
    ticket = tl.atomic_add(counter, 2, sem="release", scope="sys")
    tl.atomic_cas(flag, pid, 5)
    tl.store(out + pid, ticket)
    tl.store(half, tl.load(half).to(tl.float32).to(tl.bfloat16))


def test_atomics_tell_operand_before_compared_and_order():
    client = Recorder()
    client.needs = {"values"}
    half = np.array([0x3f80], np.uint16)  # 1.0 as bfloat16, given as its bits

    class Tensor:
        dtype, shape, device = "bfloat16", (1,), "cpu"

        def data_ptr(self):
            return half.ctypes.data

        def stride(self):
            return (1,)

        def numel(self):
            return 1

        def element_size(self):
            return 2

    counter, flag, out = np.array([10], np.int32), np.zeros(1, np.int32), np.zeros(2, np.int32)
    ts.check(atomics, client=client)[(2,)](counter, flag, Tensor(), out)
    from tilesight.batch import SCOPES, SEMS

    adds = [(b, r) for b, r in client.rows("on_atomic") if b.compared(r) is None]
    assert [b.before(r).item() for b, r in adds] == [10, 12] and [b.values(r).item() for b, r in adds] == [2, 2]
    assert all(SEMS[b.sem[r]] == "release" and SCOPES[b.scope[r]] == "sys" for b, r in adds)
    swaps = [(b, r) for b, r in client.rows("on_atomic") if b.compared(r) is not None]
    assert [(b.before(r).item(), b.compared(r).item(), b.values(r).item()) for b, r in swaps] == [(0, 0, 5), (5, 1, 5)]
    halves = [b.values(r) for b, r in client.rows("on_load")]
    assert all(value.dtype == np.uint16 and value.item() == 0x3f80 for value in halves) and halves
    assert [b.sem[r] for b, r in client.rows("on_store")] == [0] * 4
    assert not client.rows("on_copy")


@triton.jit
def product(a, b, c, N: tl.constexpr):
    i, k = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(c + i * N + k, tl.dot(tl.load(a + i * N + k), tl.load(b + i * N + k)))


def test_products_are_announced_without_being_computed(address_only):
    client = Recorder()
    client.needs = {"compute"}
    a, c = np.ones((16, 16), np.float32), np.zeros((16, 16), np.float32)
    ts.check(product, client=client)[(3,)](a, a, c, N=16)
    assert [(int(b.m[r]), int(b.n[r]), int(b.k[r])) for b, r in client.rows("on_dot")] == [(16, 16, 16)] * 3
    assert not c.any()


def test_many_ranges_come_in_program_order():
    ts.config.threads = 2
    n = 64 * 500
    client = Recorder()
    ts.check(gather, client=client)[(500,)](np.zeros(n, np.float32), np.arange(n, dtype=np.int32),
                                            np.zeros(n, np.float32), n, BLOCK=64)
    programs = np.concatenate([batch.program for name, batch in client.events if name == "on_store"])
    assert programs.tolist() == list(range(500))


def test_traced_kernels_take_clients():
    class Count(ts.Client):
        rows = 0

        def on_load(self, batch):
            self.rows += len(batch)

    count = Count()
    traced = ts.trace(client=[count, "sanitizer"])(triton.jit(gather.fn))
    x = np.zeros(64, np.float32)
    traced[(1,)](x, np.zeros(64, np.int32), x.copy(), 64, BLOCK=64)
    assert count.rows == 2
