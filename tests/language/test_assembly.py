"""Inline PTX, instruction by instruction, against Python integers, exact rationals and numpy."""

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import functions
from launch import check, clean, kernel
from rational import BF16, E2M1, E4M3, E5M2, F16, F32

ROOT = Path(__file__).resolve().parents[2]
N = 256
TYPES = {np.int32: "tl.int32", np.uint32: "tl.uint32", np.int64: "tl.int64", np.float32: "tl.float32",
         np.float16: "tl.float16", np.int16: "tl.int16", np.int8: "tl.int8"}


def run(folder, asm, constraints, values, result, pack=1):
    names = "abc"[: len(values)]
    loads = ", ".join(f"tl.load({a} + i)" for a in names)
    parameters = ", ".join([*names, "out", "N: tl.constexpr"])
    function = kernel(folder, f"""
@triton.jit
def kernel({parameters}):
    i = tl.arange(0, N)
    v = tl.inline_asm_elementwise({asm!r}, {constraints!r}, [{loads}], dtype={TYPES[result]}, is_pure=True, pack={pack})
    tl.store(out + i, v)
""")
    out = np.zeros(len(values[0]), result)
    clean(function, *values, out, N=len(out))
    return out


def words(seed):
    x = np.random.default_rng(seed).integers(-(2**31), 2**31, N).astype(np.int32)
    x[:12] = [0, 1, -1, 2**31 - 1, -(2**31), 2, 31, 32, 33, 0x80, 0xFF, -128]
    return x


