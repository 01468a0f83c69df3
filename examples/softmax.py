"""A softmax over rows, one row a program, tuned.

What there is to find: num_stages in the list, which does nothing in a kernel without a loop of dots, and 64 warps.
"""

import torch
import triton
import triton.language as tl


# tritonlint: assume x_ptr=*fp16, y_ptr=*fp16, rows=8192, columns=4000
@triton.autotune(
    configs=[
        triton.Config({}, num_warps=4, num_stages=2),
        triton.Config({}, num_warps=4, num_stages=4),
        triton.Config({}, num_warps=8, num_stages=2),
        triton.Config({}, num_warps=8, num_stages=4),
        triton.Config({}, num_warps=64, num_stages=2),
    ],
    key=["columns"],
)
@triton.jit
def softmax_rows(x_ptr, y_ptr, stride_x, stride_y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    live = cols < columns
    x = tl.load(x_ptr + row * stride_x + cols, mask=live, other=-float("inf")).to(tl.float32)
    x = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * stride_y + cols, (x / tl.sum(x, 0)).to(tl.float16), mask=live)


def softmax(x: torch.Tensor) -> torch.Tensor:
    rows, columns = x.shape
    y = torch.empty_like(x)
    softmax_rows[(rows,)](x, y, x.stride(0), y.stride(0), columns, BLOCK=triton.next_power_of_2(columns))
    return y
