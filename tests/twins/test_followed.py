"""What a fault or a division by zero leaves behind is followed to where it matters, and no further."""

import numpy as np
import triton
import triton.language as tl

import tilesight as ts


def kinds(report):
    assert report.verdict != "unknown", report.unknowns
    return sorted((f.kind, f.severity) for f in report.findings)


@triton.jit
def unused_other(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.load(x + i, mask=i < n, other=3.0)
    tl.store(y + i, v, mask=i < n)


def test_a_load_with_other_that_nothing_uses():
    x, y = np.ones(100, np.float32), np.zeros(100, np.float32)
    assert kinds(ts.check(unused_other)[(1,)](x, y, 100, B=128)) == [("out-of-bounds", "error")]


@triton.jit
def divide_described(a, b, o, n, B: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [n], [1], [B])
    right = tl.make_tensor_descriptor(b, [n], [1], [B])
    out = tl.make_tensor_descriptor(o, [n], [1], [B])
    out.store([0], left.load([0]) // right.load([0]))


def test_padding_that_is_not_stored_matters_to_nobody():
    a, b, o = np.full(100, 12, np.int32), np.full(100, 4, np.int32), np.zeros(100, np.int32)
    assert kinds(ts.check(divide_described)[(1,)](a, b, o, 100, B=128)) == []
    assert (o == 3).all()
    b[7] = 0
    assert kinds(ts.check(divide_described)[(1,)](a, b, o, 100, B=128)) == [("division-by-zero", "error")]


@triton.jit
def accumulate(a, d, o):
    i = tl.arange(0, 16)
    at = i[:, None] * 16 + i[None, :]
    acc = (tl.load(d + at) // tl.load(d + 256 + at)).to(tl.float32)
    x = tl.load(a + at)
    tl.store(o + at, tl.dot(x, x, acc))


def test_a_division_in_the_accumulator_of_a_dot():
    a, o = np.ones((16, 16), np.float16), np.zeros((16, 16), np.float32)
    d = np.ones((2, 16, 16), np.int32)
    assert kinds(ts.check(accumulate)[(1,)](a, d, o)) == []
    assert (o == 17).all()
    d[1, 3, 5] = 0
    assert kinds(ts.check(accumulate)[(1,)](a, d, o)) == [("division-by-zero", "error")]


@triton.jit
def odd_sum(a, b):
    return a + b // (b - b)


@triton.jit
def reduce_oddly(x, o, B: tl.constexpr):
    tl.store(o, tl.reduce(tl.load(x + tl.arange(0, B)), 0, odd_sum))


def test_a_division_inside_a_combine_function():
    assert kinds(ts.check(reduce_oddly)[(1,)](np.arange(16, dtype=np.int32), np.zeros(1, np.int32), B=16)) == [
        ("division-by-zero", "error")]


@triton.jit
def through_join(x, y, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i[:, None] * 2 + tl.arange(0, 2)[None, :], tl.load(tl.join(x + i, y + i)))


def test_joined_pointers_keep_their_tensors():
    base = np.arange(128, dtype=np.float32)
    x, y, o = base[:20], base[64:96], np.zeros(64, np.float32)
    (finding,) = ts.check(through_join)[(1,)](x, y, o, B=32).findings
    assert finding.kind == "out-of-view" and finding.operand.argument == "x"
    assert finding.counts["elements"] == 12
    assert (o.reshape(32, 2)[:, 1] == y).all()


@triton.jit
def bound_from_the_cell_before(cells, o):
    p = tl.program_id(0)
    total = 0
    for i in range(tl.load(cells + p)):
        total += i
    tl.store(cells + p + 1, 3)
    tl.store(o + p, total)


def test_a_loop_bound_that_an_earlier_program_writes():
    """Programs that run ahead see a huge bound that is not theirs to see."""
    cells = np.full(3001, 2**31 - 1, np.int32)
    cells[0] = 3
    o = np.zeros(3000, np.int32)
    ts.config.threads = 2
    try:
        assert kinds(ts.check(bound_from_the_cell_before)[(3000,)](cells, o)) == []
    finally:
        ts.config.threads = None
    assert (o == 3).all()


@triton.jit
def sums(x, y, n, AXIS: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, R), tl.arange(0, C)
    v = tl.load(x + r[:, None] * C + c[None, :])
    o = r if AXIS == 1 else c
    tl.store(y + o, tl.sum(v, axis=AXIS), mask=o < n)


def consequences(kernel, *args, **kwargs):
    report = ts.check(kernel)[(1,)](*args, **kwargs)
    (finding,) = report.findings
    return finding.consequences


def test_a_sum_depends_on_its_own_line_only():
    """Rows 6 and 7 of 8 are missing: sums of the first six rows are right, those of columns are not."""
    x, y = np.ones((6, 8), np.float32), np.zeros(8, np.float32)
    assert consequences(sums, x, y, 6, AXIS=1, R=8, C=8) == []
    assert consequences(sums, x, y, 7, AXIS=1, R=8, C=8) != []
    assert consequences(sums, x, y, 1, AXIS=0, R=8, C=8) != []


@triton.jit
def running_sums(x, y, n, REVERSE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.cumsum(tl.load(x + i), axis=0, reverse=REVERSE), mask=i < n)


def test_a_running_sum_depends_on_what_came_before():
    x, y = np.ones(6, np.float32), np.zeros(8, np.float32)
    assert consequences(running_sums, x, y, 6, REVERSE=False, B=8) == []
    assert consequences(running_sums, x, y, 7, REVERSE=False, B=8) != []
    assert consequences(running_sums, x, y, 1, REVERSE=True, B=8) != []


@triton.jit
def product(a, b, c, rows, columns, T: tl.constexpr):
    i, j = tl.arange(0, T)[:, None], tl.arange(0, T)[None, :]
    d = tl.dot(tl.load(a + i * T + j), tl.load(b + i * T + j), input_precision="ieee")
    tl.store(c + i * T + j, d, mask=(i < rows) & (j < columns))


def test_a_product_depends_on_rows_of_the_left_and_columns_of_the_right():
    whole, ragged, c = (np.ones((n, 16), np.float32) for n in (16, 14, 16))
    assert consequences(product, ragged, whole, c, 14, 16, T=16) == []
    assert consequences(product, ragged, whole, c, 15, 16, T=16) != []
    assert consequences(product, whole, ragged, c, 16, 1, T=16) != []
    last = np.ones(16 * 16 - 1, np.float32)  # the last column of the last row is missing
    assert consequences(product, whole, last, c, 16, 15, T=16) == []
    assert consequences(product, whole, last, c, 16, 16, T=16) != []
