"""One kernel for each operation of the language: as plain data, and as an address.

Tiles: `a`, `b` int32 and `f`, `g` float32 of shape [16]; `A`, `F` of shape [16, 16]; `u` uint32; `c` a
condition. An entry is (name, expression, shape of the result)."""

INTEGERS = [
    ("add", "a + b", "v"), ("sub", "a - b", "v"), ("mul", "a * b", "v"), ("floordiv", "a // 7", "v"),
    ("mod", "a % 7", "v"), ("neg", "-a", "v"), ("invert", "~a", "v"), ("and", "a & b", "v"),
    ("or", "a | b", "v"), ("xor", "a ^ b", "v"), ("shl", "a << 3", "v"), ("shr", "a >> 2", "v"),
    ("shr_unsigned", "(u >> 3).to(tl.int32)", "v"), ("udiv", "(u // 9).to(tl.int32)", "v"),
    ("umod", "(u % 9).to(tl.int32)", "v"), ("minimum", "tl.minimum(a, b)", "v"),
    ("maximum", "tl.maximum(a, b)", "v"), ("abs", "tl.abs(a)", "v"), ("where", "tl.where(c, a, b)", "v"),
    ("compare", "(a < b).to(tl.int32) + (a == b) * 2 + (a >= 3)", "v"), ("logical", "(c & (a > 0)).to(tl.int32)", "v"),
    ("umulhi", "tl.umulhi(a, b)", "v"), ("cdiv", "tl.cdiv(a, 5)", "v"),
    ("cast8", "a.to(tl.int8).to(tl.int32)", "v"), ("castu8", "a.to(tl.uint8).to(tl.int32)", "v"),
    ("cast64", "(a.to(tl.int64) * 100000 * b // 3).to(tl.int32)", "v"),
    ("cast_float", "(f * 10).to(tl.int32)", "v"), ("from_int", "(a.to(tl.float32) * 0.5).to(tl.int32)", "v"),
    ("bitcast", "f.to(tl.int32, bitcast=True)", "v"),
    ("sum", "tl.sum(a, axis=0)", "s"), ("max", "tl.max(a, axis=0)", "s"), ("min", "tl.min(a, axis=0)", "s"),
    ("argmax", "tl.argmax(a, axis=0)", "s"), ("argmin", "tl.argmin(a, axis=0)", "s"),
    ("max_with_index", "tl.max(a, axis=0, return_indices=True)[1]", "s"),
    ("xor_sum", "tl.xor_sum(a, axis=0)", "s"), ("sum_axis", "tl.sum(A, axis=1)", "v"),
    ("max_axis0", "tl.max(A, axis=0)", "v"), ("argmax_axis", "tl.argmax(A, axis=1)", "v"),
    ("reduce", "tl.reduce(a, 0, keep_larger)", "s"), ("reduce_axis", "tl.reduce(A, 1, keep_larger)", "v"),
    ("reduce_pair", "tl.reduce((a, b), 0, larger_of_pairs)[1]", "s"),
    ("reduce_or", "tl.reduce(a, 0, either)", "s"), ("reduce_all", "tl.sum(A)", "s"),
    ("keep_dims", "tl.reshape(tl.sum(A, axis=1, keep_dims=True), [16])", "v"),
    ("cumsum", "tl.cumsum(a, 0)", "v"), ("cumsum_reverse", "tl.cumsum(a, 0, reverse=True)", "v"),
    ("cumprod", "tl.cumprod(a % 3, 0)", "v"), ("scan", "tl.associative_scan(a, 0, keep_larger)", "v"),
    ("scan_pair", "tl.associative_scan((a, b), 0, affine)[1]", "v"),
    ("cumsum_axis", "tl.cumsum(A, 1)", "m"),
    ("trans", "tl.trans(A)", "m"), ("permute", "tl.permute(A, (1, 0))", "m"),
    ("reshape", "tl.reshape(A, [4, 64])", "r"), ("ravel", "tl.sum(tl.ravel(A), axis=0)", "s"),
    ("view", "tl.reshape(a, [4, 4])", "q"),
    ("expand_dims", "tl.expand_dims(a, 1) + tl.expand_dims(b, 0)", "m"),
    ("broadcast", "tl.broadcast_to(a[:, None], [16, 16])", "m"),
    ("broadcast_pair", "tl.broadcast(a[:, None], b[None, :])[0]", "m"),
    ("join", "tl.sum(tl.join(a, b), axis=1)", "v"), ("split", "tl.split(tl.join(a, b))[1]", "v"),
    ("interleave", "tl.interleave(a, b)", "w"), ("flip", "tl.flip(a)", "v"),
    ("sort", "tl.sort(a)", "v"), ("sort_descending", "tl.sort(a, descending=True)", "v"),
    ("topk", "tl.topk(a, 4)", "4"), ("gather", "tl.gather(a, a & 15, 0)", "v"),
    ("histogram", "tl.histogram(a & 7, 8)", "8"),
    ("full", "tl.full([16], 5, tl.int32) + tl.zeros([16], tl.int32)", "v"),
    ("zeros_like", "tl.zeros_like(a) + 2", "v"),
    ("arange", "tl.arange(16, 32)", "v"), ("program_id", "tl.program_id(0) + tl.num_programs(0) + 0 * a", "v"),
    ("dot_int8", "tl.dot(bytes_of(a), tl.trans(bytes_of(b)))", "m"),
    ("swizzle2d", "tl.swizzle2d(a & 3, b & 7, 4, 8, 2)[0]", "v"),
    ("randint", "tl.randint(7, a)", "v"), ("randint4x", "tl.randint4x(7, a)[2]", "v"),
    ("static_range", "counted(a)", "v"), ("ternary", "a if tl.program_id(0) == 0 else b", "v"),
    ("clamp", "tl.clamp(f, -1.0, 1.0).to(tl.int32)", "v"),
    ("multiple_of", "tl.max_contiguous(tl.multiple_of(tl.arange(0, 16), 16), 16)", "v"),
]

