"""First NaNs, wrong elements, and where values came from."""

import inspect

import numpy as np
import pytest
import triton
import triton.language as tl

import tilesight as ts


def line_of(kernel, text):
    lines, first = inspect.getsourcelines(kernel.fn)
    return next(first + i for i, line in enumerate(lines) if text in line)


@triton.jit
def softmax(x_ptr, y_ptr, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + offs, mask=offs < n, other=-float("inf"))
    shifted = x - tl.max(x, axis=0)
    numerator = tl.exp(shifted)
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(y_ptr + row * stride + offs, y, mask=offs < n)


def launch_softmax(x, n=None):
    y = np.zeros_like(x)
    n = x.shape[1] if n is None else n
    return ts.check(softmax, client="tracer")[(x.shape[0],)](x, y, n, x.shape[1], BLOCK=16), y


def test_no_nan_is_none():
    report, _ = launch_softmax(np.ones((4, 12), np.float32))
    assert report.trace.first_nan() is None, "the -inf of `other` is no operation's"


def test_the_first_nan_has_program_line_operands_and_inputs():
    x = np.random.default_rng(0).standard_normal((8, 12)).astype(np.float32)
    x[5] = -np.inf  # -inf - -inf
    report, y = launch_softmax(x)
    assert np.isnan(y[5]).all()
    found = report.trace.first_nan()
    assert found.program == (5, 0, 0) and found.line == line_of(softmax, "shifted =") and found.name == "shifted"
    assert np.isnan(found.value) and found.element == (0,) and found.operation == "-"
    assert [name for name, _, _ in found.operands][0] == "x"
    assert [value for _, value, _ in found.operands] == ["-inf", "-inf"]
    (boxes,) = found.inputs["x_ptr"]["boxes"]
    assert np.isinf(x[boxes]).all() and x[boxes].size == 12
    text = str(found)
    assert "the first NaN: program (5, 0, 0)" in text and "shifted[0] is nan: made by x - " in text
    assert "x_ptr holds infinities already: x_ptr[5, 0], read by program (5, 0, 0)" in text


@triton.jit
def overflow(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    zero = tl.zeros((BLOCK,), dtype=tl.float16)
    for i in range(4):
        big = tl.exp(x * i)
        total += big
        narrow = total.to(tl.float16)
        zero = narrow - narrow
    tl.store(y_ptr + offs, zero.to(tl.float32))


def test_an_infinity_and_the_nan_that_comes_of_it():
    x = np.zeros(64, np.float32)
    x[37] = 5.0  # exp(15) does not fit an f16
    report = ts.check(overflow, client="tracer")[(4,)](x, np.zeros(64, np.float32), BLOCK=16)
    found = report.trace.first_nan()
    assert found.line == line_of(overflow, "narrow =") and found.program == (2, 0, 0)
    assert found.trip == {"i": 3} and found.element == (5,) and found.value == np.inf
    assert found.nan.line == line_of(overflow, "zero = narrow") and found.nan.trip == {"i": 3}
    assert found.inputs["x_ptr"]["boxes"] == [(slice(37, 38),)]


def test_a_nan_in_the_inputs_is_not_made():
    x = np.zeros((4, 12), np.float32)
    x[2, 3] = np.nan
    report, y = launch_softmax(x)
    assert np.isnan(y[2]).any() and report.trace.first_nan() is None


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rn[None, :] < N) & (rk[:, None] < K), other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def launch_matmul(wrong=False):
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-3, 4, shape).astype(np.float32) for shape in ((40, 48), (48, 36)))
    c = np.zeros((40, 36), np.float32)
    report = ts.check(matmul, client="tracer")[(3, 3)](a, b, c, 40, 36, 48, BM=16, BN=16, BK=16)
    assert (c == a @ b).all()
    return report, a, b, c


def test_what_is_as_expected_is_none():
    report, a, b, c = launch_matmul()
    assert report.trace.explain(c_ptr=a @ b) is None


