"""Random small kernels over integers: addresses and masks from program ids, ranges, loops, tables,
and every integer operation whose wrapping or rounding is easily got wrong."""

import random

HEADER = '''import numpy as np
import triton
import triton.language as tl

from twins.cases import register

case = register(globals())


'''

HELPER = '''@triton.jit
def folded(tile, count, B: tl.constexpr):
    """A helper with a loop of its own and a value it carries."""
    at = tile * 0 + tl.max(tile, axis=0)[None, :]
    step = 0
    while step < count % 4:
        at += tile - step
        step += 1
    return at


'''

LAUNCH = '''
@case()
def launch(run):
    rng = np.random.default_rng({seed})
    whole = rng.integers(-1000, 1000, {size}, dtype=np.int32)
    table = rng.integers(-30, 200, 64, dtype=np.int32)
    x = whole{view}
    y = np.zeros({programs} * {B} * {B}, dtype=np.int32)
    z = np.zeros({z_size}, dtype=np.int32)
    run(kernel)[{grid}](x, table, y, z, {n}, {s}, B={B})
    return [y, z]
'''


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = ["i[:, None]", "j[None, :]", "pid", "qid", "n", "s"]

    def pick(self, *choices):
        return self.random.choice(choices)

    def number(self):
        if self.random.random() < 0.1:  # products and sums of these wrap
            return str(self.pick(65536, -65537, 1 << 30, 2147483647, 715827883, -2147483647))
        return str(self.pick(0, 1, 2, 3, 5, 7, 8, 16, 31, 100, self.random.randint(-20, 200)))

    def expression(self, depth):
        """An int32 expression that broadcasts to a [B, B] tile."""
        if depth == 0:
            return self.number() if self.random.random() < 0.25 else self.pick(*self.names)
        a = self.expression(depth - 1)
        b = self.expression(self.random.randint(0, depth - 1))
        kind = self.random.randint(0, 23)
        tile = f"(one * ({a}))"
        if kind <= 5:
            return f"({a} {self.pick('+', '+', '-', '*')} {b})"
        if kind == 6:
            return f"(one * ({a}) // {self.pick(2, 3, 7, -4)})"
        if kind == 7:
            return f"(one * ({a}) % {self.pick(2, 5, 16, 33)})"
        if kind == 8:
            return f"tl.{self.pick('minimum', 'maximum')}(one * ({a}), one * ({b}))"
        if kind == 9:
            return f"tl.where({self.condition(depth - 1)}, one * ({a}), one * ({b}))"
        if kind == 10:
            return f"((one * ({a})).to(tl.{self.pick('int8', 'uint8', 'int16', 'uint16')}).to(tl.int32))"
        if kind == 11:
            return f"((one * ({a})) {self.pick('>>', '<<')} {self.random.randint(0, 3)})"
        if kind == 12:
            return f"((one * ({a})) {self.pick('&', '|', '^')} {self.pick(1, 7, 15, 255, -2)})"
        if kind == 13:
            return f"tl.load(table + ((one * ({a})) & 63))"
        if kind == 14:
            return f"(one * ({a})).to(tl.int64) * {self.pick(1, 3, 1 << 20)} // {self.pick(1, 1 << 20)}"
        if kind == 15:
            return f"(one * ({a})).to(tl.uint32).to(tl.int32, bitcast=True)"
        if kind == 16:
            axis = self.pick(0, 1)
            kept = "[None, :]" if axis == 0 else "[:, None]"
            return f"tl.{self.pick('sum', 'max', 'min', 'argmax', 'argmin', 'xor_sum')}({tile}, axis={axis}){kept}"
        if kind == 17:
            return f"tl.cumsum({tile}, axis={self.pick(0, 1)})"
        if kind == 18:
            return f"tl.trans({tile})"
        if kind == 19:
            return f"tl.reshape(tl.ravel({tile}), (B, B))"
        if kind == 20:
            return self.pick(f"tl.abs({tile})", f"(-{tile})", f"(~{tile})", f"tl.cdiv({tile}, 3)",
                             f"tl.umulhi({tile}, {tile} + 1)")
        if kind == 22:
            return f"({tile}.to(tl.uint32) {self.pick('//', '%', '>>')} {self.pick(3, 7, 10)}).to(tl.int32)"
        if kind == 23:
            return f"({tile}.to(tl.uint32) < {self.pick(5, 40, 70000)}).to(tl.int32)"
        if kind == 21:
            return f"folded({tile}, {self.pick('pid', 'n', '9')}, B)"

    def condition(self, depth):
        a, b = self.expression(depth), self.expression(0)
        if self.random.random() < 0.15:
            return f"((one * ({a})).to(tl.uint32) {self.pick('<', '>=')} (one * ({b})).to(tl.uint32))"
        test = f"(one * ({a}) {self.pick('<', '<=', '>', '>=', '!=', '==')} one * ({b}))"
        if self.random.random() < 0.4:
            return f"({test} {self.pick('&', '|')} {self.condition(max(0, depth - 1))})"
        return test


