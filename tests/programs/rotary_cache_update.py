"""Rotates new keys and writes them with their values into a paged cache, in int8 with a scale for each
token and head; then reads a sequence back."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def to_int8(x):
    scale = tl.maximum(tl.max(tl.abs(x), 0), 1e-6) / 127
    return tl.floor(x / scale + 0.5).to(tl.int8), scale


@triton.jit
def rope_cache_kernel(K, V, Cos, Sin, Slots, Positions, KCache, VCache, KScale, VScale, stride_k, stride_v, H,
                      PAGE: tl.constexpr, D: tl.constexpr):
    token = tl.program_id(0)
    head = tl.program_id(1)
    slot = tl.load(Slots + token)
    if slot < 0:  # padding
        return
    page = slot // PAGE
    inside = slot % PAGE
    position = tl.load(Positions + token)
    d = tl.arange(0, D)
    half: tl.constexpr = D // 2
    cos = tl.load(Cos + position * half + d % half)
    sin = tl.load(Sin + position * half + d % half)
    k = tl.load(K + token * stride_k + head * D + d).to(tl.float32)
    other = tl.load(K + token * stride_k + head * D + (d + half) % D).to(tl.float32)
    rotated = k * cos + tl.where(d < half, -other, other) * sin
    v = tl.load(V + token * stride_v + head * D + d).to(tl.float32)
    k8, k_scale = to_int8(rotated)
    v8, v_scale = to_int8(v)
    # Keys are kept [page, head, dim / 16, slot, 16]; values [page, head, slot, dim].
    k_at = (((page * H + head) * (D // 16) + d // 16) * PAGE + inside) * 16 + d % 16
    tl.store(KCache + k_at, k8)
    tl.store(VCache + ((page * H + head) * PAGE + inside) * D + d, v8)
    tl.store(KScale + (page * H + head) * PAGE + inside, k_scale)
    tl.store(VScale + (page * H + head) * PAGE + inside, v_scale)


def main():
    T, H, D, PAGE, pages = 21, 3, 32, 8, 6
    rng = np.random.default_rng(23)
    packed = rng.standard_normal((T, 3 * H * D)).astype(np.float16)
    k, v = packed[:, H * D:2 * H * D], packed[:, 2 * H * D:]
    angle = np.arange(100)[:, None] * 10000.0 ** (-np.arange(0, D, 2) / D)
    slots = rng.permutation(pages * PAGE)[:T]
    slots[[4, 9]] = -1
    positions = rng.integers(0, 100, T)
    k_cache, v_cache = np.zeros((pages, H, D // 16, PAGE, 16), np.int8), np.zeros((pages, H, PAGE, D), np.int8)
    k_scale, v_scale = np.zeros((pages, H, PAGE), np.float32), np.zeros((pages, H, PAGE), np.float32)
    rope_cache_kernel[(T, H)](k, v, np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32), slots,
                              positions, k_cache, v_cache, k_scale, v_scale, 3 * H * D, 3 * H * D, H, PAGE=PAGE, D=D)
    k64, v64 = (t.astype(np.float64).reshape(T, H, D) for t in (k, v))
    c, s = np.cos(angle)[positions][:, None], np.sin(angle)[positions][:, None]
    a, b = k64[..., :D // 2], k64[..., D // 2:]
    k64 = np.concatenate([a * c - b * s, b * c + a * s], -1)
    keys = k_cache.transpose(0, 3, 1, 2, 4).reshape(pages * PAGE, H, D)
    values = v_cache.transpose(0, 2, 1, 3).reshape(pages * PAGE, H, D)
    scales = [t.transpose(0, 2, 1).reshape(pages * PAGE, H, 1).astype(np.float64) for t in (k_scale, v_scale)]
    error = 0.0
    for t, slot in enumerate(slots):
        if slot >= 0:
            for cache, scale, wanted in ((keys, scales[0], k64), (values, scales[1], v64)):
                error = max(error, (np.abs(cache[slot] * scale[slot] - wanted[t]) / scale[slot]).max())
    assert (k_scale > 0).sum() == (T - 2) * H
    print(f"rotary_cache_update: max error {error:.3f} steps of quantisation")
    assert error < 0.501


if __name__ == "__main__":
    main()
