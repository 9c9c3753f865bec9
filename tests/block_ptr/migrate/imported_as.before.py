import triton
import triton.language as foo
from triton.language import advance as move, make_block_ptr as block


@triton.jit
def kernel(x, y, M, N, BM: foo.constexpr, BN: foo.constexpr):
    p = block(x, (M, N), (N, 1), (foo.program_id(0) * BM, 0), (BM, BN), (1, 0))
    q = block(y, (M, N), (N, 1), (foo.program_id(0) * BM, 0), (BM, BN), (1, 0))
    for _ in range(0, N, BN):
        foo.store(q, foo.load(p, boundary_check=(0, 1), padding_option="zero") * 2, boundary_check=(0, 1))
        p = move(p, (0, BN))
        q = move(q, (0, BN))
