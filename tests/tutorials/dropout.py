"""Dropout that stores no mask: the kept elements follow from a seed, by Philox."""

import numpy as np
import triton
import triton.language as tl

from tutorials.close import assert_close
from twins.cases import register

case = register(globals())


@triton.jit
def dropout_with_mask(x_ptr, keep_ptr, out_ptr, n, p, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    keep = tl.load(keep_ptr + offs, mask=mask) != 0
    tl.store(out_ptr + offs, tl.where(keep, x / (1 - p), 0.0), mask=mask)


@triton.jit
def dropout_with_seed(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    keep = tl.rand(seed, offs) > p
    tl.store(out_ptr + offs, tl.where(keep, x / (1 - p), 0.0), mask=mask)


@triton.jit
def random_bits(out_ptr, n, seed, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, offs)
    mask = offs < n
    tl.store(out_ptr + offs * 4, a.to(tl.int32, bitcast=True), mask=mask)
    tl.store(out_ptr + offs * 4 + 1, b.to(tl.int32, bitcast=True), mask=mask)
    tl.store(out_ptr + offs * 4 + 2, c.to(tl.int32, bitcast=True), mask=mask)
    tl.store(out_ptr + offs * 4 + 3, d.to(tl.int32, bitcast=True), mask=mask)


def philox4x32(seed, counter):
    """Ten rounds of Philox 4x32 (Salmon and others, 2011): four words for each counter."""
    low = np.uint64(0xFFFFFFFF)
    c = [np.asarray(counter, np.uint64), 0 * counter.astype(np.uint64), 0 * counter.astype(np.uint64),
         0 * counter.astype(np.uint64)]
    k0, k1 = np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)
    for _ in range(10):
        first = np.uint64(0xD2511F53) * c[0]
        second = np.uint64(0xCD9E8D57) * c[2]
        c = [(second >> np.uint64(32)) ^ c[1] ^ k0, second & low,
             (first >> np.uint64(32)) ^ c[3] ^ k1, first & low]
        k0 = (k0 + np.uint64(0x9E3779B9)) & low
        k1 = (k1 + np.uint64(0xBB67AE85)) & low
    return [word.astype(np.uint32) for word in c]


def uniform(seed, counter):
    """As tl.rand: the word as int32, folded to be positive, times 2**-31 rounded to stay below 1."""
    word = philox4x32(seed, counter)[0].view(np.int32)
    return np.where(word < 0, ~word, word).astype(np.float32) * np.float32(4.6566127342e-10)


def numbers(n):
    return np.random.default_rng(n).standard_normal(n).astype(np.float32)


@case()
def mask_from_memory(run):
    n, p = 1003, 0.25
    x, keep = numbers(n), np.random.default_rng(1).random(n) > p
    out = np.full(n, np.nan, np.float32)
    run(dropout_with_mask)[(triton.cdiv(n, 256),)](x, keep.astype(np.int32), out, n, p, BLOCK=256)
    assert_close(out, np.where(keep, x.astype(np.float64) / (1 - p), 0), 0, 2e-7)


def check_seed(run, n, p, seed):
    x, out = numbers(n), np.full(n, np.nan, np.float32)
    run(dropout_with_seed)[(triton.cdiv(n, 512),)](x, out, n, p, seed, BLOCK=512)
    keep = uniform(seed, np.arange(n)) > np.float32(p)
    assert 0 < keep.sum() < n
    assert_close(out, np.where(keep, x.astype(np.float64) / (1 - np.float64(np.float32(p))), 0), 0, 2e-7)


@case()
def seeded(run):
    check_seed(run, 1003, 0.5, 123)


@case()
def seed_of_more_than_32_bits(run):
    check_seed(run, 700, 0.1, 0x1234_5678_9ABC_DEF0)


@case()
def same_seed_same_mask(run):
    n, x = 640, np.ones(640, np.float32)
    first, second = np.zeros(n, np.float32), np.zeros(n, np.float32)
    for out in (first, second):
        run(dropout_with_seed)[(5,)](x, out, n, 0.5, 7, BLOCK=128)
    assert (first == second).all()


@case()
def philox_words(run):
    n, seed = 300, 42
    out = np.zeros(4 * n, np.int32)
    run(random_bits)[(5,)](out, n, seed, BLOCK=64)
    wanted = np.stack(philox4x32(seed, np.arange(n)), axis=1).reshape(-1)
    assert (out.view(np.uint32) == wanted).all()
