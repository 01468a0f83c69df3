# case: PainlessInferenceAcceleration-35
# gpu: rtx3090
# triton: 3.9
# expect: none
import torch
import triton
import triton.language as tl


# tritonlint: assume a_ptr=*fp16, b_ptr=*fp16, c_ptr=*fp16
@triton.jit
def chunk_product(
    a_ptr, b_ptr, c_ptr, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :])
        b = tl.load(b_ptr + n[None, :] * K + k[:, None])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + m[:, None] * 4096 + n[None, :], acc.to(tl.float16))


def product(a, b, c):
    chunk_product[(32, 16)](a, b, c, 4096, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, num_warps=8, num_stages=2)
