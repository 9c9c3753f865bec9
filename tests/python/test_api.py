"""@ts.trace, ts.check, reports, ts.launches, bundles."""

import threading

import numpy as np
import pytest
import triton
import triton.language as tl

import tilesight as ts
from tilesight.capture import hook


@triton.jit
def shift(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(y_ptr + offs, x + 1, mask=offs < n)


@ts.trace(client="sanitizer")
@triton.jit
def traced_shift(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(y_ptr + offs, x + 1, mask=offs < n)


@pytest.fixture
def arrays():
    return np.arange(100, dtype=np.float32), np.zeros(100, np.float32)


def test_check_reports_and_computes(arrays):
    x, y = arrays
    report = ts.check(shift)[(2,)](x, y, 100, BLOCK=64)
    assert (y == x + 1).all()
    assert report.verdict == "finding"
    assert report.kernel == "shift" and report.grid == (2, 1, 1)
    (finding,) = report.findings
    assert finding.kind == "out-of-bounds" and finding.severity == "error"
    assert finding.operand.argument == "x_ptr"
    assert finding.location.file == __file__ and finding["location"]["line"] == 17
    assert "x_ptr" in report.text() and "tt.func" in report.ir
    with pytest.raises(AttributeError, match="no field 'colour'"):
        finding.colour


def test_clean_launch(arrays):
    x, y = arrays
    report = ts.check(shift, client=["sanitizer", "tracer"])[lambda meta: (1,)](x, y, 64, BLOCK=64)
    assert report.verdict == "ok" and report.findings == []
    assert "bounds" in report.checked and "races" in report.not_checked
    report.raise_for_findings()


def test_raise_for_findings_has_the_report(arrays):
    report = ts.check(shift)[(2,)](*arrays, 100, BLOCK=64)
    with pytest.raises(ts.FindingsError, match="out-of-bounds") as raised:
        report.raise_for_findings()
    assert raised.value.report is report


def test_print(arrays, capsys):
    report = ts.check(shift)[(2,)](*arrays, 100, BLOCK=64)
    print(report)
    assert "out-of-bounds" in report.text() and capsys.readouterr().out == report.text()


def test_under_pytest_findings_raise(arrays):
    with pytest.raises(ts.FindingsError, match="x_ptr"):
        traced_shift[(2,)](*arrays, 100, BLOCK=64)
    assert (arrays[1] == arrays[0] + 1).all()


def test_print_says_each_finding_once(arrays, capsys):
    ts.config.on_finding = "print"
    for _ in range(3):
        traced_shift[(2,)](*arrays, 100, BLOCK=64)
    assert capsys.readouterr().err.count("error: out-of-bounds") == 1


def test_collect_says_nothing(arrays, capsys):
    ts.config.on_finding = "collect"
    traced_shift[(2,)](*arrays, 100, BLOCK=64)
    assert capsys.readouterr().err == ""
    assert ts.launches[-1].verdict == "finding" and len(ts.launches) == 1
    ts.clear()
    assert len(ts.launches) == 0


def test_finding_names_the_test(arrays):
    report = ts.check(shift)[(2,)](*arrays, 100, BLOCK=64)
    assert report.findings[0].test.endswith("test_api.py::test_finding_names_the_test")


def test_unknown_client_is_refused(arrays):
    with pytest.raises(ts.Error, match="no client"):
        ts.check(shift, client="sanitiser")[(2,)](*arrays, 100, BLOCK=64)


def test_check_wants_a_client_not_its_class():
    class Bytes(ts.Client):
        name = "bytes"

    with pytest.raises(ts.Error, match=r"Bytes is a class: give an instance of it, Bytes\(\)"):
        ts.check(shift, client=Bytes)
    with pytest.raises(ts.Error, match="is a class"):
        ts.config.client = Bytes


def test_check_wants_a_grid(arrays):
    with pytest.raises(ts.Error, match=r"ts\.check\(kernel\)\[grid\]"):
        ts.check(shift)(*arrays, 100, BLOCK=64)


def test_check_wants_a_kernel():
    with pytest.raises(ts.Error, match="no Triton kernel"):
        ts.check(len)


def test_launches_from_threads(arrays):
    x, y = arrays
    reports = []
    def work():
        reports.append(ts.check(shift)[(1,)](x, np.zeros(100, np.float32), 64, BLOCK=64))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [report.verdict for report in reports] == ["ok"] * 4


def test_an_empty_grid_does_nothing(arrays):
    x, y = arrays
    report = ts.check(shift)[(0,)](x, y, 100, BLOCK=64)
    assert report.verdict == "ok" and (y == 0).all()


def test_views_are_written_in_place():
    whole = np.zeros((8, 10), np.float32)

    @triton.jit
    def fill(x_ptr, stride_m, stride_n, M, N, BLOCK: tl.constexpr):
        m = tl.arange(0, BLOCK)[:, None]
        n = tl.arange(0, BLOCK)[None, :]
        tl.store(x_ptr + m * stride_m + n * stride_n, m * 10 + n, mask=(m < M) & (n < N))

    view = whole[::-2, 1:4]
    strides = [step // 4 for step in view.strides]
    report = ts.check(fill)[(1,)](view, *strides, 4, 3, BLOCK=4)
    assert report.verdict == "ok", report.text()
    assert view.tolist() == [[0, 1, 2], [10, 11, 12], [20, 21, 22], [30, 31, 32]]
    assert (whole[::2] == 0).all() and whole[:, 0].sum() == 0


def test_outside_the_view_but_inside_the_allocation():
    whole = np.zeros(100, np.float32)
    report = ts.check(shift)[(1,)](whole[:50], np.zeros(64, np.float32), 50, BLOCK=64)
    assert [finding.kind for finding in report.findings] == ["out-of-view"]


@pytest.mark.parametrize("frozen", [lambda y: np.frombuffer(bytes(y), np.float32),
                                    lambda y: np.broadcast_to(y, y.shape)])
def test_stores_to_read_only_arrays_are_findings(frozen):
    x = np.ones(64, np.float32)
    y = frozen(np.zeros(64, np.float32))
    assert not y.flags.writeable
    report = ts.check(shift)[(1,)](x, y, 64, BLOCK=64)
    findings = [finding for finding in report.findings if finding.kind == "read-only-write"]
    (finding,) = findings
    assert finding.severity == "error" and finding.operand.argument == "y_ptr"
    assert "store to y_ptr writes memory that was passed as read-only" in report.text()
    assert (y == 0).all()


def test_atomics_on_read_only_arrays_are_findings():
    @triton.jit
    def count(x_ptr, out_ptr):
        tl.atomic_add(x_ptr, 1)
        tl.store(out_ptr, tl.load(x_ptr))

    x, out = np.array([3], np.int32), np.zeros(1, np.int32)
    x.flags.writeable = False
    report = ts.check(count)[(1,)](x, out)
    assert [(f.kind, f.operand.argument) for f in report.findings] == [("read-only-write", "x_ptr")]
    assert x[0] == 3 and out[0] == 3


def test_another_view_of_the_same_array_may_be_written():
    x = np.ones(128, np.float32)
    y, frozen = x[64:], x[:64]
    frozen.flags.writeable = False
    report = ts.check(shift)[(1,)](frozen, y, 64, BLOCK=64)
    assert "read-only-write" not in {finding.kind for finding in report.findings}


def test_autotuned_kernels_and_their_configuration(arrays):
    kernel = triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 32})], key=["n"])(shift)
    report = ts.check(kernel)[lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)](*arrays, 100)
    assert report.grid == (2, 1, 1)
    assert report.findings[0].config["autotune"]["of"] == 2


