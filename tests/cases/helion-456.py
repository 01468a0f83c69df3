# case: helion-456
# gpu: b200
# triton: 3.9
# expect: TL202 error line=14 text contains 2,097,152
import torch
import triton
import triton.language as tl


# tritonlint: assume x_ptr=*fp32, y_ptr=*fp32
@triton.autotune(
    configs=[
        triton.Config({"ROWS": 64, "COLS": 64}, num_warps=4),
        triton.Config({"ROWS": 2048, "COLS": 1024}, num_warps=32, num_stages=8),
    ],
    key=["m", "n"],
)
@triton.jit
def doubled(x_ptr, y_ptr, m, n, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)[None, :]
    live = (row < m) & (col < n)
    tl.store(y_ptr + row * n + col, tl.load(x_ptr + row * n + col, mask=live) * 2.0, mask=live)


def double(x, y):
    m, n = x.shape
    grid = lambda meta: (triton.cdiv(m, meta["ROWS"]), triton.cdiv(n, meta["COLS"]))
    doubled[grid](x, y, m, n)
