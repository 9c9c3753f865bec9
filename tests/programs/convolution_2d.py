"""A 2D convolution with stride, padding, dilation and groups as an implicit GEMM."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def conv2d_kernel(X, W, Bias, Y, N, H, WIDTH, P, Q, sxn, sxc, sxh, C: tl.constexpr, OC: tl.constexpr,
                  R: tl.constexpr, S: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr, DILATION: tl.constexpr,
                  BLOCK_P: tl.constexpr, BLOCK_O: tl.constexpr, BLOCK_C: tl.constexpr):
    group = tl.program_id(2)
    pixel = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    n = pixel // (P * Q)
    p = pixel // Q % P
    q = pixel % Q
    acc = tl.zeros([BLOCK_P, BLOCK_O], tl.float32)
    for rs in range(R * S):
        r = rs // S
        s = rs % S
        h = p * STRIDE - PAD + r * DILATION
        w = q * STRIDE - PAD + s * DILATION
        inside = (n < N) & (h >= 0) & (h < H) & (w >= 0) & (w < WIDTH)
        for start in range(0, C, BLOCK_C):
            c = start + tl.arange(0, BLOCK_C)
            x = tl.load(X + (n * sxn + h * sxh + w)[:, None] + (group * C + c)[None, :] * sxc,
                        mask=inside[:, None] & (c < C)[None, :], other=0.0)
            k = tl.load(W + ((group * OC + o)[None, :] * C + c[:, None]) * R * S + rs,
                        mask=(c < C)[:, None] & (o < OC)[None, :], other=0.0)
            acc = tl.dot(x, k, acc, input_precision="ieee")
    acc += tl.load(Bias + group * OC + o, mask=o < OC, other=0.0)[None, :]
    channels = tl.num_programs(2) * OC
    at = (n[:, None] * channels + (group * OC + o)[None, :]) * P * Q + (p * Q + q)[:, None]
    tl.store(Y + at, acc, mask=(n < N)[:, None] & (o < OC)[None, :])


def main():
    N, groups, C, OC, H, W, R, S, stride, pad, dilation = 2, 2, 5, 7, 13, 11, 3, 2, 2, 2, 2
    rng = np.random.default_rng(45)
    x = rng.standard_normal((N, groups * C, H + 1, W + 3), dtype=np.float32)[:, :, 1:, :W]
    w = rng.standard_normal((groups * OC, C, R, S), dtype=np.float32)
    bias = rng.standard_normal(groups * OC, dtype=np.float32)
    P, Q = ((n + 2 * pad - dilation * (k - 1) - 1) // stride + 1 for n, k in ((H, R), (W, S)))
    y = np.full((N, groups * OC, P, Q), np.nan, np.float32)
    conv2d_kernel[(triton.cdiv(N * P * Q, 32), triton.cdiv(OC, 16), groups)](
        x, w, bias, y, N, H, W, P, Q, *(s // 4 for s in x.strides[:3]), C=C, OC=OC, R=R, S=S, STRIDE=stride, PAD=pad,
        DILATION=dilation, BLOCK_P=32, BLOCK_O=16, BLOCK_C=16)
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    wanted = np.zeros(y.shape) + bias[:, None, None]
    for r in range(R):
        for s in range(S):
            cut = padded[:, :, r * dilation:, s * dilation:][:, :, :(P - 1) * stride + 1:stride, :(Q - 1) * stride + 1:stride]
            for g in range(groups):
                wanted[:, g * OC:(g + 1) * OC] += np.einsum("ncpq,oc->nopq", cut[:, g * C:(g + 1) * C],
                                                           w[g * OC:(g + 1) * OC, :, r, s])
    error = np.abs(y - wanted).max()
    print(f"convolution_2d: max error {error:.2e}")
    assert error < 1e-5


if __name__ == "__main__":
    main()
