"""Loops: carried pointers, while loops, persistent programs, and loops that run zero times."""

import numpy as np
import triton
import triton.language as tl

from twins.cases import finds, numbers, register

case = register(globals())


# -- while ---------------------------------------------------------------------------------------------


@triton.jit
def row_sum_while(x, y, n, B: tl.constexpr):
    i = 0
    acc = tl.zeros((B,), dtype=tl.float32)
    while i < n:
        offs = i + tl.arange(0, B)
        acc += tl.load(x + offs)  # BUG: out-of-bounds load x
        i += B
    tl.store(y, tl.sum(acc, axis=0))


@triton.jit
def row_sum_while_masked(x, y, n, B: tl.constexpr):
    i = 0
    acc = tl.zeros((B,), dtype=tl.float32)
    while i < n:
        offs = i + tl.arange(0, B)
        acc += tl.load(x + offs, mask=offs < n, other=0.0)
        i += B
    tl.store(y, tl.sum(acc, axis=0))


@case(finds("out-of-bounds load x", program=(0, 0, 0), element=[4], index=[100], past=48, elements=12,
            programs=1, iterations=[("", 6)], because=["offs"]))
def while_past_the_tail(run):
    run(row_sum_while)[(1,)](numbers(100), numbers(1), 100, B=16)


@case()
def while_with_a_mask(run):
    y = numbers(1)
    run(row_sum_while_masked)[(1,)](numbers(100), y, 100, B=16)
    assert y[0] == sum(range(100))


@triton.jit
def find_bracket(table, keys, out, n, count):
    """Bisection; the upper end starts one too far, so that the last probe may be table[n]."""
    pid = tl.program_id(0)
    key = tl.load(keys + pid)
    low = 0
    high = n
    while low <= high:
        middle = (low + high) // 2
        v = tl.load(table + middle)  # BUG: out-of-bounds load table
        if v <= key:
            low = middle + 1
        else:
            high = middle - 1
    tl.store(out + pid, high)


@triton.jit
def find_bracket_right(table, keys, out, n, count):
    pid = tl.program_id(0)
    key = tl.load(keys + pid)
    low = 0
    high = n - 1
    while low <= high:
        middle = (low + high) // 2
        v = tl.load(table + middle)
        if v <= key:
            low = middle + 1
        else:
            high = middle - 1
    tl.store(out + pid, high)


@case(finds("out-of-bounds load table", program=(2, 0, 0), element=[], index=[10], past=4, elements=1,
            programs=1, because=["middle"]))
def bisection_one_too_far(run):
    keys = np.array([0, 5, 100, 3], dtype=np.float32)
    run(find_bracket)[(4,)](numbers(10), keys, np.zeros(4, np.int32), 10, 4)


@case()
def bisection(run):
    keys = np.array([0, 5, 100, 3], dtype=np.float32)
    out = np.zeros(4, np.int32)
    run(find_bracket_right)[(4,)](numbers(10), keys, out, 10, 4)
    assert out.tolist() == [0, 5, 9, 3]


# -- carried pointers ----------------------------------------------------------------------------------


@triton.jit
def walk(x, y, n, B: tl.constexpr):
    ptrs = x + tl.arange(0, B)
    acc = tl.zeros((B,), dtype=tl.float32)
    for i in range(0, tl.cdiv(n, B)):
        acc += tl.load(ptrs)  # BUG: out-of-bounds load x
        ptrs += B
    tl.store(y + tl.arange(0, B), acc)


@triton.jit
def walk_masked(x, y, n, B: tl.constexpr):
    ptrs = x + tl.arange(0, B)
    acc = tl.zeros((B,), dtype=tl.float32)
    for i in range(0, tl.cdiv(n, B)):
        acc += tl.load(ptrs, mask=tl.arange(0, B) < n - i * B, other=0.0)
        ptrs += B
    tl.store(y + tl.arange(0, B), acc)


@case(finds("out-of-bounds load x", program=(0, 0, 0), element=[4], index=[100], past=48, elements=12,
            iterations=[("i", 6)]))
def carried_pointer(run):
    run(walk)[(1,)](numbers(100), numbers(16), 100, B=16)


@case()
def carried_pointer_masked(run):
    run(walk_masked)[(1,)](numbers(100), numbers(16), 100, B=16)


