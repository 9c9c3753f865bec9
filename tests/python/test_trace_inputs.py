"""What report.trace computes values from: the program's own tensors, and what it says when they have changed."""

import numpy as np
import pytest
import triton
import triton.language as tl

import tilesight as ts

ROWS, COLUMNS = 4096, 32  # 512 KiB: more than is kept with any client


@triton.jit
def totals(x_ptr, y_ptr, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * COLUMNS + tl.arange(0, COLUMNS))
    total = tl.sum(x)
    if row > 0:
        tl.store(y_ptr + row, total)


def numbers():
    return np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS) % 7


def launch(x=None, y=None):
    x = numbers() if x is None else x
    y = np.full(ROWS, -5, np.float32) if y is None else y
    report = ts.check(totals, client="tracer")[(ROWS,)](x, y, COLUMNS=COLUMNS)
    assert y[1:].tolist() == x[1:].sum(1).tolist()
    return report, x, y


@triton.jit
def double(p_ptr, BLOCK: tl.constexpr):
    at = p_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(at, tl.load(at) * 2)


def add_one(x):
    x += 1


def clear(x):
    x[...] = 0


def fill_last(x):
    x[-1, -1] = 100


def permute(x):
    np.random.default_rng(0).shuffle(x)


def launch_in_place(x):
    ts.check(double, client="sanitizer")[(ROWS,)](x, BLOCK=COLUMNS)


@pytest.mark.parametrize("change", [add_one, clear, fill_last, permute, launch_in_place], ids=lambda f: f.__name__)
def test_a_changed_input_is_an_error(change):
    report, x, _ = launch()
    expected = x[4000].sum()
    assert report.trace.at("total", program=4000) == expected
    change(x)
    with pytest.raises(ts.Error, match="tensor x_ptr has .*(changed|later launch).*cannot be computed again.*keep_inputs"):
        report.trace.at("total", program=4000)
    with pytest.raises(ts.Error, match="tensor x_ptr has"):
        report.save("never-written.tsb")


def test_a_later_launch_is_known_though_it_changed_nothing_that_is_looked_at():
    report, x, _ = launch(np.zeros((ROWS, COLUMNS), np.float32))
    launch_in_place(x)  # zeros stay zeros
    with pytest.raises(ts.Error, match="tensor x_ptr has been given to a later launch, of double, that may have written it"):
        report.trace.at("total", program=4000)


def test_a_later_launch_on_other_memory_changes_nothing():
    whole = np.zeros((2 * ROWS, COLUMNS), np.float32)
    report, x, _ = launch(whole[:ROWS].copy())
    launch_in_place(whole[ROWS:])
    launch(x)  # reads it, too
    assert report.trace.at("total", program=4000) == 0


class Counted(np.ndarray):
    """An array that counts what changes it, as tensors of torch do."""

    _version = 0

    def __setitem__(self, index, value):
        self._version += 1
        super().__setitem__(index, value)


def test_tensors_that_count_their_changes_are_asked():
    report, x, _ = launch(numbers().view(Counted))
    assert report.trace.at("total", program=4000) == x[4000].sum()
    x[156, 8] = 1000
    with pytest.raises(ts.Error, match="tensor x_ptr has changed since the launch"):
        report.trace.at("total", program=4000)


# Bytes 20000 to 20003: between the lines that are looked at, one in every 1025 bytes.
UNSEEN = (156, 8)


def test_an_unseen_change_is_noticed_by_what_the_program_stores():
    report, x, _ = launch()
    expected = x[157].sum()
    x[UNSEEN] = 1000
    with pytest.raises(ts.Error, match=r"program \(156, 0, 0\) stores to tensor y_ptr something else than it holds now.*"
                                       "has changed since the launch.*keep_inputs"):
        report.trace.at("total", program=156)
    assert report.trace.at("total", program=157) == expected, "what it read is as it was"


@triton.jit
def last_wins(x_ptr, y_ptr, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * COLUMNS + tl.arange(0, COLUMNS))
    total = tl.sum(x)
    tl.store(y_ptr, total)
    tl.store(y_ptr + 1 + row, total + 1)
    tl.store(y_ptr + 1 + row, total)


def test_what_several_programs_or_turns_store_is_no_change():
    x, y = numbers(), np.zeros(1 + ROWS, np.float32)
    report = ts.check(last_wins, client="tracer")[(ROWS,)](x, y, COLUMNS=COLUMNS)
    for program in (0, 156, 4000):
        assert report.trace.at("total", program=program) == x[program].sum()


def test_no_value_depends_on_what_is_only_written():
    report, x, y = launch()
    y[:] = 7
    assert report.trace.at("total", program=4000) == x[4000].sum()
    launch_in_place(y[:, None])
    assert report.trace.at("total", program=156) == x[156].sum()


def test_what_was_only_written_must_be_there_to_be_compared():
    report, x, y = launch()
    right = y.copy()
    assert "agree" in str(report.trace.explain(y_ptr=right)) or report.trace.explain(y_ptr=right) is None
    right[0] = 1
    text = str(report.trace.explain(y_ptr=right))
    assert "no program writes it: it is -5 as before the launch" in text
    y[:] = 7
    with pytest.raises(ts.Error, match="tensor y_ptr has changed since the launch, and what the launch found in it was not kept.*keep_inputs"):
        report.trace.explain(y_ptr=right)


def test_a_launch_is_saved_while_all_of_it_is_there(tmp_path):
    report, x, y = launch()
    report.save(tmp_path / "run.tsb")
    loaded = ts.load(tmp_path / "run.tsb")[0]
    assert loaded.trace.at("total", program=4000) == x[4000].sum()
    y += 1
    with pytest.raises(ts.Error, match="tensor y_ptr has changed since the launch, so the launch cannot be saved.*keep_inputs"):
        report.save(tmp_path / "again.tsb")


def test_keep_inputs_keeps_all(tmp_path):
    ts.config.keep_inputs = "8M"
    report, x, y = launch()
    expected = x[156].sum()
    right = y.copy()
    x[...] = 0
    y[...] = 0
    assert report.trace.at("total", program=156) == expected
    right[0] = 1
    assert "it is -5 as before the launch" in str(report.trace.explain(y_ptr=right))
    report.save(tmp_path / "run.tsb")


def test_one_tensor_that_is_read_and_written_is_copied():
    both = np.zeros((ROWS + ROWS // COLUMNS, COLUMNS), np.float32)
    both[:ROWS] = numbers()
    x, y = both[:ROWS], both[ROWS:].reshape(-1)
    expected = x[4000].sum()
    report, *_ = launch(x, y)
    both[...] = 3
    assert report.trace.at("total", program=4000) == expected


@triton.jit
def through_address(x_ptr, table_ptr, y_ptr, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    at = tl.load(table_ptr).to(tl.pointer_type(tl.float32))
    before = tl.load(y_ptr + row)
    total = tl.sum(tl.load(x_ptr + row * COLUMNS + tl.arange(0, COLUMNS)))
    tl.store(at + row, total + before)


def test_where_a_pointer_may_lead_anywhere_all_is_copied():
    x, y = numbers(), np.zeros(ROWS, np.float32)
    table = np.array([y.ctypes.data], np.int64)
    report = ts.check(through_address, client="tracer")[(ROWS,)](x, table, y, COLUMNS=COLUMNS)
    expected = x[4000].sum()
    x[...] = 0
    y[...] = 0
    assert report.trace.at("total", program=4000) == expected
    assert report.trace.at("before", program=4000) == 0