def test_save_and_load(arrays, tmp_path):
    ts.config.on_finding = "collect"
    traced_shift[(2,)](*arrays, 100, BLOCK=64)
    ts.save(tmp_path / "run.tsb")
    first = ts.launches[-1]
    (again,) = ts.load(tmp_path / "run.tsb")
    strip = lambda finding: {k: v for k, v in finding.items() if k not in ("bundle", "test")}
    assert [strip(f) for f in again.findings] == [strip(f) for f in first.findings]
    assert list(ts.launches) == [first]  # loading adds none to them


def test_large_launches_say_that_their_inputs_are_gone(tmp_path):
    ts.config.on_finding = "collect"
    x = np.zeros(1 << 20, np.float32)
    traced_shift[(1,)](x, x, 64, BLOCK=64)
    with pytest.raises(ts.Error, match="inputs of a launch of traced_shift are gone"):
        ts.save(tmp_path / "run.tsb")
    ts.clear()
    ts.config.keep_inputs = "8M"
    traced_shift[(1,)](x, x, 64, BLOCK=64)
    ts.save(tmp_path / "run.tsb")
    assert (tmp_path / "run.tsb").exists()


def test_nothing_to_save(tmp_path):
    with pytest.raises(ts.Error, match="no launch"):
        ts.save(tmp_path / "run.tsb")


