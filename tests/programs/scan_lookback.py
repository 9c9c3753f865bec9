"""A prefix sum in one launch with decoupled look-back: each program publishes its block's sum, then its
prefix, and waits for those of earlier programs."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def lookback_scan_kernel(X, Y, State, Value, Prefix, Ticket, N, BLOCK: tl.constexpr):
    block = tl.atomic_add(Ticket, 1)  # blocks in the order in which programs start
    at = block * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(X + at, mask=at < N, other=0)
    scanned = tl.cumsum(x, 0)
    total = tl.sum(x, 0)
    before = total * 0
    if block == 0:
        tl.store(Prefix, total)
        tl.debug_barrier()
        tl.atomic_xchg(State, 2, sem="release")
    else:
        tl.store(Value + block, total)
        tl.debug_barrier()
        tl.atomic_xchg(State + block, 1, sem="release")
        look = block - 1
        while look >= 0:
            state = tl.atomic_add(State + look, 0, sem="acquire")
            while state == 0:
                state = tl.atomic_add(State + look, 0, sem="acquire")
            if state == 2:
                before += tl.load(Prefix + look, volatile=True)
                look = -1
            else:
                before += tl.load(Value + look, volatile=True)
                look -= 1
        tl.store(Prefix + block, before + total)
        tl.debug_barrier()
        tl.atomic_xchg(State + block, 2, sem="release")
    tl.store(Y + at, scanned + before, mask=at < N)


def main():
    N, BLOCK = 1003, 64
    rng = np.random.default_rng(28)
    x = rng.integers(-100, 100, N).astype(np.int64)
    y = np.zeros_like(x)
    blocks = triton.cdiv(N, BLOCK)
    state, ticket = np.zeros(blocks, np.int32), np.zeros(1, np.int32)
    value, prefix = np.zeros(blocks, np.int64), np.zeros(blocks, np.int64)
    lookback_scan_kernel[(blocks,)](x, y, state, value, prefix, ticket, N, BLOCK=BLOCK)
    error = np.abs(y - np.cumsum(x)).max()
    print(f"scan_lookback: max error {error}")
    assert error == 0 and (state == 2).all()


if __name__ == "__main__":
    main()
