"""Forward attention with a running maximum, tuned over tiles and stages.

What there is to find: tiles of a comprehension that do not fit with a head of 128 on a 99 KB GPU.
"""
import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"BLOCK_M": m, "BLOCK_N": n}, num_warps=warps, num_stages=stages)
    for m, warps in ((64, 4), (128, 8))
    for n in (32, 64, 128)
    for stages in (2, 3, 4)
]


# tritonlint: assume q_ptr=*fp16, k_ptr=*fp16, v_ptr=*fp16, out_ptr=*fp16, tokens=4096, scale=fp32
@triton.autotune(configs=CONFIGS, key=["HEAD_DIM", "CAUSAL"])
@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr,
    stride_head, stride_token,
    tokens, scale,
    HEAD_DIM: tl.constexpr, CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1).to(tl.int64) * stride_head
    rows = first + tl.arange(0, BLOCK_M)
    dim = tl.arange(0, HEAD_DIM)
    q_ptrs = q_ptr + head + rows[:, None] * stride_token + dim[None, :]
    q = tl.load(q_ptrs, mask=rows[:, None] < tokens, other=0.0)

    highest = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    last = tokens
    if CAUSAL:
        last = tl.minimum(tokens, first + BLOCK_M)
    for start in range(0, last, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        keys = tl.load(k_ptr + head + cols[None, :] * stride_token + dim[:, None], mask=cols[None, :] < tokens, other=0.0)
        scores = tl.dot(q, keys) * scale
        scores = tl.where(cols[None, :] < tokens, scores, -float("inf"))
        if CAUSAL:
            scores = tl.where(rows[:, None] >= cols[None, :], scores, -float("inf"))
        new = tl.maximum(highest, tl.max(scores, 1))
        weights = tl.exp2(scores - new[:, None])
        shrink = tl.exp2(highest - new)
        total = total * shrink + tl.sum(weights, 1)
        values = tl.load(v_ptr + head + cols[:, None] * stride_token + dim[None, :], mask=cols[:, None] < tokens, other=0.0)
        acc = acc * shrink[:, None]
        acc = tl.dot(weights.to(values.dtype), values, acc)
        highest = new

    out_ptrs = out_ptr + head + rows[:, None] * stride_token + dim[None, :]
    tl.store(out_ptrs, (acc / total[:, None]).to(tl.float16), mask=rows[:, None] < tokens)


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = True) -> torch.Tensor:
    """q, k, v: (heads, tokens, 128), contiguous."""
    heads, tokens, dim = q.shape
    out = torch.empty_like(q)
    scale = 1.4426950408889634 / dim**0.5
    grid = lambda meta: (triton.cdiv(tokens, meta["BLOCK_M"]), heads)  # noqa: E731
    attention[grid](q, k, v, out, q.stride(0), q.stride(1), tokens, scale, HEAD_DIM=128, CAUSAL=causal)
    return out
