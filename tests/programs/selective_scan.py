"""A Mamba-style selective scan: the state goes on from step to step in a loop, and by an associative scan
over blocks of time in a second kernel. Both give the same."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def softplus(x):
    return tl.where(x > 20.0, x, tl.log(1.0 + tl.exp(tl.minimum(x, 20.0))))


@triton.jit
def selective_step_kernel(X, Dt, A, B, C, Skip, Gate, Y, T, CH, stride_b, stride_t, N: tl.constexpr,
                          N_POW2: tl.constexpr, BLOCK_C: tl.constexpr):
    batch = tl.program_id(0)
    ch = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    n = tl.arange(0, N_POW2)
    mask_c = ch < CH
    mask_n = n < N
    a = tl.load(A + ch[:, None] * N + n[None, :], mask=mask_c[:, None] & mask_n[None, :], other=0.0)
    skip = tl.load(Skip + ch, mask=mask_c, other=0.0)
    h = tl.zeros([BLOCK_C, N_POW2], tl.float32)
    for t in range(T):
        at = batch * stride_b + t * stride_t + ch
        x = tl.load(X + at, mask=mask_c, other=0.0)
        dt = softplus(tl.load(Dt + at, mask=mask_c, other=0.0))
        b = tl.load(B + (batch * T + t) * N + n, mask=mask_n, other=0.0)
        c = tl.load(C + (batch * T + t) * N + n, mask=mask_n, other=0.0)
        h = tl.exp(dt[:, None] * a) * h + (dt * x)[:, None] * b[None, :]
        y = tl.sum(h * c[None, :], 1) + skip * x
        z = tl.load(Gate + at, mask=mask_c, other=0.0)
        tl.store(Y + (batch * T + t) * CH + ch, y * z * tl.sigmoid(z), mask=mask_c)


@triton.jit
def compose(decay_a, add_a, decay_b, add_b):
    return decay_a * decay_b, add_a * decay_b + add_b


@triton.jit
def selective_block_kernel(X, Dt, A, B, C, Skip, Gate, Y, T, CH, stride_b, stride_t, N: tl.constexpr,
                           N_POW2: tl.constexpr, BLOCK_T: tl.constexpr):
    batch = tl.program_id(0)
    ch = tl.program_id(1)
    n = tl.arange(0, N_POW2)
    mask_n = n < N
    a = tl.load(A + ch * N + n, mask=mask_n, other=0.0)
    skip = tl.load(Skip + ch)
    carry = tl.zeros([N_POW2], tl.float32)
    for start in range(0, T, BLOCK_T):
        t = start + tl.arange(0, BLOCK_T)
        mask_t = t < T
        at = batch * stride_b + t * stride_t + ch
        x = tl.load(X + at, mask=mask_t, other=0.0)
        dt = tl.where(mask_t, softplus(tl.load(Dt + at, mask=mask_t, other=0.0)), 0.0)
        mask = mask_t[:, None] & mask_n[None, :]
        b = tl.load(B + (batch * T + t[:, None]) * N + n[None, :], mask=mask, other=0.0)
        c = tl.load(C + (batch * T + t[:, None]) * N + n[None, :], mask=mask, other=0.0)
        decay = tl.exp(dt[:, None] * a[None, :])
        decay, h = tl.associative_scan((decay, (dt * x)[:, None] * b), 0, compose)
        h += decay * carry[None, :]
        z = tl.load(Gate + at, mask=mask_t, other=0.0)
        y = tl.sum(h * c, 1) + skip * x
        tl.store(Y + (batch * T + t) * CH + ch, y * z * tl.sigmoid(z), mask=mask_t)
        carry = tl.sum(tl.where(tl.arange(0, BLOCK_T)[:, None] == BLOCK_T - 1, h, 0.0), 0)


@triton.jit
def selective_bwd_kernel(X, Dt, A, B, C, Skip, Gate, DY, H, DX, DDt, DGate, T, CH, stride_b, stride_t,
                         N: tl.constexpr, N_POW2: tl.constexpr):
    """Gradients of one channel: the states are kept on the way there and used on the way back."""
    batch = tl.program_id(0)
    ch = tl.program_id(1)
    n = tl.arange(0, N_POW2)
    mask_n = n < N
    a = tl.load(A + ch * N + n, mask=mask_n, other=0.0)
    skip = tl.load(Skip + ch)
    kept = H + (batch * CH + ch) * (T + 1) * N + n
    h = tl.zeros([N_POW2], tl.float32)
    tl.store(kept, h, mask=mask_n)
    for t in range(T):
        at = batch * stride_b + t * stride_t + ch
        dt = softplus(tl.load(Dt + at))
        b = tl.load(B + (batch * T + t) * N + n, mask=mask_n, other=0.0)
        h = tl.exp(dt * a) * h + dt * tl.load(X + at) * b
        tl.store(kept + (t + 1) * N, h, mask=mask_n)
    tl.debug_barrier()
    dh = tl.zeros([N_POW2], tl.float32)
    for step in range(T):
        t = T - 1 - step
        at = batch * stride_b + t * stride_t + ch
        out = (batch * T + t) * CH + ch
        x = tl.load(X + at)
        raw = tl.load(Dt + at)
        dt = softplus(raw)
        z = tl.load(Gate + at)
        b = tl.load(B + (batch * T + t) * N + n, mask=mask_n, other=0.0)
        c = tl.load(C + (batch * T + t) * N + n, mask=mask_n, other=0.0)
        h = tl.load(kept + (t + 1) * N, mask=mask_n, other=0.0)
        before = tl.load(kept + t * N, mask=mask_n, other=0.0)
        dy = tl.load(DY + out)
        sig = tl.sigmoid(z)
        tl.store(DGate + out, dy * (tl.sum(h * c, 0) + skip * x) * sig * (1 + z * (1 - sig)))
        dy = dy * z * sig
        dh += dy * c
        decay = tl.exp(dt * a)
        tl.store(DX + out, tl.sum(dh * b, 0) * dt + dy * skip)
        tl.store(DDt + out, tl.sum(dh * (before * a * decay + x * b), 0) * tl.sigmoid(raw))
        dh = dh * decay


def forward64(x, dt, a, b, c, skip, z):
    out, h = np.zeros(x.shape), np.zeros((*x[:, 0].shape, a.shape[1]))
    for t in range(x.shape[1]):
        d = np.log1p(np.exp(dt[:, t]))
        h = np.exp(d[..., None] * a) * h + (d * x[:, t])[..., None] * b[:, t, None, :]
        out[:, t] = (h * c[:, t, None]).sum(-1) + skip * x[:, t]
    return out * z / (1 + np.exp(-z))


def main():
    BATCH, T, CH, N = 2, 45, 11, 6
    rng = np.random.default_rng(24)
    x, dt, z = (rng.standard_normal((BATCH, T, CH + 1), dtype=np.float32)[..., :CH] for _ in range(3))
    a = -rng.uniform(0.5, 4, (CH, N)).astype(np.float32)
    b, c = (rng.standard_normal((BATCH, T, N), dtype=np.float32) for _ in range(2))
    skip = rng.standard_normal(CH, dtype=np.float32)
    steps, blocks = np.full((BATCH, T, CH), np.nan, np.float32), np.full((BATCH, T, CH), np.nan, np.float32)
    strides = (T * (CH + 1), CH + 1)
    selective_step_kernel[(BATCH, triton.cdiv(CH, 8))](x, dt, a, b, c, skip, z, steps, T, CH, *strides,
                                                       N=N, N_POW2=8, BLOCK_C=8)
    selective_block_kernel[(BATCH, CH)](x, dt, a, b, c, skip, z, blocks, T, CH, *strides,
                                        N=N, N_POW2=8, BLOCK_T=16)
    wanted = np.zeros((BATCH, T, CH))
    h = np.zeros((BATCH, CH, N))
    for t in range(T):
        d = np.log1p(np.exp(dt[:, t].astype(np.float64)))
        h = np.exp(d[..., None] * a) * h + (d * x[:, t])[..., None] * b[:, t, None, :]
        wanted[:, t] = (h * c[:, t, None]).sum(-1) + skip * x[:, t]
    wanted *= z / (1 + np.exp(-z.astype(np.float64)))
    error = max(np.abs(steps - wanted).max(), np.abs(blocks - wanted).max())
    dy = rng.standard_normal((BATCH, T, CH), dtype=np.float32)
    kept = np.full((BATCH, CH, T + 1, N), np.nan, np.float32)
    grads = [np.full((BATCH, T, CH), np.nan, np.float32) for _ in range(3)]
    selective_bwd_kernel[(BATCH, CH)](x, dt, a, b, c, skip, z, dy, kept, *grads, T, CH, *strides, N=N, N_POW2=8)
    inputs = [t.astype(np.float64) for t in (x, dt, a, b, c, skip, z)]
    for got, which in zip(grads, (0, 1, 6)):  # along a random direction, by central differences
        way = rng.standard_normal(got.shape)
        ahead, behind = ([t + sign * 1e-5 * way if i == which else t for i, t in enumerate(inputs)] for sign in (1, -1))
        slope = ((forward64(*ahead) - forward64(*behind)) * dy).sum() / 2e-5
        error = max(error, abs((got * way).sum() - slope) / max(10, abs(slope)))
    print(f"selective_scan: max error {error:.2e}")
    assert error < 2e-5


if __name__ == "__main__":
    main()
