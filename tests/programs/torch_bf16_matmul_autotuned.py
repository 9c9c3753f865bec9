"""A bfloat16 matmul with an autotuner and heuristics, any strides, the operands checked to be on the GPU."""

import torch
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK_M": m, "BLOCK_N": 32, "BLOCK_K": k}, num_warps=4, num_stages=2)
                          for m in (16, 32) for k in (32, 64)], key=["M", "N", "K"])
@triton.heuristics({"EVEN_K": lambda args: args["K"] % args["BLOCK_K"] == 0})
@triton.jit
def bf16_matmul_kernel(A, B, C, M, N, K, sam, sak, sbk, sbn, scm, scn, BLOCK_M: tl.constexpr,
                       BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, EVEN_K: tl.constexpr):
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    # Rows past the end wrap around: they are computed twice and not stored.
    a_ptrs = A + (rm % M)[:, None] * sam + rk[None, :] * sak
    b_ptrs = B + rk[:, None] * sbk + (rn % N)[None, :] * sbn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        if EVEN_K:
            a = tl.load(a_ptrs)
            b = tl.load(b_ptrs)
        else:
            left = K - k * BLOCK_K
            a = tl.load(a_ptrs, mask=rk[None, :] < left, other=0.0)
            b = tl.load(b_ptrs, mask=rk[:, None] < left, other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K * sak
        b_ptrs += BLOCK_K * sbk
    c_ptrs = C + rm[:, None] * scm + rn[None, :] * scn
    tl.store(c_ptrs, acc.to(C.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


def matmul(a, b):
    assert a.is_cuda and b.is_cuda and a.shape[1] == b.shape[0]
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]), triton.cdiv(N, meta["BLOCK_N"]))
    bf16_matmul_kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride())
    return c


def main():
    torch.manual_seed(1)
    error = 0.0
    for M, N, K in ((45, 67, 96), (33, 50, 85)):
        a = torch.randn(K, M, device="cuda", dtype=torch.bfloat16).t()
        b = torch.randn(K, 2 * N, device="cuda", dtype=torch.bfloat16)[:, ::2]
        wanted = a.double() @ b.double()
        error = max(error, ((matmul(a, b) - wanted).abs() / (1 + wanted.abs())).max().item())
    print(f"torch_bf16_matmul_autotuned: max error {error:.2e} of the value")
    assert error < 5e-3


if __name__ == "__main__":
    main()
