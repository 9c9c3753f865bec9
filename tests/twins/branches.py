"""Control flow that decides whether an access happens at all."""

import numpy as np
import triton
import triton.language as tl

from twins.cases import finds, numbers, register

case = register(globals())


# -- on the program id ---------------------------------------------------------------------------------


@triton.jit
def else_branch(x, y, B: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    if pid < 2:
        tl.store(y + pid * B + i, tl.load(x + pid * B + i))
    else:
        v = tl.load(x + (pid + 1) * B + i)  # BUG: out-of-bounds load x
        tl.store(y + pid * B + i, v)


@triton.jit
def else_branch_right(x, y, B: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    if pid < 2:
        tl.store(y + pid * B + i, tl.load(x + pid * B + i))
    else:
        v = tl.load(x + (pid - 1) * B + i)
        tl.store(y + pid * B + i, v)


@case(finds("out-of-bounds load x", program=(3, 0, 0), element=[0], index=[64], past=64,
            elements=16, programs=1, because=["pid"]))
def program_branch(run):
    run(else_branch)[(4,)](numbers(64), numbers(64), B=16)


@case()
def program_branch_inside(run):
    run(else_branch_right)[(4,)](numbers(64), numbers(64), B=16)


@triton.jit
def last_program(x, y, n, B: tl.constexpr):
    """The last program takes the remainder, and starts it one block too late."""
    pid = tl.program_id(0)
    last = tl.num_programs(0) - 1
    i = tl.arange(0, B)
    if pid == last:
        rest = (pid + 1) * B + i
        v = tl.load(x + rest, mask=i < n - pid * B)  # BUG: out-of-bounds load x
        tl.store(y + pid * B + i, v, mask=pid * B + i < n)
    else:
        tl.store(y + pid * B + i, tl.load(x + pid * B + i))


@triton.jit
def last_program_right(x, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    last = tl.num_programs(0) - 1
    i = tl.arange(0, B)
    if pid == last:
        rest = pid * B + i
        v = tl.load(x + rest, mask=i < n - pid * B)
        tl.store(y + pid * B + i, v, mask=pid * B + i < n)
    else:
        tl.store(y + pid * B + i, tl.load(x + pid * B + i))


@case(finds("out-of-bounds load x", program=(6, 0, 0), element=[0], index=[112], past=(112 + 4 - 100) * 4,
            elements=4, programs=1, because=["rest"]))
def last_program_branch(run):
    run(last_program)[(7,)](numbers(100), numbers(100), 100, B=16)


@case()
def last_program_branch_inside(run):
    run(last_program_right)[(7,)](numbers(100), numbers(100), 100, B=16)


# -- on loaded values ----------------------------------------------------------------------------------


@triton.jit
def flagged(x, y, flag, B: tl.constexpr):
    i = tl.arange(0, B)
    if tl.load(flag) != 0:
        tl.store(y + i, tl.load(x + B + i))  # BUG: out-of-bounds load x
    else:
        tl.store(y + i, tl.load(x + i))


@case(finds("out-of-bounds load x", program=(0, 0, 0), element=[0], index=[16], past=64, elements=16))
def branch_on_a_loaded_value(run):
    run(flagged)[(1,)](numbers(16), numbers(16), np.array([1], dtype=np.int32), B=16)


@case()
def branch_not_taken(run):
    run(flagged)[(1,)](numbers(16), numbers(16), np.array([0], dtype=np.int32), B=16)


@triton.jit
def per_program_kind(x, y, kinds, B: tl.constexpr):
    pid = tl.program_id(0)
    kind = tl.load(kinds + pid)
    i = tl.arange(0, B)
    if kind == 0:
        v = tl.load(x + pid * B + i)
    else:
        v = tl.load(x + pid * B + B * kind + i)  # BUG: out-of-bounds load x
    tl.store(y + pid * B + i, v)


@case(finds("out-of-bounds load x", program=(5, 0, 0), element=[0], index=[(5 + 3) * 16], past=64,
            elements=16, programs=1))
def branch_on_a_value_loaded_per_program(run):
    kinds = np.array([0, 1, 0, 2, 0, 3, 0, 0], dtype=np.int32)
    run(per_program_kind)[(8,)](numbers(128), numbers(128), kinds, B=16)


@case()
def branch_on_harmless_values_per_program(run):
    kinds = np.array([0, 1, 0, 2, 0, 2, 0, 0], dtype=np.int32)
    run(per_program_kind)[(8,)](numbers(128), numbers(128), kinds, B=16)


# -- early return --------------------------------------------------------------------------------------


@triton.jit
def guarded(x, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid * B >= n:
        return
    offs = pid * B + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs))


@triton.jit
def guarded_wrongly(x, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid * B > n:
        return
    offs = pid * B + tl.arange(0, B)
    v = tl.load(x + offs)  # BUG: out-of-bounds load x
    tl.store(y + offs, v, mask=offs < n)


@case()
def early_return(run):
    run(guarded)[(9,)](numbers(64), numbers(64), 64, B=16)


@case(finds("out-of-bounds load x", program=(4, 0, 0), element=[0], index=[64], past=64, elements=16,
            programs=1, because=["offs"]))
def early_return_one_late(run):
    run(guarded_wrongly)[(9,)](numbers(64), numbers(64), 64, B=16)


@triton.jit
def guarded_row(x, lengths, y, cols, B: tl.constexpr):
    """Rows that a loaded length calls empty are skipped; the others are read whole."""
    row = tl.program_id(0)
    length = tl.load(lengths + row)
    if length == 0:
        return
    c = tl.arange(0, B)
    v = tl.load(x + row * cols + c, mask=c < length, other=0.0)  # BUG: out-of-bounds load x
    tl.store(y + row, tl.sum(v, axis=0))


@case(finds("out-of-bounds load x", program=(3, 0, 0), element=[10], index=[40], past=8, elements=2,
            programs=1))
def return_on_a_loaded_length(run):
    lengths = np.array([3, 0, 10, 12], dtype=np.int32)
    run(guarded_row)[(4,)](numbers(40), lengths, numbers(4), 10, B=16)


@case()
def return_on_a_good_length(run):
    lengths = np.array([3, 0, 10, 10], dtype=np.int32)
    y = numbers(4)
    run(guarded_row)[(4,)](numbers(40), lengths, y, 10, B=16)
    assert y[1] == 1 and y[3] == sum(range(30, 40))


@triton.jit
def nested_branches(x, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    if pid > 0:
        if pid < tl.num_programs(0) - 1:
            shift = -B
        else:
            shift = B
        v = tl.load(x + pid * B + shift + i)  # BUG: out-of-bounds load x
    else:
        v = tl.load(x + i)
    tl.store(y + pid * B + i, v)


@case(finds("out-of-bounds load x", program=(3, 0, 0), element=[0], index=[64], past=64, elements=16,
            programs=1, because=["shift"]))
def value_chosen_by_a_branch(run):
    run(nested_branches)[(4,)](numbers(64), numbers(64), 64, B=16)


@case()
def value_chosen_by_a_branch_inside(run):
    run(nested_branches)[(4,)](numbers(80), numbers(64), 64, B=16)
