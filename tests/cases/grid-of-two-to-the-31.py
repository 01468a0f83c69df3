# case: grid-of-two-to-the-31
# gpu: h100
# triton: 3.9
# expect: TL404 error line=19
import torch
import triton
import triton.language as tl


# tritonlint: assume x_ptr=*fp32, y_ptr=*fp32
@triton.jit
def outer(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = (tl.program_id(1).to(tl.int64) * tl.num_programs(0) + tl.program_id(0)) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i % n, mask=i % n < n))


# tritonlint: assume rows=65536, cols=1048576
def spread(x, y, rows, cols):
    outer[(cols // 16, rows // 2)](x, y, cols, BLOCK=32)
