# case: triton-1099
# gpu: a100
# triton: 3.9
# expect: not TL102
import torch
import triton
import triton.language as tl


# tritonlint: assume rgb_ptr=*fp32, hsv_ptr=*fp32
@triton.jit
def to_hsv(rgb_ptr, hsv_ptr, pixels, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < pixels
    r = tl.load(rgb_ptr + i, mask=live, other=0.0)
    g = tl.load(rgb_ptr + pixels + i, mask=live, other=0.0)
    tl.store(hsv_ptr + i, tl.maximum(r, g), mask=live)


def convert(image, out, pixels):
    to_hsv[(triton.cdiv(pixels, 65536),)](image, out, pixels, BLOCK=65536, num_warps=32)
