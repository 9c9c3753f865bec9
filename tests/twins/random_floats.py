"""Random small kernels over bf16, the 8-bit floats and f16: loads and stores of them, conversions between them, arithmetic,
products, sums, selects and what loops carry."""

import random

HEADER = '''import ml_dtypes
import numpy as np
import triton
import triton.language as tl

from twins.cases import register

case = register(globals())

'''

LAUNCH = '''
@case()
def launch(run):
    rng = np.random.default_rng({seed})
    a = rng.integers(0, 256, {programs} * {B} * {B}, dtype=np.uint8).view(ml_dtypes.{narrow})
    b = (rng.standard_normal({programs} * {B} * {B}) * 4).astype(ml_dtypes.{wide})
    x = rng.standard_normal({programs} * {B} * {B}).astype(np.float32)
    y = np.zeros({programs} * {B} * {B}, dtype=ml_dtypes.{wide})
    z = np.zeros({programs} * {B} * {B}, dtype=ml_dtypes.{narrow})
    run(kernel)[({programs},)](a, b, x, y, z, {n}, B={B})
    return []
'''

NARROW = {"float8_e4m3fn": "float8e4nv", "float8_e5m2": "float8e5", "bfloat16": "bfloat16"}


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *choices):
        return self.random.choice(choices)

    def through(self, text):
        """A tile of f32 that went through a narrower format."""
        return f"{text}.to(tl.{self.pick('bfloat16', 'bfloat16', 'float16', 'float8e5', 'float8e4nv')}).to(tl.float32)"

    def expression(self, depth):
        """A tile of f32, [B, B]."""
        if depth == 0:
            return self.pick("fa", "fb", "fx", "acc", "fa", "(bb + ab).to(tl.float32)", "(bb * ab).to(tl.float32)", f"({self.pick(0.5, -1.75, 3.0)} + fx * 0)")
        e = self.expression
        way = self.random.randrange(8)
        if way < 3:
            return f"({e(depth - 1)} {self.pick('+', '-', '*')} {e(depth - 1)})"
        if way == 3:
            return self.through(f"({e(depth - 1)})")
        if way == 4:
            return f"tl.where({e(depth - 1)} > {self.pick('fx', '0.0', 'fb')}, {e(depth - 1)}, {e(depth - 1)})"
        if way == 5:
            return f"tl.{self.pick('maximum', 'minimum')}({e(depth - 1)}, {e(depth - 1)})"
        if way == 6:
            return f"tl.sum({e(depth - 1)}, axis={self.pick(0, 1)}, keep_dims=True) * 0.125 + fx"
        return f"tl.abs({self.through(f'({e(depth - 1)})')})"


def source(seed):
    """A module with one case."""
    writer = Writer(seed)
    narrow, wide = writer.pick("float8_e4m3fn", "float8_e5m2"), writer.pick("bfloat16", "bfloat16", "float8_e5m2")
    tl_narrow, tl_wide = NARROW[narrow], NARROW[wide]
    programs, B, n = writer.pick(1, 2, 3), writer.pick(2, 4, 16), writer.pick(1, 2, 3)
    lines = [
        "@triton.jit",
        "def kernel(a_ptr, b_ptr, x_ptr, y_ptr, z_ptr, n, B: tl.constexpr):",
        "    i = tl.arange(0, B)",
        "    at = tl.program_id(0) * B * B + i[:, None] * B + i[None, :]",
        f"    inside = i[None, :] < {writer.pick('B', 'B - 1', 'n')}",
        "    a = tl.load(a_ptr + at, mask=inside)",
        "    b = tl.load(b_ptr + at)",
        "    fx = tl.load(x_ptr + at)",
        "    fa, fb = a.to(tl.float32), b.to(tl.float32)",
        "    ab, bb = fx.to(tl.bfloat16), fb.to(tl.bfloat16)",
        "    acc = tl.zeros((B, B), dtype=tl.float32)",
        "    carried = ab",
        "    for k in range(0, n):",
        f"        acc += {writer.expression(2)}",
        f"        carried = (carried + ({writer.expression(1)}).to(tl.bfloat16)).to(tl.bfloat16)",
        f"        tl.store(z_ptr + at, acc.to(tl.{tl_narrow}), mask=inside)",
        f"        acc += tl.load(z_ptr + at, mask=inside).to(tl.float32)",
    ]
    if B == 16 and writer.random.random() < 0.7:
        lines.append(f"    acc = tl.dot(carried, bb, acc)" if writer.random.random() < 0.6 else "    acc = tl.dot(fx.to(tl.float8e5), fb.to(tl.float8e5), acc)")
    lines.append(f"    y = ({writer.expression(2)} + carried.to(tl.float32)).to(tl.{tl_wide})")
    lines.append(f"    tl.store(y_ptr + at, y, mask={writer.pick('inside', 'at >= 0')})")
    return HEADER + "\n".join(lines) + "\n\n" + LAUNCH.format(seed=seed, programs=programs, B=B, n=n, narrow=narrow, wide=wide)
