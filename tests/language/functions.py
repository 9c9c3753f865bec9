"""What the functions of device libraries are, in exact or 60-digit arithmetic."""

import ast
import math
from fractions import Fraction

import mpmath
from mpmath import mp

mp.dps = 60
SHORT = {"int32": "i32", "int64": "i64", "uint32": "u32", "uint64": "u64", "fp32": "f32", "fp64": "f64"}


def declared(module):
    """(name, symbol, argument types, result type) of every function of a libdevice module of Triton."""
    rows = {}
    for function in ast.parse(open(module.__file__).read()).body:
        for node in ast.walk(function):
            if not isinstance(node, ast.Dict):
                continue
            for key, value in zip(node.keys, node.values):
                word = lambda e: SHORT[e.args[0].value] if isinstance(e, ast.Call) else SHORT[e.attr]
                rows[(value.elts[0].value, tuple(map(word, key.elts)))] = (function.name, word(value.elts[1]))
    return [(name, symbol, arguments, result) for (symbol, arguments), (name, result) in rows.items()]


def root3(x):
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def even(x):
    """The nearest whole number, ties to even, of a Fraction."""
    return round(x)


def away(x):
    return math.floor(abs(x) + Fraction(1, 2)) * (1 if x >= 0 else -1)


# Elementary functions by the common part of their name: of mpf, on the real domain.
MATH = {
    "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan, "exp": mpmath.exp, "exp2": lambda x: mp.mpf(2) ** x,
    "exp10": lambda x: mp.mpf(10) ** x, "expm1": mpmath.expm1, "log": mpmath.log,
    "log2": lambda x: mpmath.log(x) / mpmath.log(2), "log10": mpmath.log10, "log1p": mpmath.log1p,
    "sinh": mpmath.sinh, "cosh": mpmath.cosh, "tanh": mpmath.tanh, "asin": mpmath.asin, "acos": mpmath.acos,
    "atan": mpmath.atan, "asinh": mpmath.asinh, "acosh": mpmath.acosh, "atanh": mpmath.atanh,
    "sinpi": mpmath.sinpi, "cospi": mpmath.cospi, "sqrt": mpmath.sqrt, "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "cbrt": root3, "rcbrt": lambda x: 1 / root3(x), "erf": mpmath.erf, "erfc": mpmath.erfc,
    "erfcx": lambda x: mpmath.exp(x * x) * mpmath.erfc(x), "erfinv": mpmath.erfinv,
    "erfcinv": lambda x: mpmath.erfinv(1 - x), "normcdf": mpmath.ncdf,
    "normcdfinv": lambda x: mpmath.sqrt(2) * mpmath.erfinv(2 * x - 1),
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))), "tgamma": mpmath.gamma,
    "j0": lambda x: mpmath.besselj(0, x), "j1": lambda x: mpmath.besselj(1, x),
    "y0": lambda x: mpmath.bessely(0, x), "y1": lambda x: mpmath.bessely(1, x),
    "i0": lambda x: mpmath.besseli(0, x), "i1": lambda x: mpmath.besseli(1, x),
    "pow": lambda x, y: x ** y, "atan2": mpmath.atan2, "hypot": mpmath.hypot,
    "rhypot": lambda x, y: 1 / mpmath.hypot(x, y), "norm3d": lambda *x: mpmath.norm(x),
    "rnorm3d": lambda *x: 1 / mpmath.norm(x), "norm4d": lambda *x: mpmath.norm(x),
    "rnorm4d": lambda *x: 1 / mpmath.norm(x), "fdividef": lambda x, y: x / y,
    "powi": lambda x, n: x ** n, "pown": lambda x, n: x ** n, "jn": lambda n, x: mpmath.besselj(n, x),
    "yn": lambda n, x: mpmath.bessely(n, x),
}

