"""Stream-K: the work of all tiles is one line of steps, cut evenly among programs. Whoever begins a tile adds
up the parts that later programs hand over, waiting for each."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def stream_k_kernel(A, B, C, Parts, Ready, M, N, K, tiles_n, total_steps, BLOCK_M: tl.constexpr,
                    BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    program = tl.program_id(0)
    programs = tl.num_programs(0)
    steps_of_tile = tl.cdiv(K, BLOCK_K)
    step = program * total_steps // programs
    end = (program + 1) * total_steps // programs
    inside = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    while step < end:
        tile = step // steps_of_tile
        first = step % steps_of_tile
        last = tl.minimum(steps_of_tile, first + end - step)
        rows = tile // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
        cols = tile % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
        acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
        for i in range(first, last):
            k = i * BLOCK_K + tl.arange(0, BLOCK_K)
            a = tl.load(A + rows[:, None] * K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0)
            b = tl.load(B + k[:, None] * N + cols[None, :], mask=(k[:, None] < K) & (cols[None, :] < N), other=0.0)
            acc = tl.dot(a, b, acc)
        if last < steps_of_tile:
            # The tile's end belongs to a later program: leave a part for it.
            tl.store(Parts + program * BLOCK_M * BLOCK_N + inside, acc)
            tl.debug_barrier()
            tl.atomic_xchg(Ready + program, 1, sem="release")
        else:
            begin = tile * steps_of_tile
            earlier = program - 1
            missing = first > 0
            while missing:
                while tl.atomic_cas(Ready + earlier, 1, 1, sem="acquire") != 1:
                    pass
                acc += tl.load(Parts + earlier * BLOCK_M * BLOCK_N + inside)
                missing = earlier * total_steps // programs > begin
                earlier -= 1
            tl.store(C + rows[:, None] * N + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N))
        step += last - first


def main():
    M, N, K, programs = 70, 90, 135, 7
    rng = np.random.default_rng(40)
    a, b = rng.standard_normal((M, K)).astype(np.float16), rng.standard_normal((K, N)).astype(np.float16)
    c = np.full((M, N), np.nan, np.float32)
    parts, ready = np.full((programs, 32, 32), np.nan, np.float32), np.zeros(programs, np.int32)
    tiles = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    stream_k_kernel[(programs,)](a, b, c, parts, ready, M, N, K, tiles[1], tiles[0] * tiles[1] * triton.cdiv(K, 16),
                                 BLOCK_M=32, BLOCK_N=32, BLOCK_K=16)
    error = np.abs(c - a.astype(np.float64) @ b.astype(np.float64)).max()
    print(f"matmul_stream_k: max error {error:.2e}")
    assert error < 1e-4


if __name__ == "__main__":
    main()
