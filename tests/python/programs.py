"""The kernels of the programs that the tests run under `tilesight run`."""

KERNELS = """
import os, sys
import numpy as np
import triton
import triton.language as tl

@triton.jit
def clean(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, 1.0, mask=offs < n)

@triton.jit
def buggy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(y_ptr + offs, x, mask=offs < n)

x, y = np.zeros(100, np.float32), np.zeros(100, np.float32)

def run_clean():
    clean[(2,)](x, 100, BLOCK=64)
    assert (x == 1).all()

def run_buggy():
    x[:] = 3
    buggy[(2,)](x, y, 100, BLOCK=64)
    assert (y == 3).all()
"""
