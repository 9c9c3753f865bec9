"""Operations that Triton's own interpreter does not check well, against numpy in f64 and exact rationals."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import triton

from launch import check, clean, kernel
from rational import E2M1, E4M3, E5M2

RELEASE = tuple(int(x) for x in triton.__version__.split(".")[:2])


def tf32(x):
    """Nearest, ties away from zero, to ten bits of mantissa."""
    bits = x.view(np.uint32).astype(np.uint64) + 0x1000
    return (bits & 0xFFFFE000).astype(np.uint32).view(np.float32)


def bf16(x):
    return x.astype(ml_dtypes.bfloat16).astype(np.float32)


DOT = """
@triton.jit
def kernel(a, b, c, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, P: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    z = tl.load(c + m[:, None] * N + n[None, :])
    tl.store(out + m[:, None] * N + n[None, :], tl.dot(x, y, z, input_precision=P))
"""


@pytest.mark.parametrize("precision, narrow, parts", [("tf32", tf32, 1), ("tf32x3", tf32, 2), ("bf16x3", bf16, 2), ("bf16x6", bf16, 3)])
def test_dot_precision(precision, narrow, parts, tmp_path, collect):
    """The products that Triton's pass keeps, summed in f64."""
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal(s).astype(np.float32) for s in ((16, 32), (32, 16), (16, 16)))
    out = np.zeros((16, 16), np.float32)
    try:
        clean(kernel(tmp_path, DOT), a, b, c, out, M=16, N=16, K=32, P=precision)
    except Exception as error:
        if "input_precision" not in str(error):
            raise
        pytest.skip(f"Triton {triton.__version__} has no {precision} on this target")
    def split(x):
        result = []
        for _ in range(parts):
            result.append(narrow(x))
            x = x - result[-1]
        return [p.astype(np.float64) for p in result]
    kept = {1: [(0, 0)], 2: [(0, 0), (0, 1), (1, 0)], 3: [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0)]}[parts]
    x, y = split(a), split(b)
    expected = c + sum(x[i] @ y[j] for i, j in kept)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)
    exact = a.astype(np.float64) @ b + c
    error = {"tf32": 2e-2, "tf32x3": 2e-5, "bf16x3": 5e-4, "bf16x6": 2e-5}[precision]
    assert abs(out - exact).max() < error


SCALED = """
@triton.jit
def kernel(a, sa, b, sb, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PA: tl.constexpr, PB: tl.constexpr,
           G: tl.constexpr, FA: tl.constexpr, FB: tl.constexpr, HA: tl.constexpr, HB: tl.constexpr,
           KA: tl.constexpr, KB: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    am, ak = tl.arange(0, M if KA else M // PA), tl.arange(0, K // PA if KA else K)
    bk, bn = tl.arange(0, K // PB if KB else K), tl.arange(0, N if KB else N // PB)
    x = tl.load(a + am[:, None] * (K // PA if KA else K) + ak[None, :])
    y = tl.load(b + bk[:, None] * (N if KB else N // PB) + bn[None, :])
    g = tl.arange(0, K // G)
    u = tl.load(sa + m[:, None] * (K // G) + g[None, :]) if HA else None
    v = tl.load(sb + n[:, None] * (K // G) + g[None, :]) if HB else None
    z = tl.dot_scaled(x, u, FA, y, v, FB, lhs_k_pack=KA, rhs_k_pack=KB)
    tl.store(out + m[:, None] * N + n[None, :], z)
"""
FORMATS = {"e2m1": E2M1, "e4m3": E4M3, "e5m2": E5M2}


def pack(codes, axis):
    low, high = np.take(codes, range(0, codes.shape[axis], 2), axis), np.take(codes, range(1, codes.shape[axis], 2), axis)
    return np.ascontiguousarray(low | high << 4)


