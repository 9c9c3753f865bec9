"""Kernels that nobody touched, on a Triton that has removed block pointers (3.9): `tilesight run`, and
ts.triton.restore_block_pointers()."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from flavours import NATIVE

ROOT = Path(__file__).resolve().parents[2]

KERNEL = """
import numpy as np
import triton
import triton.language as tl
from triton.language import load

@triton.jit
def half_of(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_block_ptr(x, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    q = tl.make_block_ptr(base=y, shape=(M, N), strides=(1, M), offsets=(tl.program_id(0) * BM, 0),
                          block_shape=(BM, BN), order=(0, 1))
    for k in tl.range(0, N, BN):
        tile = load(p, boundary_check=CHECK, padding_option="zero")
        tl.store(q, (tile * 0.5).to(q.dtype.element_ty), boundary_check=(0, 1))
        p = tl.advance(p, (0, BN))
        q = q.advance((0, BN))

x = np.arange(20 * 40, dtype=np.float32).reshape(20, 40)
y = np.zeros((40, 20), np.float16)
"""
LAUNCH = """
half_of[(2,)](x, y, 20, 40, BM=16, BN=16)
assert (y.T == (x / 2).astype(np.float16)).all()
"""
REMOVED = "Block pointers have been removed"
NOTE = "block pointers, which Triton"


def kernel(check):
    return KERNEL.replace("CHECK", check)


@pytest.fixture
def python(tmp_path):
    """Runs Python with arguments in a folder that holds p.py, kernels that cannot be touched."""
    def run(*arguments, program, env=None):
        (tmp_path / "p.py").write_text(textwrap.dedent(program))
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "PYTHONWARNINGS": "ignore",
                       "TILESIGHT_CACHE_DIR": str(tmp_path / "cache"), **(env or {})}
        return subprocess.run([sys.executable, *arguments], cwd=tmp_path, env=environment, capture_output=True,
                              text=True, timeout=120)
    return run


RUN = ("-m", "tilesight", "run")


def test_run(python):
    done = python(*RUN, "p.py", program=kernel("(0, 1)") + LAUNCH)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(NOTE) == (0 if NATIVE else 1)
    again = python(*RUN, "p.py", program=kernel("(0, 1)") + LAUNCH)  # the kernel's text comes from the cache
    assert again.returncode == 0 and again.stderr.count(NOTE) == (0 if NATIVE else 1)


def test_a_finding_is_at_the_kernels_line(python):
    done = python(*RUN, "p.py", program=kernel("(1, )") + LAUNCH)
    assert done.returncode == 1
    assert "p.py:13:16: error: out-of-bounds: load from x reads up to 1,920 bytes past its end" in done.stderr
    assert "program (1,0,0), iteration k=0, element [4,0] = x[20,0]" in done.stderr
    assert "1 program, 480 elements" in done.stderr


@pytest.mark.skipif(NATIVE, reason="this Triton has block pointers")
def test_not_with_the_option(python):
    done = python(*RUN, "--no-block-pointers", "p.py", program=kernel("(0, 1)") + LAUNCH)
    assert done.returncode != 0 and REMOVED in done.stderr and NOTE not in done.stderr


def test_a_program_without_block_pointers_is_told_nothing(python):
    program = """
        import numpy as np, triton, triton.language as tl

        @triton.jit
        def one(x):
            tl.store(x, 1.0)

        one[(1,)](np.zeros(1, np.float32))
    """
    done = python(*RUN, "p.py", program=program)
    assert done.returncode == 0 and NOTE not in done.stderr


def test_the_example(python):
    done = python(*RUN, str(ROOT / "examples" / "triton" / "block_pointers.py"), program="")
    assert done.returncode == 0 and "block pointers: max error" in done.stdout, done.stderr
    assert "transposed_times: 1 launch, ok" in done.stderr or "clean: 1 launch, ok" in done.stderr, done.stderr


def test_one_call(python):
    program = kernel("(0, 1)") + """
import tilesight as ts
assert ts.triton.restore_block_pointers() == RESTORED
assert ts.triton.restore_block_pointers() == RESTORED
assert ts.check(half_of)[(2,)](x, y, 20, 40, BM=16, BN=16).verdict == "ok"
assert (y.T == (x / 2).astype(np.float16)).all()
""".replace("RESTORED", str(not NATIVE))
    done = python("p.py", program=program)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(NATIVE, reason="this Triton has block pointers")
def test_without_the_call_triton_refuses(python):
    done = python("p.py", program=kernel("(0, 1)") + "import tilesight as ts\n"
                  "ts.check(half_of)[(2,)](x, y, 20, 40, BM=16, BN=16)\n")
    assert done.returncode == 1 and REMOVED in done.stderr


def test_compiled_for_a_gpu(python):
    """No GPU is needed to compile for one."""
    program = kernel("(0, 1)") + """
import tilesight as ts
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
ts.triton.restore_block_pointers()
source = ASTSource(half_of, dict(x="*fp32", y="*fp16", M="i32", N="i32", BM="constexpr", BN="constexpr"),
                   dict(BM=16, BN=16))
compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32))
assert "ld.global" in compiled.asm["ptx"] and "st.global" in compiled.asm["ptx"]
assert "tt.load" in compiled.asm["ttir"] and "tt.make_tensor_ptr" not in compiled.asm["ttir"]
"""
    done = python("p.py", program=program, env={"TRITON_ALWAYS_COMPILE": "1"})
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(NATIVE, reason="this Triton has block pointers")
def test_in_tritons_interpreter(python):
    tensor = (ROOT / "bench" / "tensor.py").read_text()
    program = tensor + """
