"""What a kernel may be made of: loops with every option, functions, tuples, constants, prints, random numbers."""

import re

import numpy as np
import pytest
import triton

import tilesight as ts
from launch import check, clean, kernel

RELEASE = tuple(int(part) for part in triton.__version__.split(".")[:2])

LOOP = """
@triton.jit
def kernel(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros((N,), tl.float32)
    for k in tl.range({bounds}{options}):
        total += tl.load(x + k * N + i)
    tl.store(out + i, total)
"""
OPTIONS = ["", "num_stages=3", "loop_unroll_factor=4", "flatten=True", "disallow_acc_multi_buffer=True", "warp_specialize=True",
           "num_stages=2, warp_specialize=True, flatten=True", "disable_licm=True"]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("bounds, rows", [("n", range(6)), ("1, n, 2", range(1, 6, 2)), ("n, n", ()), ("n - 1, -1, -1", range(6))])
def test_options_of_a_range_change_no_result(options, bounds, rows, tmp_path, collect):
    function = kernel(tmp_path, LOOP.format(bounds=bounds, options=options and ", " + options))
    x, out = np.random.default_rng(0).integers(0, 100, (6, 16)).astype(np.float32), np.ones(16, np.float32)
    clean(function, x, out, 6, N=16)
    assert (out == x[list(rows)].sum(0)).all()


def test_static_ranges(tmp_path, collect):
    function = kernel(tmp_path, """
@triton.jit
def kernel(out, N: tl.constexpr):
    for i in tl.static_range(N):
        if i % 2 == 0:
            tl.store(out + i, i * i)
    for i in tl.static_range(10, 4, -3):
        tl.store(out + i, -i)
""")
    out = np.zeros(16, np.int32)
    clean(function, out, N=7)
    assert out.tolist() == [0, 0, 4, 0, 16, 0, 36, -7, 0, 0, -10, 0, 0, 0, 0, 0]


FUNCTIONS = """
@triton.jit
def inner(v, k):
    return v * k + 1


@triton.jit(noinline=True)
def apart(v, k):
    if k > 2:
        return inner(v, k)
    return v


@triton.jit
def first_above(x, limit, n):
{search}
    return -1


@triton.jit
def kernel(x, out, limit, n):
    at = first_above(x, limit, n)
    tl.store(out, at)
    tl.store(out + 1, apart(at, 3))
    tl.store(out + 2, apart(at, 1))
    if at < 0:
        return
    tl.store(out + 3, 7)
"""


@pytest.mark.parametrize("limit, expected", [(10, [11, 34, 11, 7]), (99, [-1, -2, -1, 0]), (-1, [0, 1, 0, 7])])
def test_functions_that_are_not_inlined_and_return_early(limit, expected, tmp_path, collect):
    """An early return after a loop that is left by its condition."""
    function = kernel(tmp_path, FUNCTIONS.replace("{search}", """
    i = 0
    while (i < n) & (tl.load(x + i, mask=i < n, other=0) <= limit):
        i += 1
    if i < n:
        return i"""))
    out = np.zeros(4, np.int32)
    clean(function, np.arange(20, dtype=np.int32), out, limit, 20)
    assert out.tolist() == expected


def test_a_return_inside_a_loop_is_refused_by_name(tmp_path, collect):
    """By Triton itself."""
    function = kernel(tmp_path, FUNCTIONS.replace("{search}", """
    for i in range(n):
        if tl.load(x + i) > limit:
            return i"""))
    with pytest.raises(Exception, match="(?i)return"):
        ts.check(function)[(1,)](np.arange(20, dtype=np.int32), np.zeros(4, np.int32), 3, 20)


def test_recursion_is_refused(tmp_path, collect):
    function = kernel(tmp_path, """
@triton.jit
def again(v):
    return again(v - 1)


@triton.jit
def kernel(out):
    tl.store(out, again(3))
""")
    with pytest.raises(Exception, match="(?i)recurs|nest"):
        report = check(function, np.zeros(1, np.int32))
        raise RuntimeError("; ".join(u["reason"] for u in report.unknowns))


def test_tuples_and_named_tuples(tmp_path, collect):
    function = kernel(tmp_path, """
from typing import NamedTuple


class Pair(NamedTuple):
    low: tl.tensor
    high: tl.tensor


@triton.jit
def swap(p):
    return p.high, p.low


@triton.jit
def add(a, b):
    return a[0] + b[0], a[1] + b[1]


@triton.jit
def kernel(x, pair, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    high, low = swap(Pair(v, v * 10))
    t = (high, low)
    for k in range(3):
        t = add(t, (k, 1))
    tl.store(out + i, t[0] - t[1])
    tl.store(out + N + i, tl.load(pair[0] + i) * pair[1])
""")
    x, y, out = np.arange(8, dtype=np.int32), np.arange(8, dtype=np.int32), np.zeros(16, np.int32)
    clean(function, x, (y, 3), out, N=8)
    assert (out[:8] == 9 * x).all() and (out[8:] == 3 * y).all()