def side(rng, name, rows, k):
    """Values as they are stored before packing, and as f64."""
    if name in FORMATS:
        format = FORMATS[name]
        codes = rng.integers(0, 1 << format.bits, (rows, k)).astype(np.uint8)
        if name != "e2m1":
            codes &= 0xB7 if name == "e4m3" else 0xCF  # moderate exponents, no NaN
        return codes, np.vectorize(lambda c: float(format.value(int(c))))(codes)
    dtype = {"bf16": ml_dtypes.bfloat16, "fp16": np.float16}[name]
    x = rng.standard_normal((rows, k)).astype(dtype)
    return x, x.astype(np.float64)


@pytest.mark.parametrize("left, right, have, k_packs", [
    ("e2m1", "e2m1", (1, 1), (1, 1)), ("e4m3", "e4m3", (1, 1), (1, 1)), ("e5m2", "e4m3", (1, 1), (1, 1)),
    ("e2m1", "bf16", (1, 0), (1, 1)), ("bf16", "e2m1", (0, 1), (1, 1)), ("fp16", "e4m3", (0, 1), (1, 1)),
    ("e2m1", "e5m2", (1, 0), (1, 1)), ("e2m1", "e2m1", (1, 1), (0, 0)), ("e2m1", "e2m1", (0, 1), (0, 1))])
