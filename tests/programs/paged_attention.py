"""Decoding over a paged KV cache: pages anywhere in the pool, found by a table for each sequence."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def paged_decode_kernel(Q, KCache, VCache, Table, Lengths, Out, scale, stride_page, stride_slot, stride_head,
                        stride_table, H, PAGE: tl.constexpr, D: tl.constexpr):
    sequence = tl.program_id(0)
    head = tl.program_id(1)
    length = tl.load(Lengths + sequence)
    slots = tl.arange(0, PAGE)
    d = tl.arange(0, D)
    q = tl.load(Q + (sequence * H + head) * D + d).to(tl.float32) * scale
    m = -float("inf")
    total = 0.0
    acc = tl.zeros([D], tl.float32)
    for page in range(tl.cdiv(length, PAGE)):
        physical = tl.load(Table + sequence * stride_table + page).to(tl.int64)
        inside = page * PAGE + slots < length
        at = physical * stride_page + slots[:, None] * stride_slot + head * stride_head + d[None, :]
        k = tl.load(KCache + at, mask=inside[:, None], other=0.0).to(tl.float32)
        s = tl.where(inside, tl.sum(q[None, :] * k, 1), -float("inf"))
        m_new = tl.maximum(m, tl.max(s, 0))
        p = tl.exp(s - m_new)
        shrink = tl.exp(m - m_new)
        v = tl.load(VCache + at, mask=inside[:, None], other=0.0).to(tl.float32)
        acc = acc * shrink + tl.sum(p[:, None] * v, 0)
        total = total * shrink + tl.sum(p, 0)
        m = m_new
    tl.store(Out + (sequence * H + head) * D + d, (acc / total).to(Out.dtype.element_ty))


def main():
    H, D, PAGE, pages = 3, 64, 16, 40
    lengths = np.array([1, 16, 17, 123], np.int32)
    rng = np.random.default_rng(6)
    k_cache, v_cache = (rng.standard_normal((pages, PAGE, H, D)).astype(np.float16) for _ in range(2))
    q = rng.standard_normal((len(lengths), H, D)).astype(np.float16)
    out = np.zeros_like(q)
    free = iter(rng.permutation(pages))
    table = np.full((len(lengths), 8), -1, np.int32)
    for row, n in zip(table, lengths):
        for i in range(triton.cdiv(int(n), PAGE)):
            row[i] = next(free)
    strides = [s // 2 for s in k_cache.strides[:3]]
    paged_decode_kernel[(len(lengths), H)](q, k_cache, v_cache, table, lengths, out, D**-0.5, *strides,
                                           table.shape[1], H, PAGE=PAGE, D=D)
    error = 0.0
    for z, n in enumerate(lengths):
        chosen = table[z, :triton.cdiv(int(n), PAGE)]
        k, v = (c[chosen].reshape(-1, H, D)[:n].astype(np.float64) for c in (k_cache, v_cache))
        s = np.einsum("hd,nhd->hn", q[z].astype(np.float64), k) * D**-0.5
        p = np.exp(s - s.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        error = max(error, np.abs(out[z] - np.einsum("hn,nhd->hd", p, v)).max())
    print(f"paged_attention: max error {error:.2e}")
    assert error < 2e-3


if __name__ == "__main__":
    main()
