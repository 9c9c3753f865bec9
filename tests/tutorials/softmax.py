"""Softmax of rows that fit one tile: a fixed number of programs walks over the rows."""

import numpy as np
import triton
import triton.language as tl

from tutorials.close import assert_close
from twins.cases import register

case = register(globals())


@triton.jit
def softmax(out_ptr, in_ptr, in_stride, out_stride, rows, cols, BLOCK: tl.constexpr,
            STAGES: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        x = tl.load(in_ptr + row * in_stride + offs, mask=mask, other=-float("inf"))
        shifted = x - tl.max(x, axis=0)
        numerator = tl.exp(shifted)
        denominator = tl.sum(numerator, axis=0)
        tl.store(out_ptr + row * out_stride + offs, numerator / denominator, mask=mask)


def check(run, rows, cols, programs, pad=0):
    rng = np.random.default_rng(cols)
    x = (rng.standard_normal((rows, cols + pad)) * 3).astype(np.float32)[:, :cols]
    out = np.full((rows, cols), np.nan, dtype=np.float32)
    run(softmax)[(programs,)](out, x, x.strides[0] // 4, cols, rows, cols,
                              BLOCK=triton.next_power_of_2(cols), STAGES=2)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    # exp to 2 ulp, a sum of `cols` terms by a tree, one division
    assert_close(out, e / e.sum(axis=1, keepdims=True), 1e-30, 2e-6)


@case()
def ragged_columns(run):
    check(run, 37, 781, 8)


@case()
def one_program_a_row(run):
    check(run, 5, 128, 5)


@case()
def more_programs_than_rows(run):
    check(run, 3, 33, 8)


@case()
def single_column(run):
    check(run, 4, 1, 2)


@case()
def rows_of_a_wider_matrix(run):
    check(run, 11, 100, 4, pad=27)
