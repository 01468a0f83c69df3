# case: triton-781
# gpu: rtx3090
# triton: 3.9
# expect: none
import torch
import triton
import triton.language as tl


# tritonlint: assume in_out_ptr=*fp32, x_ptr=*fp32
@triton.autotune(
    configs=[
        triton.Config({"XBLOCK": 1, "RBLOCK": 64}),
        triton.Config({"XBLOCK": 4, "RBLOCK": 64}),
    ],
    key=["rows", "cols"],
    restore_value=["in_out_ptr"],
)
@triton.jit
def normed(in_out_ptr, x_ptr, rows, cols, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr):
    row = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:, None]
    total = tl.zeros((XBLOCK, RBLOCK), dtype=tl.float32)
    for start in range(0, cols, RBLOCK):
        col = start + tl.arange(0, RBLOCK)[None, :]
        total += tl.load(x_ptr + row * cols + col, mask=(row < rows) & (col < cols), other=0.0)
    mean = tl.sum(total, 1)[:, None] / cols
    spot = tl.load(in_out_ptr + row, mask=row < rows, other=0.0)
    tl.store(in_out_ptr + row, spot + mean, mask=row < rows)


def run(out, x):
    rows, cols = x.shape
    normed[lambda meta: (triton.cdiv(rows, meta["XBLOCK"]),)](out, x, rows, cols)
