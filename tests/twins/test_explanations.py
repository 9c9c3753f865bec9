"""What a report says of the cause: `because`, the element that is named, `help`."""

import numpy as np
import pytest
import triton
import triton.language as tl

from twins.findings import Run

RELEASE = tuple(int(n) for n in triton.__version__.split(".")[:2])
pytestmark = pytest.mark.usefixtures("collect")


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def said(kernel, grid, *args, **kwargs):
    """The findings of a launch."""
    run = Run()
    run.check(kernel)[grid](*args, **kwargs)
    assert not run.unknowns
    return run.findings


def only(*launch, **kwargs):
    findings = said(*launch, **kwargs)
    assert len(findings) == 1, findings
    return findings[0]


def entries(finding):
    """`because` as {name: text}; entries without a name go by their expression."""
    return {b["name"] or b["expression"]: " = ".join(t for t in (b["name"] and b["expression"], b["value"]) if t)
            for b in finding["because"]}


# -- help: the bound that the kernel itself knows ------------------------------------------------------------------


@triton.jit
def softmax(x, y, stride, n_cols, MASKED: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, B)
    if MASKED:
        v = tl.load(x + row * stride + offs, mask=offs < n_cols, other=-float("inf"))
    else:
        v = tl.load(x + row * stride + offs)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * stride + offs, e / tl.sum(e, axis=0), mask=offs < n_cols)


def test_help_takes_what_the_variable_is_compared_with():
    """stride and n_cols are both 100."""
    finding = only(softmax, (37,), zeros(37, 100), zeros(37, 100), 100, 100, MASKED=False, B=128)
    assert finding["remedy"] == "mask the load with offs < n_cols"
    assert finding["operand"]["index"] == [36, 100]
    assert not said(softmax, (37,), zeros(37, 100), zeros(37, 100), 100, 100, MASKED=True, B=128)


