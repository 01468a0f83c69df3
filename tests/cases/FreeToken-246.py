# case: FreeToken-246
# gpu: sm_75
# triton: 3.2
# expect: TL101 error line=26 text contains 98,304
import torch
import triton
import triton.language as tl


# tritonlint: assume q=*fp16, k=*fp16, v=*fp16, o=*fp16
@triton.jit
def attend(q, k, v, o, n, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    dim = tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + dim[None, :])
    acc = tl.zeros((M, D), dtype=tl.float32)
    for start in range(0, n, N):
        cols = start + tl.arange(0, N)
        keys = tl.load(k + cols[None, :] * D + dim[:, None])
        values = tl.load(v + cols[:, None] * D + dim[None, :])
        acc += tl.dot(tl.dot(query, keys).to(tl.float16), values)
    tl.store(o + rows[:, None] * D + dim[None, :], acc.to(tl.float16))


def run(q, k, v, o):
    attend[(q.shape[0] // 128,)](q, k, v, o, k.shape[0], D=128, M=128, N=128, num_warps=8, num_stages=2)
    return torch.isfinite(o)