M = 2**32
S = lambda x: functions.signed(x, 32)
INTEGERS = [
    ("add.u32 $0, $1, $2;", lambda a, b, c: a + b), ("sub.s32 $0, $1, $2;", lambda a, b, c: a - b),
    ("add.sat.s32 $0, $1, $2;", lambda a, b, c: min(max(S(a) + S(b), -(2**31)), 2**31 - 1)),
    ("mul.lo.u32 $0, $1, $2;", lambda a, b, c: a * b), ("mul.hi.u32 $0, $1, $2;", lambda a, b, c: a * b >> 32),
    ("mul.hi.s32 $0, $1, $2;", lambda a, b, c: S(a) * S(b) >> 32),
    ("mad.lo.s32 $0, $1, $2, $3;", lambda a, b, c: a * b + c),
    ("mad.hi.u32 $0, $1, $2, $3;", lambda a, b, c: (a * b >> 32) + c),
    ("mul24.lo.u32 $0, $1, $2;", lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF)),
    ("sad.s32 $0, $1, $2, $3;", lambda a, b, c: abs(S(a) - S(b)) + c),
    ("min.s32 $0, $1, $2;", lambda a, b, c: min(S(a), S(b))), ("max.u32 $0, $1, $2;", lambda a, b, c: max(a, b)),
    ("abs.s32 $0, $1;", lambda a, b, c: abs(S(a))), ("neg.s32 $0, $1;", lambda a, b, c: -a),
    ("and.b32 $0, $1, $2;", lambda a, b, c: a & b), ("not.b32 $0, $1;", lambda a, b, c: ~a),
    ("cnot.b32 $0, $1;", lambda a, b, c: a == 0), ("xor.b32 $0, $1, 0xff00ff00;", lambda a, b, c: a ^ 0xFF00FF00),
    ("lop3.b32 $0, $1, $2, $3, 0xca;", lambda a, b, c: (a & b) | (~a & c)),
    ("lop3.b32 $0, $1, $2, $3, 0x96;", lambda a, b, c: a ^ b ^ c),
    ("shl.b32 $0, $1, $2;", lambda a, b, c: a << b if b < 32 else 0),
    ("shr.u32 $0, $1, $2;", lambda a, b, c: a >> b if b < 32 else 0),
    ("shr.s32 $0, $1, $2;", lambda a, b, c: S(a) >> min(b, 31)),
    ("shf.l.wrap.b32 $0, $1, $2, $3;", lambda a, b, c: ((b << 32 | a) << (c & 31)) >> 32),
    ("shf.r.clamp.b32 $0, $1, $2, $3;", lambda a, b, c: (b << 32 | a) >> min(c, 32)),
    ("prmt.b32 $0, $1, $2, 0x5410;", lambda a, b, c: functions.permute(a, b, 0x5410)),
    ("prmt.b32 $0, $1, 0, 0x8880;", lambda a, b, c: (0xFFFFFF00 if a & 0x80 else 0) | a & 0xFF),
    ("bfe.u32 $0, $1, 5, 9;", lambda a, b, c: a >> 5 & 0x1FF),
    ("bfe.s32 $0, $1, 28, 9;", lambda a, b, c: S(a) >> 28),
    ("bfi.b32 $0, $1, $2, 7, 6;", lambda a, b, c: b & ~(63 << 7) | (a & 63) << 7),
    ("brev.b32 $0, $1;", lambda a, b, c: int(f"{a:032b}"[::-1], 2)),
    ("popc.b32 $0, $1;", lambda a, b, c: bin(a).count("1")), ("clz.b32 $0, $1;", lambda a, b, c: 32 - a.bit_length()),
    ("bfind.u32 $0, $1;", lambda a, b, c: a.bit_length() - 1),
    ("bfind.shiftamt.u32 $0, $1;", lambda a, b, c: 32 - a.bit_length() if a else -1),
    ("dp4a.s32.s32 $0, $1, $2, $3;", None), ("div.s32 $0, $1, 7;", lambda a, b, c: math.trunc(Fraction(S(a), 7))),
    ("rem.u32 $0, $1, 1000;", lambda a, b, c: a % 1000),
    ("cvt.u32.u8 $0, $1;", lambda a, b, c: a & 0xFF), ("cvt.s32.s8 $0, $1;", lambda a, b, c: functions.signed(a, 8)),
    ("cvt.sat.u8.s32 $0, $1;", lambda a, b, c: min(max(S(a), 0), 255)),
    ("mov.b32 $0, %laneid;", lambda a, b, c: 0), ("mov.u32 $0, WARP_SZ;", lambda a, b, c: 32),
    ("{ .reg .pred p; setp.lt.s32 p, $1, $2; selp.b32 $0, $1, $3, p; }", lambda a, b, c: a if S(a) < S(b) else c),
    ("{ .reg .pred p, q; setp.hi.u32 p|q, $1, $2; @p mov.u32 $0, 7; @!p mov.u32 $0, 9; }", lambda a, b, c: 7 if a > b else 9),
    ("{ .reg .b16 lo, hi; mov.b32 {lo, hi}, $1; mov.b32 $0, {hi, lo}; }", lambda a, b, c: a >> 16 | a << 16),
    ("{ .reg .u32 t<2>; add.cc.u32 t0, $1, $2; addc.u32 $0, 0, 0; }", lambda a, b, c: a + b >> 32),
    ("{ .reg .b64 w; mul.wide.u32 w, $1, $2; shr.u64 w, w, 20; cvt.u32.u64 $0, w; }", lambda a, b, c: a * b >> 20),
    ("/* a comment */ slct.s32.s32 $0, $1, $2, $3; // and one more", lambda a, b, c: a if S(c) >= 0 else b),
    ("set.gt.u32.s32 $0, $1, $2;", lambda a, b, c: 0xFFFFFFFF if S(a) > S(b) else 0),
    ("add.u16x2 $0, $1, $2;", lambda a, b, c: (a + b) & 0xFFFF | ((a >> 16) + (b >> 16)) << 16),
    ("membar.gl; mov.u32 $0, $3;", lambda a, b, c: c),
]


def dot4(a, b, c):
    return c + sum(functions.signed(a >> k, 8) * functions.signed(b >> k, 8) for k in (0, 8, 16, 24))