@triton.jit
def fill_rows(x, n_rows, n_cols, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    tl.store(x + r * n_cols + c, 0.)


@triton.jit
def fill_rows_masked(x, n_rows, n_cols, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    tl.store(x + r * n_cols + c, 0., mask=c < n_cols)


def test_help_of_a_square_takes_the_size_in_the_address():
    finding = only(fill_rows, (100,), zeros(100, 100), 100, 100, B=128)
    assert finding["remedy"] == "mask the store with c < n_cols"
    assert "n_rows" not in entries(finding)
    assert not said(fill_rows_masked, (100,), zeros(100, 100), 100, 100, B=128)


@triton.jit
def fill_by_stride(x, s, B: tl.constexpr):
    tl.store(x + tl.program_id(0) * s + tl.arange(0, B), 0.)


def test_no_help_from_a_stride_alone():
    assert only(fill_by_stride, (100,), zeros(100, 100), 100, B=128)["remedy"] == ""
    assert not said(fill_by_stride, (100,), zeros(100, 128), 128, B=128)


@triton.jit
def two_sizes(x, y, k_size, n_size, stride, MASKED: tl.constexpr, B: tl.constexpr):
    """x[k, n] whose columns are not masked; k_size and n_size are equal."""
    k = tl.arange(0, B)
    n = tl.arange(0, B)
    at = k[:, None] * stride + n[None, :]
    keep = k[:, None] < k_size
    if MASKED:
        keep &= n[None, :] < n_size
    tl.store(y + at, tl.load(x + at, mask=keep, other=0.), mask=keep & (n[None, :] < n_size))


def test_help_never_names_the_other_axis():
    """The offsets of a tile are of two axes: no one size bounds them."""
    finding = only(two_sizes, (1,), zeros(33, 33), zeros(33, 64), 33, 33, 33, MASKED=False, B=64)
    assert finding["remedy"] in ("", "mask the load with n < n_size")
    assert not said(two_sizes, (1,), zeros(33, 33), zeros(33, 33), 33, 33, 33, MASKED=True, B=64)


# -- unsigned values -----------------------------------------------------------------------------------------------


@triton.jit
def gather(index, x, y, B: tl.constexpr):
    i = tl.load(index + tl.arange(0, B))
    tl.store(y + tl.arange(0, B), tl.load(x + i))


@pytest.mark.parametrize("dtype, last", [(np.uint8, 200), (np.uint16, 0xFFFF), (np.uint32, 0xFFFFFFFF)])
def test_unsigned_indices_are_shown_as_what_they_are(dtype, last):
    finding = only(gather, (1,), np.array([0, 1, 2, last], dtype), zeros(4), zeros(4), B=4)
    assert finding["operand"]["index"] == [last]
    assert entries(finding)["i"] == f"load(index + arange(0, 4)) = 0..{last}, here {last}"
    assert not said(gather, (1,), np.array([0, 1, 2, 3], dtype), zeros(4), zeros(4), B=4)


def test_signed_indices_stay_signed():
    finding = only(gather, (1,), np.array([0, 1, 2, -56], np.int8), zeros(4), zeros(4), B=4)
    assert entries(finding)["i"] == "load(index + arange(0, 4)) = -56..2, here -56"


@triton.jit
def narrowed(x, y):
    i = (tl.arange(0, 16) + 250).to(tl.uint8)
    tl.store(y + tl.arange(0, 16), tl.load(x + i))


def test_casts_to_unsigned_types_say_so():
    finding = only(narrowed, (1,), zeros(255), zeros(16))
    assert entries(finding)["i"] == "uint8(arange(0, 16) + 250) = 0..255, here 255"
    assert not said(narrowed, (1,), zeros(256), zeros(16))


# -- the value at the witness --------------------------------------------------------------------------------------


@triton.jit
def gather_rows(index, x, y, D: tl.constexpr, B: tl.constexpr):
    i = tl.load(index + tl.arange(0, B))
    d = tl.arange(0, D)
    v = tl.load(x + i[:, None] * D + d[None, :])
    tl.store(y + tl.arange(0, B)[:, None] * D + d[None, :], v)


def test_a_gathered_row_is_told():
    finding = only(gather_rows, (1,), np.array([0, 1, 4, 2], np.int32), zeros(4, 2), zeros(4, 2), D=2, B=4)
    assert finding["element"] == [2, 0] and finding["operand"]["index"] == [4, 0]
    assert entries(finding)["i"] == "load(index + arange(0, 4)) = 0..4, here 4"
    assert not said(gather_rows, (1,), np.array([0, 1, 3, 2], np.int32), zeros(4, 2), zeros(4, 2), D=2, B=4)


@triton.jit
def asserted(x, n):
    tl.device_assert(tl.load(x) < n, "too big")
    tl.store(x, 1)


def test_the_value_that_an_assert_refused():
    finding = only(asserted, (1,), np.array([9], np.int32), 5, debug=True)
    assert entries(finding)["load(x)"] == "9"
    assert not said(asserted, (1,), np.array([4], np.int32), 5, debug=True)


@triton.jit
def divided(x, n, B: tl.constexpr):
    i = tl.load(x + tl.arange(0, B))
    tl.device_assert(i < n, "index out of range")
    tl.store(x + tl.arange(0, B), n // i)


def test_the_elements_that_an_assert_and_a_division_refused():
    findings = {f["kind"]: f for f in said(divided, (1,), np.array([1, 2, 9, 0], np.int32), 5, B=4, debug=True)}
    assert entries(findings["assert-failed"])["i"] == "load(x + arange(0, 4)) = 0..9, here 9"
    assert entries(findings["division-by-zero"])["i"] == "load(x + arange(0, 4)) = 0..9, here 0"
    assert not said(divided, (1,), np.array([1, 2, 3, 4], np.int32), 5, B=4, debug=True)


# -- addresses without a name --------------------------------------------------------------------------------------


@triton.jit
def unnamed(x, B: tl.constexpr):
    tl.store(x + tl.program_id(0) * B + tl.arange(0, B), 1.)


def test_an_address_without_a_name_is_written_out():
    finding = only(unnamed, (2,), zeros(26), B=16)
    assert entries(finding)["address"] == "x + program_id(0) * 16 + arange(0, 16) = x + 16..31"
    assert not said(unnamed, (2,), zeros(32), B=16)


@triton.jit
def addresses(p, row, stride, W: tl.constexpr):
    return p + row * stride + tl.arange(0, W)


@triton.jit
def by_helper(x, y, stride, W: tl.constexpr):
    r = tl.program_id(0)
    tl.store(y + r * W + tl.arange(0, W), tl.load(addresses(x, r, stride, W)))


def test_an_address_that_a_helper_returns_is_written_out():
    finding = only(by_helper, (4,), zeros(4, 24), zeros(4, 32), 24, W=32)
    assert entries(finding)["address"] == "x + r * stride + arange(0, 32) = x + 72..103"
    assert not said(by_helper, (4,), zeros(4, 32), zeros(4, 32), 32, W=32)


@triton.jit
def named(x, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + offs, 1.)


def test_an_address_of_named_parts_is_not_written_out():
    assert "address" not in entries(only(named, (2,), zeros(26), 26, B=16))


# -- scalars of the chain ------------------------------------------------------------------------------------------


@triton.jit
def wrapped(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B) - 3
    tl.store(y + tl.arange(0, B), tl.load(x + o % n))


@triton.jit
def wrapped_up(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B) - 3
    tl.store(y + tl.arange(0, B), tl.load(x + (o % n + n) % n))


def test_divisors_are_shown():
    """In C, and here, -3 % 4 is -3."""
    finding = only(wrapped, (1,), zeros(4), zeros(16), 4, B=16)
    assert finding["operand"]["index"] == [-3] and entries(finding)["n"] == "4"
    assert finding["remedy"] == ""  # the remainder is negative: a mask on o would not be the cure
    assert not said(wrapped_up, (1,), zeros(4), zeros(16), 4, B=16)


@triton.jit
def stepped(x, y, s):
    o = tl.arange(0, 8)
    tl.store(y + o, tl.load(x + o * s))


def test_arguments_of_one_are_shown():
    """Triton makes an argument of 1 a constant."""
    assert entries(only(stepped, (1,), zeros(8)[::-1], zeros(8), 1))["s"] == "1"
    assert not said(stepped, (1,), zeros(8)[::-1], zeros(8), -1)


# -- the element that is named -------------------------------------------------------------------------------------


@triton.jit
def rows(x, M, N, ld, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    tl.store(x + r * ld + c, 0., mask=(c < N) & (r < M))


@pytest.mark.parametrize("ld", [10, 12])
def test_a_row_past_the_last_is_named_by_its_own_number(ld):
    finding = only(rows, (8,), zeros(7, ld), 8, 10, ld, B=16)
    assert finding["program"] == [7, 0, 0] and finding["operand"]["index"] == [7, 0]
    assert entries(finding)["ld"] == str(ld)
    assert not said(rows, (8,), zeros(8, ld), 8, 10, ld, B=16)


@triton.jit
def flat(x, n, MASKED: tl.constexpr, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    if MASKED:
        tl.store(x + offs, 0., mask=offs < n)
    else:
        tl.store(x + offs, 0.)


def test_elements_counted_through_all_axes():
    finding = only(flat, (3,), zeros(7, 12), 84, MASKED=False, B=32)
    assert finding["operand"]["index"] == [7, 0]
    assert finding["remedy"] == "mask the store with offs < n"
    assert not said(flat, (3,), zeros(7, 12), 84, MASKED=True, B=32)


@triton.jit
def tiles(x, y, cols, B: tl.constexpr):
    c = tl.program_id(1) * B + tl.arange(0, B)
    tl.store(y + c, tl.load(x + tl.program_id(0) * cols + c))


def test_a_column_past_the_last_stays_in_its_row():
    """Columns 96 to 127 of row 2."""
    finding = only(tiles, (3, 4), zeros(3, 100), zeros(128), 100, B=32)
    assert finding["program"] == [2, 3, 0] and finding["operand"]["index"] == [2, 100]


# -- pointers and offsets that a loop moves on ------------------------------------------------------------------------


@triton.jit
def columns_of_product(a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                       MOVES: tl.constexpr):
    """Ragged columns of b are not masked: only behind its last row do they leave the tensor."""
    offs_m = tl.program_id(0) * BM + tl.arange(0, BM)
    offs_n = tl.program_id(1) * BN + tl.arange(0, BN)
    offs_k = tl.arange(0, BK)
    a_ptrs = a + offs_m[:, None] * sa + offs_k[None, :]
    b_ptrs = b + offs_k[:, None] * sb + offs_n[None, :]
    b_offs = offs_k[:, None] * sb + offs_n[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    k = 0
    while k < K:
        left = tl.load(a_ptrs, mask=(offs_m[:, None] < M) & (offs_k[None, :] < K - k), other=0.)
        inside = offs_k[:, None] < K - k
        if MOVES == "pointer":
            right = tl.load(b_ptrs, mask=inside, other=0.)
        else:
            right = tl.load(b + b_offs, mask=inside, other=0.)
        acc += tl.dot(left, right)
        a_ptrs += BK
        b_ptrs += BK * sb
        b_offs += BK * sb
        k += BK
    tl.store(c + offs_m[:, None] * sc + offs_n[None, :], acc, mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


@pytest.mark.parametrize("moves", ["pointer", "offset"])
def test_the_row_and_column_of_what_a_loop_moves_on(moves):
    """b[63, 33], not b[64, 0]; the columns behind the last are masked when they are stored."""
    a, b, c = zeros(17, 64), zeros(64, 33), zeros(17, 33)
    finding = only(columns_of_product, (2, 3), a, b, c, 17, 33, 64, 64, 33, 33, BM=16, BN=16, BK=16, MOVES=moves)
    assert finding["program"] == [0, 2, 0] and finding["element"] == [15, 1]
    assert [i["trip"] for i in finding["iterations"]] == [3]
    assert finding["operand"]["index"] == [63, 33]
    assert finding["remedy"] == ("mask the load with offs_n < N" if moves == "pointer" else "")  # else: b_offs, too
    assert finding["consequences"] == []


@triton.jit
def rows_of_blocks(x, y, rows, cols, stride, R: tl.constexpr, C: tl.constexpr):
    """Two loops move on one pointer: the outer by rows, the inner by columns."""
    r, c = tl.arange(0, R), tl.arange(0, C)
    starts = x + r[:, None] * stride + c[None, :]
    acc = tl.zeros((R, C), tl.float32)
    for _ in range(0, rows, R):
        ptrs = starts
        for _ in range(0, cols, C):
            acc += tl.load(ptrs)
            ptrs += C
        starts += R * stride
    tl.store(y + r[:, None] * C + c[None, :], acc)


def test_a_pointer_that_two_loops_move_on():
    """9 rows in blocks of 4, 20 columns of 24 in blocks of 8: row 9 is the first outside."""
    x = zeros(9, 24)
    finding = only(rows_of_blocks, (1,), x, zeros(4, 8), 9, 24, 24, R=4, C=8)
    assert [i["trip"] for i in finding["iterations"]] == [2, 0]
    assert finding["element"] == [1, 0] and finding["operand"]["index"] == [9, 0]
    # Behind the last column of the last row.
    finding = only(rows_of_blocks, (1,), zeros(8, 20), zeros(4, 8), 8, 20, 20, R=4, C=8)
    assert [i["trip"] for i in finding["iterations"]] == [1, 2]
    assert finding["element"] == [3, 4] and finding["operand"]["index"] == [7, 20]


@triton.jit
def growing_steps(x, y, rows, stride, C: tl.constexpr):
    """Each step is larger than the last one, and goes along the same axis."""
    c = tl.arange(0, C)
    ptrs = x + c
    acc = tl.zeros((C,), tl.float32)
    for i in range(0, rows):
        acc += tl.load(ptrs)
        ptrs += i * stride
    tl.store(y + c, acc)


def test_a_pointer_whose_steps_differ():
    finding = only(growing_steps, (1,), zeros(7, 16), zeros(16), 6, 16, C=16)
    assert finding["iterations"][0]["trip"] == 5 and finding["operand"]["index"] == [10, 0]
