"""NF4 weights: two codes a byte looked up in a table, block scales in turn kept in int8; and back."""

import torch
import triton
import triton.language as tl


@triton.jit
def nf4_dequant_kernel(Packed, Table, Absmax8, AbsmaxScale, offset, Out, n, BLOCK: tl.constexpr,
                       GROUP: tl.constexpr, SUPER: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    byte = tl.load(Packed + at // 2, mask=mask, other=0)
    code = tl.where(at % 2 == 0, byte >> 4, byte & 15).to(tl.int32)
    group = at // GROUP
    absmax = tl.load(Absmax8 + group, mask=mask, other=0).to(tl.float32)
    absmax = absmax * tl.load(AbsmaxScale + group // SUPER, mask=mask, other=0.0) + offset
    tl.store(Out + at, (tl.load(Table + code) * absmax).to(tl.float16), mask=mask)


def main():
    torch.manual_seed(8)
    n, GROUP, SUPER = 1986, 64, 8
    table = torch.erfinv(torch.linspace(-0.93, 0.93, 16, device="cuda"))
    table = table / table.abs().max()
    packed = torch.randint(0, 256, (n // 2,), device="cuda", dtype=torch.uint8)
    groups = triton.cdiv(n, GROUP)
    absmax8 = torch.randint(-127, 128, (groups,), device="cuda", dtype=torch.int8)
    scale = torch.rand(triton.cdiv(groups, SUPER), device="cuda") * 1e-3
    out = torch.empty(n, device="cuda", dtype=torch.float16)
    nf4_dequant_kernel[(triton.cdiv(n, 256),)](packed, table, absmax8, scale, 0.5, out, n, BLOCK=256, GROUP=GROUP, SUPER=SUPER)
    codes = torch.stack([packed >> 4, packed & 15], 1).reshape(-1).long()
    absmax = absmax8.double() * scale.double().repeat_interleave(SUPER)[:groups] + 0.5
    wanted = table.double()[codes] * absmax.repeat_interleave(GROUP)[:n]
    error = (out - wanted).abs().max().item()
    print(f"torch_dequant_nf4: max error {error:.2e}")
    assert error < 5e-4


if __name__ == "__main__":
    main()
