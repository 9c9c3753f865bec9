"""Group norm with SiLU, forward and backward, on images laid out channels first and cut from larger ones."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def group_norm_fwd_kernel(X, Y, W, B, Mean, Rstd, C, HW, stride_n, stride_c, eps, GROUPS: tl.constexpr,
                          BLOCK_C: tl.constexpr, BLOCK_HW: tl.constexpr):
    n = tl.program_id(0)
    group = tl.program_id(1)
    per_group = C // GROUPS
    c = tl.arange(0, BLOCK_C)
    channel = group * per_group + c
    mask_c = c < per_group
    total = tl.zeros([BLOCK_C, BLOCK_HW], tl.float32)
    square = tl.zeros([BLOCK_C, BLOCK_HW], tl.float32)
    for start in range(0, HW, BLOCK_HW):
        hw = start + tl.arange(0, BLOCK_HW)
        x = tl.load(X + n * stride_n + channel[:, None] * stride_c + hw[None, :],
                    mask=mask_c[:, None] & (hw[None, :] < HW), other=0.0)
        total += x
        square += x * x
    count = per_group * HW
    mean = tl.sum(total) / count
    rstd = tl.rsqrt(tl.sum(square) / count - mean * mean + eps)
    tl.store(Mean + n * GROUPS + group, mean)
    tl.store(Rstd + n * GROUPS + group, rstd)
    w = tl.load(W + channel, mask=mask_c, other=0.0)[:, None]
    b = tl.load(B + channel, mask=mask_c, other=0.0)[:, None]
    for start in range(0, HW, BLOCK_HW):
        hw = start + tl.arange(0, BLOCK_HW)
        mask = mask_c[:, None] & (hw[None, :] < HW)
        x = tl.load(X + n * stride_n + channel[:, None] * stride_c + hw[None, :], mask=mask, other=0.0)
        z = (x - mean) * rstd * w + b
        tl.store(Y + (n * C + channel[:, None]) * HW + hw[None, :], z * tl.sigmoid(z), mask=mask)


@triton.jit
def group_norm_bwd_kernel(X, DY, DX, DW, DB, W, B, Mean, Rstd, C, HW, stride_n, stride_c,
                          GROUPS: tl.constexpr, BLOCK_C: tl.constexpr, BLOCK_HW: tl.constexpr):
    n = tl.program_id(0)
    group = tl.program_id(1)
    per_group = C // GROUPS
    c = tl.arange(0, BLOCK_C)
    channel = group * per_group + c
    mask_c = c < per_group
    mean = tl.load(Mean + n * GROUPS + group)
    rstd = tl.load(Rstd + n * GROUPS + group)
    w = tl.load(W + channel, mask=mask_c, other=0.0)[:, None]
    b = tl.load(B + channel, mask=mask_c, other=0.0)[:, None]
    dw = tl.zeros([BLOCK_C], tl.float32)
    db = tl.zeros([BLOCK_C], tl.float32)
    for start in range(0, HW, BLOCK_HW):
        hw = start + tl.arange(0, BLOCK_HW)
        mask = mask_c[:, None] & (hw[None, :] < HW)
        x = tl.load(X + n * stride_n + channel[:, None] * stride_c + hw[None, :], mask=mask, other=0.0)
        dy = tl.load(DY + (n * C + channel[:, None]) * HW + hw[None, :], mask=mask, other=0.0)
        xhat = (x - mean) * rstd
        sig = tl.sigmoid(xhat * w + b)
        dz = dy * sig * (1 + (xhat * w + b) * (1 - sig))
        dw += tl.sum(tl.where(mask, dz * xhat, 0.0), 1)
        db += tl.sum(tl.where(mask, dz, 0.0), 1)
    tl.atomic_add(DW + channel, dw, mask=mask_c)
    tl.atomic_add(DB + channel, db, mask=mask_c)
    w_column = tl.reshape(w, [BLOCK_C])
    count = per_group * HW
    mean_dz = tl.sum(db * w_column, 0) / count
    mean_dzx = tl.sum(dw * w_column, 0) / count
    for start in range(0, HW, BLOCK_HW):
        hw = start + tl.arange(0, BLOCK_HW)
        mask = mask_c[:, None] & (hw[None, :] < HW)
        x = tl.load(X + n * stride_n + channel[:, None] * stride_c + hw[None, :], mask=mask, other=0.0)
        dy = tl.load(DY + (n * C + channel[:, None]) * HW + hw[None, :], mask=mask, other=0.0)
        xhat = (x - mean) * rstd
        sig = tl.sigmoid(xhat * w + b)
        dz = dy * sig * (1 + (xhat * w + b) * (1 - sig)) * w
        dx = rstd * (dz - mean_dz - xhat * mean_dzx)
        tl.store(DX + (n * C + channel[:, None]) * HW + hw[None, :], dx, mask=mask)


@triton.jit
def group_norm_last_kernel(X, Y, W, B, Mean, Rstd, HW, C, GROUPS: tl.constexpr, BLOCK_HW: tl.constexpr,
                           BLOCK_C: tl.constexpr):
    """The same from known statistics, on an image laid out channels last."""
    n = tl.program_id(1)
    hw = tl.program_id(0) * BLOCK_HW + tl.arange(0, BLOCK_HW)
    c = tl.arange(0, BLOCK_C)
    group = c // (C // GROUPS)
    mask = (hw[:, None] < HW) & (c[None, :] < C)
    at = (n * HW + hw[:, None]) * C + c[None, :]
    x = tl.load(X + at, mask=mask, other=0.0)
    mean = tl.load(Mean + n * GROUPS + group, mask=c < C, other=0.0)
    rstd = tl.load(Rstd + n * GROUPS + group, mask=c < C, other=0.0)
    w = tl.load(W + c, mask=c < C, other=0.0)
    b = tl.load(B + c, mask=c < C, other=0.0)
    z = (x - mean[None, :]) * (rstd * w)[None, :] + b[None, :]
    tl.store(Y + at, z * tl.sigmoid(z), mask=mask)


def main():
    N, C, HW, groups, eps = 3, 12, 77, 4, 1e-5
    rng = np.random.default_rng(16)
    x = rng.standard_normal((N, C + 2, HW + 3), dtype=np.float32)[:, :C, :HW]
    dy = rng.standard_normal((N, C, HW), dtype=np.float32)
    w, b = rng.standard_normal((2, C), dtype=np.float32)
    y, dx = np.full((N, C, HW), np.nan, np.float32), np.full((N, C, HW), np.nan, np.float32)
    mean, rstd = np.zeros((N, groups), np.float32), np.zeros((N, groups), np.float32)
    dw, db = np.zeros(C, np.float32), np.zeros(C, np.float32)
    strides = [s // 4 for s in x.strides[:2]]
    blocks = dict(GROUPS=groups, BLOCK_C=4, BLOCK_HW=32)
    group_norm_fwd_kernel[(N, groups)](x, y, w, b, mean, rstd, C, HW, *strides, eps, **blocks)
    group_norm_bwd_kernel[(N, groups)](x, dy, dx, dw, db, w, b, mean, rstd, C, HW, *strides, **blocks)

    x64 = x.astype(np.float64).reshape(N, groups, -1)
    r = 1 / np.sqrt(x64.var(-1, keepdims=True) + eps)
    xhat = ((x64 - x64.mean(-1, keepdims=True)) * r).reshape(N, C, HW)
    w64, b64 = w[:, None].astype(np.float64), b[:, None].astype(np.float64)
    z = xhat * w64 + b64
    sig = 1 / (1 + np.exp(-z))
    dz = dy * sig * (1 + z * (1 - sig))
    grouped = (dz * w64).reshape(N, groups, -1)
    xg = xhat.reshape(N, groups, -1)
    wanted_dx = r * (grouped - grouped.mean(-1, keepdims=True) - xg * (grouped * xg).mean(-1, keepdims=True))
    error = max(np.abs(got - wanted).max() for got, wanted in (
        (y, z * sig), (dx, wanted_dx.reshape(N, C, HW)), (dw, (dz * xhat).sum((0, 2))), (db, dz.sum((0, 2)))))
    last = np.full((N, HW, C), np.nan, np.float32)
    group_norm_last_kernel[(triton.cdiv(HW, 32), N)](np.ascontiguousarray(x.transpose(0, 2, 1)), last, w, b, mean, rstd,
                                                     HW, C, GROUPS=groups, BLOCK_HW=32, BLOCK_C=16)
    error = max(error, np.abs(last.transpose(0, 2, 1) - z * sig).max())
    print(f"norm_group: max error {error:.2e}")
    assert error < 2e-5


if __name__ == "__main__":
    main()
