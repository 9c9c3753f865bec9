"""A mixture of experts: routing by softmax and top-k, counting and placing tokens, a grouped GEMM over
the sorted tokens, and the weighted sum back."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def moe_route_kernel(Logits, Experts, Weights, stride, TOP_K: tl.constexpr, E: tl.constexpr,
                     E_POW2: tl.constexpr):
    token = tl.program_id(0)
    e = tl.arange(0, E_POW2)
    x = tl.load(Logits + token * stride + e, mask=e < E, other=-float("inf"))
    p = tl.exp(x - tl.max(x, 0))
    p = p / tl.sum(p, 0)
    chosen_sum = 0.0
    for k in tl.static_range(TOP_K):
        best = tl.argmax(p, 0)
        value = tl.max(p, 0)
        tl.store(Experts + token * TOP_K + k, best)
        tl.store(Weights + token * TOP_K + k, value)
        chosen_sum += value
        p = tl.where(e == best, -1.0, p)
    tl.debug_barrier()
    k = tl.arange(0, TOP_K)
    w = tl.load(Weights + token * TOP_K + k)
    tl.store(Weights + token * TOP_K + k, w / chosen_sum)


@triton.jit
def moe_count_kernel(Experts, Counts, n, E_POW2: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    expert = tl.load(Experts + at, mask=at < n, other=0)
    tl.atomic_add(Counts + expert, 1, mask=at < n, sem="relaxed")


@triton.jit
def moe_offsets_kernel(Counts, Padded, Begin, Blocks, E: tl.constexpr, E_POW2: tl.constexpr,
                       BLOCK_M: tl.constexpr):
    """Where each expert's tokens begin when every expert has whole blocks, and which expert a block has."""
    e = tl.arange(0, E_POW2)
    count = tl.load(Counts + e, mask=e < E, other=0)
    blocks = (count + BLOCK_M - 1) // BLOCK_M
    end = tl.cumsum(blocks, 0)
    tl.store(Begin + e, (end - blocks) * BLOCK_M, mask=e < E)
    tl.store(Padded, tl.sum(blocks, 0) * BLOCK_M)
    for expert in range(E):
        low = tl.sum(tl.where(e == expert, end - blocks, 0), 0)
        high = tl.sum(tl.where(e == expert, end, 0), 0)
        for block in range(low, high):
            tl.store(Blocks + block, expert)