def source(seed):
    """The text of a module with one kernel and one case named `launch`."""
    w = Writer(seed)
    b = w.pick(4, 8, 16)
    lines = [HELPER, "@triton.jit", "def kernel(x, table, y, z, n, s, B: tl.constexpr):",
             "    pid = tl.program_id(0)", "    qid = tl.program_id(1)",
             "    i = tl.arange(0, B)", "    j = tl.arange(0, B)",
             "    one = tl.full((B, B), 1, tl.int32)", "    acc = tl.zeros((B, B), tl.int32)"]
    indent = "    "
    if w.random.random() < 0.5:
        start, stop, step = w.pick("0", "pid", "1"), w.pick("4", "n % 5", "pid + 2", "qid"), w.pick("1", "2")
        lines.append(f"{indent}for k in range({start}, {stop}, {step}):")
        indent += "    "
        w.names.append("k")
    elif w.random.random() < 0.4:
        lines.append(f"{indent}if {w.pick('pid > 0', 'qid == 0', 'tl.load(table + pid) > 50', 'n > s')}:")
        indent += "    "
    if "k" in w.names and w.random.random() < 0.5:  # an address that the loop carries
        lines.insert(-1, f"    walk = one * ({w.pick('pid', 'i[:, None]', 'j[None, :] + 3')})")
        lines.append(f"{indent}walk += {w.pick('k', 'B', 'j[None, :]', 'qid + 1', '-k')}")
        w.names.append("walk")
    lines.append(f"{indent}at = one * ({w.expression(w.random.randint(1, 3))})")
    mask = f", mask={w.condition(2)}" if w.random.random() < 0.7 else ""
    other = f", other={w.number()}" if mask and w.random.random() < 0.5 else ""
    lines.append(f"{indent}acc += tl.load(x + at{mask}{other})")
    if w.random.random() < 0.3:  # what earlier programs wrote
        lines.append(f"{indent}acc += tl.load(z + ((one * ({w.expression(1)})) & 31))")
    if w.random.random() < 0.3:
        op = w.pick("add", "max", "min", "xor")
        lines.append(f"{indent}acc += tl.atomic_{op}(z + one * ({w.expression(1)}), acc, mask={w.condition(1)})")
    if w.random.random() < 0.5:
        lines.append(f"{indent}tl.store(z + {w.expression(2)} + 0 * one, acc, mask={w.condition(1)})")
    lines.append("    tl.store(y + (qid * tl.num_programs(0) + pid) * B * B + i[:, None] * B + j[None, :], acc)")
    grid = (w.random.randint(1, 4), w.random.randint(1, 3))
    view = w.pick("", "", "[20:150]", "[::2]", "[::-1]", "[5::3]")
    launch = LAUNCH.format(seed=seed, size=w.pick(100, 200, 400), view=view, B=b, grid=grid,
                           programs=grid[0] * grid[1], n=w.random.randint(2, 60),
                           s=w.random.randint(2, 40), z_size=w.pick(50, 300))
    return HEADER + "\n".join(lines) + "\n\n" + launch
