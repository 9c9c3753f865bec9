"""Whatever the number of threads, a launch gives what its programs give one after the other."""

import numpy as np
import pytest
import tilesight as ts
import triton
import triton.language as tl

from twins.findings import Run

PROGRAMS, B = 300, 2048  # enough work for threads to be worth it
THREADS = [1, 2, 3, 8]


@pytest.fixture(params=THREADS, ids=lambda n: f"threads{n}")
def run(request, collect):
    ts.config.threads = request.param
    return Run()


@triton.jit
def chain(y, B: tl.constexpr):
    """Every program reads what the one before it wrote."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    before = tl.load(y + i)
    tl.store(y + B + i, before * 3 + 1)


def test_chain(run):
    y = np.zeros((PROGRAMS + 1) * B, dtype=np.int32)
    y[:B] = np.arange(B)
    run.check(chain)[(PROGRAMS,)](y, B=B)
    wanted, block = [], np.arange(B, dtype=np.int32)
    for _ in range(PROGRAMS + 1):
        wanted.append(block)
        block = block * np.int32(3) + np.int32(1)
    assert (y.reshape(-1, B) == wanted).all()


@triton.jit
def slots(y, count, B: tl.constexpr):
    """Programs share a few blocks: the last one to write wins."""
    pid = tl.program_id(0)
    tl.store(y + (pid % count) * B + tl.arange(0, B), pid + tl.arange(0, B))


def test_last_writer_wins(run):
    y = np.zeros(7 * B, dtype=np.int32)
    run.check(slots)[(PROGRAMS,)](y, 7, B=B)
    last = [max(p for p in range(PROGRAMS) if p % 7 == slot) for slot in range(7)]
    assert (y.reshape(7, B) == np.array(last)[:, None] + np.arange(B)).all()


@triton.jit
def shift_in_place(y, B: tl.constexpr):
    """x[i] = x[i + 1], in place: the next block's first element must still be the old one."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(y + i + 1))


def test_reads_ahead(run):
    y = np.arange(PROGRAMS * B + 1, dtype=np.int32)
    run.check(shift_in_place)[(PROGRAMS,)](y, B=B)
    assert (y[:-1] == np.arange(1, PROGRAMS * B + 1)).all()


@triton.jit
def overlapping(y, B: tl.constexpr):
    """Blocks overlap by one element."""
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    tl.store(y + pid * (B - 1) + i, pid + 0 * i)


def test_overlapping_stores(run):
    y = np.zeros(PROGRAMS * (B - 1) + 1, dtype=np.int32)
    run.check(overlapping)[(PROGRAMS,)](y, B=B)
    wanted = np.repeat(np.arange(PROGRAMS), B - 1)
    assert (y[:-1] == wanted).all() and y[-1] == PROGRAMS - 1


@triton.jit
def scattered(index, y, B: tl.constexpr):
    """Where programs write is loaded."""
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    tl.store(y + tl.load(index + pid * B + i), pid * B + i)


def test_scatter_with_collisions(run):
    index = np.random.default_rng(0).integers(0, 5000, PROGRAMS * B).astype(np.int32)
    y = np.full(5000, -1, dtype=np.int32)
    run.check(scattered)[(PROGRAMS,)](index, y, B=B)
    wanted = np.full(5000, -1, dtype=np.int32)
    wanted[index] = np.arange(PROGRAMS * B)
    assert (y == wanted).all()


@triton.jit
def same_cells(z, B: tl.constexpr):
    """All programs read and write the same block: every order but one is wrong."""
    i = tl.arange(0, B)
    tl.store(z + i, tl.load(z + i) * 3 + tl.program_id(0))


def test_everybody_updates_the_same_cells(run):
    wanted = np.arange(B, dtype=np.int32)
    for pid in range(PROGRAMS):
        wanted = wanted * np.int32(3) + np.int32(pid)
    for _ in range(20):  # it is a matter of timing
        z = np.arange(B, dtype=np.int32)
        run.check(same_cells)[(PROGRAMS,)](z, B=B)
        assert (z == wanted).all()


@triton.jit
def place_by_turn(turn, y, B: tl.constexpr):
    """Where a program writes depends on how many came before it: in order, always block 0."""
    pid = tl.program_id(0)
    before = tl.load(turn)
    tl.store(turn, before + 1)
    tl.store(y + (before ^ pid) * B + tl.arange(0, B), pid)


def test_what_was_written_astray_is_taken_back(run):
    for _ in range(20):
        turn, y = np.zeros(1, np.int32), np.full((512, B), -1, dtype=np.int32)
        run.check(place_by_turn)[(PROGRAMS,)](turn, y, B=B)
        assert turn[0] == PROGRAMS and (y[0] == PROGRAMS - 1).all() and (y[1:] == -1).all()
    assert run.findings == []


@triton.jit
def float_sums(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_add(y + i, tl.load(x + tl.program_id(0) * B + i))


def test_order_of_float_atomics(run):
    x = np.random.default_rng(1).standard_normal((PROGRAMS, B)).astype(np.float32)
    y = np.zeros(B, dtype=np.float32)
    run.check(float_sums)[(PROGRAMS,)](x, y, B=B)
    wanted = np.zeros(B, dtype=np.float32)
    for row in x:
        wanted += row
    assert (y == wanted).all()


@triton.jit
def flag_decides(flag, y, B: tl.constexpr):
    """One program in the middle raises a flag that all later ones see."""
    pid = tl.program_id(0)
    if pid == 170:
        tl.store(flag, 1)
    if tl.load(flag) != 0:
        tl.store(y + pid * B + tl.arange(0, B), 2)
    else:
        tl.store(y + pid * B + tl.arange(0, B), 1)


def test_branch_on_what_another_program_wrote(run):
    flag, y = np.zeros(1, np.int32), np.zeros((PROGRAMS, B), np.int32)
    run.check(flag_decides)[(PROGRAMS,)](flag, y, B=B)
    assert (y[:170] == 1).all() and (y[170:] == 2).all()


@triton.jit
def past_the_end(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i))


def test_first_witness_and_all_counts(run):
    n = 140 * B + 100
    x, y = np.ones(n, np.float32), np.zeros(PROGRAMS * B - 5, np.float32)
    run.check(past_the_end)[(PROGRAMS,)](x, y, n, B=B)
    load, store = sorted(run.findings, key=lambda f: f["access"]["kind"])
    assert load["program"] == [140, 0, 0] and load["element"] == [100]
    assert load["counts"]["elements"] == PROGRAMS * B - n and load["counts"]["programs"] == 160
    assert store["program"] == [PROGRAMS - 1, 0, 0] and store["element"] == [B - 5]
    assert store["counts"]["elements"] == 5 and store["counts"]["programs"] == 1
    assert (y[:n] == 1).all() and (y[n:] == 0).all()