@triton.jit
def moe_place_kernel(Experts, Begin, Fill, Sorted, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    expert = tl.load(Experts + at, mask=at < n, other=0)
    slot = tl.atomic_add(Fill + expert, 1, mask=at < n)
    begin = tl.load(Begin + expert, mask=at < n, other=0)
    tl.store(Sorted + begin + slot, at, mask=at < n)


@triton.jit
def moe_gemm_kernel(X, W, Out, Sorted, Weights, Blocks, Padded, n, N, K, TOP_K: tl.constexpr,
                    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    block = tl.program_id(0)
    if block * BLOCK_M >= tl.load(Padded):
        return
    pair = tl.load(Sorted + block * BLOCK_M + tl.arange(0, BLOCK_M))
    real = pair < n
    token = pair // TOP_K
    expert = tl.load(Blocks + block).to(tl.int64)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        x = tl.load(X + token[:, None] * K + k[None, :], mask=real[:, None] & (k[None, :] < K), other=0.0)
        w = tl.load(W + expert * N * K + cols[None, :] * K + k[:, None],
                    mask=(cols[None, :] < N) & (k[:, None] < K), other=0.0)
        acc += tl.dot(x, w)
    weight = tl.load(Weights + pair, mask=real, other=0.0)
    tl.store(Out + pair[:, None] * N + cols[None, :], acc * weight[:, None],
             mask=real[:, None] & (cols[None, :] < N))


@triton.jit
def moe_sum_kernel(Parts, Out, N, TOP_K: tl.constexpr, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for k in tl.static_range(TOP_K):
        total += tl.load(Parts + (token * TOP_K + k) * N + cols, mask=cols < N, other=0.0)
    tl.store(Out + token * N + cols, total, mask=cols < N)


@triton.jit
def moe_balance_kernel(Logits, Counts, Loss, stride, T, TOP_K, E: tl.constexpr, E_POW2: tl.constexpr,
                       BLOCK_T: tl.constexpr):
    """E times the sum, over experts, of their share of tokens times their mean probability."""
    e = tl.arange(0, E_POW2)
    total = tl.zeros([E_POW2], tl.float32)
    for start in range(0, T, BLOCK_T):
        t = start + tl.arange(0, BLOCK_T)
        x = tl.load(Logits + t[:, None] * stride + e[None, :], mask=(t[:, None] < T) & (e[None, :] < E), other=-1e30)
        p = tl.exp(x - tl.max(x, 1)[:, None])
        p = p / tl.sum(p, 1)[:, None]
        total += tl.sum(tl.where(t[:, None] < T, p, 0.0), 0)
    share = tl.load(Counts + e, mask=e < E, other=0).to(tl.float32) / (T * TOP_K)
    tl.store(Loss, E * tl.sum(tl.where(e < E, total / T * share, 0.0), 0))


def main():
    T, E, TOP_K, K, N, BLOCK_M = 53, 6, 2, 72, 50, 16
    rng = np.random.default_rng(7)
    x = rng.standard_normal((T, K)).astype(np.float16)
    w = (rng.standard_normal((E, N, K)) / 8).astype(np.float16)
    logits = rng.standard_normal((T, E + 3), dtype=np.float32)[:, :E]
    n = T * TOP_K
    experts, weights = np.zeros((T, TOP_K), np.int32), np.zeros((T, TOP_K), np.float32)
    counts, begin, fill = (np.zeros(E, np.int32) for _ in range(3))
    most = triton.cdiv(n, BLOCK_M) + E
    padded, blocks = np.zeros(1, np.int32), np.zeros(most, np.int32)
    placed = np.full(most * BLOCK_M, n, np.int32)
    parts, out = np.full((n, N), np.nan, np.float32), np.full((T, N), np.nan, np.float32)

    moe_route_kernel[(T,)](logits, experts, weights, logits.strides[0] // 4, TOP_K=TOP_K, E=E, E_POW2=8)
    moe_count_kernel[(triton.cdiv(n, 32),)](experts, counts, n, E_POW2=8, BLOCK=32)
    moe_offsets_kernel[(1,)](counts, padded, begin, blocks, E=E, E_POW2=8, BLOCK_M=BLOCK_M)
    moe_place_kernel[(triton.cdiv(n, 32),)](experts, begin, fill, placed, n, BLOCK=32)
    moe_gemm_kernel[(most, triton.cdiv(N, 32))](x, w, parts, placed, weights, blocks, padded, n, N, K,
                                               TOP_K=TOP_K, BLOCK_M=BLOCK_M, BLOCK_N=32, BLOCK_K=32)
    moe_sum_kernel[(T, triton.cdiv(N, 32))](parts, out, N, TOP_K=TOP_K, BLOCK=32)

    p = np.exp(logits.astype(np.float64))
    p /= p.sum(-1, keepdims=True)
    order = np.argsort(-p, axis=-1)[:, :TOP_K]
    gate = np.take_along_axis(p, order, -1)
    gate /= gate.sum(-1, keepdims=True)
    every = np.einsum("tk,enk->ten", x.astype(np.float64), w.astype(np.float64))
    wanted = (np.take_along_axis(every, order[..., None], 1) * gate[..., None]).sum(1)
    assert (experts == order).all() and (fill == counts).all()
    error = np.abs(out - wanted).max()
    loss = np.zeros(1, np.float32)
    moe_balance_kernel[(1,)](logits, counts, loss, logits.strides[0] // 4, T, TOP_K, E=E, E_POW2=8, BLOCK_T=16)
    error = max(error, abs(loss[0] - E * (p.mean(0) * np.bincount(order.reshape(-1), minlength=E) / n).sum()))
    print(f"moe_routing: max error {error:.2e}")
    assert error < 1e-4


if __name__ == "__main__":
    main()
