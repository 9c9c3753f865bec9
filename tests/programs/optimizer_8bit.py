"""Momentum kept in 8 bits by blocks of 64: decoded by a table of 256 values, updated, and encoded again by
binary search in the table."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def momentum_8bit_kernel(P, G, State, Absmax, Table, lr, beta, N, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    at = block * BLOCK + tl.arange(0, BLOCK)
    mask = at < N
    code = tl.load(State + at, mask=mask, other=127).to(tl.int32)
    m = tl.load(Table + code) * tl.load(Absmax + block)
    g = tl.load(G + at, mask=mask, other=0.0)
    m = beta * m + (1 - beta) * g
    m = tl.where(mask, m, 0.0)
    p = tl.load(P + at, mask=mask)
    tl.store(P + at, p - lr * m, mask=mask)
    absmax = tl.maximum(tl.max(tl.abs(m), 0), 1e-12)
    x = m / absmax
    # The last table value that is not above x, then the nearer of it and the next.
    low = tl.zeros([BLOCK], tl.int32)
    for step in tl.static_range(8):
        probe = low + (128 >> step)
        value = tl.load(Table + tl.minimum(probe, 255))
        low = tl.where((probe < 256) & (value <= x), probe, low)
    below = tl.load(Table + low)
    above = tl.load(Table + tl.minimum(low + 1, 255))
    code = tl.where(x - below > above - x, tl.minimum(low + 1, 255), low)
    tl.store(State + at, code.to(tl.uint8), mask=mask)
    tl.store(Absmax + block, absmax)


def main():
    N, lr, beta, BLOCK = 300, 0.1, 0.9, 64
    rng = np.random.default_rng(37)
    positive = np.linspace(0, 1, 129)[1:] ** 2
    table = np.concatenate([-positive[::-1][:127], [0], positive]).astype(np.float32)
    p = rng.standard_normal(N, dtype=np.float32)
    blocks = triton.cdiv(N, BLOCK)
    state, absmax = np.full(N, 127, np.uint8), np.zeros(blocks, np.float32)
    p64 = p.astype(np.float64)
    error = coding = 0.0
    for _ in range(3):
        g = rng.standard_normal(N, dtype=np.float32)
        m64 = table[state].astype(np.float64) * absmax.repeat(BLOCK)[:N]
        m64 = beta * m64 + (1 - beta) * g
        momentum_8bit_kernel[(blocks,)](p, g, state, absmax, table, lr, beta, N, BLOCK=BLOCK)
        p64 = p64 - lr * m64
        largest = np.array([np.abs(m64[i:i + BLOCK]).max() for i in range(0, N, BLOCK)])
        x = m64 / largest.repeat(BLOCK)[:N]
        nearest = np.abs(table[None, :] - x[:, None]).min(-1)
        coding = max(coding, (np.abs(table[state] - x) - nearest).max())
        error = max(error, np.abs(p - p64).max(), np.abs(absmax - largest).max())
    print(f"optimizer_8bit: max error {error:.2e}, codes {coding:.1e} from the nearest")
    assert error < 1e-5 and coding < 1e-6


if __name__ == "__main__":
    main()
