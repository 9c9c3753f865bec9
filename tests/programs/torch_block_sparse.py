"""Block-sparse times dense: the layout as lists of blocks for each row of blocks, values of present blocks only."""

import torch
import triton
import triton.language as tl


@triton.jit
def block_sparse_kernel(Values, RowPtr, BlockCol, B, C, N, stride_b, BLOCK: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    i = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK, BLOCK_N], tl.float32)
    for block in range(tl.load(RowPtr + row), tl.load(RowPtr + row + 1)):
        k = tl.load(BlockCol + block) * BLOCK + i
        a = tl.load(Values + block * BLOCK * BLOCK + i[:, None] * BLOCK + i[None, :])
        b = tl.load(B + k[:, None] * stride_b + n[None, :], mask=n[None, :] < N, other=0.0)
        acc = tl.dot(a, b, acc)
    m = row * BLOCK + i
    tl.store(C + m[:, None] * N + n[None, :], acc, mask=n[None, :] < N)


def main():
    torch.manual_seed(6)
    BLOCK, rows, cols, N = 16, 5, 7, 45
    layout = torch.rand(rows, cols, device="cuda") < 0.4
    layout[2] = False
    present = layout.nonzero()
    values = torch.randn(len(present), BLOCK, BLOCK, device="cuda", dtype=torch.float16)
    row_ptr = torch.cat([torch.zeros(1, dtype=torch.int64, device="cuda"), layout.sum(1).cumsum(0)]).to(torch.int32)
    b = torch.randn(cols * BLOCK, N + 3, device="cuda", dtype=torch.float16)[:, :N]
    c = torch.full((rows * BLOCK, N), float("nan"), device="cuda")
    block_sparse_kernel[(rows, triton.cdiv(N, 32))](values, row_ptr, present[:, 1].contiguous(), b, c, N, b.stride(0),
                                                    BLOCK=BLOCK, BLOCK_N=32)
    dense = torch.zeros(rows, BLOCK, cols, BLOCK, dtype=torch.float64, device="cuda")
    for (r, k), v in zip(present.tolist(), values):
        dense[r, :, k] = v.double()
    error = (c - dense.reshape(rows * BLOCK, -1) @ b.double()).abs().max().item()
    print(f"torch_block_sparse: max error {error:.2e}")
    assert error < 1e-4


if __name__ == "__main__":
    main()