FLOATS = [
    ("fadd", "f + g", "v"), ("fmul", "f * g - f", "v"), ("fdiv", "f / g", "v"), ("div_rn", "tl.div_rn(f, g)", "v"),
    ("fdiv_fast", "tl.fdiv(f, g)", "v"), ("fmod", "f % g", "v"), ("fneg", "-f", "v"), ("fma", "tl.fma(f, g, f)", "v"),
    ("fmin", "tl.minimum(f, g)", "v"), ("fmax", "tl.maximum(f, g)", "v"), ("fabs", "tl.abs(f)", "v"),
    ("exp", "tl.exp(f)", "v"), ("exp2", "tl.exp2(f)", "v"), ("log", "tl.log(tl.abs(f))", "v"),
    ("log2", "tl.log2(tl.abs(f))", "v"), ("sin", "tl.sin(f)", "v"), ("cos", "tl.cos(f)", "v"),
    ("sqrt", "tl.sqrt(tl.abs(f))", "v"), ("sqrt_rn", "tl.sqrt_rn(tl.abs(f))", "v"), ("rsqrt", "tl.rsqrt(tl.abs(f))", "v"),
    ("floor", "tl.floor(f)", "v"), ("ceil", "tl.ceil(f)", "v"), ("erf", "tl.erf(f)", "v"),
    ("sigmoid", "tl.sigmoid(f)", "v"), ("softmax", "tl.softmax(f)", "v"),
    ("fsum", "tl.sum(f, axis=0)", "s"), ("fmaxr", "tl.max(F, axis=1)", "v"), ("fargmax", "tl.argmax(f, axis=0).to(tl.float32)", "s"),
    ("fcumsum", "tl.cumsum(f, 0)", "v"), ("fscan", "tl.associative_scan(f, 0, keep_larger)", "v"),
    ("fsort", "tl.sort(f)", "v"), ("half", "f.to(tl.float16).to(tl.float32)", "v"),
    ("bf16", "f.to(tl.bfloat16).to(tl.float32)", "v"), ("double", "(f.to(tl.float64) * g).to(tl.float32)", "v"),
    ("dot", "tl.dot(F, F, input_precision='ieee')", "m"), ("dot_half", "tl.dot(F.to(tl.float16), F.to(tl.float16))", "m"),
    ("dot_acc", "tl.dot(F, F, F, input_precision='ieee')", "m"), ("dot3d", "tl.sum(tl.dot(F[None, :, :], F[None, :, :], input_precision='ieee'), axis=0)", "m"),
    ("rand", "tl.rand(11, a)", "v"), ("randn", "tl.randn(11, a)", "v"), ("clampf", "tl.clamp(f, -0.5, 0.5)", "v"),
    ("fcompare", "(f < g).to(tl.float32) + (f == f)", "v"), ("fwhere", "tl.where(c, f, g)", "v"),
    ("uint_to_float", "u.to(tl.float32)", "v"),
]

