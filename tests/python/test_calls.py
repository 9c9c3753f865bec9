"""Calls with arguments that cannot be passed: the error names the argument and says what to do."""

import numpy as np
import pytest
import triton
import triton.language as tl

import tilesight as ts


@triton.jit
def fill(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, 1.0, mask=offs < n)


x = np.zeros(16, np.float32)


@pytest.mark.parametrize("args, kwargs, message", [
    ((x, 16), {}, r"argument BLOCK \(a tl.constexpr\) is missing: give BLOCK=..."),
    ((x,), {"BLOCK": 16}, "argument n is missing"),
    ((x, 16), {"BLOCK": 16, "BLOK": 1}, "no argument BLOK; did you mean BLOCK"),
    ((x, 16, 16, 3), {}, "4 were given; its arguments are x_ptr, n, BLOCK"),
    (([1.0], 16), {"BLOCK": 16}, "argument x_ptr is a list: pass an array"),
    ((x.astype(">f4"), 16), {"BLOCK": 16}, "argument x_ptr: tensors of dtype >f4 .* byte order"),
    ((x.astype(np.complex64), 16), {"BLOCK": 16}, "argument x_ptr: .* complex64 .* imaginary"),
    ((x.astype(object), 16), {"BLOCK": 16}, "argument x_ptr: .* dtype object .* convert"),
    ((x, 1j), {"BLOCK": 16}, "argument n is complex"),
    ((x, "16"), {"BLOCK": 16}, "argument n is a str"),
    ((x, 1 << 70), {"BLOCK": 16}, "argument n is .* 64 bits"),
])
def test_arguments_that_cannot_be_passed(args, kwargs, message):
    with pytest.raises(ts.Error, match=message) as raised:
        ts.check(fill)[(1,)](*args, **kwargs)
    assert isinstance(raised.value, TypeError)  # as Triton would raise


def test_a_rejected_kernel_raises_what_triton_raises_with_its_place():
    with pytest.raises(triton.CompilationError) as raised:
        ts.check(fill)[(1,)](x, 16, BLOCK=15)
    (note,) = raised.value.__notes__
    assert note.startswith(f"{__file__}:13:") and "power of 2" in note
