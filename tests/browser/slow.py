"""A launch that takes seconds: `python slow.py FILE.tsb` saves it as it was before it ran."""
import sys

import numpy as np
import triton
import triton.language as tl

import tilesight as ts


@triton.jit
def slow_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr, TURNS: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in range(TURNS):
        acc += tl.load(x_ptr + (offs + i * 8) % n)
    tl.store(y_ptr + offs, acc, mask=offs < n)


ts.config.timeout, ts.config.keep_inputs, ts.config.on_finding = 0.05, "1G", "collect"
x, y = np.zeros(6_400_000, np.float32), np.zeros(6_400_000, np.float32)
ts.check(slow_kernel)[(100_000,)](x, y, x.size, BLOCK=64, TURNS=600)
ts.save(sys.argv[1])
