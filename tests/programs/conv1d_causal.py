"""A causal depthwise convolution with SiLU, as before a selective scan: whole sequences with a state kept for
later, one step at a time from that state, and the gradients."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def causal_conv_kernel(X, W, Bias, Y, State, T, C, stride_b, stride_t, WIDTH: tl.constexpr, BLOCK_T: tl.constexpr,
                       BLOCK_C: tl.constexpr):
    batch = tl.program_id(2)
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask_c = c < C
    acc = tl.zeros([BLOCK_T, BLOCK_C], tl.float32) + tl.load(Bias + c, mask=mask_c, other=0.0)[None, :]
    for j in tl.static_range(WIDTH):
        from_t = t - (WIDTH - 1) + j
        x = tl.load(X + batch * stride_b + from_t[:, None] * stride_t + c[None, :],
                    mask=(from_t >= 0)[:, None] & (from_t < T)[:, None] & mask_c[None, :], other=0.0)
        acc += x * tl.load(W + c * WIDTH + j, mask=mask_c, other=0.0)[None, :]
        if tl.program_id(0) == 0 and j > 0:
            last = T - WIDTH + j
            x_last = tl.load(X + batch * stride_b + last * stride_t + c, mask=mask_c & (last >= 0), other=0.0)
            tl.store(State + (batch * (WIDTH - 1) + j - 1) * C + c, x_last, mask=mask_c)
    tl.store(Y + (batch * T + t[:, None]) * C + c[None, :], acc * tl.sigmoid(acc), mask=(t < T)[:, None] & mask_c[None, :])


@triton.jit
def causal_conv_step_kernel(X, W, Bias, Y, State, C, WIDTH: tl.constexpr, BLOCK_C: tl.constexpr):
    batch = tl.program_id(0)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask = c < C
    x = tl.load(X + batch * C + c, mask=mask, other=0.0)
    acc = tl.load(Bias + c, mask=mask, other=0.0) + x * tl.load(W + c * WIDTH + WIDTH - 1, mask=mask, other=0.0)
    for j in tl.static_range(WIDTH - 1):
        at = State + (batch * (WIDTH - 1) + j) * C + c
        kept = tl.load(at, mask=mask, other=0.0)
        acc += kept * tl.load(W + c * WIDTH + j, mask=mask, other=0.0)
        if j > 0:
            tl.store(at - C, kept, mask=mask)
    tl.store(State + (batch * (WIDTH - 1) + WIDTH - 2) * C + c, x, mask=mask)
    tl.store(Y + batch * C + c, acc * tl.sigmoid(acc), mask=mask)


def main():
    B, T, C, WIDTH = 2, 37, 21, 4
    rng = np.random.default_rng(46)
    whole = rng.standard_normal((B, T + 2, C + 3), dtype=np.float32)
    x, w, bias = whole[:, :T, :C], rng.standard_normal((C, WIDTH), dtype=np.float32), rng.standard_normal(C, dtype=np.float32)
    y, state = np.full((B, T, C), np.nan, np.float32), np.full((B, WIDTH - 1, C), np.nan, np.float32)
    causal_conv_kernel[(triton.cdiv(T, 16), triton.cdiv(C, 16), B)](x, w, bias, y, state, T, C, whole.strides[0] // 4,
                                                                    C + 3, WIDTH=WIDTH, BLOCK_T=16, BLOCK_C=16)
    outputs = [y]
    for t in (T, T + 1):
        step = np.full((B, C), np.nan, np.float32)
        causal_conv_step_kernel[(B, triton.cdiv(C, 16))](np.ascontiguousarray(whole[:, t, :C]), w, bias, step, state, C,
                                                         WIDTH=WIDTH, BLOCK_C=16)
        outputs.append(step[:, None])
    padded = np.pad(whole[..., :C].astype(np.float64), ((0, 0), (WIDTH - 1, 0), (0, 0)))
    z = bias + sum(padded[:, j:j + T + 2] * w[:, j] for j in range(WIDTH))
    error = np.abs(np.concatenate(outputs, 1) - z / (1 + np.exp(-z))).max()
    print(f"conv1d_causal: max error {error:.2e}")
    assert error < 5e-6


if __name__ == "__main__":
    main()
