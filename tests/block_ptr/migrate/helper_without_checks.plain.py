import triton
import triton.language as tl


@triton.jit
def whole(block_base, block_stride_0, block_stride_1, block_0, block_1):
    return tl.load(block_base + block_0[:, None] * block_stride_0 + block_1[None, :] * block_stride_1)


@triton.jit
def single(place):
    return tl.load(place)


@triton.jit
def kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    p_0 = row + tl.arange(0, 1).to(tl.int64)
    p_1 = tl.arange(0, 1).to(tl.int64)
    q_0 = row + tl.arange(0, 1).to(tl.int64)
    q_1 = tl.arange(0, 1).to(tl.int64)
    tl.store(y + q_0[:, None] * N + q_1[None, :], whole(x, N, 1, p_0, p_1) + single(x + row * N))
