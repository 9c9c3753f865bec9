import triton
import triton.language as tl


p = tl.make_block_ptr(None, (1, ), (1, ), (0, ), (1, ), (0, ))
