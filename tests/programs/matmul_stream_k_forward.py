"""Stream-K the other way round: the first program of a tile waits for later ones, which must be resident."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def stream_k_forward_kernel(A, B, C, Parts, Ready, N, K, steps, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    # One tile; its steps are cut among all programs, and program 0 collects.
    program = tl.program_id(0)
    programs = tl.num_programs(0)
    i = tl.arange(0, BLOCK)
    inside = i[:, None] * BLOCK + i[None, :]
    acc = tl.zeros([BLOCK, BLOCK], tl.float32)
    for step in range(program * steps // programs, (program + 1) * steps // programs):
        k = step * BLOCK_K + tl.arange(0, BLOCK_K)
        a = tl.load(A + i[:, None] * K + k[None, :], mask=(i[:, None] < N) & (k[None, :] < K), other=0.0)
        b = tl.load(B + k[:, None] * N + i[None, :], mask=(k[:, None] < K) & (i[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    if program > 0:
        tl.store(Parts + program * BLOCK * BLOCK + inside, acc)
        tl.debug_barrier()
        tl.atomic_xchg(Ready + program, 1, sem="release")
    else:
        for other in range(1, programs):
            while tl.atomic_add(Ready + other, 0, sem="acquire") == 0:
                pass
            acc += tl.load(Parts + other * BLOCK * BLOCK + inside)
        tl.store(C + i[:, None] * N + i[None, :], acc, mask=(i[:, None] < N) & (i[None, :] < N))


def main():
    N, K, programs = 27, 200, 5
    rng = np.random.default_rng(41)
    a, b = rng.standard_normal((N, K), dtype=np.float32), rng.standard_normal((K, N), dtype=np.float32)
    c, parts = np.full((N, N), np.nan, np.float32), np.zeros((programs, 32, 32), np.float32)
    ready = np.zeros(programs, np.int32)
    stream_k_forward_kernel[(programs,)](a, b, c, parts, ready, N, K, triton.cdiv(K, 16), BLOCK=32, BLOCK_K=16)
    error = np.abs(c - a.astype(np.float64) @ b).max()
    print(f"matmul_stream_k_forward: max error {error:.2e}")
    assert error < 1e-4


if __name__ == "__main__":
    main()
