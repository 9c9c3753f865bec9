"""Promises to the compiler on random tiles of every form, against their definitions, element by element."""

import numpy as np
import pytest

import tilesight as ts
from launch import check, kernel

FORMS = {
    "affine": "base + i * down + j * right",
    "affine_loaded": "tl.load(values + i * B + j)",
    "separable": "tl.load(rows + i) + tl.load(columns + j)",
    "dense": "tl.load(values + i * B + j)",
    "one_value": "base + i * 0 + j * 0",
}
KERNEL = """
@triton.jit
def kernel(x, values, rows, columns, mask, base, down, right, out, A: tl.constexpr, B: tl.constexpr,
           D0: tl.constexpr, D1: tl.constexpr, C0: tl.constexpr, C1: tl.constexpr, K0: tl.constexpr, K1: tl.constexpr):
    i = tl.arange(0, A)[:, None]
    j = tl.arange(0, B)[None, :]
    t = {form}
    t = tl.multiple_of(t, (D0, D1))
    t = tl.max_contiguous(t, (C0, C1))
    t = tl.max_constancy(t, (K0, K1))
    v = tl.load(x + t, mask=tl.load(mask + i * B + j) != 0, other=0)
    tl.store(out + i * B + j, v)
"""


def lines(tile, axis):
    return np.moveaxis(tile, axis, -1).reshape(-1, tile.shape[axis])


def broken(tile, axis, divisor, contiguity, constancy):
    """By the definitions: which elements of a tile break a promise along one axis."""
    bad = np.zeros(tile.shape, bool)
    out = lines(bad, axis).copy()
    n = tile.shape[axis]
    contiguity, constancy = min(contiguity, n), min(constancy, n)
    all_lines = lines(tile, axis)

    def consecutive(size):
        return all(line[g + k] == line[g] + k for line in all_lines for g in range(0, n, size) for k in range(size))

    group = max(contiguity, *(s for s in (1, 2, 4, 8, 16) if s <= n and consecutive(s)))
    for number, line in enumerate(all_lines):
        for e in range(n):
            lead = e - e % contiguity
            out[number, e] |= line[e] != line[lead] + e % contiguity
            out[number, e] |= line[e] != line[e - e % constancy]
            out[number, e] |= line[e - e % group] % divisor != 0
    moved = np.moveaxis(bad, axis, -1)
    moved[...] = out.reshape(moved.shape)
    return bad


