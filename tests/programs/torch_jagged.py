"""Jagged tensors: to padded and back, sums and softmax over each row's own length."""

import torch
import triton
import triton.language as tl


@triton.jit
def jagged_to_padded_kernel(Values, Offsets, Out, D, MAX, fill, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    row = tl.program_id(0)
    t = tl.program_id(1) * BLOCK_T + tl.arange(0, BLOCK_T)
    d = tl.arange(0, BLOCK_D)
    begin = tl.load(Offsets + row)
    length = tl.load(Offsets + row + 1) - begin
    x = tl.load(Values + (begin + t)[:, None] * D + d[None, :], mask=(t < length)[:, None] & (d < D)[None, :], other=fill)
    tl.store(Out + (row * MAX + t)[:, None] * D + d[None, :], x, mask=(t < MAX)[:, None] & (d < D)[None, :])


@triton.jit
def jagged_softmax_kernel(Values, Offsets, Out, D, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    row = tl.program_id(0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    begin = tl.load(Offsets + row)
    end = tl.load(Offsets + row + 1)
    m = tl.full([BLOCK_D], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_D], tl.float32)
    for start in range(begin, end, BLOCK_T):
        t = start + tl.arange(0, BLOCK_T)
        mask = (t < end)[:, None] & (d < D)[None, :]
        x = tl.load(Values + t[:, None] * D + d[None, :], mask=mask, other=-float("inf"))
        m_new = tl.maximum(m, tl.max(x, 0))
        safe = tl.where(m_new == -float("inf"), 0.0, m_new)
        total = total * tl.exp(m - safe) + tl.sum(tl.exp(x - safe[None, :]), 0)
        m = m_new
    for start in range(begin, end, BLOCK_T):
        t = start + tl.arange(0, BLOCK_T)
        mask = (t < end)[:, None] & (d < D)[None, :]
        x = tl.load(Values + t[:, None] * D + d[None, :], mask=mask, other=0.0)
        tl.store(Out + t[:, None] * D + d[None, :], tl.exp(x - m[None, :]) / total[None, :], mask=mask)


def main():
    torch.manual_seed(3)
    lengths, D = [3, 0, 41, 1, 17], 19
    offsets = torch.tensor([0, *lengths], device="cuda").cumsum(0)
    values = torch.randn(sum(lengths), D, device="cuda") * 3
    most = max(lengths)
    padded = torch.empty(len(lengths), most, D, device="cuda")
    soft = torch.full_like(values, float("nan"))
    jagged_to_padded_kernel[(len(lengths), triton.cdiv(most, 16))](values, offsets, padded, D, most, -1.0, BLOCK_T=16, BLOCK_D=32)
    jagged_softmax_kernel[(len(lengths), triton.cdiv(D, 16))](values, offsets, soft, D, BLOCK_T=8, BLOCK_D=16)
    parts = values.double().split(lengths)
    wanted = torch.nn.utils.rnn.pad_sequence(parts, batch_first=True, padding_value=-1.0)
    error = max((padded - wanted).abs().max().item(),
                (soft - torch.cat([p.softmax(0) for p in parts])).abs().max().item())
    print(f"torch_jagged: max error {error:.2e}")
    assert error < 1e-6


if __name__ == "__main__":
    main()
