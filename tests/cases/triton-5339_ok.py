# case: triton-5339
# gpu: h100
# triton: 3.9
# expect: none
import torch
import triton
import triton.language as tl


# tritonlint: assume p_ptr=*fp16, v_ptr=*fp16, count_ptr=*fp32
@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}, num_warps=4), triton.Config({"BLOCK": 128}, num_warps=8)],
    key=["n"],
    reset_to_zero=["count_ptr"],
)
@triton.jit
def column_weights(p_ptr, v_ptr, count_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    weight = tl.load(p_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    value = tl.load(v_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    tl.atomic_add(count_ptr + i % 64, weight * value, mask=i < n)


def weigh(p, v):
    counts = torch.zeros(64, device=p.device, dtype=torch.float32)
    column_weights[lambda meta: (triton.cdiv(p.numel(), meta["BLOCK"]),)](p, v, counts, p.numel())
    return counts
