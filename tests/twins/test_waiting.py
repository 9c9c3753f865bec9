"""Programs that wait for each other: locks, flags and barriers end, and what cannot end is a deadlock."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import tilesight as ts
import triton
import triton.language as tl


@triton.jit
def add_under_lock(x, lock, out, B: tl.constexpr):
    pid = tl.program_id(0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(out, tl.load(out) + tl.sum(tl.load(x + pid * B + tl.arange(0, B))))
    tl.atomic_xchg(lock, 0)


@triton.jit
def neighbour_after_barrier(arrived, mine, out, n):
    pid = tl.program_id(0)
    tl.store(mine + pid, pid * 2)
    tl.atomic_add(arrived, 1)
    while tl.atomic_add(arrived, 0) < n:
        pass
    tl.store(out + pid, tl.load(mine + (pid + 1) % n))


@triton.jit
def after_the_next(flag, out, n):
    pid = tl.program_id(0)
    total = 0
    if pid < n - 1:
        while tl.atomic_add(flag + pid + 1, 0) == 0:
            pass
        total = tl.load(out + pid + 1)
    tl.store(out + pid, total + pid)
    tl.atomic_xchg(flag + pid, 1)


@triton.jit
def after_the_previous(flag, out):
    """Decoupled look-back, one step."""
    pid = tl.program_id(0)
    total = 0
    if pid > 0:
        while tl.atomic_add(flag + pid - 1, 0) == 0:
            pass
        total = tl.load(out + pid - 1)
    tl.store(out + pid, total + pid)
    tl.atomic_xchg(flag + pid, 1)


@triton.jit
def nobody_sets(flag, out):
    while tl.atomic_add(flag + 3, 0) == 0:
        pass
    tl.store(out, 1)


@triton.jit
def never_released(lock, out):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(out, tl.load(out) + 1)


@triton.jit
def gives_up(flag, out):
    turns = 0
    while (tl.atomic_add(flag, 0) == 0) & (turns < 200):
        turns += 1
    tl.store(out + tl.program_id(0), turns)


@triton.jit
def counts_for_ever(flag, out):
    n = 0
    while n >= 0:
        n = (n + 1) % 1000
    tl.store(out, n)


def ints(*shape):
    return np.zeros(shape, np.int32)


def setting(name):
    """A fixture that sets `ts.config.NAME` for one test."""
    @pytest.fixture(name=name)
    def fixture():
        yield lambda value: setattr(ts.config, name, value)
        setattr(ts.config, name, None)
    return fixture


num_sms, seed = setting("num_sms"), setting("seed")


def test_a_lock():
    out = np.zeros(1, np.float32)
    report = ts.check(add_under_lock)[(20,)](np.ones(640, np.float32), ints(1), out, B=32)
    assert report.verdict == "ok" and out[0] == 640


@pytest.mark.parametrize("sms", [None, 1, 2, 100])
def test_waiting_for_earlier_programs_ends_at_any_number(num_sms, sms):
    num_sms(sms)
    out = ints(50)
    report = ts.check(after_the_previous)[(50,)](ints(50), out)
    assert report.verdict == "ok" and (out == np.cumsum(np.arange(50))).all()


def test_a_barrier_of_programs_that_fit():
    out = ints(40)
    report = ts.check(neighbour_after_barrier)[(40,)](ints(1), ints(40), out, 40)
    assert report.verdict == "ok" and (out == (np.arange(40) + 1) % 40 * 2).all()


def test_programs_that_wait_for_later_ones_run_from_the_last():
    out = ints(30)
    report = ts.check(after_the_next)[(30,)](ints(30), out, 30)
    assert report.verdict == "ok" and (out == np.cumsum(np.arange(30)[::-1])[::-1]).all()


@pytest.mark.parametrize("sms, verdict", [(15, "finding"), (16, "ok")])
def test_a_barrier_that_does_not_fit_names_how_many_must(num_sms, sms, verdict):
    num_sms(sms)
    out = ints(16)
    report = ts.check(neighbour_after_barrier)[(16,)](ints(1), ints(16), out, 16)
    assert report.verdict == verdict
    assert (out == (np.arange(16) + 1) % 16 * 2).all()  # it goes on as if there were room
    for finding in report.findings:
        assert finding.kind == "deadlock" and finding.severity == "error"
        assert "16 programs must be resident at once, num_sms is 15" in finding.message
        assert "arrived[0]" in finding.message


def test_more_than_a_usual_device_holds_is_a_warning():
    report = ts.check(neighbour_after_barrier)[(140,)](ints(1), ints(140), ints(140), 140)
    (finding,) = report.findings
    assert finding.severity == "warning" and "140 programs" in finding.message


@pytest.mark.parametrize("kernel, cell, program", [(nobody_sets, "flag[3]", (0, 0, 0)), (never_released, "lock[0]", (1, 0, 0))])
def test_what_nobody_writes_is_a_deadlock(kernel, cell, program):
    report = ts.check(kernel)[(5,)](ints(8), ints(1))
    (finding,) = report.findings
    assert finding.kind == "deadlock" and cell in finding.message and tuple(finding.program) == program


def test_a_wait_that_counts_ends_by_itself():
    out = ints(6)
    report = ts.check(gives_up)[(6,)](ints(1), out)
    assert report.verdict == "ok" and (out == 200).all()


@triton.jit
def tickets(counter, order):
    tl.store(order + tl.atomic_add(counter, 1), tl.program_id(0))


def order_of(n):
    order = ints(n)
    assert ts.check(tickets)[(n,)](ints(1), order).verdict == "ok"
    return order.tolist()


def test_a_seed_chooses_who_comes_first(seed, num_sms):
    assert order_of(30) == list(range(30))
    num_sms(6)
    seen = []
    for number in (1, 2):
        seed(number)
        seen.append(order_of(30))
        assert sorted(seen[-1]) == list(range(30)) and order_of(30) == seen[-1]
        ts.config.threads = 3
        assert order_of(30) == seen[-1]
        ts.config.threads = None
    assert seen[0] != seen[1] and list(range(30)) not in seen
    seed(0)
    assert order_of(30) == list(range(30))


@triton.jit
def add_floats(x, out):
    tl.atomic_add(out, tl.load(x + tl.program_id(0)))


def test_what_depends_on_the_order_is_one_of_its_results(seed, num_sms):
    import itertools

    x = np.array([1e8, 3.0, -1e8, 5.0], np.float32)
    possible = set()
    for order in itertools.permutations(range(4)):
        total = np.float32(0)
        for i in order:
            total += x[i]
        possible.add(float(total))
    num_sms(4)
    seen = set()
    for number in range(1, 21):
        seed(number)
        out = np.zeros(1, np.float32)
        assert ts.check(add_floats)[(4,)](x, out).verdict == "ok"
        seen.add(float(out[0]))
    assert seen <= possible and len(seen) > 1


@pytest.mark.parametrize("number", range(1, 21))
def test_locks_barriers_and_flags_end_under_any_seed(seed, num_sms, number):
    seed(number)
    num_sms(12)
    out = np.zeros(1, np.float32)
    report = ts.check(add_under_lock)[(20,)](np.ones(640, np.float32), ints(1), out, B=32)
    assert report.verdict == "ok" and out[0] == 640
    out = ints(12)
    report = ts.check(neighbour_after_barrier)[(12,)](ints(1), ints(12), out, 12)
    assert report.verdict == "ok" and (out == (np.arange(12) + 1) % 12 * 2).all()
    out = ints(50)
    report = ts.check(after_the_previous)[(50,)](ints(50), out)
    assert report.verdict == "ok" and (out == np.cumsum(np.arange(50))).all()
    report = ts.check(neighbour_after_barrier)[(16,)](ints(1), ints(16), ints(16), 16)
    (finding,) = report.findings
    assert "16 programs must be resident at once, num_sms is 12" in finding.message
    assert ts.check(never_released)[(5,)](ints(8), ints(1)).findings[0].kind == "deadlock"


def test_clients_hear_programs_in_order_whatever_the_turns(seed, num_sms):
    class Stores(ts.Client):
        needs = {"addresses"}

        def launch_begin(self, launch):
            self.programs = []

        def on_store(self, batch):
            self.programs += batch.program.tolist()

    seed(4)
    num_sms(5)
    client = Stores()
    ts.check(tickets, client=client)[(25,)](ints(1), ints(25))
    assert client.programs == list(range(25))


def test_a_bundle_remembers_the_schedule(seed, num_sms, tmp_path):
    seed(9)
    num_sms(6)
    report = ts.check(neighbour_after_barrier)[(8,)](ints(1), ints(8), ints(8), 8)
    report.save(tmp_path / "run.tsb")
    seed(None)
    num_sms(None)
    (again,) = ts.load(str(tmp_path / "run.tsb"))
    assert [f.message for f in again.findings] == [f.message for f in report.findings] != []


def test_a_deadlock_tells_how_many_wait():
    report = ts.check(nobody_sets)[(5,)](ints(8), ints(1))
    (finding,) = report.findings
    assert finding.counts.programs == 5 and "5 programs wait" in report.text()


def test_a_time_limit_ends_a_launch_and_says_where():
    ts.config.timeout = 0.3
    try:
        start = time.perf_counter()
        report = ts.check(counts_for_ever)[(1,)](ints(1), ints(1))
    finally:
        ts.config.timeout = None
    assert time.perf_counter() - start < 10
    assert report.verdict == "unknown"
    assert "0.3 s" in report.unknowns[0]


def test_ctrl_c_ends_a_launch():
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ts.check(counts_for_ever)[(1,)](ints(1), ints(1))
    timer.join()
