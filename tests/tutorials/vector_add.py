"""Vector add: one rounding, so the float32 result is the float64 one, rounded."""

import numpy as np
import triton
import triton.language as tl

from tutorials.close import assert_close
from twins.cases import register

case = register(globals())


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x + y, mask=mask)


def check(run, n, dtype, block):
    rng = np.random.default_rng(n)
    x, y = (rng.standard_normal(n).astype(dtype) for _ in range(2))
    out = np.full(n, np.nan, dtype=dtype)
    run(add)[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=block)
    wanted = x.astype(np.float64) + y
    assert_close(out, wanted, 0, float(np.finfo(dtype).eps) / 2)


@case()
def one_element(run):
    check(run, 1, np.float32, 1024)


@case()
def ragged(run):
    check(run, 98_437, np.float32, 1024)


@case()
def whole_blocks(run):
    check(run, 4096, np.float32, 256)


@case()
def half_precision(run):
    check(run, 5003, np.float16, 512)


@case()
def double_precision(run):
    check(run, 777, np.float64, 128)
