"""A grouped GEMM: addresses, sizes and strides of every problem in tensors on the device; programs go from
tile to tile across the problems."""

import torch
import triton
import triton.language as tl


@triton.jit
def grouped_pointers_kernel(APtrs, BPtrs, CPtrs, Sizes, Strides, groups, BLOCK_M: tl.constexpr,
                            BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    tile = tl.program_id(0)
    done = 0
    for g in range(groups):
        M = tl.load(Sizes + g * 3)
        N = tl.load(Sizes + g * 3 + 1)
        K = tl.load(Sizes + g * 3 + 2)
        tiles_n = tl.cdiv(N, BLOCK_N)
        tiles = tl.cdiv(M, BLOCK_M) * tiles_n
        while (tile >= done) & (tile < done + tiles):
            a = tl.load(APtrs + g).to(tl.pointer_type(tl.float16))
            b = tl.load(BPtrs + g).to(tl.pointer_type(tl.float16))
            c = tl.load(CPtrs + g).to(tl.pointer_type(tl.float16))
            lda = tl.load(Strides + g * 3)
            ldb = tl.load(Strides + g * 3 + 1)
            ldc = tl.load(Strides + g * 3 + 2)
            rows = (tile - done) // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
            cols = (tile - done) % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
            acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
            for start in range(0, K, BLOCK_K):
                k = start + tl.arange(0, BLOCK_K)
                x = tl.load(a + rows[:, None] * lda + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0)
                y = tl.load(b + k[:, None] * ldb + cols[None, :], mask=(k[:, None] < K) & (cols[None, :] < N), other=0.0)
                acc += tl.dot(x, y)
            tl.store(c + rows[:, None] * ldc + cols[None, :], acc.to(tl.float16),
                     mask=(rows[:, None] < M) & (cols[None, :] < N))
            tile += tl.num_programs(0)
        done += tiles


def main():
    torch.manual_seed(2)
    sizes = [(45, 33, 70), (16, 100, 20), (1, 7, 129), (64, 64, 64)]
    a = [torch.randn(m, k, device="cuda", dtype=torch.float16) for m, n, k in sizes]
    b = [torch.randn(k, n, device="cuda", dtype=torch.float16) for m, n, k in sizes]
    c = [torch.full((m, n), float("nan"), device="cuda", dtype=torch.float16) for m, n, k in sizes]
    pointers = [torch.tensor([t.data_ptr() for t in ts], device="cuda") for ts in (a, b, c)]
    strides = torch.tensor([[x.stride(0), y.stride(0), z.stride(0)] for x, y, z in zip(a, b, c)],
                           dtype=torch.int32, device="cuda")
    grouped_pointers_kernel[(5,)](*pointers, torch.tensor(sizes, dtype=torch.int32, device="cuda"), strides, len(sizes),
                                  BLOCK_M=16, BLOCK_N=32, BLOCK_K=32)
    error = 0.0
    for x, y, z in zip(a, b, c):
        wanted = x.double() @ y.double()
        error = max(error, ((z - wanted).abs() / (1 + wanted.abs())).max().item())
    print(f"torch_grouped_gemm_pointers: max error {error:.2e} of the value")
    assert error < 1e-3


if __name__ == "__main__":
    main()