@pytest.mark.parametrize("asm, reference", INTEGERS, ids=[row[0] for row in INTEGERS])
def test_integers(asm, reference, tmp_path, collect):
    values = [words(1), words(2), words(3)]
    if "sh" in asm.split(".")[0] and "wide" not in asm:
        values[2 if "shf" in asm else 1] = np.arange(N, dtype=np.int32) % 40
    out = run(tmp_path, asm, "=r,r,r,r", values, np.int32)
    expected = [(reference or dot4)(*(int(x) % M for x in row)) % M for row in zip(*values)]
    assert [int(x) % M for x in out] == expected


def floats(seed):
    x = (np.random.default_rng(seed).standard_normal(N) * 10).astype(np.float32)
    x[:12] = [0.0, 1, -1, 0.5, 1e-40, -1e-40, 3e38, 65504, 1e-8, 448, -57344, 2.5]
    return x


def scalar(format, mode):
    return lambda x: float(format.rounded(Fraction(x), mode))


FLOATS = [
    ("add.f32 $0, $1, $2;", lambda a, b: F32.rounded(a + b)), ("sub.rz.f32 $0, $1, $2;", lambda a, b: F32.rounded(a - b, "rz")),
    ("mul.rp.f32 $0, $1, $2;", lambda a, b: F32.rounded(a * b, "ru")),
    ("fma.rm.f32 $0, $1, $2, $1;", lambda a, b: F32.rounded(a * b + a, "rd")),
    ("fma.rn.f32 $0, $1, $2, 0f3F800000;", lambda a, b: F32.rounded(a * b + 1)),
    ("div.full.f32 $0, $1, 3.0;", lambda a, b: F32.rounded(a / 3)), ("neg.f32 $0, $1;", lambda a, b: -a),
    ("min.f32 $0, $1, $2;", min), ("max.f32 $0, $1, $2;", max), ("abs.f32 $0, $1;", lambda a, b: abs(a)),
    ("add.sat.f32 $0, $1, $2;", lambda a, b: min(max(F32.rounded(a + b), 0), 1)),
    ("mul.ftz.f32 $0, $1, 1.0;", lambda a, b: a if abs(a) >= Fraction(2) ** -126 else 0),
    ("cvt.rni.f32.f32 $0, $1;", lambda a, b: round(a)), ("cvt.rzi.f32.f32 $0, $1;", lambda a, b: math.trunc(a)),
    ("copysign.f32 $0, $2, $1;", lambda a, b: abs(a) if b > 0 else -abs(a)),
    ("{ .reg .f64 d; cvt.f64.f32 d, $1; fma.rn.f64 d, d, d, 0d3FF0000000000000; cvt.rn.f32.f64 $0, d; }", None),
    ("set.ge.f32.f32 $0, $1, $2;", lambda a, b: a >= b),
    ("{ .reg .b16 h; cvt.rn.f16.f32 h, $1; cvt.f32.f16 $0, h; }", lambda a, b: F16.rounded(a)),
    ("{ .reg .b16 h; cvt.rz.bf16.f32 h, $1; mov.b32 $0, {0, h}; }", lambda a, b: BF16.rounded(a, "rz")),
]


@pytest.mark.parametrize("asm, reference", FLOATS, ids=[row[0] for row in FLOATS])
def test_floats(asm, reference, tmp_path, collect):
    a, b = floats(1), floats(2)
    b[:12] = np.roll(a[:12], 5)
    b[b == 0] = 2
    out = run(tmp_path, asm, "=f,f,f", [a, b], np.float32)
    if reference is None:
        expected = (a.astype(np.float64) ** 2 + 1).astype(np.float32).tolist()
    else:
        expected = [float(F32.rounded(Fraction(y))) if math.isfinite(y := reference(Fraction(float(x)), Fraction(float(z)))) else y for x, z in zip(a, b)]
    wrong = [(x, z, e, f) for x, z, e, f in zip(a, b, expected, out.tolist()) if e != f]
    assert not wrong, wrong[:3]


