"""What only AMD's front end has, under `tilesight run --like mi300x`: its two kinds of fp8, every code, against
their exact values; and inline assembly, which is not PTX."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from rational import E4M3FNUZ, E5M2FNUZ, F16
from test_conversions import nearest

HEAD = """
import sys
import ml_dtypes
import numpy as np
import triton
import triton.language as tl
"""
CONVERT = HEAD + """
@triton.jit
def convert(x, y, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + i, tl.load(x + i).to(y.dtype.element_ty))


def run(x, dtype):
    y = np.zeros(len(x), dtype)
    convert[(len(x) // 256,)](x, y, N=256)
    return y


narrow = {name: getattr(ml_dtypes, name) for name in ("float8_e4m3fnuz", "float8_e5m2fnuz")}
halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
results = {}
for name, dtype in narrow.items():
    codes = np.arange(256, dtype=np.uint8).view(dtype)
    results[name + "_wide"] = run(codes, np.float32)
    results[name + "_half"] = run(codes, np.float16)
    results[name + "_narrow"] = run(halves, dtype).view(np.uint8)
    results[name + "_from_float"] = run(halves.astype(np.float32), dtype).view(np.uint8)
np.savez(sys.argv[1], **results)
"""
FORMATS = {"float8_e4m3fnuz": E4M3FNUZ, "float8_e5m2fnuz": E5M2FNUZ}


def run(folder, source, *arguments):
    """The report of a program for an MI300X."""
    script, report = folder / "program.py", folder / "report.json"
    script.write_text(source)
    done = subprocess.run([sys.executable, "-m", "tilesight", "run", "--like", "mi300x", "--json", report, script, *arguments],
                          capture_output=True, text=True, timeout=300)
    return done, json.loads(report.read_text())


@pytest.fixture(scope="module")
def converted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("amd")
    done, _ = run(folder, CONVERT, folder / "out.npz")
    assert done.returncode == 0, done.stdout + done.stderr
    return np.load(folder / "out.npz")


@pytest.mark.parametrize("name", FORMATS)
def test_every_code_is_widened(name, converted):
    wide = converted[name + "_wide"].astype(np.float64)
    for code in range(256):
        value = FORMATS[name].value(code)
        assert math.isnan(wide[code]) if value != value else wide[code] == value, (code, value)
    with np.errstate(over="ignore"):
        assert np.array_equal(converted[name + "_half"], wide.astype(np.float16), equal_nan=True)


@pytest.mark.parametrize("name", FORMATS)
def test_every_half_is_rounded(name, converted):
    """To nearest, ties to even; what is too large becomes the largest, and there is no -0."""
    format, round_once = FORMATS[name], nearest(FORMATS[name], "rtne")
    codes = converted[name + "_narrow"]
    assert (codes == converted[name + "_from_float"]).all()
    for half, code in enumerate(codes.tolist()):
        value, got = F16.value(half), format.value(code)
        assert got != got if value != value else got == round_once(value), (value, got)


ASSEMBLY = HEAD + """
@triton.jit
def kernel(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.inline_asm_elementwise("v_exp_f32 $0, $1", "=v,v", [tl.load(x + i)], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(y + i, v)


kernel[(1,)](np.zeros(64, np.float32), np.zeros(64, np.float32), N=64)
"""


def test_inline_assembly_is_unknown_by_text(tmp_path):
    done, report = run(tmp_path, ASSEMBLY)
    assert done.returncode == 3
    (unknown,) = [u for launch in [report, *report.get("launches", [])] for u in launch.get("unknowns", [])][:1]
    assert "v_exp_f32" in unknown["reason"] and "inline assembly" in unknown["reason"]
