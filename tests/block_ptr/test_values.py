"""Block pointers as values: chosen by `if`, given to functions and back, carried through loops; on the engine."""

import numpy as np
import pytest

import tilesight as ts

from flavours import FLAVOURS, RELEASE, kernels

EVERY = pytest.mark.parametrize("flavour", [*FLAVOURS, "descriptors"])


def launched(flavour, kernel, grid, *arguments, **constants):
    report = ts.check(getattr(kernels(flavour), kernel))[grid](*arguments, **constants)
    assert report.verdict == "ok", report.text()


def block(tensor, row, column, rows, columns):
    """Rows and columns of a tensor, zeros outside."""
    result = np.zeros((rows, columns), tensor.dtype)
    for i in range(max(row, 0), min(row + rows, len(tensor))):
        for j in range(max(column, 0), min(column + columns, tensor.shape[1])):
            result[i - row, j - column] = tensor[i, j]
    return result


@EVERY
@pytest.mark.parametrize("which", [0, 7])
def test_values(which, flavour, collect):
    if flavour == "descriptors":
        pytest.skip("two descriptors whose dimensions are in different orders are no alternatives")
    if flavour == "triton" and RELEASE == (3, 8):
        pytest.skip("to Triton 3.8, block pointers of different `order` are of different types")
    m, n, bm, bn = 20, 40, 16, 16
    x = np.arange(m * n, dtype=np.float32).reshape(m, n)
    z, y = np.asfortranarray(-3 * x), np.zeros((m, bn), np.float32)
    launched(flavour, "values", (2,), x, z.T.copy(), y, m, n, which, BM=bm, BN=bn)
    source, expected = (x if which > 0 else z), np.zeros_like(y)
    for row in range(0, m, bm):
        total = sum(block(source, row, column, bm, bn) for column in range(0, n, bn))
        for k, column in enumerate(range(n // bn * bn, -1, -bn)):
            total = total + block(source, row + (k >= 1), column, bm, bn)
        expected[row:row + bm] = total[:m - row]
    np.testing.assert_array_equal(y, expected)


@EVERY
def test_matmul(flavour, collect):
    random = np.random.default_rng(0)
    m, n, k = 40, 24, 48
    a, b = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    c = np.zeros((m, n), np.float32)
    launched(flavour, "matmul", (3, 2), a, b, c, m, n, k, k, 1, 1, k, BM=16, BN=16, BK=32)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.T.astype(np.float32))


@EVERY
@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.float16])
def test_a_scalar_for_all_of_a_block(dtype, flavour, collect):
    x = np.zeros((20, 24), dtype)
    launched(flavour, "fill", (2, 2), x, 20, 24, BM=16, BN=16)
    assert (x == 3).all()


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("offset, step", [(2**31 - 8, 16), (-2**31, 2**31 - 1)])
def test_coordinates_have_64_bits(offset, step, flavour, collect):
    """The second block is at offset + step, which 32 bits do not hold, or hold only in part."""
    x, y = np.arange(32, dtype=np.float32), np.zeros(16, np.float32)
    shape, second = (2**32,), offset + step
    if offset > 0:  # x[0] is at coordinate `offset`
        launched(flavour, "read", (1,), x, y, -offset, shape, (1,), (offset,), (step,), 2, 8, (8,), (0,), (0,), "zero")
        np.testing.assert_array_equal(y, [*x[:8], *x[16:24]])
    else:  # x[0] is at coordinate 0: all of the first block is in front of it, and one element of the second
        launched(flavour, "read", (1,), x, y, 0, shape, (1,), (offset,), (step,), 2, 8, (8,), (0,), (0,), "zero")
        assert second == -1
        np.testing.assert_array_equal(y, [0] * 8 + [0, *x[:7]])
