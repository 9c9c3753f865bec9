"""SwiGLU and GEGLU as a torch.autograd.Function on packed gates, in place in the backward pass."""

import torch
import triton
import triton.language as tl


@triton.jit
def glu_fwd_kernel(X, Y, N, stride, GELU: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(X + row * stride + c, mask=c < N, other=0.0).to(tl.float32)
    b = tl.load(X + row * stride + N + c, mask=c < N, other=0.0).to(tl.float32)
    if GELU:
        g = 0.5 * a * (1 + tl.erf(a * 0.7071067811865476))
    else:
        g = a * tl.sigmoid(a)
    tl.store(Y + row * N + c, (g * b).to(Y.dtype.element_ty), mask=c < N)


@triton.jit
def glu_bwd_kernel(X, DY, N, stride, GELU: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    a_at = X + row * stride + c
    a = tl.load(a_at, mask=c < N, other=0.0).to(tl.float32)
    b = tl.load(a_at + N, mask=c < N, other=0.0).to(tl.float32)
    dy = tl.load(DY + row * N + c, mask=c < N, other=0.0).to(tl.float32)
    if GELU:
        cdf = 0.5 * (1 + tl.erf(a * 0.7071067811865476))
        g = a * cdf
        slope = cdf + a * 0.3989422804014327 * tl.exp(-0.5 * a * a)
    else:
        s = tl.sigmoid(a)
        g = a * s
        slope = s + g * (1 - s)
    tl.store(a_at, (dy * b * slope).to(X.dtype.element_ty), mask=c < N)
    tl.store(a_at + N, (dy * g).to(X.dtype.element_ty), mask=c < N)


class Glu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gelu):
        M, N = x.shape[0], x.shape[1] // 2
        y = torch.empty(M, N, device=x.device, dtype=x.dtype)
        glu_fwd_kernel[(M, triton.cdiv(N, 64))](x, y, N, x.stride(0), GELU=gelu, BLOCK=64)
        ctx.save_for_backward(x)
        ctx.gelu = gelu
        return y

    @staticmethod
    def backward(ctx, dy):
        x, = ctx.saved_tensors
        dx = x.detach().clone()
        M, N = x.shape[0], x.shape[1] // 2
        glu_bwd_kernel[(M, triton.cdiv(N, 64))](dx, dy.contiguous(), N, dx.stride(0), GELU=ctx.gelu, BLOCK=64)
        return dx, None


def main():
    torch.manual_seed(0)
    error = 0.0
    for gelu in (False, True):
        x = torch.randn(13, 2 * 75, device="cuda", requires_grad=True)
        dy = torch.randn(13, 75, device="cuda")
        y = Glu.apply(x, gelu)
        y.backward(dy)
        x64 = x.detach().double().requires_grad_()
        a, b = x64.chunk(2, dim=-1)
        wanted = (torch.nn.functional.gelu(a) if gelu else torch.nn.functional.silu(a)) * b
        wanted.backward(dy.double())
        error = max(error, (y - wanted).abs().max().item(), (x.grad - x64.grad).abs().max().item())
    print(f"torch_swiglu: max error {error:.2e}")
    assert error < 5e-6


if __name__ == "__main__":
    main()
