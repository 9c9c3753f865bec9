"""Rotary embedding in place on queries and keys (both halves and interleaved pairs), forward and back."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def rotary_kernel(X, Cos, Sin, Positions, H, stride_t, stride_h, ROTARY: tl.constexpr, HALF: tl.constexpr,
                  BLOCK_H: tl.constexpr, INTERLEAVED: tl.constexpr, BACKWARD: tl.constexpr):
    token = tl.program_id(0)
    heads = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    pair = tl.arange(0, HALF)
    mask = (heads[:, None] < H) & (pair[None, :] < ROTARY // 2)
    position = tl.load(Positions + token)
    cos = tl.load(Cos + position * (ROTARY // 2) + pair, mask=pair < ROTARY // 2, other=1.0)[None, :]
    sin = tl.load(Sin + position * (ROTARY // 2) + pair, mask=pair < ROTARY // 2, other=0.0)[None, :]
    if BACKWARD:
        sin = -sin
    base = X + token * stride_t + heads[:, None] * stride_h
    if INTERLEAVED:
        first = base + 2 * pair[None, :]
        second = first + 1
    else:
        first = base + pair[None, :]
        second = first + ROTARY // 2
    a = tl.load(first, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(second, mask=mask, other=0.0).to(tl.float32)
    tl.store(first, a * cos - b * sin, mask=mask)
    tl.store(second, b * cos + a * sin, mask=mask)


def main():
    T, H, D, rotary = 11, 5, 48, 40  # the last 8 of each head are left alone
    rng = np.random.default_rng(22)
    frequency = 10000.0 ** (-np.arange(0, rotary, 2) / rotary)
    angle = np.arange(64)[:, None] * frequency
    cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    positions = rng.permutation(64)[:T].astype(np.int64)
    error = 0.0
    for interleaved in (False, True):
        x = rng.standard_normal((T, H + 1, D), dtype=np.float32)[:, 1:]
        before = x.astype(np.float64)
        a, b = (np.s_[..., :rotary:2], np.s_[..., 1:rotary:2]) if interleaved else (
            np.s_[..., :rotary // 2], np.s_[..., rotary // 2:rotary])
        c, s = np.cos(angle)[positions][:, None], np.sin(angle)[positions][:, None]
        wanted = before.copy()
        wanted[a], wanted[b] = before[a] * c - before[b] * s, before[b] * c + before[a] * s
        for backward in (False, True):
            rotary_kernel[(T, triton.cdiv(H, 4))](x, cos, sin, positions, H, x.strides[0] // 4, D, ROTARY=rotary,
                                                  HALF=32, BLOCK_H=4, INTERLEAVED=interleaved, BACKWARD=backward)
            error = max(error, np.abs(x - (before if backward else wanted)).max())
    print(f"rotary: max error {error:.2e}")
    assert error < 1e-6


if __name__ == "__main__":
    main()
