import triton
import triton.language as tl


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    for k in range(0, N, BN):
        x_block_0 = row + tl.arange(0, BM).to(tl.int64)
        x_block_1 = k + tl.arange(0, BN).to(tl.int64)
        tile = tl.load(x + x_block_0[:, None] * N + x_block_1[None, :],
                       mask=(x_block_0 >= 0)[:, None] & (x_block_0 < M)[:, None] & (x_block_1 < N)[None, :])
        q_0 = row + tl.arange(0, BM).to(tl.int64)
        q_1 = k + tl.arange(0, BN).to(tl.int64)
        q_moved_0 = q_0
        q_moved_1 = q_1
        tl.store(y + q_moved_0[:, None] * N + q_moved_1[None, :], tile,
                 mask=(q_moved_0 >= 0)[:, None] & (q_moved_0 < M)[:, None] & (q_moved_1 < N)[None, :])
