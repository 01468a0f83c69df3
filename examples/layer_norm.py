"""Layer norm, and the update of its weights in place.

What there is to find: the update is tuned while it changes what it reads, without restore_value, and its key names no
argument.
"""

import torch
import triton
import triton.language as tl


# tritonlint: assume x_ptr=*bf16, y_ptr=*bf16, weight_ptr=*bf16, bias_ptr=*bf16, rows=16384, columns=4096, eps=fp32
@triton.autotune(
    configs=[triton.Config({"BLOCK": block}, num_warps=warps) for block in (1024, 2048, 4096) for warps in (4, 8, 16)],
    key=["columns"],
)
@triton.jit
def layer_norm_rows(x_ptr, y_ptr, weight_ptr, bias_ptr, stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * stride
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row + cols, mask=cols < columns, other=0.0).to(tl.float32)
        total += x
        squares += x * x
    mean = tl.sum(total, 0) / columns
    variance = tl.sum(squares, 0) / columns - mean * mean
    scale = 1.0 / tl.sqrt(variance + eps)
    for start in range(0, columns, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        live = cols < columns
        x = tl.load(x_ptr + row + cols, mask=live, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + cols, mask=live).to(tl.float32)
        bias = tl.load(bias_ptr + cols, mask=live).to(tl.float32)
        tl.store(y_ptr + row + cols, ((x - mean) * scale * weight + bias).to(tl.bfloat16), mask=live)


# tritonlint: assume weight_ptr=*bf16, gradient_ptr=*fp32, momentum_ptr=*fp32, count=4096, rate=fp32, decay=fp32
@triton.autotune(
    configs=[triton.Config({"BLOCK": 512}, num_warps=2), triton.Config({"BLOCK": 2048}, num_warps=8)],
    key=["n"],
)
@triton.jit
def update_weights(weight_ptr, gradient_ptr, momentum_ptr, count, rate, decay, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < count
    gradient = tl.load(gradient_ptr + i, mask=live)
    momentum = tl.load(momentum_ptr + i, mask=live) * decay + gradient
    weight = tl.load(weight_ptr + i, mask=live).to(tl.float32)
    tl.store(momentum_ptr + i, momentum, mask=live)
    tl.store(weight_ptr + i, (weight - rate * momentum).to(tl.bfloat16), mask=live)


def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    y = torch.empty_like(x)
    rows, columns = x.shape
    layer_norm_rows[(rows,)](x, y, weight, bias, x.stride(0), columns, eps)
    return y


def update(weight: torch.Tensor, gradient: torch.Tensor, momentum: torch.Tensor, rate: float, decay: float) -> None:
    count = weight.numel()
    grid = lambda meta: (triton.cdiv(count, meta["BLOCK"]),)  # noqa: E731
    update_weights[grid](weight, gradient, momentum, count, rate, decay)