def test_constants(tmp_path, collect):
    function = kernel(tmp_path, """
SCALE: tl.constexpr = tl.constexpr(3)
TABLE = tl.constexpr((1, 2, 4))


@triton.constexpr_function
def twice(n):
    return 2 * n


@triton.jit
def kernel(out, N: tl.constexpr, FLAG: tl.constexpr, NAME: tl.constexpr, DTYPE: tl.constexpr):
    M: tl.constexpr = twice(N)
    tl.static_assert(M == 2 * N, "sizes")
    tl.static_print("made for", N)
    if FLAG and NAME == "left":
        tl.store(out + tl.arange(0, M), tl.full((M,), SCALE, DTYPE))
    else:
        tl.store(out, TABLE[2])
""")
    out = np.zeros(16, np.float32)
    import triton.language as tl

    clean(function, out, N=8, FLAG=True, NAME="left", DTYPE=tl.float32)
    assert (out == 3).all()
    clean(function, out, N=8, FLAG=True, NAME="right", DTYPE=tl.float32)
    assert out[0] == 4


def test_a_static_assert_that_fails(tmp_path, collect):
    function = kernel(tmp_path, """
@triton.jit
def kernel(out, N: tl.constexpr):
    tl.static_assert(N % 16 == 0, "N must be a multiple of 16")
    tl.store(out, N)
""")
    with pytest.raises(Exception, match="multiple of 16"):
        ts.check(function)[(1,)](np.zeros(1, np.int32), N=8)


def test_prints_of_tiles(tmp_path, collect, capfd):
    function = kernel(tmp_path, """
@triton.jit
def kernel(x, N: tl.constexpr):
    i, j = tl.arange(0, 2)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + i * N + j)
    tl.device_print("tile", v, v > 1)
    tl.device_print("pid", tl.program_id(1))
""")
    clean(function, np.array([1.5, -2, np.nan, np.inf], np.float32), grid=(1, 2), N=2)
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith("pid (0, 1, 0)")]
    assert len(lines) == 9 and any(re.search(r"idx \(1, 0\) tile: nan", line) for line in lines), lines
    assert any(re.search(r"idx \(0, 1\) tile: -2\.0+$", line) for line in lines) and lines[-1].endswith("pid: 1")


def philox(counter, key, rounds):
    """Philox 4x32 as Salmon and others define it (SC 2011)."""
    c, k = list(counter), list(key)
    for _ in range(rounds):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def test_the_reference_is_philox():
    """The known answer of Random123 for ten rounds."""
    assert philox([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, 10) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


RANDOM = """
@triton.jit
def kernel(out, seed, offset, N: tl.constexpr, R: tl.constexpr):
    i = tl.arange(0, N)
    a, b, c, d = tl.randint4x(seed, offset + i, R)
    tl.store(out + i, a)
    tl.store(out + N + i, b)
    tl.store(out + 2 * N + i, c)
    tl.store(out + 3 * N + i, d)
    tl.store(out + 4 * N + i, tl.randint(seed, offset + i, R))
"""


@pytest.mark.parametrize("rounds", [1, 6, 10])
@pytest.mark.parametrize("seed", [0, 42, (1 << 40) + 5, -3])
def test_random_integers(rounds, seed, tmp_path, collect):
    out = np.zeros((5, 16), np.uint32)
    clean(kernel(tmp_path, RANDOM), out, seed, 7, N=16, R=rounds)
    key = [seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF]
    for i in range(16):
        words = philox([7 + i, 0, 0, 0], key, rounds)
        assert out[:4, i].tolist() == words and out[4, i] == words[0]


def test_random_floats(tmp_path, collect):
    """rand: the integer folded to 31 bits, times a constant just under 2^-31; randn: Box and Muller's."""
    function = kernel(tmp_path, """
@triton.jit
def kernel(out, normal, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.rand(seed, i))
    tl.store(normal + i, tl.randn(seed, i))
""")
    out, normal = np.zeros(256, np.float32), np.zeros(256, np.float32)
    clean(function, out, normal, 11, N=256)

    def uniform(word):
        signed = word - (1 << 32) if word >> 31 else word
        return np.float32(-signed - 1 if signed < 0 else signed) * np.float32(4.6566127342e-10)

    for i in range(256):
        words = [uniform(w) for w in philox([i, 0, 0, 0], [11, 0], 10)]
        assert out[i] == words[0] and 0 <= out[i] < 1
        radius = np.sqrt(-2 * np.log(np.float64(max(np.float32(1e-7), words[0]))))
        assert abs(normal[i] - radius * np.cos(6.283185307179586 * np.float64(words[1]))) < 2e-6


@pytest.mark.parametrize("most", [0, 16, 32])
def test_imprecise_accumulators_are_precise(most, tmp_path, collect):
    function = kernel(tmp_path, """
@triton.jit
def kernel(a, b, out, N: tl.constexpr, MOST: tl.constexpr):
    p = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    x, y = tl.load(a + p).to(tl.float8e5), tl.load(b + p).to(tl.float8e5)
    tl.store(out + p, tl.dot(x, y, max_num_imprecise_acc=MOST))
""")
    rng = np.random.default_rng(8)
    a, b = rng.integers(-4, 5, (2, 32, 32)).astype(np.float32)
    out = np.zeros((32, 32), np.float32)
    clean(function, a, b, out, N=32, MOST=most)
    assert (out == a @ b).all()
