import triton
import triton.language as foo


@triton.jit
def kernel(x, y, M, N, BM: foo.constexpr, BN: foo.constexpr):
    p_0 = foo.program_id(0) * BM + foo.arange(0, BM).to(foo.int64)
    p_1 = foo.arange(0, BN).to(foo.int64)
    q_0 = foo.program_id(0) * BM + foo.arange(0, BM).to(foo.int64)
    q_1 = foo.arange(0, BN).to(foo.int64)
    for _ in range(0, N, BN):
        foo.store(y + q_0[:, None] * N + q_1[None, :],
                  foo.load(x + p_0[:, None] * N + p_1[None, :],
                              mask=(p_0 >= 0)[:, None] & (p_0 < M)[:, None] & (p_1 < N)[None, :], other=0.0) * 2,
                  mask=(q_0 >= 0)[:, None] & (q_0 < M)[:, None] & (q_1 < N)[None, :])
        p_1 += BN
        q_1 += BN
