# case: server-6751
# gpu: a100
# triton: 3.9
# expect: TL202 error line=25|12 text contains 2,097,152
import torch
import triton
import triton.language as tl


# tritonlint: assume x_ptr=*fp32, y_ptr=*fp32, width=1300000
@triton.jit
def layer_norm(x_ptr, y_ptr, width, eps, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    live = col < width
    x = tl.load(x_ptr + tl.program_id(0) * width + col, mask=live, other=0.0)
    mean = tl.sum(x, 0) / width
    centred = tl.where(live, x - mean, 0.0)
    var = tl.sum(centred * centred, 0) / width
    tl.store(y_ptr + tl.program_id(0) * width + col, centred * tl.rsqrt(var + eps), mask=live)


# tritonlint: assume width=1300000
def norm(x, y, rows, width):
    block = triton.next_power_of_2(width)
    layer_norm[(rows,)](x, y, width, 1.0e-5, BLOCK=block, num_warps=16)