def test_loading_what_is_no_bundle(tmp_path):
    (tmp_path / "x.tsb").write_text("no")
    with pytest.raises(ts.Error, match="x.tsb"):
        ts.load(tmp_path / "x.tsb")


def test_device_asserts():
    @triton.jit
    def asserting(x_ptr, n):
        tl.device_assert(n < 5, "n is small")
        tl.store(x_ptr, n)

    report = ts.check(asserting)[(1,)](np.zeros(4, np.int32), 7)
    assert [finding.kind for finding in report.findings] == ["assert-failed"]


@triton.jit
def through_table(table_ptr, out_ptr, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    for i in range(COUNT):
        p = tl.load(table_ptr + i).to(tl.pointer_type(tl.float32))
        tl.store(out_ptr + i * BLOCK + offs, tl.load(p + offs))


def test_pointers_in_a_tensor_resolve_to_remembered_arrays():
    x, y = np.arange(8, dtype=np.float32), np.arange(16, dtype=np.float32)
    table = np.array([ts.data_ptr(x), ts.data_ptr(y[4:])], np.int64)
    out = np.zeros(16, np.float32)
    report = ts.check(through_table)[(1,)](table, out, COUNT=2, BLOCK=8)
    assert report.verdict == "ok", report.text()
    assert out.tolist() == [*range(8), *range(4, 12)]


def test_pointers_to_arrays_that_are_gone_are_foreign():
    gone = np.arange(100_000, dtype=np.float32)  # large, so that no array takes its place
    table = np.array([ts.data_ptr(gone)], np.int64)
    del gone
    report = ts.check(through_table)[(1,)](table, np.zeros(8, np.float32), COUNT=1, BLOCK=8)
    assert [finding.kind for finding in report.findings] == ["foreign-pointer"]


def test_descriptors_larger_than_their_tensor_are_judged_where_they_are_accessed(tmp_path):
    from triton.tools.tensor_descriptor import TensorDescriptor

    @triton.jit
    def move(d, n, BLOCK: tl.constexpr):
        d.store([n + BLOCK, 0], d.load([n, 0]))

    hook.install()
    descriptor = TensorDescriptor(np.zeros((64, 64), np.float16), [200, 64], [64, 1], [8, 32])
    assert ts.check(move)[(1,)](descriptor, 4, 8).verdict == "ok"
    ts.config.keep_inputs = "64M"
    for n, elements in ((52, {"write": 4 * 32}), (180, {"read": 8 * 32, "write": 8 * 32})):
        report = ts.check(move)[(1,)](descriptor, n, 8)
        assert {f.access.kind: f.counts.elements for f in report.findings if f.kind == "out-of-bounds"} == elements
    report.save(tmp_path / "large.tsb")
    (again,) = ts.load(tmp_path / "large.tsb")
    assert {f.kind for f in again.findings} == {"out-of-bounds"}


def test_a_kernel_under_triton_s_interpreter_cannot_be_checked(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    from triton.runtime.interpreter import InterpretedFunction

    def kernel(x):
        pass

    with pytest.raises(ts.Error, match="kernel runs under Triton's interpreter.*TRITON_INTERPRET=1"):
        ts.check(InterpretedFunction(kernel))


def test_the_oldest_launches_lose_their_inputs_first(arrays, monkeypatch):
    """What ts.launches holds of inputs is bounded; the last launch's stay, however large they are."""
    from tilesight import session

    def launched(times=1):
        for _ in range(times):
            traced_shift[(1,)](*arrays, 64, BLOCK=64)
        return [launch.native.has_inputs for launch in ts.launches]

    launched()
    one = ts.launches[-1].native.input_bytes
    assert one > 0
    monkeypatch.setattr(session, "INPUT_BUDGET", 3 * one)
    assert launched(4) == [False, False, True, True, True]
    monkeypatch.setattr(session, "INPUT_BUDGET", 0)
    assert launched() == [False] * 5 + [True]
    ts.clear()
    monkeypatch.setattr(session, "INPUT_BUDGET", one)
    assert launched() == [True]
    monkeypatch.setattr(session, "INPUT_BUDGET", session.RING * one)
    assert launched(session.RING + 8) == [True] * session.RING, "those that ts.launches has forgotten do not count"
