# case: triton-5066
# gpu: sm_70
# triton: 3.3
# expect: TL206 error line=15|19
import torch
import triton
import triton.language as tl


# tritonlint: assume a_ptr=*fp16, b_ptr=*fp16, c_ptr=*fp32
@triton.jit
def tile(a_ptr, b_ptr, c_ptr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    at = i[:, None] * SIZE + i[None, :]
    tl.store(c_ptr + at, tl.dot(tl.load(a_ptr + at), tl.load(b_ptr + at)))


def multiply(a, b, c):
    tile[(1,)](a, b, c, SIZE=64)
