"""An embedding bag with padding and weights, forward, and backward by atomic adds; some words come often."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def embedding_bag_kernel(Table, Words, Weights, Offsets, Out, D, padding, stride, BLOCK_D: tl.constexpr):
    bag = tl.program_id(0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    begin = tl.load(Offsets + bag)
    end = tl.load(Offsets + bag + 1)
    acc = tl.zeros([BLOCK_D], tl.float32)
    for i in range(begin, end):
        word = tl.load(Words + i)
        if word != padding:
            acc += tl.load(Table + word * stride + d, mask=d < D, other=0.0) * tl.load(Weights + i)
    tl.store(Out + bag * D + d, acc, mask=d < D)


@triton.jit
def embedding_bag_grad_kernel(Table, DTable, DWeights, DOut, Words, Weights, BagOf, n, D, padding, stride,
                              BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    i = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.arange(0, BLOCK_D)
    word = tl.load(Words + i, mask=i < n, other=padding)
    real = word != padding
    bag = tl.load(BagOf + i, mask=real, other=0)
    weight = tl.load(Weights + i, mask=real, other=0.0)
    mask = real[:, None] & (d[None, :] < D)
    dout = tl.load(DOut + bag[:, None] * D + d[None, :], mask=mask, other=0.0)
    row = tl.load(Table + word[:, None] * stride + d[None, :], mask=mask, other=0.0)
    tl.store(DWeights + i, tl.sum(dout * row, 1), mask=i < n)
    tl.atomic_add(DTable + word[:, None] * D + d[None, :], dout * weight[:, None], mask=mask, sem="relaxed")


def main():
    V, D, bags, padding = 31, 45, 12, 3
    rng = np.random.default_rng(39)
    table = rng.standard_normal((V, D + 3), dtype=np.float32)[:, :D]
    lengths = rng.integers(0, 9, bags)
    offsets = np.cumsum([0, *lengths]).astype(np.int32)
    n = int(offsets[-1])
    words = (rng.integers(0, V, n) * rng.integers(0, 2, n)).astype(np.int64)
    words[::5] = padding
    weights = rng.standard_normal(n, dtype=np.float32)
    bag_of = np.repeat(np.arange(bags, dtype=np.int32), lengths)
    dout = rng.standard_normal((bags, D), dtype=np.float32)
    out, dtable, dweights = np.full((bags, D), np.nan, np.float32), np.zeros((V, D), np.float32), np.zeros(n, np.float32)
    embedding_bag_kernel[(bags, triton.cdiv(D, 32))](table, words, weights, offsets, out, D, padding, D + 3, BLOCK_D=32)
    embedding_bag_grad_kernel[(triton.cdiv(n, 16),)](table, dtable, dweights, dout, words, weights, bag_of, n, D,
                                                     padding, D + 3, BLOCK_N=16, BLOCK_D=64)
    real = (words != padding).astype(np.float64)
    wanted, wanted_table = np.zeros((bags, D)), np.zeros((V, D))
    np.add.at(wanted, bag_of, table[words] * (weights * real)[:, None])
    np.add.at(wanted_table, words, dout[bag_of] * (weights * real)[:, None])
    wanted_weights = (dout[bag_of].astype(np.float64) * table[words]).sum(-1) * real
    error = max(np.abs(out - wanted).max(), np.abs(dtable - wanted_table).max(), np.abs(dweights - wanted_weights).max())
    print(f"embedding: max error {error:.2e}")
    assert error < 1e-5


if __name__ == "__main__":
    main()
