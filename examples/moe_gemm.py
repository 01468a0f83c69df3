"""The grouped product of a mixture of experts: rows are gathered by token, each block of rows has one expert's weights.

What there is to find: a table made for a large GPU, of which one row does not fit on smaller ones.
"""

import torch
import triton
import triton.language as tl

# Rows a block, by how many tokens there are.
SMALL = {"BLOCK_M": 16, "BLOCK_N": 64, "BLOCK_K": 128, "num_warps": 4, "num_stages": 4}
LARGE = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 128, "num_warps": 8, "num_stages": 3}


# tritonlint: assume x_ptr=*bf16, w_ptr=*bf16, out_ptr=*bf16, tokens_ptr=*i32, experts_ptr=*i32, K=4096, N=7168
@triton.jit
def moe_gemm(
    x_ptr, w_ptr, out_ptr,
    tokens_ptr, experts_ptr,
    padded, N, K, top_k,
    stride_x, stride_we, stride_wn, stride_out,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BLOCK_N)
    block = pid // tiles_n
    cols = (pid % tiles_n) * BLOCK_N + tl.arange(0, BLOCK_N)
    slots = block * BLOCK_M + tl.arange(0, BLOCK_M)
    token = tl.load(tokens_ptr + slots)
    live = token < padded
    expert = tl.load(experts_ptr + block).to(tl.int64)
    deep = tl.arange(0, BLOCK_K)
    x_ptrs = x_ptr + (token // top_k)[:, None] * stride_x + deep[None, :]
    w_ptrs = w_ptr + expert * stride_we + cols[None, :] * stride_wn + deep[:, None]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        inside = deep < K - k * BLOCK_K
        x = tl.load(x_ptrs, mask=live[:, None] & inside[None, :], other=0.0)
        w = tl.load(w_ptrs, mask=inside[:, None] & (cols[None, :] < N), other=0.0)
        acc = tl.dot(x, w, acc)
        x_ptrs += BLOCK_K
        w_ptrs += BLOCK_K
    out_ptrs = out_ptr + token[:, None] * stride_out + cols[None, :]
    tl.store(out_ptrs, acc.to(tl.bfloat16), mask=live[:, None] & (cols[None, :] < N))


def run_experts(
    x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, tokens: torch.Tensor, experts: torch.Tensor, top_k: int
) -> None:
    """`tokens` holds the sorted token numbers, padded to whole blocks; `experts` one expert a block."""
    N, K = w.shape[1], w.shape[2]
    padded = out.shape[0]
    grid = lambda meta: (triton.cdiv(tokens.numel(), meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)  # noqa: E731
    if x.shape[0] <= 64:
        moe_gemm[grid](
            x, w, out, tokens, experts, padded, N, K, top_k,
            x.stride(0), w.stride(0), w.stride(1), out.stride(0), **SMALL,
        )  # fmt: skip
    else:
        moe_gemm[grid](
            x, w, out, tokens, experts, padded, N, K, top_k,
            x.stride(0), w.stride(0), w.stride(1), out.stride(0), **LARGE,
        )  # fmt: skip
