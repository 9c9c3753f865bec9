"""Indices, masks and pointers that come from memory or from results."""

import numpy as np
import triton
import triton.language as tl

from twins.cases import finds, ints, numbers, register

case = register(globals())


# -- indices from a tensor -------------------------------------------------------------------------------


@triton.jit
def gather(x, index, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    at = tl.load(index + i, mask=mask, other=0)
    v = tl.load(x + at, mask=mask)  # BUG: out-of-bounds load x
    tl.store(y + i, v, mask=mask)


@triton.jit
def gather_clamped(x, index, y, n, size, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    at = tl.load(index + i, mask=mask, other=0)
    good = (at >= 0) & (at < size)
    tl.store(y + i, tl.load(x + at, mask=mask & good, other=0.0), mask=mask)


def bad_index():
    index = np.arange(40, dtype=np.int32) % 20
    index[21] = 20
    index[37] = -1
    return index


@case(finds("out-of-bounds load x", program=(1, 0, 0), element=[5], index=[20], elements=2, programs=2,
            because=["at"]))
def gather_past_the_table(run):
    run(gather)[(3,)](numbers(20), bad_index(), numbers(40), 40, B=16)


@case()
def gather_of_good_indices(run):
    x, index, y = numbers(20), bad_index() % 20, numbers(40)
    run(gather)[(3,)](x, index, y, 40, B=16)
    assert (y == x[index]).all()


@case()
def gather_with_a_check(run):
    run(gather_clamped)[(3,)](numbers(20), bad_index(), numbers(40), 40, 20, B=16)


@case(finds("out-of-bounds load x", program=(1, 0, 0), element=[5], elements=1, programs=1))
def relaunch_with_other_data(run):
    """Same kernel, shapes and grid, twice: only the second launch's indices are bad."""
    index = np.arange(40, dtype=np.int32) % 20
    x, y = numbers(20), numbers(40)
    run(gather)[(3,)](x, index, y, 40, B=16)
    index[21] = 25
    run(gather)[(3,)](x, index, y, 40, B=16)


@triton.jit
def scatter(x, index, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    at = tl.load(index + i, mask=mask, other=0)
    tl.store(y + at, tl.load(x + i, mask=mask), mask=mask)  # BUG: out-of-bounds store y


@case(finds("out-of-bounds store y", program=(1, 0, 0), element=[5], index=[20], elements=2, programs=2))
def scatter_past_the_table(run):
    run(scatter)[(3,)](numbers(40), bad_index(), numbers(20), 40, B=16)


@triton.jit
def sequences(x, starts, y, cols, B: tl.constexpr):
    """Rows between starts[s] and starts[s + 1]; one program a sequence."""
    s = tl.program_id(0)
    start = tl.load(starts + s)
    end = tl.load(starts + s + 1)
    c = tl.arange(0, B)
    acc = tl.zeros((B,), dtype=tl.float32)
    for row in range(start, end):
        acc += tl.load(x + row * cols + c, mask=c < cols, other=0.0)  # BUG: out-of-bounds load x
    tl.store(y + s * cols + c, acc, mask=c < cols)


@case(finds("out-of-bounds load x", program=(2, 0, 0), element=[0], index=[60], past=80, elements=20,
            programs=1, iterations=[("row", 6)], because=["row"]))
def loop_between_loaded_bounds(run):
    run(sequences)[(3,)](numbers(60), ints(0, 2, 5, 8), numbers(30), 10, B=16)


@case()
def loop_between_good_bounds(run):
    run(sequences)[(3,)](numbers(60), ints(0, 2, 5, 6), numbers(30), 10, B=16)


@triton.jit
def chain(next_of, values, y, steps):
    """A linked list: each index is loaded from where the last one pointed."""
    pid = tl.program_id(0)
    at = pid
    total = 0.0
    for step in range(steps):
        total += tl.load(values + at)  # BUG: out-of-bounds load values
        at = tl.load(next_of + at)
    tl.store(y + pid, total)


@case(finds("out-of-bounds load values", program=(1, 0, 0), element=[], index=[6], past=4,
            programs=1, elements=1, iterations=[("step", 2)], because=["at"]))
def index_carried_by_a_loop(run):
    """1 -> 3 -> 6, and there is no values[6]."""
    run(chain)[(2,)](ints(2, 3, 4, 6, 0, 0, 0), numbers(6), numbers(2), 3)


@case()
def index_carried_by_a_loop_inside(run):
    run(chain)[(2,)](ints(2, 3, 4, 5, 0, 0, 0), numbers(6), numbers(2), 3)


@triton.jit
def masked_by_data(x, keep, index, y, rows, B: tl.constexpr):
    """In a loop: which elements are read is itself loaded."""
    i = tl.arange(0, B)
    acc = tl.zeros((B,), dtype=tl.float32)
    for r in range(rows):
        k = tl.load(keep + r * B + i) != 0
        at = tl.load(index + r * B + i)
        acc += tl.load(x + at, mask=k, other=0.0)  # BUG: out-of-bounds load x
    tl.store(y + i, acc)


def keep_and_index():
    keep = (np.arange(64) % 3 == 0).astype(np.int32)
    index = np.where(keep, np.arange(64) % 20, 999).astype(np.int32)
    return keep, index


@case(finds("out-of-bounds load x", element=[1], index=[999], elements=1, programs=1,
            iterations=[("r", 2)], because=["at"]))
def mask_from_data_in_a_loop(run):
    keep, index = keep_and_index()
    keep[33] = 0
    keep[2 * 16 + 1] = 1
    index[2 * 16 + 1] = 999
    run(masked_by_data)[(1,)](numbers(20), keep, index, numbers(16), 4, B=16)


@case()
def mask_from_data_that_excludes(run):
    keep, index = keep_and_index()
    run(masked_by_data)[(1,)](numbers(20), keep, index, numbers(16), 4, B=16)


# -- pointers from a tensor --------------------------------------------------------------------------------


@triton.jit
def grouped_heads(table, sizes, y, a, b, B: tl.constexpr):
    """`table` holds addresses of a and b; both are arguments so that they stay alive."""
    pid = tl.program_id(0)
    base = tl.load(table + pid).to(tl.pointer_type(tl.float32))
    n = tl.load(sizes + pid)
    i = tl.arange(0, B)
    v = tl.load(base + i, mask=i < n, other=0.0)  # BUG: out-of-bounds load b
    tl.store(y + pid, tl.sum(v, axis=0))


def addresses(*arrays):
    return np.array([a.ctypes.data for a in arrays], dtype=np.int64)


@case(finds("out-of-bounds load b", program=(1, 0, 0), element=[8], index=[8], past=16, elements=4,
            programs=1))
def pointer_from_a_tensor(run):
    a, b = numbers(12), numbers(8)
    run(grouped_heads)[(2,)](addresses(a, b), ints(12, 12), numbers(2), a, b, B=16)


@case()
def pointer_from_a_tensor_inside(run):
    a, b, y = numbers(12), numbers(8), numbers(2)
    run(grouped_heads)[(2,)](addresses(a, b), ints(12, 8), y, a, b, B=16)
    assert y.tolist() == [66, 28]


# -- indices from results ------------------------------------------------------------------------------------


@triton.jit
def after_count(x, flags, y, n, B: tl.constexpr):
    """The number of flags set is the place of the next element."""
    i = tl.arange(0, B)
    count = tl.sum(tl.load(flags + i, mask=i < n, other=0), axis=0)
    tl.store(y, tl.load(x + count))  # BUG: out-of-bounds load x


@case(finds("out-of-bounds load x", element=[], index=[10], past=4, elements=1, because=["count"]))
def index_from_a_sum(run):
    run(after_count)[(1,)](numbers(10), np.ones(10, np.int32), numbers(1), 10, B=16)


@case()
def index_from_a_smaller_sum(run):
    run(after_count)[(1,)](numbers(10), np.eye(1, 10, dtype=np.int32)[0], numbers(1), 10, B=16)


@triton.jit
def compact(x, counter, y, n, B: tl.constexpr):
    """Every program reserves B places of y; the last ones are not there."""
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    at = tl.atomic_add(counter, B)
    v = tl.load(x + pid * B + i, mask=pid * B + i < n)
    tl.store(y + at + i, v)  # BUG: out-of-bounds store y


@case(finds("out-of-bounds store y", program=(2, 0, 0), element=[8], index=[40], past=32, elements=8,
            programs=1, because=["at"]))
def index_from_an_atomic(run):
    run(compact)[(3,)](numbers(48), ints(0), numbers(40), 48, B=16)


@case()
def index_from_an_atomic_inside(run):
    counter, y = ints(0), numbers(48)[::-1].copy()
    run(compact)[(3,)](numbers(48), counter, y, 48, B=16)
    assert counter[0] == 48 and sorted(y) == list(range(48))


@triton.jit
def quantile(x, fractions, y, n, B: tl.constexpr):
    """A fraction of 1.0 gives index n."""
    i = tl.arange(0, B)
    at = (tl.load(fractions + i) * n).to(tl.int32)
    tl.store(y + i, tl.load(x + at))  # BUG: out-of-bounds load x


@triton.jit
def quantile_right(x, fractions, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    at = (tl.load(fractions + i) * (n - 1)).to(tl.int32)
    tl.store(y + i, tl.load(x + at))


@case(finds("out-of-bounds load x", element=[15], index=[100], past=4, elements=1, because=["at"]))
def index_from_a_float(run):
    run(quantile)[(1,)](numbers(100), np.linspace(0, 1, 16, dtype=np.float32), numbers(16), 100, B=16)


@case()
def index_from_a_float_inside(run):
    y = numbers(16)
    run(quantile_right)[(1,)](numbers(100), np.linspace(0, 1, 16, dtype=np.float32), y, 100, B=16)
    assert y[0] == 0 and y[15] == 99


@triton.jit
def after_best(x, y, n, B: tl.constexpr):
    """The element after the largest one."""
    i = tl.arange(0, B)
    best = tl.argmax(tl.load(x + i, mask=i < n, other=-1.0), axis=0)
    tl.store(y, tl.load(x + best + 1))  # BUG: out-of-bounds load x


@case(finds("out-of-bounds load x", element=[], index=[12], past=4, elements=1, because=["best"]))
def index_from_argmax(run):
    run(after_best)[(1,)](numbers(12), numbers(1), 12, B=16)


@case()
def index_from_argmax_inside(run):
    run(after_best)[(1,)](numbers(12)[::-1].copy(), numbers(1), 12, B=16)


@triton.jit
def running_offsets(lengths, x, y, B: tl.constexpr):
    """Ends by cumulative sum; reads the element at each end, not before it."""
    i = tl.arange(0, B)
    ends = tl.cumsum(tl.load(lengths + i), axis=0)
    tl.store(y + i, tl.load(x + ends))  # BUG: out-of-bounds load x


@triton.jit
def running_offsets_right(lengths, x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    ends = tl.cumsum(tl.load(lengths + i), axis=0)
    tl.store(y + i, tl.load(x + ends - 1))


@case(finds("out-of-bounds load x", element=[7], index=[16], past=4, elements=1, because=["ends"]))
def index_from_a_scan(run):
    run(running_offsets)[(1,)](np.full(8, 2, np.int32), numbers(16), numbers(8), B=8)


@case()
def index_from_a_scan_inside(run):
    run(running_offsets_right)[(1,)](np.full(8, 2, np.int32), numbers(16), numbers(8), B=8)


# -- a kernel's output is the next one's index ------------------------------------------------------------------


@triton.jit
def bucket(keys, index, n, step, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(index + i, tl.load(keys + i, mask=i < n, other=0) // step, mask=i < n)


@case(finds("out-of-bounds load x", program=(1, 0, 0), element=[15], index=[10], past=4, elements=1,
            programs=1, because=["at"]))
def output_used_as_an_index(run):
    """Key 100 falls into bucket 10 of 10."""
    keys = np.linspace(0, 100, 32).astype(np.int32)
    index = np.zeros(32, dtype=np.int32)
    run(bucket)[(2,)](keys, index, 32, 10, B=16)
    run(gather)[(2,)](numbers(10), index, numbers(32), 32, B=16)


@case()
def output_used_as_a_good_index(run):
    keys = np.linspace(0, 99, 32).astype(np.int32)
    index = np.full(32, 1000, dtype=np.int32)
    run(bucket)[(2,)](keys, index, 32, 10, B=16)
    run(gather)[(2,)](numbers(10), index, numbers(32), 32, B=16)
