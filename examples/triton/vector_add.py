"""z = x + y, one block of elements a program."""

import numpy as np
import triton
import triton.language as tl

try:
    import torch
    as_tensor = torch.from_numpy  # shares the array's memory
except ImportError:
    as_tensor = np.asarray


@triton.jit
def add_kernel(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(z_ptr + offs, x + y, mask=mask)


def main():
    n = 98_432 + 7  # no multiple of the block
    rng = np.random.default_rng(0)
    x = rng.standard_normal(n, dtype=np.float32)
    y = rng.standard_normal(n, dtype=np.float32)
    z = np.zeros_like(x)

    add_kernel[(triton.cdiv(n, 1024),)](as_tensor(x), as_tensor(y), as_tensor(z), n, BLOCK=1024)

    error = np.abs(z - (x.astype(np.float64) + y)).max()
    print(f"vector add: max error {error:.2e}")
    assert error < 1e-6


if __name__ == "__main__":
    main()