APPROXIMATE = [("ex2.approx.ftz.f32", np.exp2, (-20, 20)), ("lg2.approx.f32", np.log2, (0.01, 100)), ("rcp.approx.f32", lambda x: 1 / x, (0.1, 9)),
               ("sqrt.approx.f32", np.sqrt, (0, 99)), ("rsqrt.approx.f32", lambda x: x**-0.5, (0.1, 99)), ("sin.approx.f32", np.sin, (-3, 3)),
               ("cos.approx.f32", np.cos, (-3, 3)), ("tanh.approx.f32", np.tanh, (-4, 4)), ("rcp.rn.f32", lambda x: 1 / x, (0.1, 9))]


@pytest.mark.parametrize("name, reference, domain", APPROXIMATE, ids=[row[0] for row in APPROXIMATE])
def test_approximations(name, reference, domain, tmp_path, collect):
    x = np.random.default_rng(4).uniform(*domain, N).astype(np.float32)
    out = run(tmp_path, f"{name} $0, $1;", "=f,f", [x], np.float32)
    np.testing.assert_allclose(out, reference(x.astype(np.float64)), rtol=2e-7, atol=1e-7)


def numbers(format, mode="rn"):
    return lambda x: format.rounded(Fraction(float(x)), mode, "saturate")


@pytest.mark.parametrize("name, format", [("e4m3x2", E4M3), ("e5m2x2", E5M2)])
def test_pairs_of_fp8(name, format, tmp_path, collect):
    """Two f32 become one 16-bit register, the first source above, and come back as f16."""
    a, b = floats(5), floats(6)
    packed = run(tmp_path, f"{{ .reg .b16 h; cvt.rn.satfinite.{name}.f32 h, $1, $2; cvt.u32.u16 $0, h; }}", "=r,f,f", [a, b], np.int32)
    codes = packed.view(np.uint32)
    assert [format.value(int(c) >> 8) for c in codes] == [numbers(format)(x) for x in a]
    assert [format.value(int(c) & 0xFF) for c in codes] == [numbers(format)(x) for x in b]
    back = run(tmp_path, f"{{ .reg .b16 h; cvt.u16.u32 h, $1; cvt.rn.f16x2.{name} $0, h; }}", "=r,r", [packed], np.int32).view(np.uint32)
    assert [F16.value(int(h) & 0xFFFF) for h in back] == [format.value(int(c) & 0xFF) for c in codes]


def test_pairs_of_fp4(tmp_path, collect):
    a, b = floats(7) / 4, floats(8) / 4
    codes = run(tmp_path, "{ .reg .b8 q; cvt.rn.satfinite.e2m1x2.f32 q, $1, $2; cvt.u32.u8 $0, q; }", "=r,f,f", [a, b], np.int32)
    assert [E2M1.value(int(c) >> 4) for c in codes] == [numbers(E2M1)(x) for x in a]
    assert [E2M1.value(int(c) & 15) for c in codes] == [numbers(E2M1)(x) for x in b]


def test_packed_halves(tmp_path, collect):
    """Two f16 in one 32-bit register."""
    a, b = floats(9).astype(np.float16), floats(10).astype(np.float16)
    a[~np.isfinite(a)], b[~np.isfinite(b)] = 1, 2
    out = run(tmp_path, "fma.rn.f16x2 $0, $1, $2, $1;", "=r,r,r", [a, b], np.float16, pack=2)
    expected = [F16.rounded(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(x))) for x, y in zip(a, b)]
    assert out.tolist() == [float(x) for x in expected]


