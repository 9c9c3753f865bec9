"""Arguments of kernels, the same on every machine."""

import numpy as np

f16, f32, f64 = np.float16, np.float32, np.float64
i8, i16, i32, i64 = np.int8, np.int16, np.int32, np.int64
u8, u16, u32, u64 = np.uint8, np.uint16, np.uint32, np.uint64
FLOATS = (f16, f32, f64)
SIGNED = (i8, i16, i32, i64)
UNSIGNED = (u8, u16, u32, u64)


def short(dtype):
    return {"f": "f", "i": "i", "u": "u"}[np.dtype(dtype).kind] + str(8 * np.dtype(dtype).itemsize)


def zeros(shape, dtype):
    return np.zeros(shape, dtype)


def normal(rng, dtype, *shape):
    return rng.standard_normal(shape).astype(dtype)


def uniform(rng, dtype, low, high, *shape):
    return rng.uniform(low, high, shape).astype(dtype)


def special(dtype):
    """Zeros, infinities, a NaN, the smallest and the largest numbers, and what is around one."""
    info = np.finfo(dtype)
    one = dtype(1)
    half = [dtype(0), info.smallest_subnormal, info.tiny / 2, info.tiny, np.nextafter(one, dtype(0)), one,
            np.nextafter(one, dtype(2)), dtype(1.5), dtype(2), dtype(2.5), dtype(3), info.max, dtype(np.inf)]
    half = np.array(half, dtype)
    return np.concatenate([half, -half, np.array([np.nan], dtype)])


def wild(rng, dtype, n):
    """Every bit pattern is as likely; the special values are among them."""
    raw = rng.integers(0, 1 << 8 * np.dtype(dtype).itemsize, n, dtype=f"u{np.dtype(dtype).itemsize}")
    x = raw.view(dtype).copy()
    x[rng.permutation(n)[:len(special(dtype))]] = special(dtype)
    return x


def wild_pairs(rng, dtype, n):
    """Two arrays: special values against each other, then random bits, half of the pairs of like size."""
    values = special(dtype)
    a, b = (g.reshape(-1).copy() for g in np.meshgrid(values, values))
    x, y = wild(rng, dtype, n), wild(rng, dtype, n)
    with np.errstate(all="ignore"):
        y[::2] = (x * rng.uniform(-3, 3, n).astype(dtype))[::2]
    count = min(n, len(a))
    x[:count], y[:count] = a[:count], b[:count]
    return x, y


def ints(rng, dtype, *shape):
    """Over the whole range, the extremes, 0 and ±1 among them."""
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    edges = np.array([info.min, info.min + 1, 0, 1, info.max - 1, info.max] + ([-1] if info.min else []), dtype)
    x.reshape(-1)[rng.permutation(x.size)[:len(edges)]] = edges
    return x


def below(rng, dtype, limit, *shape):
    return rng.integers(0, limit, shape).astype(dtype)


def codes(dtype):
    """Every code of an 8 or 16 bit format."""
    return np.arange(1 << 8 * np.dtype(dtype).itemsize).astype(dtype)