SIZES = {"s": "", "v": "16", "m": "16, 16", "r": "4, 64", "q": "4, 4", "w": "32", "4": "4", "8": "8"}

MODULE = '''import numpy as np
import triton
import triton.language as tl

from twins.cases import register

case = register(globals())


@triton.jit
def keep_larger(p, q):
    return tl.maximum(p, q)


@triton.jit
def either(p, q):
    return p | q


@triton.jit
def larger_of_pairs(p0, p1, q0, q1):
    keep = p0 >= q0
    return tl.where(keep, p0, q0), tl.where(keep, p1, q1)


@triton.jit
def affine(p0, p1, q0, q1):
    return p0 * q0, p1 * q0 + q1


@triton.jit
def bytes_of(a):
    return (a[:, None] * 3 + tl.arange(0, 32)[None, :]).to(tl.int8)


@triton.jit
def counted(a):
    for k in tl.static_range(3):
        a += k * a
    return a


@triton.jit
def kernel(ints, floats, out, table):
    i = tl.arange(0, 16)
    square = i[:, None] * 16 + i[None, :]
    a = tl.load(ints + i)
    b = tl.load(ints + 16 + i)
    A = tl.load(ints + square)
    f = tl.load(floats + i)
    g = tl.load(floats + 16 + i)
    F = tl.load(floats + square)
    u = a.to(tl.uint32, bitcast=True)
    c = a > b
    value = {expression}
    {use}


@case()
def launch(run):
    rng = np.random.default_rng(0)
    ints = rng.integers(-50, 50, 256, dtype=np.int32)
    floats = (rng.standard_normal(256) * 2).astype(np.float32)
    out = np.zeros({count}, dtype=np.{dtype})
    table = rng.integers(0, 1000, {table}, dtype=np.int32)
    run(kernel)[(2,)](ints, floats, out, table)
    return [out]
'''


def offsets(shape):
    """The row-major place of every element of a tile of this shape."""
    dims = [int(d) for d in SIZES[shape].split(",") if d.strip()]
    if not dims:
        return "0", 1
    if len(dims) == 1:
        return f"tl.arange(0, {dims[0]})", dims[0]
    return f"tl.arange(0, {dims[0]})[:, None] * {dims[1]} + tl.arange(0, {dims[1]})[None, :]", dims[0] * dims[1]


def as_data(expression, shape, dtype):
    at, count = offsets(shape)
    return MODULE.format(expression=expression, use=f"tl.store(out + {at}, value)", count=count,
                         dtype=dtype, table=8)


def as_address(expression, shape):
    """The value is an index into a table of 40: some elements are in it, others are not."""
    at, count = offsets(shape)
    return MODULE.format(expression=expression, use=f"tl.store(out + {at}, tl.load(table + value))",
                         count=count, dtype="int32", table=40)
