"""`tilesight migrate block-ptr`, --to plain and --to descriptor, of kernels that read and write blocks by hand and at random: the same elements
as block pointers in numpy. Numbers stand in the source or come as arguments, by turns."""

import importlib.util
import random

import numpy as np
import pytest

import tilesight as ts
from cases import BY_HAND, Case, at_random
from tilesight.migrate import main

pytest.importorskip("libcst")

KERNEL = """
import triton
import triton.language as tl


@triton.jit
def read(x, y, {parameters}STEPS: tl.constexpr, N: tl.constexpr):
    p = tl.make_block_ptr(x + ({origin}), {shape}, {strides}, {offsets}, {block}, {order})
    for k in range(0, STEPS):
        tile = tl.load(p, boundary_check={check}, padding_option={padding!r})
        tl.store(y + k * N + tl.arange(0, N), tl.reshape(tile, (N, )))
        p = tl.advance(p, {step})


@triton.jit
def write(x, y, {parameters}STEPS: tl.constexpr, N: tl.constexpr):
    p = tl.make_block_ptr(x + ({origin}), {shape}, {strides}, {offsets}, {block}, {order})
    for k in range(0, STEPS):
        tl.store(p, tl.reshape(tl.load(y + k * N + tl.arange(0, N)), {block}), boundary_check={check})
        p = tl.advance(p, {step})
"""


def source(case, literal):
    """(the kernels' text, arguments by name). `literal`: which numbers stand in the source: every second or others."""
    values, written, count = {}, {}, 0
    for name in ("shape", "strides", "offsets", "step"):
        texts = []
        for d, number in enumerate(getattr(case, name)):
            count += 1
            if count % 2 == literal:
                texts.append(str(number))
            else:
                values[f"{name}{d}"] = number
                texts.append(f"{name}{d}")
        written[name] = "(" + "".join(f"{text}, " for text in texts) + ")"
    parameters = "".join(f"{name}, " for name in values)
    return KERNEL.format(parameters=parameters, origin=case.origin, block=case.block, order=case.order, check=case.check,
                         padding=case.padding, **written), values


def migrated(case, literal, target, folder):
    """What runs the kernels of a case, after the migration, with the arguments that Case gives."""
    text, values = source(case, literal)
    file = folder / "kernels.py"
    file.write_text(text)
    assert main(["block-ptr", str(file), "--write", "--to", *target]) == 0
    assert "block_ptr" not in file.read_text() and "boundary_check" not in file.read_text()
    assert ("make_tensor_descriptor" in file.read_text()) == (target != PLAIN)
    spec = importlib.util.spec_from_file_location("migrated_kernels", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def run(kernel, arguments):
        report = ts.check(getattr(module, kernel))[(1, )](arguments["x"], arguments["y"], *values.values(),
                                                          STEPS=case.steps, N=case.n)
        assert report.verdict == "ok", report.text()

    return run


def aligned_at_random(seed):
    """A case whose blocks begin at multiples of 16 elements of its rows, and at no negative coordinate."""
    choose = random.Random(seed)
    rank = choose.randint(1, 4)
    layout = tuple(choose.sample(range(rank), rank))
    row = layout[-1]
    block = [choose.choice([1, 2, 4]) for _ in range(rank)]
    shape, offsets, step = ([choose.randint(low, high) for _ in range(rank)] for low, high in ((1, 7), (0, 5), (0, 3)))
    block[row], shape[row], offsets[row], step[row] = 16, *(16 * choose.randint(low, 3) for low in (1, 0, 0))
    dtype = choose.choice(["float32", "float16", "float64", "int8", "int32", "int64"])
    return Case(tuple(shape), tuple(block), tuple(offsets), tuple(step), choose.randint(1, 3),
                tuple(choose.sample(range(rank), rank)),
                choose.choice(["", "zero", "nan"] if dtype.startswith("float") else ["", "zero"]), layout, 1, 16, dtype)


CASES = {**BY_HAND, **{f"random_{seed}": at_random(seed) for seed in range(40)},
         **{f"aligned_{seed}": aligned_at_random(seed) for seed in range(30)}}
PLAIN, DESCRIPTOR = ["plain"], ["descriptor", "--promise", "aligned"]


def suits_descriptors(case):
    """Those with rows of 16 bytes that check all; kernels read and write, so both must be promised."""
    row = case.block[case.order[0]] * np.dtype(case.dtype).itemsize
    return (case.suits_descriptors and case.suits_descriptor_stores and row >= 16 and case.dtype != "bool"
            and len(case.check) == len(case.shape))


WAYS = [pytest.param(case, target, id=f"{name}-{target[0]}") for name, case in CASES.items()
        for target in (PLAIN, DESCRIPTOR) if target == PLAIN or suits_descriptors(case)]


@pytest.mark.parametrize("case, target", WAYS)
def test_read(case, target, tmp_path, collect):
    for literal in 0, 1:
        found, expected, defined = case.read(migrated(case, literal, target, tmp_path))
        np.testing.assert_array_equal(found[defined], expected[defined])


@pytest.mark.parametrize("case, target", WAYS)
def test_write(case, target, tmp_path, collect):
    for literal in 0, 1:
        found, expected = case.write(migrated(case, literal, target, tmp_path))
        np.testing.assert_array_equal(found, expected)
