# case: Stand-In-10
# gpu: gfx942
# triton: 3.4
# expect: none
import torch
import triton
import triton.language as tl


# tritonlint: assume x_ptr=*bf16, y_ptr=*fp32
@triton.jit
def to_eight_bits(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float8e4nv)
    tl.store(y_ptr + i, x.to(tl.float32), mask=i < n)


def round_trip(x, y):
    to_eight_bits[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return torch.isfinite(y)
