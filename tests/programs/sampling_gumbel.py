"""Sampling by the Gumbel trick with Philox numbers made in the kernel, in blocks of the vocabulary; the
numbers are made again in numpy."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def gumbel_block_kernel(Logits, BestValue, BestIndex, seed, stride, V, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    v = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(Logits + row * stride + v, mask=v < V, other=-float("inf"))
    u = tl.rand(seed, row * V + v)
    noise = -tl.log(-tl.log(tl.maximum(u, 1e-10)) + 1e-10)
    value, index = tl.max(x + noise, 0, return_indices=True)
    at = row * tl.num_programs(1) + tl.program_id(1)
    tl.store(BestValue + at, value)
    tl.store(BestIndex + at, tl.program_id(1) * BLOCK + index)


@triton.jit
def gumbel_pick_kernel(BestValue, BestIndex, Out, blocks, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    b = tl.arange(0, BLOCK)
    value = tl.load(BestValue + row * blocks + b, mask=b < blocks, other=-float("inf"))
    tl.store(Out + row, tl.load(BestIndex + row * blocks + tl.argmax(value, 0)))


def philox(seed, offset):
    """The first of four 32-bit words of Philox 4x32 with 10 rounds."""
    c = [offset.astype(np.uint64), *(np.zeros(offset.shape, np.uint64) for _ in range(3))]
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(k0), b & low, (a >> np.uint64(32)) ^ c[3] ^ np.uint64(k1), a & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c[0].astype(np.uint32)


def main():
    M, V, seed, BLOCK = 25, 203, 0x1234_5678_9ABC, 64
    rng = np.random.default_rng(31)
    logits = rng.standard_normal((M, V + 1), dtype=np.float32)[:, :V]
    blocks = triton.cdiv(V, BLOCK)
    value, index = np.zeros((M, blocks), np.float32), np.zeros((M, blocks), np.int32)
    chosen = np.full(M, -1, np.int32)
    gumbel_block_kernel[(M, blocks)](logits, value, index, seed, V + 1, V, BLOCK=BLOCK)
    gumbel_pick_kernel[(M,)](value, index, chosen, blocks, BLOCK=4)
    bits = philox(seed, np.arange(M * V).reshape(M, V)).view(np.int32).astype(np.int64)
    u = np.where(bits < 0, -bits - 1, bits).astype(np.float32) * np.float32(4.6566127342e-10)  # as tl.rand
    noisy = logits - np.log(-np.log(np.maximum(u.astype(np.float64), 1e-10)) + 1e-10)
    error = np.abs(np.take_along_axis(noisy, chosen[:, None].astype(np.int64), 1)[:, 0] - noisy.max(-1)).max()
    error = max(error, np.abs(value.max(-1) - noisy.max(-1)).max())
    print(f"sampling_gumbel: max error {error:.2e}")
    assert error < 1e-5


if __name__ == "__main__":
    main()
