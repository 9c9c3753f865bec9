"""Many LoRA adapters in one batch: each token's own rank-16 pair, shrunk and then expanded onto the output."""

import torch
import triton
import triton.language as tl


@triton.jit
def lora_shrink_kernel(X, A, Which, Low, K, stride_x, RANK: tl.constexpr, BLOCK_K: tl.constexpr):
    token = tl.program_id(0)
    adapter = tl.load(Which + token)
    if adapter < 0:
        return
    r = tl.arange(0, RANK)
    acc = tl.zeros([RANK], tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        x = tl.load(X + token * stride_x + k, mask=k < K, other=0.0)
        a = tl.load(A + (adapter * RANK + r[:, None]) * K + k[None, :], mask=k[None, :] < K, other=0.0)
        acc += tl.sum(a * x[None, :], 1)
    tl.store(Low + token * RANK + r, acc)


@triton.jit
def lora_expand_kernel(Low, B, Which, Y, N, scale, RANK: tl.constexpr, BLOCK_N: tl.constexpr):
    token = tl.program_id(0)
    adapter = tl.load(Which + token)
    if adapter >= 0:
        r = tl.arange(0, RANK)
        n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
        low = tl.load(Low + token * RANK + r)
        b = tl.load(B + (adapter * N + n[:, None]) * RANK + r[None, :], mask=n[:, None] < N, other=0.0)
        y = tl.load(Y + token * N + n, mask=n < N)
        tl.store(Y + token * N + n, y + scale * tl.sum(b * low[None, :], 1), mask=n < N)


def main():
    torch.manual_seed(9)
    T, K, N, RANK, adapters, scale = 14, 75, 90, 16, 3, 0.5
    x = torch.randn(T, K + 1, device="cuda")[:, :K]
    a = torch.randn(adapters, RANK, K, device="cuda") / 8
    b = torch.randn(adapters, N, RANK, device="cuda")
    which = torch.randint(-1, adapters, (T,), device="cuda")
    y = torch.randn(T, N, device="cuda")
    wanted = y.double()
    low = torch.empty(T, RANK, device="cuda")
    lora_shrink_kernel[(T,)](x, a, which, low, K, x.stride(0), RANK=RANK, BLOCK_K=32)
    lora_expand_kernel[(T, triton.cdiv(N, 32))](low, b, which, y, N, scale, RANK=RANK, BLOCK_N=32)
    for t, w in enumerate(which.tolist()):
        if w >= 0:
            wanted[t] += scale * (b[w].double() @ (a[w].double() @ x[t].double()))
    error = (y - wanted).abs().max().item()
    print(f"torch_lora: max error {error:.2e}")
    assert error < 1e-5


if __name__ == "__main__":
    main()