# Intervals on which a function is compared, where that is not [-20, 20] or the real domain within it.
DOMAIN = {
    "asin": (-1, 1), "acos": (-1, 1), "atanh": (-0.999, 0.999), "acosh": (1, 20), "log": (1e-6, 1e6),
    "log2": (1e-6, 1e6), "log10": (1e-6, 1e6), "log1p": (-0.99, 50), "sqrt": (0, 1e6), "rsqrt": (1e-6, 1e6),
    "erfinv": (-0.999, 0.999), "erfcinv": (0.001, 1.999), "normcdfinv": (0.001, 0.999), "lgamma": (0.1, 60),
    "tgamma": (0.1, 30), "y0": (0.1, 30), "y1": (0.1, 30), "yn": (0.5, 20), "pow": (0.01, 9), "erfcx": (-5, 80),
    "normcdf": (-5, 5), "erfc": (-5, 9), "fast_powf": (0.1, 4), "exp2": (-30, 30), "j0": (0, 20), "j1": (0, 20),
    "fast_expf": (-20, 20), "fast_tanhf": (-9, 9), "fast_tanf": (-1.5, 1.5), "i0": (-80, 80), "i1": (-80, 80),
}

# Of Fractions; the result is exact and then rounded once.
EXACT = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y,
    "fma": lambda x, y, z: x * y + z, "rcp": lambda x: 1 / x, "floor": math.floor, "ceil": math.ceil,
    "trunc": math.trunc, "rint": even, "nearbyint": even, "round": away, "fabs": abs, "fdim": lambda x, y: max(x - y, 0),
    "fmod": lambda x, y: x - y * math.trunc(x / y), "remainder": lambda x, y: x - y * even(x / y),
    "logb": lambda x: math.frexp(x)[1] - 1, "ldexp": lambda x, n: x * Fraction(2) ** n,
    "scalbn": lambda x, n: x * Fraction(2) ** n, "saturate": lambda x: min(max(x, 0), 1),
    "copysign": lambda x, y: abs(x) if y > 0 else -abs(x),
}
TO_WHOLE = {"rn": even, "rz": math.trunc, "rd": math.floor, "ru": math.ceil}

WORDS = {"i32": 32, "u32": 32, "i64": 64, "u64": 64}


def signed(x, bits):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def low24(x, is_signed):
    return signed(x, 24) if is_signed else x & 0xFFFFFF


def permute(a, b, selector):
    pool = (a & 0xFFFFFFFF).to_bytes(4, "little") + (b & 0xFFFFFFFF).to_bytes(4, "little")
    return int.from_bytes(bytes(pool[selector >> (4 * i) & 7] for i in range(4)), "little")


# Of Python integers of the given signedness; the result wraps.
INTEGER = {
    "__nv_clz": lambda a: 32 - (a & 0xFFFFFFFF).bit_length(), "__nv_clzll": lambda a: 64 - (a % 2**64).bit_length(),
    "__ockl_clz_u32": lambda a: 32 - (a & 0xFFFFFFFF).bit_length(), "__ockl_clz_u64": lambda a: 64 - (a % 2**64).bit_length(),
    "__nv_popc": lambda a: bin(a % 2**32).count("1"), "__nv_popcll": lambda a: bin(a % 2**64).count("1"),
    "__ockl_popcount_u32": lambda a: bin(a % 2**32).count("1"), "__ockl_popcount_u64": lambda a: bin(a % 2**64).count("1"),
    "__nv_ffs": lambda a: (a & -a).bit_length(), "__nv_ffsll": lambda a: (a & -a).bit_length(),
    "__nv_brev": lambda a: int(f"{a % 2**32:032b}"[::-1], 2), "__nv_brevll": lambda a: int(f"{a % 2**64:064b}"[::-1], 2),
    "__nv_byte_perm": permute, "__nv_abs": abs, "__nv_llabs": abs, "__triton_hip_iabs": abs,
    "__nv_mulhi": lambda a, b: a * b >> 32, "__nv_umulhi": lambda a, b: a * b >> 32,
    "__nv_mul64hi": lambda a, b: a * b >> 64, "__nv_umul64hi": lambda a, b: a * b >> 64,
    "__nv_mul24": lambda a, b: low24(a, True) * low24(b, True), "__nv_umul24": lambda a, b: low24(a, False) * low24(b, False),
    "__nv_sad": lambda a, b, c: abs(a - b) + c, "__nv_usad": lambda a, b, c: abs(a - b) + c,
    "__nv_hadd": lambda a, b: a + b >> 1, "__nv_uhadd": lambda a, b: a + b >> 1,
    "__nv_rhadd": lambda a, b: a + b + 1 >> 1, "__nv_urhadd": lambda a, b: a + b + 1 >> 1,
}