def test_a_wrong_element_has_writer_and_inputs():
    report, a, b, c = launch_matmul()
    expected = a @ b
    expected[20:24, 33] += 1
    found = report.trace.explain(c_ptr=expected)
    assert found.wrong == 4 and found.index == (20, 33) and found.program == (1, 2, 0) and found.writers == 1
    assert found.elements["boxes"] == [(slice(20, 24), slice(33, 34))]
    written = found.written
    assert written["line"] == line_of(matmul, "tl.store") and written["value"] == c[20, 33]
    assert written["inputs"]["a_ptr"]["boxes"] == [(slice(20, 21), slice(0, 48))]
    assert written["inputs"]["b_ptr"]["boxes"] == [(slice(0, 48), slice(33, 34))]
    text = str(found)
    assert "4 of 1,440 elements of c_ptr are not as expected" in text
    assert "wrong: c_ptr[20:24, 33]" in text and "a_ptr[20, 0:48]  (48 elements)" in text


def test_a_slice_of_an_element():
    report, a, b, c = launch_matmul()
    slice_ = report.trace.slice("c_ptr", (39, 0))
    assert slice_.program == (2, 0, 0) and slice_.inputs["a_ptr"]["boxes"] == [(slice(39, 40), slice(0, 48))]
    names = [link["name"] for link in slice_.chain]
    assert names[0] == "acc" and {"a", "b"} <= set(names)
    (a_link,) = [link for link in slice_.chain if link["name"] == "a"]
    assert a_link["trip"] == {"k": 2} and a_link["times"] == 3


@triton.jit
def gather(index_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + offs, mask=offs < n, other=0)
    x = tl.load(x_ptr + index, mask=offs < n)
    tl.store(y_ptr + offs, tl.where(index > 3, x, 0.0), mask=offs < n)


def launch_gather():
    index = np.array([7, 1, 6, 2, 5, 9, 4, 0], np.int32)
    x, y = np.arange(10, dtype=np.float32), np.full(10, -1, np.float32)
    return ts.check(gather, client="tracer")[(2,)](index, x, y, 8, BLOCK=4), y


def test_loads_through_loaded_indices():
    report, _ = launch_gather()
    slice_ = report.trace.slice("y_ptr", 5)
    assert slice_.inputs["x_ptr"]["boxes"] == [(slice(9, 10),)]
    assert slice_.inputs["index_ptr"]["boxes"] == [(slice(5, 6),)]
    other = report.trace.slice("y_ptr", 3)  # the select takes the constant
    assert "x_ptr" not in other.inputs and other.inputs["index_ptr"]["boxes"] == [(slice(3, 4),)]


def test_what_nobody_writes_says_so():
    report, y = launch_gather()
    with pytest.raises(ts.Error, match=r"no program writes y_ptr\[9\]"):
        report.trace.slice("y_ptr", 9)
    found = report.trace.explain(y_ptr=np.where(np.arange(10) < 9, y, 0))
    assert found.index == (9,) and found.program is None
    assert "no program writes it: it is -1 as before the launch" in str(found)


@triton.jit
def scratch(x_ptr, t_ptr, y_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(t_ptr + offs, tl.load(x_ptr + offs) * 2)
    tl.debug_barrier()
    back = tl.load(t_ptr + (BLOCK - 1 - offs))
    tl.store(y_ptr + offs, back + 1)


def test_what_the_program_stored_itself_is_followed():
    x, t, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32), np.zeros(8, np.float32)
    report = ts.check(scratch, client="tracer")[(1,)](x, t, y, BLOCK=8)
    slice_ = report.trace.slice("y_ptr", 1)
    assert slice_.inputs["x_ptr"]["boxes"] == [(slice(6, 7),)] and "t_ptr" not in slice_.inputs


@pytest.mark.parametrize("ask, message", [
    (lambda t: t.slice("z", 0), 'has no tensor "z".*its tensors are index_ptr, x_ptr, y_ptr'),
    (lambda t: t.slice("y_ptr", (0, 0)), r"y_ptr has the shape \(10\), and the index \[0, 0\] has 2 of its 1 numbers"),
    (lambda t: t.slice("y_ptr", 10), r"y_ptr has no element \[10\]: its shape is \(10\)"),
    (lambda t: t.explain(y_ptr=np.zeros(3)), r"y_ptr has the shape \(10\), the expected array \(3\)"),
    (lambda t: t.explain(), "one output at a time"),
])
def test_errors(ask, message):
    report, _ = launch_gather()
    with pytest.raises(ts.Error, match=message):
        ask(report.trace)
