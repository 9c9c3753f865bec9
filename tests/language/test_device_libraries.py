"""Every function of libdevice and of AMD's libraries that Triton declares, against exact or 60-digit values."""

import math
import re
import struct
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from mpmath import mp
from triton.language.extra.cuda import libdevice
from triton.language.extra.hip import libdevice as ocml

import functions
from launch import clean, kernel
from rational import F32, F64

ROOT = Path(__file__).resolve().parents[2]
N = 128
DTYPES = {"i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "f32": np.float32, "f64": np.float64}
FUNCTIONS = [("libdevice", *row) for row in functions.declared(libdevice)] + [("ocml", *row) for row in functions.declared(ocml)]
IDS = [f"{symbol}-{'-'.join(arguments)}" for _, _, symbol, arguments, _ in FUNCTIONS]


def bounds():
    """The f64 error bounds of math.def, in ulp, by name."""
    text = (ROOT / "src" / "foreign" / "math.def").read_text()
    rows = re.findall(r'^TS_MATH\d\("(\w+)", "(\w*)", (\w+), .*, "([^"]*)", "[^"]*"\)$', text, re.MULTILINE)
    rows += [(a, b, "None", c) for a, b, c in re.findall(r'^TS_MATH[23]\("(\w+)", "(\w*)", .*, "([^"]*)", "[^"]*"\)$', text, re.MULTILINE)]
    result = {}
    for nvidia, amd, kernel_name, bound in rows:
        number = re.match(r"[\d.e-]+", bound)
        result.setdefault(nvidia, (float(number[0]) if number and "ulp" in bound else 0.5, kernel_name != "None"))
        if amd:
            result.setdefault(amd, result[nvidia])
    return result


BOUNDS = bounds()


def stem(symbol):
    """The function's common name: `__nv_fast_sinf` and `__ocml_sin_f64` are both sin."""
    name = re.sub(r"^__(nv|ocml|triton_hip)_|_f(32|64)$|_rn$", "", symbol)
    if name == "frsqrt":
        return "rsqrt"
    name = name.removeprefix("fast_").removeprefix("cyl_bessel_")
    for candidate in (name, name[:-1] if name.endswith("f") else name):
        if candidate in functions.MATH or candidate in functions.EXACT:
            return candidate
    return name


def inputs(symbol, arguments):
    """Special and random values in the function's domain, as arrays."""
    rng = np.random.default_rng(len(symbol))
    name = stem(symbol)
    low, high = functions.DOMAIN.get(name, (-20, 20))
    result = []
    for k, kind in enumerate(arguments):
        if kind in ("f32", "f64"):
            x = rng.uniform(low, high, N)
            x[: N // 4] = np.clip(np.round(x[: N // 4] * 2) / 2, low, high)
            if name in functions.EXACT or symbol.endswith(("_rn", "_rz", "_rd", "_ru")):
                x = rng.standard_normal(N) * 10.0 ** rng.integers(-12, 12, N)
                x[: N // 4] = np.round(x[: N // 4] * 2) / 2
                x[x == 0] = 1.5
                if "sqrt" in name:
                    x = abs(x)
            if name == "pow" and k == 1:
                x = rng.uniform(-5, 5, N)
            result.append(x.astype(DTYPES[kind]) + DTYPES[kind](0))  # mpmath has no -0
        elif any(a in ("f32", "f64") for a in arguments):
            result.append(rng.integers(0, 8, N).astype(DTYPES[kind]))
        else:
            info = np.iinfo(DTYPES[kind])
            x = rng.integers(info.min, info.max, N, dtype=DTYPES[kind], endpoint=True)
            x[:8] = [0, 1, info.max, info.min, 2, 3, info.max - 1, info.min + 1]
            x[8:32] = rng.integers(0, 1000, 24)
            result.append(rng.permutation(x) if k else x)
    return result


def run(folder, library, name, arguments, result, values):
    names = "abcd"[: len(arguments)]
    loads = ", ".join(f"tl.load({a} + i)" for a in names)
    function = kernel(folder, f"""
@triton.jit
def kernel({', '.join(names)}, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, {library}.{name}({loads}))
""")
    out = np.zeros(N, DTYPES[result])
    clean(function, *values, out, N=N)
    return out


def ulp(kind, exact):
    format = F32 if kind == "f32" else F64
    if exact == 0:
        return mp.mpf(2) ** (1 - format.bias - format.mantissa)
    exponent = int(mpmath.floor(mpmath.log(abs(exact)) / mpmath.log(2)))
    return mp.mpf(2) ** (max(exponent, 1 - format.bias) - format.mantissa)


def expected_bits(x, kind):
    return struct.unpack("<i" if kind == "f32" else "<q", struct.pack("<f" if kind == "f32" else "<d", x))[0]


@pytest.mark.parametrize("library, name, symbol, arguments, result", FUNCTIONS, ids=IDS)
def test_function(library, name, symbol, arguments, result, tmp_path, collect):
    values = inputs(symbol, arguments)
    out = run(tmp_path, library, name, arguments, result, values)
    rows = list(zip(*(x.tolist() for x in values)))
    mode = re.search(r"_(r[nzdu])$", symbol)
    mode = mode[1] if mode else "rn"
    if symbol in functions.INTEGER:
        bits = functions.WORDS[result]
        expected = [functions.INTEGER[symbol](*row) % 2**bits for row in rows]
        return assert_same([int(x) % 2**bits for x in out], expected, rows)
    if "_as_" in symbol:
        expected = [x.view(DTYPES[result]) for x in values[0]]
        return assert_same(out.view(out.dtype.str.replace("f", "i")).tolist(), np.array(expected).view(out.dtype.str.replace("f", "i")).tolist(), rows)
    if symbol == "__nv_hiloint2double":
        expected = [((a % 2**32) << 32) | (b % 2**32) for a, b in rows]
        return assert_same(out.view(np.uint64).tolist(), expected, rows)
    if symbol in ("__nv_double2loint", "__nv_double2hiint"):
        shift = 32 if symbol.endswith("hiint") else 0
        expected = [(expected_bits(x, "f64") >> shift) % 2**32 for x, in rows]
        return assert_same([int(x) % 2**32 for x in out], expected, rows)
    base = re.sub(r"^__(nv|ocml)_|_?(f32|f64|f|d)$", "", symbol)
    tests = {"isnan": lambda x: x != x, "isinf": math.isinf, "finite": math.isfinite, "isfinite": math.isfinite,
             "isfinited": math.isfinite, "signbit": lambda x: math.copysign(1, x) < 0}
    if base in tests or base == "ilogb":
        f = tests.get(base) or (lambda x: math.frexp(x)[1] - 1 if x else -(2**31))
        return assert_same(out.tolist(), [int(f(*row)) for row in rows], rows)
    if base == "nextafter":
        expected = np.nextafter(*values)
        return assert_same(out.tolist(), expected.tolist(), rows)
    if symbol == "__nv_rcp64h":
        np.testing.assert_allclose(out, 1 / values[0], rtol=2.0**-20)
        return assert_same((out.view(np.uint64) & 0xFFFFFFFF).tolist(), [0] * N, rows)
    format = {"f32": F32, "f64": F64}.get(result)
    if result[0] in "iu" and arguments[0] in ("f32", "f64"):
        whole = functions.away if "round" in symbol else functions.TO_WHOLE["rn" if "rint" in symbol else mode]
        unsigned = "2u" in symbol
        bits = functions.WORDS[result]
        low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        expected = [min(max(whole(Fraction(x)), low), high) % 2**bits for x, in rows]
        return assert_same([int(x) % 2**bits for x in out], expected, rows)
    exact = re.sub(r"^__(nv|ocml|triton_hip)_(f|d)?|_r[nzdu]$|_f(32|64)$", "", symbol)
    if "2" in exact and re.search(r"_r[nzdu]$", symbol):  # conversions to floats
        exact = None
    operation = {"fma": "fma", "maf": "fma", "ma": "fma", "saturatef": "saturate", "rint": "rint", "abs": "fabs",
                 "absf": "fabs", "loor": "floor", "loorf": "floor", "mod": "fmod", "modf": "fmod", "dim": "fdim",
                 "dimf": "fdim"}.get(exact, exact)
    if operation and operation not in functions.EXACT and operation.endswith("f"):
        operation = operation[:-1]
    if exact is None or operation in functions.EXACT:
        f = functions.EXACT[operation] if operation else lambda x: x
        as_exact = lambda x: x if isinstance(x, int) else Fraction(x)
        if operation == "logb":
            as_exact = lambda x: x
        expected = [float(format.rounded(Fraction(f(*map(as_exact, row))), mode)) for row in rows]
        return assert_same(out.tolist(), expected, rows)
    if "sqrt_r" in symbol and "rsqrt" not in symbol:
        expected = [rounded_root(Fraction(x), format, mode) for x, in rows]
        return assert_same(out.tolist(), expected, rows)
    reference = functions.MATH[stem(symbol)]
    bound, kernel_used = BOUNDS.get(stem(symbol), (4, False))
    allowed = (2 if kernel_used else 0.51) if result == "f32" else max(bound, 0.51)
    for row, got in zip(rows, out.tolist()):
        try:
            value = reference(*(x if isinstance(x, int) else mp.mpf(x) for x in row))
        except (ZeroDivisionError, ValueError):  # a pole
            assert not math.isfinite(got), (row, got)
            continue
        if isinstance(value, mpmath.mpc) or not mpmath.isfinite(value) or abs(value) > mp.mpf(float(format.largest)):
            assert not math.isfinite(got), (row, got)
            continue
        away_from_zero = ulp(result, value)
        if stem(symbol) in ("j0", "j1", "y0", "y1", "jn", "yn", "lgamma"):
            away_from_zero = max(away_from_zero, ulp(result, mp.mpf(0.25)))
        slack = {"normcdf": 30, "i0": 512, "i1": 512}.get(stem(symbol), 0) if result == "f64" else 0
        assert abs(mp.mpf(got) - value) <= (allowed + slack) * away_from_zero, (row, got, mpmath.nstr(value, 20))


def rounded_root(x, format, mode):
    """The square root of a rational, rounded: by whole square roots of a scaled square."""
    scale = 4 ** (format.mantissa + 200)
    root = math.isqrt(x.numerator * scale // x.denominator)
    exact = Fraction(root, 2 ** (format.mantissa + 200))
    if exact * exact != x:  # between two neighbours: any number between them rounds alike
        exact += Fraction(1, 2 ** (format.mantissa + 201))
    return float(format.rounded(exact, mode))


def assert_same(found, expected, rows):
    wrong = [(row, e, f) for row, e, f in zip(rows, expected, found) if e != f]
    assert not wrong, f"{len(wrong)} wrong; of (arguments, expected, found): {wrong[:3]}"


def test_a_function_that_no_library_has_is_unknown(tmp_path, collect):
    from launch import check
    function = kernel(tmp_path, """
@triton.jit
def kernel(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, nothing(tl.load(a + i)))


@tl.core.extern
def nothing(x, _semantic=None):
    return tl.core.extern_elementwise("", "", [x], {(tl.core.dtype("fp32"),): ("__nv_nothing", tl.core.dtype("fp32"))},
                                      is_pure=True, _semantic=_semantic)
""")
    report = check(function, np.ones(16, np.float32), np.zeros(16, np.float32), N=16)
    assert report.verdict == "unknown" and "__nv_nothing" in str(report.unknowns[0])