@triton.jit
def step_after_load(x, y, n, B: tl.constexpr):
    """The pointer moves by the induction variable, after the load: 0, 0+0, +B, +2B, .."""
    ptrs = x + tl.arange(0, B)
    acc = tl.zeros((B,), dtype=tl.float32)
    for i in range(0, n):
        acc += tl.load(ptrs)  # BUG: out-of-bounds load x
        ptrs += i * B
    tl.store(y + tl.arange(0, B), acc)


@case(finds("out-of-bounds load x", element=[0], index=[160], past=64, elements=16,
            iterations=[("i", 5)]))
def step_by_the_induction_variable(run):
    """Offsets in blocks: 0, 0, 1, 3, 6, 10: ten blocks hold five trips, not six."""
    run(step_after_load)[(1,)](numbers(160), numbers(16), 6, B=16)


@case()
def step_by_the_induction_variable_inside(run):
    """The last move, past the end, is not followed by a load."""
    run(step_after_load)[(1,)](numbers(112), numbers(16), 5, B=16)


# -- trip counts ----------------------------------------------------------------------------------------


@triton.jit
def rows_of_lengths(x, starts, ends, y, B: tl.constexpr):
    row = tl.program_id(0)
    start = tl.load(starts + row)
    end = tl.load(ends + row)
    total = 0.0
    for k in range(start, end, B):
        offs = k + tl.arange(0, B)
        total += tl.sum(tl.load(x + offs), axis=0)  # BUG: out-of-bounds load x
    tl.store(y + row, total)


@case()
def loop_of_zero_trips(run):
    """Empty and reversed ranges, with starts that are nowhere near the tensor."""
    starts = np.array([1000, 5000, -7], dtype=np.int32)
    ends = np.array([1000, 10, -7], dtype=np.int32)
    y = np.ones(3, dtype=np.float32)
    run(rows_of_lengths)[(3,)](numbers(64), starts, ends, y, B=16)
    assert (y == 0).all()


@case(finds("out-of-bounds load x", program=(1, 0, 0), element=[8], index=[64], past=32, elements=8,
            programs=1, iterations=[("k", 56)], because=["offs"]))
def loop_bounds_from_data(run):
    starts = np.array([0, 40, 3], dtype=np.int32)
    ends = np.array([64, 64, 3], dtype=np.int32)
    run(rows_of_lengths)[(3,)](numbers(64), starts, ends, np.zeros(3, np.float32), B=16)


