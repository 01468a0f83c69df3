# case: nanovllm-voxcpm-74
# gpu: h100
# triton: 3.4
# expect: TL203 error line=26|21 text contains 1
import torch
import triton
import triton.language as tl


# tritonlint: assume x_ptr=*bf16, w_ptr=*bf16, y_ptr=*fp32
@triton.jit
def lora_shrink(x_ptr, w_ptr, y_ptr, hidden, ROWS: tl.constexpr, RANK: tl.constexpr, BLOCK_K: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    rank = tl.arange(0, RANK)
    acc = tl.zeros((ROWS, RANK), dtype=tl.float32)
    for k in range(0, hidden, BLOCK_K):
        deep = k + tl.arange(0, BLOCK_K)
        a = tl.load(x_ptr + row[:, None] * hidden + deep[None, :])
        b = tl.load(w_ptr + rank[None, :] * hidden + deep[:, None])
        acc += tl.dot(a, b)
    tl.store(y_ptr + row[:, None] * RANK + rank[None, :], acc)


def shrink(x, w, y):
    rows, hidden = x.shape
    lora_shrink[(rows,)](x, w, y, hidden, ROWS=1, RANK=32, BLOCK_K=64, num_warps=4)
