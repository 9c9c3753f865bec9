"""Shapes, and memory: masks, strides, gathers, descriptors, atomics."""

import numpy as np
import triton
import triton.language as tl

from bounds import Within
from case import case
from inputs import below, f16, f32, f64, i16, i32, i64, i8, ints, normal, short, u8, zeros


@triton.jit
def transposed(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + i[:, None] * N + j[None, :])
    tl.store(out + j[:, None] * M + i[None, :], tl.trans(v))


for t in (i8, f16, i32, f64):
    case(f"transposed.{short(t)}", transposed, lambda rng, t=t: dict(x=(normal if np.dtype(t).kind == "f" else ints)(rng, t, 16, 32),
                                                                     out=zeros((32, 16), t)), M=16, N=32)


@triton.jit
def permuted(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    v = tl.load(x + a[:, None, None] * (B * C) + b[None, :, None] * C + c[None, None, :])
    tl.store(out + c[:, None, None] * (A * B) + a[None, :, None] * B + b[None, None, :], tl.permute(v, (2, 0, 1)))


case("permuted", permuted, lambda rng: dict(x=ints(rng, i32, 4, 8, 16), out=zeros((16, 4, 8), i32)), A=4, B=8, C=16)


@triton.jit
def reshaped(x, out, N: tl.constexpr, A: tl.constexpr, B: tl.constexpr):
    v = tl.reshape(tl.load(x + tl.arange(0, N)), (A, B))
    tl.store(out + tl.arange(0, B), tl.sum(v, 0))
    w = tl.reshape(tl.trans(v), (N,))
    tl.store(out + B + tl.arange(0, N), w)


case("reshaped", reshaped, lambda rng: dict(x=ints(rng, i32, 256), out=zeros(32 + 256, i32)), N=256, A=8, B=32)


@triton.jit
def joined_and_split(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    pairs = tl.join(a, b)
    p, q = tl.split(pairs)
    tl.store(out + i, p - q)
    tl.store(out + N + tl.arange(0, 2 * N), tl.interleave(a, b))


case("joined_and_split", joined_and_split, lambda rng: dict(x=ints(rng, i32, 64), y=ints(rng, i32, 64), out=zeros(192, i32)), N=64)


@triton.jit
def outer_product(x, y, out, M: tl.constexpr, N: tl.constexpr):
    a, b = tl.load(x + tl.arange(0, M)), tl.load(y + tl.arange(0, N))
    tl.store(out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], a[:, None] * b[None, :])


case("outer_product", outer_product, lambda rng: dict(x=normal(rng, f32, 16), y=normal(rng, f32, 32), out=zeros((16, 32), f32)), M=16, N=32)


@triton.jit
def broadcast_three_ways(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    a = tl.broadcast_to(v[:, None], (N, N)) - tl.broadcast_to(v[None, :], (N, N))
    b = tl.expand_dims(v, 0) + tl.full((N, N), 7, tl.int32)
    tl.store(out + i[:, None] * N + i[None, :], a * b + tl.sum(v, 0))


case("broadcast_three_ways", broadcast_three_ways, lambda rng: dict(x=ints(rng, i32, 32), out=zeros((32, 32), i32)), N=32)


@triton.jit
def gathered(x, index, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + p, tl.gather(tl.load(x + p), tl.load(index + p), AXIS))


for axis in (0, 1):
    case(f"gathered.axis{axis}", gathered, lambda rng, axis=axis: dict(x=ints(rng, i32, 16, 32), index=below(rng, i32, (16, 32)[axis], 16, 32),
                                                                    out=zeros((16, 32), i32)), M=16, N=32, AXIS=axis)


@triton.jit
def masked_copy(x, out, n, other, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=other), mask=i < n + 10)


for t in (f32, i8, i64):
    case(f"masked_copy.{short(t)}", masked_copy, lambda rng, t=t: dict(x=(normal if t == f32 else ints)(rng, t, 200), out=zeros(256, t),
                                                                       n=200, other=-3), grid=4, B=64)


@triton.jit
def strided_copy(x, out, rows, columns, row_stride, column_stride, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)[:, None]
    j = tl.program_id(1) * B + tl.arange(0, B)[None, :]
    inside = (i < rows) & (j < columns)
    tl.store(out + i * columns + j, tl.load(x + i * row_stride + j * column_stride, mask=inside), mask=inside)


case("strided_copy", strided_copy, lambda rng: dict(x=ints(rng, i32, 40 * 99), out=zeros((40, 33), i32), rows=40, columns=33,
                                                    row_stride=99, column_stride=3), grid=(3, 3), B=16)


@triton.jit
def table_lookup(table, index, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    at = tl.load(index + i, mask=i < n, other=0)
    row = tl.load(table + at[:, None] * 8 + tl.arange(0, 8)[None, :])
    tl.store(out + i[:, None] * 8 + tl.arange(0, 8)[None, :], row, mask=(i < n)[:, None])


case("table_lookup", table_lookup, lambda rng: dict(table=normal(rng, f32, 50, 8), index=below(rng, i64, 50, 100), out=zeros((100, 8), f32),
                                                    n=100), grid=4, B=32)


@triton.jit
def scattered(x, index, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + tl.load(index + i), tl.load(x + i), mask=i % 5 != 0)


case("scattered", scattered, lambda rng: dict(x=ints(rng, i16, 128), index=rng.permutation(128).astype(i32), out=zeros(128, i16)), grid=2, B=64)


@triton.jit
def chain_of_loads(links, out, steps, B: tl.constexpr):
    i = tl.arange(0, B)
    at = i
    for _ in range(steps):
        at = tl.load(links + at)
    tl.store(out + i, at)


case("chain_of_loads", chain_of_loads, lambda rng: dict(links=rng.permutation(64).astype(i32), out=zeros(64, i32), steps=9), B=64)


@triton.jit
def described_copy(x, out, rows, columns, M: tl.constexpr, N: tl.constexpr):
    a = tl.make_tensor_descriptor(x, shape=[rows, columns], strides=[columns, 1], block_shape=[M, N])
    b = tl.make_tensor_descriptor(out, shape=[rows, columns], strides=[columns, 1], block_shape=[M, N])
    i, j = tl.program_id(0) * M, tl.program_id(1) * N
    b.store([i, j], a.load([i, j]) * 2)


for t in (f32, f16, i32):
    case(f"described_copy.{short(t)}", described_copy, lambda rng, t=t: dict(x=below(rng, t, 1000, 40, 48), out=zeros((40, 48), t), rows=40,
                                                                          columns=48), grid=(3, 2), M=16, N=32)


@triton.jit
def described_beyond(x, out, rows, columns, M: tl.constexpr, N: tl.constexpr):
    a = tl.make_tensor_descriptor(x, shape=[rows, columns], strides=[columns, 1], block_shape=[M, N])
    v = a.load([-4, 16])
    tl.store(out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], v)


case("described_beyond", described_beyond, lambda rng: dict(x=normal(rng, f32, 12, 32), out=zeros((16, 32), f32) + f32(7), rows=12, columns=32),
     M=16, N=32)


@triton.jit
def described_sums(x, out, columns, M: tl.constexpr, N: tl.constexpr):
    b = tl.make_tensor_descriptor(out, shape=[M, N], strides=[N, 1], block_shape=[M, N])
    i, j = tl.arange(0, M)[:, None], tl.program_id(0) * N + tl.arange(0, N)[None, :]
    b.atomic_add([0, 0], tl.load(x + i * columns + j))


case("described_sums", described_sums, lambda rng: dict(x=ints(rng, i32, 16, 128), out=zeros((16, 32), i32), columns=128), grid=4, M=16, N=32,
     interpreter="it has no reductions by descriptors",
     reference=lambda a: {**a, "out": a["x"].reshape(16, 4, 32).sum(1, dtype=i32)})


@triton.jit
def atomics(x, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    tl.atomic_add(out + i % 16, v)
    tl.atomic_max(out + 16 + i % 16, v)
    tl.atomic_min(out + 32 + i % 16, v)
    tl.atomic_and(out + 48 + i % 16, v)
    tl.atomic_or(out + 64 + i % 16, v)
    tl.atomic_xor(out + 80 + i % 16, v)


def six_sums(dtype):
    def make(rng):
        out = zeros((6, 16), dtype)
        out[3] = np.array(-1).astype(dtype)
        return dict(x=ints(rng, dtype, 256), out=out)
    return make


for t in (i32, np.uint32, i64):
    case(f"atomics.{short(t)}", atomics, six_sums(t), grid=4, B=64, rows={"out": ("add", "max", "min", "and", "or", "xor")})


@triton.jit
def atomic_sums_of_floats(x, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out + i % 16, tl.load(x + i))


ORDER = "the order of the additions is each one's own"
for t, u in ((f32, 2**-24), (f64, 2**-53), (f16, 2**-11)):
    case(f"atomic_sums_of_floats.{short(t)}", atomic_sums_of_floats, lambda rng, t=t: dict(x=normal(rng, t, 256), out=zeros(16, t)), grid=4, B=64,
         bounds={"out": Within(lambda a, u=u: 30 * u * np.abs(a["x"].astype(f64)).reshape(-1, 16).sum(0), "2 (n - 1) u sum(abs(x))", ORDER)})


@triton.jit
def atomic_extremes_of_floats(x, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    tl.atomic_max(out + i % 16, v)
    tl.atomic_min(out + 16 + i % 16, v)


case("atomic_extremes_of_floats", atomic_extremes_of_floats, lambda rng: dict(x=normal(rng, f32, 256), out=zeros((2, 16), f32)), grid=4, B=64,
     rows={"out": ("max", "min")})


@triton.jit
def old_values(x, out, old, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(old + i, tl.atomic_add(out + i, v))
    tl.store(old + B + i, tl.atomic_xchg(out + B + i, v))
    tl.store(old + 2 * B + i, tl.atomic_max(out + 2 * B + i, v, mask=i % 2 == 0), mask=i % 2 == 0)


case("old_values", old_values, lambda rng: dict(x=ints(rng, i32, 64), out=ints(rng, i32, 3, 64), old=zeros((3, 64), i32)), B=64,
     rows={"old": ("add", "xchg", "max under a mask")})


@triton.jit
def swapped_if_equal(x, expected, new, old, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(old + i, tl.atomic_cas(x + i, tl.load(expected + i), tl.load(new + i)))


for t in (i32, i64):
    case(f"swapped_if_equal.{short(t)}", swapped_if_equal, lambda rng, t=t: dict(x=below(rng, t, 3, 64), expected=below(rng, t, 3, 64),
                                                                              new=ints(rng, t, 64), old=zeros(64, t)), B=64)


@triton.jit
def counter(out, B: tl.constexpr):
    tl.atomic_add(out, 1)
    tl.atomic_add(out + 1 + tl.arange(0, B) % 4, tl.program_id(0))


case("counter", counter, lambda rng: dict(out=zeros(8, i32)), grid=33, B=16)