@triton.jit
def one_block_too_many(x, y, n, B: tl.constexpr):
    acc = tl.zeros((B,), dtype=tl.float32)
    for k in range(0, n // B + 1):
        acc += tl.load(x + k * B + tl.arange(0, B))  # BUG: out-of-bounds load x
    tl.store(y + tl.arange(0, B), acc)


@case(finds("out-of-bounds load x", element=[0], index=[64], past=64, elements=16, iterations=[("k", 4)],
            because=["k"]))
def loop_one_block_too_many(run):
    run(one_block_too_many)[(1,)](numbers(64), numbers(16), 64, B=16)


@triton.jit
def nested(x, y, rows, cols, B: tl.constexpr):
    acc = tl.zeros((B,), dtype=tl.float32)
    for i in range(rows):
        for j in range(0, cols, B):
            c = j + tl.arange(0, B)
            acc += tl.load(x + i * cols + c)  # BUG: out-of-bounds load x
    tl.store(y + tl.arange(0, B), acc)


@triton.jit
def nested_masked(x, y, rows, cols, B: tl.constexpr):
    acc = tl.zeros((B,), dtype=tl.float32)
    for i in range(rows):
        for j in range(0, cols, B):
            c = j + tl.arange(0, B)
            acc += tl.load(x + i * cols + c, mask=c < cols, other=0.0)
    tl.store(y + tl.arange(0, B), acc)


@case(finds("out-of-bounds load x", element=[4], index=[60], past=48, elements=12, programs=1,
            iterations=[("i", 2), ("j", 16)], because=["c"]))
def nested_loops(run):
    """Only the last row's tail leaves the tensor; the others run into the next row."""
    run(nested)[(1,)](numbers(60), numbers(16), 3, 20, B=16)


@case()
def nested_loops_masked(run):
    run(nested_masked)[(1,)](numbers(60), numbers(16), 3, 20, B=16)


@triton.jit
def downwards(x, y, n, B: tl.constexpr):
    acc = tl.zeros((B,), dtype=tl.float32)
    for k in range(n - B, -B, -B):
        acc += tl.load(x + k + tl.arange(0, B))  # BUG: out-of-bounds load x
    tl.store(y + tl.arange(0, B), acc)


@case(finds("out-of-bounds load x", element=[0], index=[-12], past=-48, elements=12,
            iterations=[("k", -12)], because=["k"]))
def downward_loop(run):
    """52 is no multiple of 16: the last trip starts at -12."""
    run(downwards)[(1,)](numbers(52), numbers(16), 52, B=16)


@case()
def downward_loop_inside(run):
    run(downwards)[(1,)](numbers(64), numbers(16), 64, B=16)


# -- persistent programs and swizzles --------------------------------------------------------------------


@triton.jit
def persistent(x, y, n, B: tl.constexpr):
    blocks = tl.cdiv(n, B)
    for block in range(tl.program_id(0), blocks, tl.num_programs(0)):
        offs = block * B + tl.arange(0, B)
        v = tl.load(x + offs)  # BUG: out-of-bounds load x
        tl.store(y + offs, v, mask=offs < n)


@triton.jit
def persistent_masked(x, y, n, B: tl.constexpr):
    blocks = tl.cdiv(n, B)
    for block in range(tl.program_id(0), blocks, tl.num_programs(0)):
        offs = block * B + tl.arange(0, B)
        v = tl.load(x + offs, mask=offs < n)
        tl.store(y + offs, v, mask=offs < n)


@case(finds("out-of-bounds load x", program=(0, 0, 0), element=[4], index=[100], past=48, elements=12,
            programs=1, iterations=[("block", 6)], because=["offs"]))
def persistent_loop(run):
    run(persistent)[(3,)](numbers(100), numbers(100), 100, B=16)


@case()
def persistent_loop_masked(run):
    x, y = numbers(100), np.zeros(100, np.float32)
    run(persistent_masked)[(3,)](x, y, 100, B=16)
    assert (x == y).all()


@triton.jit
def swizzled(x, y, M, N, GROUP: tl.constexpr, B: tl.constexpr):
    """Blocks in groups of rows; the group's height is not clipped at the bottom."""
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, B)
    tiles_n = tl.cdiv(N, B)
    per_group = GROUP * tiles_n
    group = pid // per_group
    first = group * GROUP
    pid_m = first + (pid % per_group) % GROUP
    pid_n = (pid % per_group) // GROUP
    m = pid_m * B + tl.arange(0, B)
    n = pid_n * B + tl.arange(0, B)
    tile = tl.load(x + m[:, None] * N + n[None, :])  # BUG: out-of-bounds load x
    tl.store(y + m[:, None] * N + n[None, :], tile, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def swizzled_clipped(x, y, M, N, GROUP: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, B)
    tiles_n = tl.cdiv(N, B)
    per_group = GROUP * tiles_n
    group = pid // per_group
    first = group * GROUP
    size = min(tiles_m - first, GROUP)
    pid_m = first + (pid % per_group) % size
    pid_n = (pid % per_group) // size
    m = pid_m * B + tl.arange(0, B)
    n = pid_n * B + tl.arange(0, B)
    tile = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(y + m[:, None] * N + n[None, :], tile)


@case(finds("out-of-bounds load x", program=(5, 0, 0), element=[0, 0],
            past=((3 * 16 + 15) * 32 + 15 - 48 * 32 + 1) * 4, elements=256, programs=1,
            because=["pid_m"]))
def swizzle_without_clipping(run):
    """3 rows of tiles in groups of 2: program 5 gets row 3."""
    x = np.zeros((48, 32), dtype=np.float32)
    run(swizzled)[(6,)](x, x.copy(), 48, 32, GROUP=2, B=16)


@case()
def swizzle_clipped(run):
    x = np.random.default_rng(0).standard_normal((48, 32), dtype=np.float32)
    y = np.zeros_like(x)
    run(swizzled_clipped)[(6,)](x, y, 48, 32, GROUP=2, B=16)
    assert (x == y).all()
