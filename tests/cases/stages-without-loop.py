# case: stages-without-loop
# gpu: h100
# triton: 3.9
# expect: TL504 warning line=10-12
import torch
import triton
import triton.language as tl


# tritonlint: assume x_ptr=*fp32, y_ptr=*fp32
@triton.autotune(
    configs=[triton.Config({}, num_stages=s, num_warps=w) for s in [1, 2, 3] for w in [4, 8]],
    key=["CHUNK"],
)
@triton.jit
def chunk_sums(x_ptr, y_ptr, CHUNK: tl.constexpr):
    i = tl.program_id(0) * CHUNK + tl.arange(0, CHUNK)
    tl.store(y_ptr + i, tl.cumsum(tl.exp(tl.load(x_ptr + i)), axis=0, reverse=True))


def sums(x, y):
    chunk_sums[(x.numel() // 256,)](x, y, CHUNK=256)
