"""Backward slices through branches, bounds of loops, and what other programs wrote. Twins: the same kernel with and
without the dependence."""

import numpy as np
import triton
import triton.language as tl

import tilesight as ts


def slice_of(kernel, grid, tensor, index, *args, **options):
    report = ts.check(kernel, client="tracer")[grid](*args, **options)
    return report.trace.slice(tensor, index)


def boxes(slice_, tensor):
    return slice_.inputs[tensor]["boxes"] if tensor in slice_.inputs else None


def variables(slice_):
    return [link["name"] for link in slice_.chain if not link["stored"]]


@triton.jit
def branch(flag_ptr, x_ptr, y_ptr, LOOKS: tl.constexpr):
    pid = tl.program_id(0)
    flag = tl.load(flag_ptr + pid)
    value = tl.load(x_ptr + pid)
    if LOOKS:
        if flag > 3:
            value = 0.0
    tl.store(y_ptr + pid, value)


def branch_slice(index, looks):
    flags, x, y = np.array([1, 9, 2], np.int32), np.arange(3, dtype=np.float32) + 5, np.zeros(3, np.float32)
    return slice_of(branch, (3,), "y_ptr", index, flags, x, y, LOOKS=looks)


def test_the_condition_of_a_branch():
    taken, not_taken, twin = branch_slice(1, True), branch_slice(2, True), branch_slice(1, False)
    assert boxes(taken, "flag_ptr") == [(slice(1, 2),)] and boxes(taken, "x_ptr") is None, "the constant was chosen"
    assert boxes(not_taken, "flag_ptr") == [(slice(2, 3),)] and boxes(not_taken, "x_ptr") == [(slice(2, 3),)]
    assert "flag" in variables(taken) and "condition" in variables(taken)
    assert boxes(twin, "flag_ptr") is None and boxes(twin, "x_ptr") == [(slice(1, 2),)]
    assert "condition" not in variables(twin)


@triton.jit
def bound(n_ptr, x_ptr, y_ptr, LOADED: tl.constexpr):
    pid = tl.program_id(0)
    n = 2
    if LOADED:
        n = tl.load(n_ptr + pid)
    total = 0.0
    for i in range(0, n):
        total += tl.load(x_ptr + i)
    tl.store(y_ptr + pid, total)


def bound_slice(index, loaded):
    n, x, y = np.array([2, 0, 3], np.int32), np.arange(4, dtype=np.float32) + 1, np.zeros(3, np.float32)
    return slice_of(bound, (3,), "y_ptr", index, n, x, y, LOADED=loaded)


def test_the_bound_of_a_loop():
    some, none, twin = bound_slice(2, True), bound_slice(1, True), bound_slice(2, False)
    assert boxes(some, "n_ptr") == [(slice(2, 3),)] and boxes(some, "x_ptr") == [(slice(0, 3),)]
    assert boxes(none, "n_ptr") == [(slice(1, 2),)] and boxes(none, "x_ptr") is None, "no turn, because of n"
    assert boxes(twin, "n_ptr") is None and boxes(twin, "x_ptr") == [(slice(0, 2),)]


@triton.jit
def first_zero(x_ptr, y_ptr, limit):
    i = 0
    while (i < limit) & (tl.load(x_ptr + i) != 0):
        i += 1
    tl.store(y_ptr, i)


def test_the_condition_of_a_while_loop():
    x, y = np.array([3, 1, 4, 0, 5], np.int32), np.zeros(1, np.int32)
    slice_ = slice_of(first_zero, (1,), "y_ptr", 0, x, y, 5)
    assert y[0] == 3
    assert boxes(slice_, "x_ptr") == [(slice(0, 4),)], "the zero that ended it, too"
    assert slice_.scalars == ["limit"]


def test_a_while_loop_without_a_turn():
    x, y = np.array([0, 1], np.int32), np.ones(1, np.int32)
    slice_ = slice_of(first_zero, (1,), "y_ptr", 0, x, y, 2)
    assert y[0] == 0 and boxes(slice_, "x_ptr") == [(slice(0, 1),)]


@triton.jit
def early(n_ptr, x_ptr, y_ptr):
    pid = tl.program_id(0)
    if pid >= tl.load(n_ptr):
        return
    tl.store(y_ptr + pid, tl.load(x_ptr + pid))


def test_what_is_done_since_there_was_no_early_return():
    n, x, y = np.array([2], np.int32), np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    slice_ = slice_of(early, (4,), "y_ptr", 1, n, x, y)
    assert boxes(slice_, "n_ptr") == [(slice(0, 1),)] and boxes(slice_, "x_ptr") == [(slice(1, 2),)]


@triton.jit
def nested(skip_ptr, n_ptr, x_ptr, y_ptr):
    total = 0.0
    for i in range(0, tl.load(n_ptr)):
        if tl.load(skip_ptr + i) == 0:
            total += tl.load(x_ptr + i)
    after = tl.load(skip_ptr + 7)
    if after > 100:
        total += 1.0
    tl.store(y_ptr, total)
    tl.store(y_ptr + 1, tl.load(x_ptr + 7))


