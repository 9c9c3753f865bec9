"""`tilesight migrate block-ptr --to plain` of kernels that read and write blocks by hand and at random: the same elements
as block pointers in numpy. Numbers stand in the source or come as arguments, by turns."""

import importlib.util

import numpy as np
import pytest

import tilesight as ts
from cases import BY_HAND, at_random
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


def migrated(case, literal, folder):
    """What runs the kernels of a case, after the migration, with the arguments that Case gives."""
    text, values = source(case, literal)
    file = folder / "kernels.py"
    file.write_text(text)
    assert main(["block-ptr", str(file), "--to", "plain", "--write"]) == 0
    assert "block_ptr" not in file.read_text() and "boundary_check" not in file.read_text()
    spec = importlib.util.spec_from_file_location("migrated_kernels", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def run(kernel, arguments):
        report = ts.check(getattr(module, kernel))[(1, )](arguments["x"], arguments["y"], *values.values(),
                                                          STEPS=case.steps, N=case.n)
        assert report.verdict == "ok", report.text()

    return run


CASES = {**BY_HAND, **{f"random_{seed}": at_random(seed) for seed in range(60)}}


@pytest.mark.parametrize("name", CASES)
def test_read(name, tmp_path, collect):
    case = CASES[name]
    for literal in 0, 1:
        found, expected, defined = case.read(migrated(case, literal, tmp_path))
        np.testing.assert_array_equal(found[defined], expected[defined])


@pytest.mark.parametrize("name", CASES)
def test_write(name, tmp_path, collect):
    case = CASES[name]
    for literal in 0, 1:
        found, expected = case.write(migrated(case, literal, tmp_path))
        np.testing.assert_array_equal(found, expected)
