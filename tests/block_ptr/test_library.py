"""The file: that it stands alone, what it refuses, and what it says it has taken."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
import triton
import triton.language as tl

import tilesight as ts

from flavours import library

bp = library()


@triton.jit
def copy(x, y, M, N, stride, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, PAD: tl.constexpr,
         CHECK: tl.constexpr):
    p = bp.make_block_ptr(x, (M, N), (stride, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0), descriptor=D)
    q = bp.make_block_ptr(y, (M, N), (stride, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    bp.store(q, bp.load(p, boundary_check=CHECK, padding_option=PAD), boundary_check=(0, 1))


@triton.jit
def copy_columns(x, y, M, BM: tl.constexpr, BN: tl.constexpr, LD: tl.constexpr, D: tl.constexpr):
    p = bp.make_block_ptr(x, (M, BN), (1, LD), (0, 0), (BM, BN), (0, 1), descriptor=D)
    q = bp.make_block_ptr(y, (M, BN), (1, LD), (0, 0), (BM, BN), (0, 1), descriptor=D)
    bp.store(q, bp.load(p, boundary_check=(0, 1)), boundary_check=(0, 1))


@triton.jit
def clear(x, n, BM: tl.constexpr, BN: tl.constexpr, WIDTH: tl.constexpr, D: tl.constexpr):
    if WIDTH is None:
        p = bp.make_block_ptr(x, (8, n), (32, 1), (0, 0), (BM, BN), (1, 0), descriptor=D)
    else:
        p = bp.make_block_ptr(x, (8, WIDTH), (32, 1), (0, 0), (BM, BN), (1, 0), descriptor=D)
    bp.store(p, 0.0, boundary_check=(0, 1))


def remarks_of(kernel, *arguments, **constants):
    bp.clear_remarks()
    report = ts.check(kernel)[(1,)](*arguments, **constants)
    assert report.verdict == "ok", report.text()
    return [line.split(": ", 2)[2] for line in bp.remarks()]


@pytest.fixture(autouse=True)
def compiled_anew(monkeypatch):
    """Text from the cache would leave nothing to remark on."""
    monkeypatch.setenv("TILESIGHT_CACHE_DIR", "")


MADE = 'make_block_ptr: pointers: descriptor="never"'
NEVER = ["load: pointers: the block pointer has no descriptor", "store: pointers: the block pointer has no descriptor"]


@pytest.mark.parametrize("descriptor, padding, check, bn, said", [
    ("never", "", (0, 1), 16, [MADE, *NEVER]),
    ("promise", "", (0, 1), 16, ["make_block_ptr: descriptor, dimensions (0, 1)", "load: descriptor", NEVER[1]]),
    ("strides", "", (0, 1), 32, ["make_block_ptr: pointers: the stride of dimension 0 is no constexpr", *NEVER]),
    ("promise", "zero", (1,), 64, ["make_block_ptr: descriptor, dimensions (0, 1)",
                                   "load: pointers: dimension 0 is not in boundary_check", NEVER[1]]),
    ("promise", "nan", (0, 1), 16, ["make_block_ptr: descriptor, dimensions (0, 1)",
                                    'load: pointers: the padding is "nan", the descriptor was made with "zero"',
                                    NEVER[1]]),
    ("promise", "", (0, 1), 2, ["make_block_ptr: pointers: the block has 8 bytes in dimension 1, fewer than 16",
                                *NEVER]),
])
def test_what_was_taken(descriptor, padding, check, bn, said, collect):
    x, y = np.random.rand(16, 64).astype(np.float32), np.zeros((16, 64), np.float32)
    taken = remarks_of(copy, x, y, 16, 64, 64, BM=16, BN=bn, D=descriptor, PAD=padding, CHECK=check)
    assert taken.pop(taken.index(MADE)) == MADE  # q; and p, where it is of the same kind
    assert taken == [each for each in said if each != MADE]
    np.testing.assert_array_equal(y[:, :bn], x[:, :bn])


@pytest.mark.parametrize("ld, said", [
    (20, ["make_block_ptr: descriptor, dimensions (1, 0)", "load: descriptor",
          "store: pointers: nobody promises that no offset is negative"]),
    (18, ["make_block_ptr: pointers: the stride of dimension 1, 18 elements, is no positive multiple of 16 bytes",
          *NEVER]),
])
def test_column_major_by_its_constexpr_strides(ld, said, collect):
    x, y = np.random.rand(8, ld).astype(np.float32), np.zeros((8, ld), np.float32)
    assert remarks_of(copy_columns, x, y, 17, BM=16, BN=8, LD=ld, D="strides") == said
    np.testing.assert_array_equal(y[:, :16], x[:, :16])


@pytest.mark.parametrize("width, d, said", [
    (32, "promise", "store: descriptor"),
    (None, "promise", "store: descriptor"),
    (30, "promise", "store: pointers: the extent of dimension 1, 30, is no multiple of 16 bytes"),
    (32, "strides", "store: pointers: nobody promises that no offset is negative"),
])
def test_stores_of_whole_chunks(width, d, said, collect):
    """A GPU's store through a descriptor does not end within a chunk of 16 bytes."""
    x = np.ones((8, 32), np.float32)
    assert remarks_of(clear, x, 32, BM=16, BN=16, WIDTH=width, D=d) == [
        "make_block_ptr: descriptor, dimensions (0, 1)", said]
    assert (x[:, :16] == 0).all() and (x[:, 16:] == 1).all()