def test_packed_bytes(tmp_path, collect):
    """Four bytes in one register, as tl.inline_asm_elementwise's own example has it."""
    x = np.random.default_rng(1).integers(-128, 128, N).astype(np.int8)
    out = run(tmp_path, "{ .reg .b32 t; and.b32 t, $1, 0x0f0f0f0f; shl.b32 $0, t, 4; }", "=r,r", [x], np.int8, pack=4)
    assert out.tolist() == ((x.astype(np.uint8) & 15) << 4).astype(np.int8).tolist()


def test_every_code_of_float8e4b15(tmp_path, collect):
    """Triton's own assembly for this format: 0x7f and 0xff are 1.75 times 2, not NaN."""
    text = Path(__import__("triton").__file__).parent.joinpath("language", "extra", "cuda", "utils.py").read_text()
    assert "convert_fp8e4b15_to_float16" in text
    function = kernel(tmp_path, """
from triton.language.extra.cuda.utils import convert_fp8e4b15_to_float16


@triton.jit
def kernel(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, convert_fp8e4b15_to_float16(tl.load(x + i)))
""")
    codes, out = np.arange(256).astype(np.uint8).view(np.int8), np.zeros(256, np.float16)
    clean(function, codes, out, N=256)
    def value(c):
        sign, exponent, mantissa = (-1 if c >> 7 else 1), c >> 3 & 15, c & 7
        return sign * (mantissa + 8 * bool(exponent)) * 2.0 ** (max(exponent, 1) - 15 - 3)
    assert out.tolist() == [value(c) for c in range(256)]


@pytest.mark.parametrize("asm", ["shfl.sync.bfly.b32 $0, $1, 1, 31, -1;", "ld.global.b32 $0, [$1];", "mul.f32 $0, $1;",
                                 "add.u7 $0, $1, $1;", "mov.u32 $0, %nothing;", "mov.u32 $5, $1;", "mov.u32 $0, $1"])
def test_what_is_not_in_the_table_is_unknown_by_its_text(asm, tmp_path, collect):
    function = kernel(tmp_path, f"""
@triton.jit
def kernel(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.inline_asm_elementwise({asm!r}, "=r,r", [tl.load(a + i)], dtype=tl.int32, is_pure=True, pack=1))
""")
    report = check(function, np.ones(16, np.int32), np.zeros(16, np.int32), N=16)
    assert report.verdict == "unknown" and asm.rstrip(";") in str(report.unknowns[0])


def test_clocks_go_on_and_programs_know_themselves(tmp_path, collect):
    function = kernel(tmp_path, """
from triton.language.extra.cuda import globaltimer, smid


@triton.jit
def kernel(out):
    p = tl.program_id(0)
    start = globaltimer()
    tl.store(out + p * 3, globaltimer() - start)
    tl.store(out + p * 3 + 1, smid().to(tl.int64))
    block = tl.inline_asm_elementwise("mov.u32 $0, %ctaid.x;", "=r", [], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + p * 3 + 2, block.to(tl.int64))
""")
    out = np.zeros(12, np.int64)
    clean(function, out, grid=(4,))
    assert out.reshape(4, 3).tolist() == [[1000, 0, p] for p in range(4)]


def test_clocks_begin_anew_with_every_launch(tmp_path, collect):
    function = kernel(tmp_path, """
from triton.language.extra.cuda import globaltimer


@triton.jit
def kernel(out):
    tl.store(out, globaltimer())
""")
    seen = []
    for _ in range(3):
        out = np.zeros(1, np.int64)
        clean(function, out)
        seen.append(int(out[0]))
    assert seen == [1000, 1000, 1000]


def test_every_instruction_of_the_table_is_tried_here():
    table = set(re.findall(r'^TS_PTX\(\w+, "(\w+)"', (ROOT / "src" / "foreign" / "ptx.def").read_text(), re.MULTILINE))
    text = Path(__file__).read_text()
    untried = {name for name in table if not re.search(rf"\b{name}\.", text)}
    assert untried <= {"fence", "nanosleep", "griddepcontrol", "testp", "or", "subc"}, untried
