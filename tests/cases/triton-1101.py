# case: triton-1101
# gpu: a100
# triton: 3.9
# expect: TL502 warning line=22
import torch
import triton
import triton.language as tl


# tritonlint: assume first_ptr=*fp32, second_ptr=*fp32, out_ptr=*fp32
@triton.jit
def blend_image(first_ptr, second_ptr, out_ptr, ratio, pixels, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    start = tl.program_id(0) * pixels
    first = tl.load(first_ptr + start + at, mask=at < pixels, other=0)
    second = tl.load(second_ptr + start + at, mask=at < pixels, other=0)
    tl.store(out_ptr + start + at, ratio * first + (1.0 - ratio) * second, mask=at < pixels)


def blend(first, second):
    out = torch.empty_like(first)
    blend_image[(512,)](first, second, out, 0.3, 3 * 224 * 224, BLOCK=triton.next_power_of_2(3 * 224 * 224))
    return out