@triton.jit
def at(x, y, row, column, R: tl.constexpr, C: tl.constexpr, D: tl.constexpr):
    """Reads and writes a block at constexprs (R, C), where they are given, else at (row, column)."""
    if R is None:
        p = bp.make_block_ptr(x, (16, 32), (32, 1), (row, column), (8, 8), (1, 0), descriptor=D)
        q = bp.make_block_ptr(y, (16, 32), (32, 1), (row, column), (8, 8), (1, 0), descriptor=D)
    else:
        p = bp.make_block_ptr(x, (16, 32), (32, 1), (R, C), (8, 8), (1, 0), descriptor=D)
        q = bp.make_block_ptr(y, (16, 32), (32, 1), (R, C), (8, 8), (1, 0), descriptor=D)
    bp.store(q, bp.load(p, boundary_check=(0, 1)), boundary_check=(0, 1))


@pytest.mark.parametrize("place, d, load, store", [
    ((0, 0), "promise", "descriptor", "descriptor"),
    ((None, None), "promise", "descriptor", "descriptor"),
    ((3, 4), "promise", "descriptor", "descriptor"),
    ((-3, 4), "promise", "descriptor", "pointers: the offset of dimension 0 is negative"),
    ((0, -4), "promise", "descriptor", "pointers: the offset of dimension 1 is negative"),
    ((0, 3), "promise", *["pointers: the block pointer has no descriptor"] * 2),
    ((-3, -4), "strides", "descriptor", "pointers: nobody promises that no offset is negative"),
    ((None, None), "strides", *["pointers: the block pointer has no descriptor"] * 2),
])
def test_no_descriptor_where_a_gpu_may_fault(place, d, load, store, collect):
    """Between chunks of 16 bytes it faults; at a negative coordinate a store does."""
    x, y = np.random.rand(16, 32).astype(np.float32), np.zeros((16, 32), np.float32)
    taken = remarks_of(at, x, y, 8, 12, R=place[0], C=place[1], D=d)
    assert taken[-2:] == [f"load: {load}", f"store: {store}"]
    row, column = (8, 12) if place[0] is None else place
    inside = slice(max(row, 0), row + 8), slice(max(column, 0), column + 8)
    expected = np.zeros_like(x)
    expected[inside] = x[inside]
    np.testing.assert_array_equal(y, expected)


@triton.jit
def along(x, y, step, S: tl.constexpr, D: tl.constexpr):
    p = bp.make_block_ptr(x, (8, 32), (32, 1), (0, 0), (8, 8), (1, 0), descriptor=D)
    for k in range(2):
        q = bp.make_block_ptr(y, (8, 16), (16, 1), (0, k * 8), (8, 8), (1, 0))
        bp.store(q, bp.load(p, boundary_check=(0, 1)), boundary_check=(0, 1))
        if S is None:
            p = bp.advance(p, (0, step))
        else:
            p = bp.advance(p, (0, S))


@pytest.mark.parametrize("step, d, refused", [
    (8, "strides", None),
    (8, "promise", None),
    (None, "promise", None),
    (None, "never", None),
    (6, "never", None),
    (6, "strides", "the step of dimension 1, 6, is no multiple of 16 bytes"),
    (6, "promise", "the step of dimension 1, 6, is no multiple of 16 bytes"),
    (None, "strides", "the step of dimension 1 is no constexpr"),
])
def test_steps_between_chunks(step, d, refused, collect):
    x, y = np.random.rand(8, 32).astype(np.float32), np.zeros((8, 16), np.float32)
    launch = lambda: ts.check(along)[(1,)](x, y, 8, S=step, D=d)
    if refused:
        with pytest.raises(Exception) as raised:
            launch()
        texts, error = [], raised.value
        while error is not None:
            texts.append(str(error))
            error = error.__cause__
        assert any(refused in text for text in texts), texts
    else:
        assert launch().verdict == "ok"
        np.testing.assert_array_equal(y, np.concatenate([x[:, :8], x[:, (step or 8):(step or 8) + 8]], 1))


def test_remarks_name_file_line_and_kernel(collect):
    x = np.zeros((16, 16), np.float32)
    bp.clear_remarks()
    ts.check(copy)[(1,)](x, x.copy(), 16, 16, 16, BM=16, BN=16, D="promise", PAD="zero", CHECK=(0, 1))
    line = copy.starting_line_number + 3
    assert any(f"test_library.py:{line}: copy: make_block_ptr: descriptor" in remark for remark in bp.remarks())


