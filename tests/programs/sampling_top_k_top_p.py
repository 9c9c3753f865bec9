"""Sampling from logits: the k largest, then the nucleus of probability p, then one by a uniform number."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def top_k_top_p_kernel(Logits, Uniform, Chosen, Kept, stride, V, top_p, temperature, TOP_K: tl.constexpr,
                       BLOCK: tl.constexpr):
    row = tl.program_id(0)
    v = tl.arange(0, BLOCK)
    x = tl.load(Logits + row * stride + v, mask=v < V, other=-float("inf")) / temperature
    # A logit's bits in an order that integers have, with its place below, sort together.
    bits = x.to(tl.int32, bitcast=True)
    ordered = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(tl.int64)
    keys = (ordered << 32) | (0x7FFFFFFF - v).to(tl.int64)
    best = tl.topk(keys, TOP_K)
    place = 0x7FFFFFFF - (best & 0xFFFFFFFF).to(tl.int32)
    high = (best >> 32).to(tl.int32)
    value = tl.where(high < 0, high ^ 0x7FFFFFFF, high).to(tl.float32, bitcast=True)
    p = tl.exp(value - tl.max(value, 0))
    p = p / tl.sum(p, 0)
    before = tl.cumsum(p, 0) - p
    kept = before < top_p
    p = tl.where(kept, p, 0.0)
    cdf = tl.cumsum(p, 0)
    u = tl.load(Uniform + row) * tl.sum(p, 0)
    index = tl.sum((cdf <= u).to(tl.int32), 0)
    index = tl.minimum(index, tl.sum(kept.to(tl.int32), 0) - 1)
    tl.store(Chosen + row, tl.sum(tl.where(tl.arange(0, TOP_K) == index, place, 0), 0))
    tl.store(Kept + row, tl.sum(kept.to(tl.int32), 0))


def main():
    M, V, k, top_p, temperature = 40, 203, 16, 0.8, 0.7
    rng = np.random.default_rng(30)
    logits = (rng.standard_normal((M, V + 5)) * 2).astype(np.float32)[:, :V]
    u = rng.uniform(size=M).astype(np.float32)
    chosen, kept = np.full(M, -1, np.int32), np.zeros(M, np.int32)
    top_k_top_p_kernel[(M,)](logits, u, chosen, kept, V + 5, V, top_p, temperature, TOP_K=k, BLOCK=256)
    error, unsure = 0, 0
    for row in range(M):
        x = logits[row].astype(np.float64) / temperature
        order = np.argsort(-x, kind="stable")[:k]
        p = np.exp(x[order] - x[order[0]])
        p /= p.sum()
        before = np.cumsum(p) - p
        n = (before < top_p).sum()
        cdf = np.cumsum(p[:n])
        distance = min(np.abs(cdf - u[row] * cdf[-1]).min(), np.abs(before - top_p).min())
        if distance < 1e-6:  # too near to an edge for float32
            unsure += 1
            continue
        wanted = order[min((cdf <= u[row] * cdf[-1]).sum(), n - 1)]
        error = max(error, abs(int(chosen[row]) - wanted), abs(int(kept[row]) - n))
    print(f"sampling_top_k_top_p: max error {error} of {M - unsure} rows")
    assert error == 0 and unsure < 3


if __name__ == "__main__":
    main()