def test_dot_scaled(left, right, have, k_packs, tmp_path, collect):
    rng = np.random.default_rng(1)
    m, n, k, group = 32, 32, 64, 32
    a, x = side(rng, left, m, k)
    b, y = side(rng, right, n, k)
    sa, sb = (rng.integers(120, 132, (r, k // group)).astype(np.uint8) for r in (m, n))
    fx = np.repeat(2.0 ** (sa.astype(float) - 127), group, 1) if have[0] else 1
    fy = np.repeat(2.0 ** (sb.astype(float) - 127), group, 1) if have[1] else 1
    expected = (x * fx) @ (y * fy).T
    stored_a = pack(a, 1 if k_packs[0] else 0) if left == "e2m1" else a
    bt = np.ascontiguousarray(b.T)
    stored_b = pack(bt, 0 if k_packs[1] else 1) if right == "e2m1" else bt
    out = np.zeros((m, n), np.float32)
    bits = lambda z: z.view(np.float16) if False else z
    clean(kernel(tmp_path, SCALED), bits(stored_a), sa, bits(stored_b), sb, out, M=m, N=n, K=k, PA=2 if left == "e2m1" else 1,
          PB=2 if right == "e2m1" else 1, G=group, FA=left, FB=right, HA=bool(have[0]), HB=bool(have[1]),
          KA=bool(k_packs[0]), KB=bool(k_packs[1]))
    np.testing.assert_allclose(out, expected, rtol=2e-6, atol=1e-5 * abs(expected).max())


def test_a_scale_that_is_nan(tmp_path, collect):
    m = n = 32
    k = 64
    a, b = np.full((m, k), 0x38, np.uint8), np.full((k, n), 0x38, np.uint8)  # 1.0 in e4m3
    sa, sb = np.full((m, 2), 127, np.uint8), np.full((n, 2), 127, np.uint8)
    sa[3, 1] = 255
    out = np.zeros((m, n), np.float32)
    clean(kernel(tmp_path, SCALED), a, sa, b, sb, out, M=m, N=n, K=k, PA=1, PB=1, G=32, FA="e4m3", FB="e4m3", HA=True, HB=True, KA=True, KB=True)
    assert np.isnan(out[3]).all() and (np.delete(out, 3, 0) == k).all()


@pytest.mark.parametrize("pack", [1, 2, 4])
def test_map_elementwise_with_branches_and_packs(pack, tmp_path, collect):
    names = [f"{v}{k}" for v in "xy" for k in range(pack)]
    body = "\n".join(f"    if x{k} > y{k}:\n        r{k} = x{k} - y{k}\n    else:\n        r{k} = x{k} * 2\n    s{k} = x{(k + 1) % pack} + y{k}"
                     for k in range(pack))
    results = ", ".join([f"r{k}" for k in range(pack)] + [f"s{k}" for k in range(pack)])
    function = kernel(tmp_path, f"""
@triton.jit
def body({', '.join(names)}):
{body}
    return {results}


@triton.jit
def kernel(a, b, r, s, N: tl.constexpr):
    i = tl.arange(0, N)
    p, q = tl.map_elementwise(body, tl.load(a + i), tl.load(b + i), pack={pack})
    tl.store(r + i, p)
    tl.store(s + i, q)
""")
    rng = np.random.default_rng(2)
    a, b = rng.integers(-9, 9, (2, 64)).astype(np.int32)
    r, s = np.zeros(64, np.int32), np.zeros(64, np.int32)
    clean(function, a, b, r, s, N=64)
    neighbour = np.roll(a.reshape(-1, pack), -1, 1).reshape(-1)
    assert (r == np.where(a > b, a - b, 2 * a)).all() and (s == neighbour + b).all()


def test_a_combine_function_that_branches(tmp_path, collect):
    function = kernel(tmp_path, """
@triton.jit
def combine(p, q):
    if p > 10:
        r = p - q
    else:
        r = p + q
    return r


@triton.jit
def kernel(a, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.associative_scan(tl.load(a + i), 0, combine))
""")
    a = np.random.default_rng(3).integers(0, 9, 32).astype(np.int32)
    out = np.zeros(32, np.int32)
    clean(function, a, out, N=32)
    expected = [int(a[0])]
    for x in a[1:].tolist():
        expected.append(expected[-1] - x if expected[-1] > 10 else expected[-1] + x)
    assert out.tolist() == expected


@pytest.mark.skipif(RELEASE < (3, 9), reason="atomic_load, atomic_store: Triton 3.9")
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32])
def test_atomic_load_and_store(dtype, tmp_path, collect):
    function = kernel(tmp_path, """
@triton.jit
def kernel(x, y, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.atomic_load(x + i, mask=i < n, sem="acquire")
    tl.atomic_store(y + i, v + 1, mask=i < n, sem="release")
""")
    x, y = np.arange(100).astype(dtype), np.zeros(100, dtype)
    clean(function, x, y, 100, grid=(4,), N=32)
    assert (y == x + 1).all()
    report = check(function, x, y, 101, grid=(4,), N=32)
    assert [f["kind"] for f in report.findings] == ["out-of-bounds", "out-of-bounds"]


@pytest.mark.skipif(RELEASE < (3, 9), reason="atomic_poll: Triton 3.9")
def test_atomic_poll_for_an_earlier_program(tmp_path, collect):
    function = kernel(tmp_path, """
@triton.jit
def kernel(flag, out):
    p = tl.program_id(0)
    if p > 0:
        tl.atomic_poll(flag, p, sem="acquire")
    tl.store(out + p, p)
    tl.atomic_store(flag, p + 1, sem="release")
""")
    flag, out = np.zeros(1, np.int32), np.zeros(8, np.int32)
    clean(function, flag, out, grid=(8,))
    assert out.tolist() == list(range(8)) and flag[0] == 8


REDUCE = """
@triton.jit
def kernel(x, src, M, N, B: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [B, B])
    m, n = tl.arange(0, B), tl.arange(0, B)
    v = tl.load(src + m[:, None] * B + n[None, :])
    d.atomic_{op}([tl.program_id(0) * B, tl.program_id(1) * B], v)
"""


@pytest.mark.parametrize("op, dtype", [("add", np.int32), ("add", np.float32), ("add", np.float16), ("min", np.int32), ("max", np.int32),
                                       ("max", np.uint32), ("min", np.float16), ("and", np.int32), ("or", np.int32), ("xor", np.uint32)])
def test_descriptor_reduce(op, dtype, tmp_path, collect):
    """Blocks that hang over the edge combine what is inside."""
    rng = np.random.default_rng(4)
    x = (rng.integers(-50, 50, (24, 24)) if np.dtype(dtype).kind != "u" else rng.integers(0, 2**32, (24, 24))).astype(dtype)
    src = (rng.integers(-50, 50, (16, 16)) if np.dtype(dtype).kind != "u" else rng.integers(0, 2**32, (16, 16))).astype(dtype)
    expected = x.copy()
    f = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[op]
    tiled = np.tile(src, (2, 2))[:24, :24]
    expected = f(expected, tiled)
    clean(kernel(tmp_path, REDUCE.format(op=op)), x, src, 24, 24, grid=(2, 2), B=16)
    assert (x == expected).all()


GATHER = """
@triton.jit
def kernel(x, index, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.gather(tl.load(x + i), tl.load(index + i), 0)
    tl.store(out + i, v, mask=i < n)
"""


def test_an_index_of_a_gather_outside_its_axis(tmp_path, collect):
    function = kernel(tmp_path, GATHER)
    x, index, out = np.arange(16, dtype=np.int32), np.arange(16, dtype=np.int32)[::-1].copy(), np.zeros(16, np.int32)
    clean(function, x, index, out, 16, N=16)
    assert (out == index).all()
    index[12:] = [16, -1, 99, 3]
    clean(function, x, index, out, 12, N=16)  # masked off: nobody sees it
    report = check(function, x, index, out, 16, N=16)
    assert [f["kind"] for f in report.findings] == ["invalid-index"]
    assert report.findings[0]["counts"]["elements"] == 3


CONVERT = """
@triton.jit
def kernel(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i).to(tl.{to})
    tl.store(out + i, v, mask=i < n)
"""


@pytest.mark.parametrize("source", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("to, target", [("int8", np.int8), ("uint8", np.uint8), ("int16", np.int16), ("int32", np.int32),
                                        ("uint32", np.uint32), ("int64", np.int64)])
def test_a_float_that_does_not_fit_the_integer(source, to, target, tmp_path, collect):
    info = np.iinfo(target)
    edges = [source(e) for e in (info.min, info.max)]
    candidates = [v for e in edges for v in (np.nextafter(e, source(-np.inf)), e, np.nextafter(e, source(np.inf)), e - source(1), e + source(1), e - source(0.5), e + source(0.5))]
    values = [v for v in [*candidates, source(0), source(-0.75)] if np.isfinite(v)]
    fits = [v for v in values if info.min <= int(Fraction(float(v)).__trunc__()) <= info.max]
    bad = [v for v in values if v not in fits] + [source(np.nan), source(np.inf)]
    x = np.array((fits + [source(0)] * 64)[:32] + (bad * 32)[:32], source)
    function, out = kernel(tmp_path, CONVERT.format(to=to)), np.zeros(64, target)
    clean(function, x, out, 32, N=64)
    assert out[:32].tolist() == [int(float(v)) for v in x[:32]]
    report = check(function, x, out, 64, N=64)
    assert [(f["kind"], f["severity"], f["counts"]["elements"]) for f in report.findings] == [("invalid-conversion", "warning", 32)]
    saturated = [0 if v != v else info.max if v > 0 else info.min for v in x[32:].tolist()]
    assert out[32:].tolist() == saturated


def test_dependent_launches_have_nothing_to_wait_for(tmp_path, collect):
    function = kernel(tmp_path, """
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait


@triton.jit
def kernel(x, N: tl.constexpr):
    i = tl.arange(0, N)
    gdc_wait()
    tl.store(x + i, tl.load(x + i) + 1)
    gdc_launch_dependents()
""")
    x = np.zeros(16, np.int32)
    clean(function, x, N=16)
    assert (x == 1).all()


APPROXIMATE = ["tl.fdiv(x, y, approx=True)"] if RELEASE >= (3, 9) else []


@pytest.mark.parametrize("divide", ["x / y", "tl.fdiv(x, y)", "tl.div_rn(x, y)", *APPROXIMATE])
def test_divisions(divide, tmp_path, collect):
    """All are exact: the fast ones only promise less."""
    function = kernel(tmp_path, f"""
@triton.jit
def kernel(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(a + i), tl.load(b + i)
    tl.store(out + i, {divide})
""")
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((2, 64)).astype(np.float32)
    out = np.zeros(64, np.float32)
    clean(function, a, b, out, N=64)
    assert (out == a / b).all()


def test_pointers_as_integers_and_back(tmp_path, collect):
    function = kernel(tmp_path, """
@triton.jit
def kernel(x, distance, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(distance + i, (x + i).to(tl.int64) - x.to(tl.int64))
    p = ((x + i).to(tl.int64) + 4).to(tl.pointer_type(tl.float32))
    tl.store(out + i, tl.load(p, mask=i < N - 1, other=-1.0))
""")
    x, distance, out = np.arange(16, dtype=np.float32), np.zeros(16, np.int64), np.zeros(16, np.float32)
    clean(function, x, distance, out, N=16)
    assert distance.tolist() == [4 * i for i in range(16)]
    assert out.tolist() == [*range(1, 16), -1]


def test_a_tensor_of_one_element_becomes_a_scalar(tmp_path, collect):
    function = kernel(tmp_path, """
@triton.jit
def kernel(x, out):
    one = tl.reshape(tl.sum(tl.load(x + tl.arange(0, 16)), 0, keep_dims=True), (1,))
    tl.store(out, one.item())
""")
    x, out = np.arange(16, dtype=np.float32), np.zeros(1, np.float32)
    clean(function, x, out)
    assert out[0] == 120


@pytest.mark.parametrize("dtype", [np.int32, np.float16])
def test_concatenation(dtype, tmp_path, collect):
    """tl.cat may reorder: what counts is which elements are there."""
    function = kernel(tmp_path, """
@triton.jit
def kernel(x, out, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    tl.store(out + tl.arange(0, 2 * N), tl.cat(v, v * 2, can_reorder=True))
""")
    x, out = np.arange(1, 17).astype(dtype), np.zeros(32, dtype)
    clean(function, x, out, N=16)
    assert sorted(out.tolist()) == sorted([*x.tolist(), *(2 * x).tolist()])


def test_prints(tmp_path, collect, capfd):
    function = kernel(tmp_path, """
@triton.jit
def kernel(x, N: tl.constexpr):
    tl.device_print("x is", tl.load(x + tl.arange(0, N)))
    tl.device_print("here")
""")
    clean(function, np.array([5, -7], np.int32), grid=(2,), N=2)
    printed = capfd.readouterr().out.splitlines()
    assert [line for line in printed if line.startswith("pid (1")] == [
        "pid (1, 0, 0) idx (0) x is: 5", "pid (1, 0, 0) idx (1) x is: -7", "pid (1, 0, 0) here"]


def test_rows_of_a_descriptor(tmp_path, collect):
    """Rows in any order; rows and columns outside read as 0 and are not written."""
    function = kernel(tmp_path, """
@triton.jit
def kernel(x, y, rows, out, M, K, N: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [M, K], [K, 1], [1, N])
    e = tl.make_tensor_descriptor(y, [M, K], [K, 1], [1, N])
    r = tl.load(rows + tl.arange(0, 16))
    v = d.gather(r, 8)
    tl.store(out + tl.arange(0, 16)[:, None] * N + tl.arange(0, N)[None, :], v)
    e.scatter(v + 1, r, 8)
""")
    rng = np.random.default_rng(6)
    x = rng.standard_normal((20, 32)).astype(np.float16)
    y, rows, out = np.zeros_like(x), rng.permutation(24)[:16].astype(np.int32), np.full((16, 32), 9, np.float16)
    clean(function, x, y, rows, out, 20, 32, N=32)
    padded = np.zeros((24, 40), np.float16)
    padded[:20, :32] = x
    assert (out == padded[rows, 8:40]).all()
    expected = np.zeros_like(y)
    for i, r in enumerate(rows):
        if r < 20:
            expected[r, 8:] = out[i, :24] + np.float16(1)
    assert (y == expected).all()