def test_a_copy_needs_nothing_but_triton(tmp_path):
    shutil.copy(bp.__file__, tmp_path / "my_block_ptr.py")
    program = "import sys, my_block_ptr; assert my_block_ptr.remarks() == [] and 'tilesight' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_the_allocator_is_set_once(monkeypatch):
    class Torch:
        int8 = "int8"
        empty = staticmethod(lambda size, dtype, device: (size, dtype, device))

    import contextvars
    from triton.runtime import _allocation

    monkeypatch.setitem(sys.modules, "torch", Torch)

    def here():
        assert bp.ensure_allocator()
        assert _allocation._allocator.get()(64, 16, None) == (64, "int8", "cuda")
        assert not bp.ensure_allocator()

    contextvars.copy_context().run(here)


WRONG = {
    "power": ("bp.load(bp.make_block_ptr(x, (8, ), (1, ), (0, ), (6, ), (0, )))", "powers of two in `block_shape`"),
    "length": ("bp.load(bp.make_block_ptr(x, (8, ), (1, 1), (0, ), (8, ), (0, )))", "Expected `strides` to have 1"),
    "order": ("bp.load(bp.make_block_ptr(x, (8, ), (1, ), (0, ), (8, ), (1, )))", "Expected a permutation of 0 to 0"),
    "descriptor": ('bp.load(bp.make_block_ptr(x, (8, ), (1, ), (0, ), (8, ), (0, ), descriptor="tma"))',
                   '`descriptor` is "never", "strides" or "promise"'),
    "dimension": ("bp.load(p, boundary_check=(1, ))", "Expected dimensions from 0 to 0 in `boundary_check`, got 1"),
    "twice": ("bp.load(p, boundary_check=(0, 0))", "Duplicate dimension in `boundary_check`"),
    "padding": ('bp.load(p, boundary_check=(0, ), padding_option="one")', "`padding_option` is"),
    "nan": ('bp.load(bp.make_block_ptr(i, (8, ), (1, ), (0, ), (8, ), (0, )), boundary_check=(0, ), '
            'padding_option="nan")', "Padding option `nan` is not supported for blocks of int32"),
    "base": ("bp.load(bp.make_block_ptr(x + tl.arange(0, 8), (8, ), (1, ), (0, ), (8, ), (0, )))",
             "Expected `base` to be a pointer to the first element"),
    "six": ("bp.load(bp.make_block_ptr(x, (1, ) * 6, (1, ) * 6, (0, ) * 6, (1, 1, 1, 1, 1, 1), (5, 4, 3, 2, 1, 0)))",
            "Expected 1 to 5 dimensions"),
}


def test_mistakes_are_named(tmp_path, collect):
    from flavours import from_file

    lines = ["import triton", "import triton.language as tl", "from flavours import library", "bp = library()"]
    for name, (line, _) in WRONG.items():
        lines += ["@triton.jit", f"def {name}(x, i):",
                  "    p = bp.make_block_ptr(x, (8, ), (1, ), (0, ), (8, ), (0, ))", f"    {line}"]
    (tmp_path / "wrong.py").write_text("\n".join(lines) + "\n")
    kernels = from_file("block_ptr_wrong", tmp_path / "wrong.py")
    for name, (_, said) in WRONG.items():
        with pytest.raises(Exception) as raised:
            ts.check(getattr(kernels, name))[(1,)](np.zeros(8, np.float32), np.zeros(8, np.int32))
        error, texts = raised.value, []
        while error is not None:
            texts.append(str(error))
            error = error.__cause__
        assert any(said in text for text in texts), (name, texts)


def test_the_page(tmp_path, collect):
    """The guide's kernel, after its changes, runs."""
    from pathlib import Path

    from flavours import from_file

    page = (Path(__file__).resolve().parents[2] / "docs" / "block-pointers.md").read_text()
    diff = page.split("```diff\n")[1].split("```")[0].splitlines()
    after = [line[1:] for line in diff if not line.startswith("-")]
    after[0] = "import triton\nimport triton.language as tl\nfrom flavours import library\nbp = library()"
    (tmp_path / "page.py").write_text("\n".join([*after, "    tl.store(y + tl.program_id(0) * BM + tl.arange(0, BM), "
                                                 "total)"]) + "\n")
    kernel = from_file("block_ptr_page", tmp_path / "page.py").kernel
    x, y = np.random.rand(20, 40).astype(np.float32), np.zeros(32, np.float32)
    report = ts.check(kernel)[(2,)](x, y, 20, 40, 40, BM=16, BN=16)
    assert report.verdict == "ok", report.text()
    np.testing.assert_allclose(y[:20], x.sum(1), rtol=1e-5)
    assert (y[20:] == 0).all()