def hint(rng, top):
    return int(rng.choice([1, 1, 1, 2, 4, 8, 16])) if top else 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_against_the_definitions(form, seed, tmp_path, collect):
    function = kernel(tmp_path, KERNEL.format(form=FORMS[form]))
    rng = np.random.default_rng([seed, *map(ord, form)])
    seen = set()
    for _ in range(8):
        A, B = (int(n) for n in rng.choice([1, 2, 4, 8, 16], 2))
        step = int(rng.choice([1, 1, 2, 4]))
        rows = (np.arange(A) * step + rng.integers(0, 3) * 4).astype(np.int32)
        columns = (np.arange(B) // int(rng.choice([1, 1, 2, 4])) + rng.integers(0, 2) * 8).astype(np.int32)
        values = (rows[:, None] + columns[None, :]).astype(np.int32)
        if rng.random() < 0.5:
            values[rng.integers(A), rng.integers(B)] += 1
        base, down, right = int(rng.choice([0, 8, 16, 4, 3])), int(rng.choice([0, 1, 8, 16])), int(rng.choice([1, 0, 2, 8]))
        i, j = np.arange(A)[:, None], np.arange(B)[None, :]
        affine = (base + i * down + j * right).astype(np.int32)
        if form == "affine_loaded":  # the same numbers, one by one
            values = affine
        tile = {"affine": affine, "affine_loaded": affine, "separable": rows[:, None] + columns[None, :],
                "dense": values, "one_value": base + 0 * i + 0 * j}[form]
        mask = (rng.random((A, B)) < 0.7).astype(np.int32) if rng.random() < 0.5 else np.ones((A, B), np.int32)
        D0, D1, C0, C1, K0, K1 = (hint(rng, rng.random() < 0.6) for _ in range(6))
        bad = (broken(tile, 0, D0, C0, K0) | broken(tile, 1, D1, C1, K1)) & (mask != 0)
        report = check(function, np.zeros(600, np.float32), values, rows, columns, mask, base, down, right,
                       np.zeros((A, B), np.float32), A=A, B=B, D0=D0, D1=D1, C0=C0, C1=C1, K0=K0, K1=K1)
        assert not report.unknowns
        wrong = [(f["kind"], f["counts"]["elements"], f["element"]) for f in report.findings]
        first = [int(n) for n in np.argwhere(bad)[0]] if bad.any() else None
        expected = [("hint-violation", int(bad.sum()), first)] if bad.any() else []
        assert wrong == expected, (tile, mask, D0, D1, C0, C1, K0, K1, report.findings)
        seen.add(bool(bad.any()))
    assert True in seen


LOADED = """
@triton.jit
def kernel(x, values, out, AFFINE: tl.constexpr, D: tl.constexpr, C: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    t = i + 16 if AFFINE else tl.load(values + i)
    t = tl.max_contiguous(tl.multiple_of(t, D), C)
    tl.store(out + i, tl.load(x + t))
"""


@pytest.mark.parametrize("affine", [True, False])
def test_a_smaller_group_takes_nothing_back(affine, tmp_path, collect):
    """Only the first of the 64 consecutive values need be a multiple, whatever else is promised."""
    function = kernel(tmp_path, LOADED)
    values, out = np.arange(16, 80, dtype=np.int32), np.zeros(64, np.float32)
    found = {D: [f["counts"]["elements"] for f in check(function, np.zeros(80, np.float32), values, out, AFFINE=affine,
                                                        D=D, C=4, N=64).findings] for D in (4, 16, 32)}
    assert found == {4: [], 16: [], 32: [64]}


SPECIALISED = """
import tilesight
@tilesight.trace(client="sanitizer")
@triton.jit
def kernel(x, y, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)
"""


def aligned(n):
    """n floats that begin at a multiple of 16 bytes."""
    room = np.zeros(4 * n + 16, np.uint8)
    skip = -room.ctypes.data % 16
    return room[skip:skip + 4 * n].view(np.float32)


def test_arguments_that_a_compiled_kernel_was_not_made_for(tmp_path, collect):
    """Triton compiles for multiples of 16 where it sees one, and a compiled kernel takes any argument."""
    function, x, y = kernel(tmp_path, SPECIALISED), aligned(80), aligned(80)
    compiled = function.warmup(x, y, 64, N=32, grid=(1,))

    def findings(*arguments):
        compiled[(1, 1, 1)](*arguments, 32)
        return [(f["kind"], f["severity"]) for f in ts.launches[-1].findings]

    assert findings(x, y, 32) == findings(x[4:], y, 16) == []
    assert findings(x[1:], y, 32) == [("hint-violation", "error")]
    assert findings(x, y, 30) == [("hint-violation", "error")]  # four elements share a bit of the mask
    assert findings(x, y, 28) == []


MANY = """
@triton.jit
def kernel(x, starts, y, N: tl.constexpr):
    pid = tl.program_id(0)
    start = tl.multiple_of(tl.load(starts + pid), 8)
    i = tl.arange(0, N)
    tl.store(y + pid * N + i, tl.load(x + start + i))
"""


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_the_finding_is_the_same_with_any_number_of_threads(threads, tmp_path, collect):
    """The first broken start does no harm, later ones do."""
    function = kernel(tmp_path, MANY)
    starts = np.arange(400, dtype=np.int32) * 8
    starts[100::7] = 4
    starts[250::9] += 2

    def findings(number):
        ts.config.threads = number
        report = check(function, np.zeros(4000, np.float32), starts, np.zeros(400 * 512, np.float32), grid=(400,), N=512)
        return [{k: v for k, v in f.items() if k != "launch"} for f in report.findings]

    one = findings(1)
    assert [(f["kind"], f["severity"], f["program"][0]) for f in one] == [("hint-violation", "error", 100)]
    assert findings(threads) == one
