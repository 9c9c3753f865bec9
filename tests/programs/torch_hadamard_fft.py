"""A Walsh-Hadamard transform by reshapes, and a radix-2 FFT of rows in one tile, compared with torch.fft."""

import torch
import triton
import triton.language as tl


@triton.jit
def hadamard_kernel(X, Y, stride, scale, LOG: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(X + row * stride + tl.arange(0, N)).to(tl.float32)
    for step in tl.static_range(LOG):
        pairs = tl.permute(tl.reshape(x, [N >> (step + 1), 2, 1 << step]), (0, 2, 1))
        a, b = tl.split(pairs)
        x = tl.reshape(tl.permute(tl.join(a + b, a - b), (0, 2, 1)), [N])
    tl.store(Y + row * N + tl.arange(0, N), x * scale)


@triton.jit
def fft_kernel(Re, Im, OutRe, OutIm, stride, LOG: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    reverse = tl.zeros([N], tl.int32)
    for bit in tl.static_range(LOG):
        reverse |= ((i >> bit) & 1) << (LOG - 1 - bit)
    re = tl.load(Re + row * stride + reverse)
    im = tl.load(Im + row * stride + reverse)
    for step in tl.static_range(LOG):
        half = 1 << step
        is_odd = (i & half) != 0
        angle = -3.141592653589793 / (1 << step) * (i & (half - 1)).to(tl.float32)
        c = tl.cos(angle)
        s = tl.sin(angle)
        even_re = tl.gather(re, i & (-1 - half), 0)
        even_im = tl.gather(im, i & (-1 - half), 0)
        odd_re = tl.gather(re, i | half, 0)
        odd_im = tl.gather(im, i | half, 0)
        turned_re = odd_re * c - odd_im * s
        turned_im = odd_re * s + odd_im * c
        re = even_re + tl.where(is_odd, -turned_re, turned_re)
        im = even_im + tl.where(is_odd, -turned_im, turned_im)
    tl.store(OutRe + row * N + i, re)
    tl.store(OutIm + row * N + i, im)


def main():
    torch.manual_seed(5)
    M, LOG = 5, 6
    N = 1 << LOG
    x = torch.randn(M, N + 9, device="cuda")[:, 4:4 + N]
    y = torch.empty(M, N, device="cuda")
    hadamard_kernel[(M,)](x, y, x.stride(0), N**-0.5, LOG=LOG, N=N)
    h = torch.ones(1, 1, dtype=torch.float64, device="cuda")
    for _ in range(LOG):
        h = torch.cat([torch.cat([h, h], 1), torch.cat([h, -h], 1)], 0)
    error = (y - x.double() @ h * N**-0.5).abs().max().item()
    im = torch.randn_like(y)
    re = torch.randn_like(y)
    out_re, out_im = torch.empty_like(re), torch.empty_like(re)
    fft_kernel[(M,)](re, im, out_re, out_im, N, LOG=LOG, N=N)
    wanted = torch.fft.fft(torch.complex(re.double(), im.double()))
    error = max(error, (out_re - wanted.real).abs().max().item(), (out_im - wanted.imag).abs().max().item())
    print(f"torch_hadamard_fft: max error {error:.2e}")
    assert error < 2e-5


if __name__ == "__main__":
    main()
