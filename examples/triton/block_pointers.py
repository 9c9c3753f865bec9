"""x^T y of two matrices by block pointers, as kernels were written for Triton 3.8 and before.

Triton 3.9 has removed them; under `tilesight run` the program runs there, too.
"""

import numpy as np
import triton
import triton.language as tl

try:
    import torch
    as_tensor = torch.from_numpy  # shares the array's memory
except ImportError:
    as_tensor = np.asarray


@triton.jit
def transposed_times(x_ptr, y_ptr, out_ptr, rows, M, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    x = tl.make_block_ptr(x_ptr, (M, rows), (1, M), (m, 0), (BM, BK), (0, 1))  # x^T: the columns are contiguous
    y = tl.make_block_ptr(y_ptr, (rows, N), (N, 1), (0, n), (BK, BN), (1, 0))
    out = tl.make_block_ptr(out_ptr, (M, N), (N, 1), (m, n), (BM, BN), (1, 0))
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, rows, BK):
        a = tl.load(x, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(y, boundary_check=(0, 1), padding_option="zero")
        total = tl.dot(a, b, total, input_precision="ieee")
        x = tl.advance(x, (0, BK))
        y = tl.advance(y, (BK, 0))
    tl.store(out, total, boundary_check=(0, 1))


def main():
    rows, m, n = 150, 70, 100
    random = np.random.default_rng(0)
    x, y = (random.standard_normal((rows, columns), dtype=np.float32) for columns in (m, n))
    out = np.zeros((m, n), np.float32)

    grid = (triton.cdiv(m, 32), triton.cdiv(n, 32))
    transposed_times[grid](as_tensor(x), as_tensor(y), as_tensor(out), rows, m, n, BM=32, BN=32, BK=32)

    error = np.abs(out - x.T.astype(np.float64) @ y.astype(np.float64)).max()
    print(f"block pointers: max error {error:.2e}")
    assert error < 1e-4


if __name__ == "__main__":
    main()
