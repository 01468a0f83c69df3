# case: pytorch-195546
# gpu: t4
# triton: 3.9
# expect: none
import torch
import triton
import triton.language as tl


# tritonlint: assume in_ptr0=*fp32, in_ptr1=*fp32, out_ptr=*fp32
@triton.jit
def add_kernel(in_ptr0, in_ptr1, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(in_ptr0 + offsets, mask=mask)
    y = tl.load(in_ptr1 + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def f(x, y):
    output = torch.empty_like(x)
    add_kernel[(8,)](x, y, output, n_elements=128, BLOCK_SIZE=16)
    return output
