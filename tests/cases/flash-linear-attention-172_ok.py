# case: flash-linear-attention-172
# gpu: h100
# triton: 3.9
# expect: none
import torch
import triton
import triton.language as tl


# tritonlint: assume q_ptr=*bf16, h_ptr=*fp32, B=10923, H=6, K=64, V=64
@triton.jit
def recurrent_state(q_ptr, h_ptr, T, K, V, BK: tl.constexpr, BV: tl.constexpr):
    i_k, i_v, i_bh = tl.program_id(1), tl.program_id(2), tl.program_id(0)
    k = i_k * BK + tl.arange(0, BK)
    v = i_v * BV + tl.arange(0, BV)
    state = tl.zeros((BV, BK), dtype=tl.float32)
    for t in range(0, T):
        row = tl.load(q_ptr + (i_bh * T + t) * K + k, mask=k < K, other=0.0).to(tl.float32)
        state += row[None, :] * 0.5
    tl.store(h_ptr + i_bh * K * V + v[:, None] * K + k[None, :], state)


# tritonlint: assume B=10923, H=6, K=64, V=64
def run_state(q, h, B, H, T, K, V):
    BK, BV = 64, 16
    NK, NV = triton.cdiv(K, BK), triton.cdiv(V, BV)
    recurrent_state[(B * H, NK, NV)](q, h, T, K, V, BK=BK, BV=BV, num_warps=1)
