"""RMS norm as a module in bfloat16 on the default device, with kernels under torch.no_grad and events."""

import torch
import triton
import triton.language as tl


@triton.jit
def rms_bf16_kernel(X, W, Y, stride_b, stride_t, T, N, eps, BLOCK: tl.constexpr):
    b = tl.program_id(0) // T
    t = tl.program_id(0) % T
    c = tl.arange(0, BLOCK)
    x = tl.load(X + b * stride_b + t * stride_t + c, mask=c < N, other=0.0).to(tl.float32)
    r = tl.rsqrt(tl.sum(x * x) / N + eps)
    w = tl.load(W + c, mask=c < N, other=0.0).to(tl.float32)
    tl.store(Y + tl.program_id(0).to(tl.int64) * N + c, (x * r * w).to(tl.bfloat16), mask=c < N)


class RmsNorm(torch.nn.Module):
    def __init__(self, n, eps=1e-6):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(n))
        self.eps = eps

    def forward(self, x):
        B, T, N = x.shape
        y = torch.empty(B, T, N, dtype=x.dtype, device=x.device)
        rms_bf16_kernel[(B * T,)](x, self.weight, y, x.stride(0), x.stride(1), T, N, self.eps,
                                  BLOCK=triton.next_power_of_2(N), num_warps=4)
        return y


def main():
    torch.manual_seed(7)
    device = torch.device("cuda:0")
    norm = RmsNorm(83).to(device)
    x = torch.randn(9, 4, 90, device=device).to(torch.bfloat16).transpose(0, 1)[..., :83]
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    with torch.no_grad():
        y = norm(x)
    end.record()
    torch.cuda.synchronize()
    x64 = x.double()
    wanted = x64 * (x64.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * norm.weight.detach().double()
    error = ((y - wanted).abs() / (wanted.abs() + 1e-2)).max().item()
    print(f"torch_rms_norm_module: max error {error:.2e} of the value, {start.elapsed_time(end) >= 0}")
    assert error < 2**-8


if __name__ == "__main__":
    main()
