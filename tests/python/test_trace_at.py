"""report.trace.at: values of any program, computed again after the launch."""

import inspect

import numpy as np
import pytest
import triton
import triton.language as tl

import tilesight as ts


def line_of(kernel, text):
    """The line in this file that has `text`, in the kernel."""
    lines, first = inspect.getsourcelines(kernel.fn)
    return next(first + i for i, line in enumerate(lines) if text in line)


@triton.jit
def rows(x_ptr, y_ptr, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        at = x_ptr + row * stride + offs
        inside = offs < n
        x = tl.load(at, mask=inside, other=0.0)
        acc += x * 2
    total = tl.sum(acc)
    if row > 1:
        late = total + 1
        tl.store(y_ptr + row, late)
    else:
        tl.store(y_ptr + row, total)


def launch(client="tracer", rows_=4, n=20, x=None):
    x = np.arange(rows_ * 32, dtype=np.float32).reshape(rows_, 32) if x is None else x
    y = np.zeros(rows_, np.float32)
    report = ts.check(rows, client=client)[(rows_,)](x, y, n, 32, BLOCK=8)
    assert np.allclose(y, x[:, :n].sum(1) * 2 + (np.arange(rows_) > 1))
    return report, x


LOAD, OFFS, AT, INSIDE, ACC, TOTAL, LATE = (line_of(rows, text) for text in (
    "x = tl.load", "offs = start", "at = x_ptr", "inside =", "acc +=", "total =", "late ="))


def test_tiles_by_line_name_program_and_turn():
    report, x = launch()
    tile = report.trace.at(line=LOAD, name="x", program=(3, 0, 0), trip={"start": 1})
    assert isinstance(tile, np.ndarray) and tile.dtype == np.float32 and tile.element == "f32"
    assert tile.tolist() == x[3, 8:16].tolist()
    assert report.trace.at(line=LOAD, name="x", program=3, where={"start": 8}).tolist() == x[3, 8:16].tolist()
    last = report.trace.at(line=LOAD, name="x", program=3)
    assert last.tolist() == [*x[3, 16:20], 0, 0, 0, 0], "the last turn, without a trip"
    assert report.trace.at(line=ACC, name="acc", program=(1,), trip={"start": 0}).tolist() == (x[1, :8] * 2).tolist()
    assert report.trace.at("acc", program=1, occurrence=0).tolist() == (x[1, :8] * 2).tolist()


def test_scalars_masks_and_integers():
    report, x = launch()
    total = report.trace.at(line=TOTAL, name="total", program=2)
    assert type(total) is float and total == x[2, :20].sum() * 2
    row = report.trace.at(name="row", program=2)
    assert type(row) is int and row == 2
    inside = report.trace.at(line=INSIDE, name="inside", trip={"start": 2})
    assert inside.dtype == np.bool_ and inside.tolist() == [True] * 4 + [False] * 4
    offs = report.trace.at(line=OFFS, name="offs", trip={"start": 2})
    assert offs.dtype == np.int32 and offs.tolist() == list(range(16, 24))
    assert report.trace.at(name="start", trip={"start": 2}) == 16


def test_pointers_say_tensor_and_element():
    report, x = launch()
    at = report.trace.at(line=AT, name="at", program=2, trip={"start": 1})
    assert at.tensor == "x_ptr" and at.shape == (8,) and at.offsets.tolist() == list(range(2 * 32 + 8, 2 * 32 + 16))
    assert at.indices[0].tolist() == [2] * 8 and at.indices[1].tolist() == list(range(8, 16))
    assert x[at.indices].tolist() == x[2, 8:16].tolist()
    assert np.diff(at.addresses).tolist() == [4] * 7
    assert repr(at) == "<pointers (8,) into x_ptr, elements 72 to 79>"


def test_by_operation():
    report, x = launch()
    trace = report.trace
    (load,) = [record for record in trace.of(3) if record.kind == "load"][:1]
    assert trace.at(op=load.op, program=3, trip={"start": 0}).tolist() == x[3, :8].tolist()
    assert trace.at(op=load.op, operand=1, program=3).tolist() == [True] * 4 + [False] * 4


def test_names_and_history():
    report, x = launch()
    assert report.trace.names(line=LOAD) == ["x"]
    names = report.trace.names()
    assert names[ACC] == ["acc"] and names[LATE] == ["late"]
    turns = report.trace.history("acc", line=ACC, program=1)
    assert [turn.trip["start"] for turn in turns] == [0, 1, 2]
    assert [turn.variables["start"] for turn in turns] == [0, 8, 16]
    assert turns[1].value.tolist() == ((x[1, :8] + x[1, 8:16]) * 2).tolist()


@pytest.mark.parametrize("query, message", [
    (dict(line=LOAD, name="y"), f'no "y" gets a value on line {LOAD} of test_trace_at.py: there are x'),
    (dict(line=ACC, name="x"), f'no "x" gets a value on line {ACC} of test_trace_at.py: there are acc'),
    (dict(line=LOAD, name="x", trip={"start": 3}), 'program (0, 0, 0) comes to "x" in turns 0 to 2 of start, not in turn 3'),
    (dict(line=LOAD, name="x", trip={"k": 0}), '"x" is in no loop over "k"'),
    (dict(line=LOAD, name="x", program=(4, 0, 0)), "there is no program (4, 0, 0): the grid is (4, 1, 1)"),
    (dict(line=LOAD, name="x", program="a"), "it must be x, (x, y) or (x, y, z): the grid is (4, 1, 1)"),
    (dict(line=LATE, name="late", program=1), 'program (1, 0, 0) does not come to "late"'),
    (dict(op=100000), "the kernel has no operation 100000"),
    (dict(), "which value?"),
    (dict(name="x", trip=3), "it must be a dict of loop variables"),
])
def test_errors_say_what_there_is(query, message):
    report, _ = launch()
    with pytest.raises(ts.Error) as error:
        report.trace.at(**query)
    assert message in str(error.value)


def test_small_launches_keep_their_inputs_with_any_client():
    report, x = launch(client="sanitizer")
    before = x.copy()
    x[:] = -1
    assert report.trace.at(line=LOAD, name="x", trip={"start": 0}).tolist() == before[0, :8].tolist()
    assert ts.launches[-1].trace.at("total", program=3) == before[3, :20].sum() * 2


def big():
    return np.arange(4096 * 32, dtype=np.float32).reshape(4096, 32) % 7


def test_large_launches_need_the_tracer():
    report, _ = launch(client="sanitizer", rows_=4096, x=big())
    with pytest.raises(ts.Error, match='were not kept.*client="tracer".*keep_inputs.*--save'):
        report.trace.at("total")


def test_the_tracer_shares_what_the_launch_does_not_write():
    report, x = launch(rows_=4096, x=big())
    assert report.trace.at("total", program=4000) == x[4000, :20].sum() * 2
    x[5:50] = 100
    with pytest.raises(ts.Error, match="tensor x_ptr has changed since the launch.*keep_inputs"):
        report.trace.at("total", program=4000)


def test_a_tensor_lives_as_long_as_its_report():
    report, x = launch(rows_=4096, x=big())
    expected = x[7, :20].sum() * 2
    del x
    assert report.trace.at("total", program=7) == expected


@triton.jit
def add_in_place(x_ptr, BLOCK: tl.constexpr):
    at = x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(at)
    tl.store(at, x + 1)


def test_what_the_launch_overwrites_is_kept():
    x = np.zeros(1 << 17, np.float32)
    report = ts.check(add_in_place, client="tracer")[(1 << 7,)](x, BLOCK=1 << 10)
    assert (x == 1).all()
    x[:] = 5
    assert (report.trace.at("x", program=9) == 0).all()


@triton.jit
def chain(c_ptr):
    pid = tl.program_id(0)
    ticket = tl.atomic_add(c_ptr, 1)
    before = tl.load(c_ptr + 1)
    tl.store(c_ptr + 1, before + pid)


def test_reads_of_what_others_wrote_and_atomics():
    c = np.array([10, 0], np.int32)
    report = ts.check(chain, client="tracer")[(5,)](c)
    assert c.tolist() == [15, 10]
    assert [report.trace.at("ticket", program=p) for p in (4, 0, 2)] == [14, 10, 12]
    assert [report.trace.at("before", program=p) for p in range(5)] == [0, 0, 1, 3, 6]


def test_from_a_bundle(tmp_path):
    report, x = launch(client="sanitizer")
    report.save(tmp_path / "run.tsb")
    loaded = ts.load(tmp_path / "run.tsb")[0]
    assert loaded.trace.at(line=LOAD, name="x", program=3, trip={"start": 1}).tolist() == x[3, 8:16].tolist()
    loaded.save(tmp_path / "again.tsb")
    assert ts.load(tmp_path / "again.tsb")[0].trace.at("total", program=3) == x[3, :20].sum() * 2


@triton.jit
def formats(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    half = x.to(tl.float16)
    brain = x.to(tl.bfloat16)
    eight = x.to(tl.float8e5)
    one = tl.sum(brain.to(tl.float32)).to(tl.bfloat16)
    tl.store(y_ptr + offs, half.to(tl.float32) + brain.to(tl.float32) + eight.to(tl.float32) + one)


def test_formats():
    x = np.array([1.0, 1 + 2**-7, 3.1, 300.0], np.float32)
    report = ts.check(formats, client="tracer")[(1,)](x, np.zeros(4, np.float32), BLOCK=4)
    half, brain, eight = (report.trace.at(name) for name in ("half", "brain", "eight"))
    assert half.dtype == np.float16 and half.tolist() == x.astype(np.float16).tolist()
    assert brain.dtype == np.float32 and brain.element == "bf16" and brain.tolist() == [1.0, 1 + 2**-7, 3.09375, 300.0]
    assert eight.dtype == np.float32 and eight.element == "f8E5M2" and eight.tolist() == [1.0, 1.0, 3.0, 320.0]
    assert report.trace.at("one") == 306.0