def test_branches_in_loops_and_behind_them():
    skip, n, x = np.array([0, 1, 0, 0, 0, 0, 0, 5], np.int32), np.array([3], np.int32), np.arange(8, dtype=np.float32)
    report = ts.check(nested, client="tracer")[(1,)](skip, n, x, np.zeros(2, np.float32))
    slice_ = report.trace.slice("y_ptr", 0)
    assert boxes(slice_, "skip_ptr") == [(slice(0, 3),), (slice(7, 8),)]
    assert boxes(slice_, "x_ptr") == [(slice(0, 1),), (slice(2, 3),)] and boxes(slice_, "n_ptr") == [(slice(0, 1),)]
    after = report.trace.slice("y_ptr", 1)
    assert set(after.inputs) == {"x_ptr"}, "loop and branch have ended before it"


@triton.jit
def running_sum(x_ptr):
    pid = tl.program_id(0)
    before = tl.load(x_ptr + pid - 1, mask=pid > 0, other=0.0)
    here = tl.load(x_ptr + pid)
    tl.store(x_ptr + pid, before + here)


def test_what_programs_before_it_wrote():
    x = np.arange(1, 6, dtype=np.float32)
    slice_ = slice_of(running_sum, (5,), "x_ptr", 3, x)
    assert x[3] == 10
    assert boxes(slice_, "x_ptr") == [(slice(0, 4),)] and not slice_.inputs["x_ptr"]["written_by_the_launch"]
    assert slice_.program == (3, 0, 0)
    assert [link["program"][0] for link in slice_.chain if link["stored"]] == [2, 1, 0]
    stored = next(link for link in slice_.chain if link["stored"])
    assert stored["name"] == "x_ptr" and stored["elements"]["boxes"] == [(slice(2, 3),)]
    assert "x_ptr[2]: stored by program (2, 0, 0)" in str(slice_)


@triton.jit
def two_phases(a_ptr, t_ptr, y_ptr, FROM_OTHERS: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    if pid == 0:
        tl.store(t_ptr + offs, tl.load(a_ptr + offs) * 2)
    else:
        if FROM_OTHERS:
            value = tl.load(t_ptr + BLOCK - 1 - offs)
        else:
            value = tl.load(t_ptr + BLOCK + offs)
        tl.store(y_ptr + offs, value)


def test_twins_that_read_what_a_program_wrote_and_what_was_there():
    a, t = np.arange(8, dtype=np.float32), np.ones(16, np.float32)
    other = slice_of(two_phases, (2,), "y_ptr", 2, a, t.copy(), np.zeros(8, np.float32), FROM_OTHERS=True, BLOCK=8)
    assert boxes(other, "a_ptr") == [(slice(5, 6),)] and boxes(other, "t_ptr") is None
    own = slice_of(two_phases, (2,), "y_ptr", 2, a, t.copy(), np.zeros(8, np.float32), FROM_OTHERS=False, BLOCK=8)
    assert boxes(own, "a_ptr") is None and boxes(own, "t_ptr") == [(slice(10, 11),)]
    assert not own.inputs["t_ptr"]["written_by_the_launch"], "nobody wrote that element before it was read"


@triton.jit
def last_one_adds_up(x_ptr, total_ptr, count_ptr, y_ptr):
    pid = tl.program_id(0)
    tl.atomic_add(total_ptr, tl.load(x_ptr + pid))
    ticket = tl.atomic_add(count_ptr, 1)
    if ticket == tl.num_programs(0) - 1:
        tl.store(y_ptr, tl.load(total_ptr))


def test_atomic_updates_of_all_programs_before_it():
    x, y = np.arange(1, 5, dtype=np.float32), np.zeros(1, np.float32)
    slice_ = slice_of(last_one_adds_up, (4,), "y_ptr", 0, x, np.zeros(1, np.float32), np.zeros(1, np.int32), y)
    assert y[0] == 10 and boxes(slice_, "x_ptr") == [(slice(0, 4),)]
    assert boxes(slice_, "total_ptr") == [(slice(0, 1),)], "what it was before the launch"


@triton.jit
def waits(flag_ptr, data_ptr, x_ptr, y_ptr):
    pid = tl.program_id(0)
    if pid == 1:
        tl.store(data_ptr, tl.load(x_ptr) + 1)
        tl.atomic_xchg(flag_ptr, 1)
    else:
        seen = tl.atomic_add(flag_ptr, 0)
        while seen == 0:
            seen = tl.atomic_add(flag_ptr, 0)
        tl.store(y_ptr, tl.load(data_ptr))
        tl.store(y_ptr + 1, seen.to(tl.float32))


def test_a_program_that_waits_for_a_later_one():
    x, y = np.array([4], np.float32), np.zeros(2, np.float32)
    report = ts.check(waits, client="tracer")[(2,)](np.zeros(1, np.int32), np.zeros(1, np.float32), x, y)
    slice_ = report.trace.slice("y_ptr", 0)
    assert y.tolist() == [5, 1] and boxes(slice_, "x_ptr") == [(slice(0, 1),)] and boxes(slice_, "data_ptr") is None
    flag = report.trace.slice("y_ptr", 1)
    assert flag.inputs["flag_ptr"]["written_by_the_launch"], "which write of the flag it saw is not known"


@triton.jit
def rewrites(data_ptr, x_ptr, y_ptr):
    pid = tl.program_id(0)
    for i in range(0, 70):
        tl.store(data_ptr + i, tl.load(data_ptr + i) + tl.load(x_ptr + pid))
    tl.store(y_ptr + pid, tl.load(data_ptr))


def test_too_many_programs_are_said():
    x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    slice_ = slice_of(rewrites, (100,), "y_ptr", 99, np.zeros(70, np.float32), x, y)
    assert boxes(slice_, "x_ptr") == [(slice(36, 100),)] and slice_.inputs["data_ptr"]["written_by_the_launch"]
