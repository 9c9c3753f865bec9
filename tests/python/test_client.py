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


@pytest.mark.parametrize("needs, message", [({"values"}, "cannot have values yet"), ({"adresses"}, "does not exist")])
def test_needs_are_checked(needs, message):
    client = Recorder()
    client.needs = needs
    x = np.zeros(64, np.float32)
    with pytest.raises(ts.Error, match=message):
        ts.check(gather, client=client)[(1,)](x, np.zeros(64, np.int32), x, 64, BLOCK=64)


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