import sys, types
torch = sys.modules["torch"] = types.ModuleType("torch")
torch.from_numpy = torch.Tensor = Tensor
import tilesight as ts
ts.triton.restore_block_pointers()
""" + kernel("(0, 1)").replace(" load(p", " tl.load(p") + """
half_of[(2,)](Tensor(x), Tensor(y), 20, 40, BM=16, BN=16)
assert (y.T == (x / 2).astype(np.float16)).all()
"""
    done = python("p.py", program=program, env={"TRITON_INTERPRET": "1"})
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(NATIVE, reason="this Triton has block pointers")
@pytest.mark.parametrize("line, said", [
    ("tl.load(x, boundary_check=(0, ))", "`padding_option` and `boundary_check` are for block pointers"),
    ("tl.store(x, 0.0, boundary_check=(0, ))", "`boundary_check` is for block pointers"),
    ("tl.load(p, mask=True)", "`mask` and `other` arguments cannot be specified"),
    ("tl.load(p, boundary_check=(1, ))", "Expected dimensions from 0 to 0 in `boundary_check`, got 1"),
    ("p = tl.advance(p, (1, 1))", "Expected 1 `offsets`, one a dimension, got 2"),
    ("x = tl.advance(x, (1, ))", "only supports block pointers"),
    ("tl.load(tl.make_block_ptr(x, (8, ), (1, ), (0, ), (6, ), (0, )))", "powers of two"),
    ("tl.load(tl.make_block_ptr(x, (8, ), (1, 1), (0, ), (8, ), (0, )))", "Expected `strides` to have 1"),
    ("tl.load(tl.make_block_ptr(x, (8, ), (1, ), (0, ), (8, ), (1, )))", "Expected a permutation of 0 to 0"),
])
def test_mistakes(line, said, python):
    program = f"""
        import numpy as np, triton, triton.language as tl

        @triton.jit
        def wrong(x):
            p = tl.make_block_ptr(x, (8, ), (1, ), (0, ), (8, ), (0, ))
            {line}

        wrong[(1,)](np.zeros(8, np.float32))
    """
    done = python(*RUN, "p.py", program=program)
    assert done.returncode == 2 and said in done.stderr, done.stderr


@pytest.mark.skipif(NATIVE, reason="this Triton has block pointers")
def test_taken_out_again(python):
    program = """
        import triton, triton.language as tl
        from tilesight.triton import restored

        before = (tl.load, tl.load.signature, tl.load.__wrapped__, hasattr(tl, "advance"))
        assert restored.needed() and restored.install() and hasattr(tl, "advance")
        assert tl.load is before[0] and "boundary_check" in tl.load.signature.parameters
        restored.uninstall()
        assert before == (tl.load, tl.load.signature, tl.load.__wrapped__, hasattr(tl, "advance"))
        assert restored.needed() and not restored.active()
    """
    done = python("p.py", program=program)
    assert done.returncode == 0, done.stderr
