"""Column sums of many programs under a spin lock for each block of columns."""

import torch
import triton
import triton.language as tl


@triton.jit
def locked_sum_kernel(X, Out, Locks, M, N, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    x = tl.load(X + rows[:, None] * stride + cols[None, :], mask=(rows < M)[:, None] & (cols < N)[None, :], other=0.0)
    part = tl.sum(x, 0)
    lock = Locks + tl.program_id(1)
    while tl.atomic_cas(lock, 0, 1, sem="acquire") == 1:
        pass
    before = tl.load(Out + cols, mask=cols < N)
    tl.store(Out + cols, before + part, mask=cols < N)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, sem="release")


def main():
    torch.manual_seed(10)
    M, N = 133, 75
    x = torch.randn(M, N + 4, device="cuda")[:, 2:N + 2]
    out = torch.zeros(N, device="cuda")
    locks = torch.zeros(triton.cdiv(N, 32), dtype=torch.int32, device="cuda")
    locked_sum_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 32))](x, out, locks, M, N, x.stride(0), BLOCK_M=16, BLOCK_N=32)
    error = (out - x.double().sum(0)).abs().max().item()
    print(f"torch_lock_reduction: max error {error:.2e}")
    assert error < 2e-5 and not locks.any()


if __name__ == "__main__":
    main()
