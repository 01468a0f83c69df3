# case: grid-of-another-tile
# gpu: a100
# triton: 3.9
# expect: TL402 error line=30
import torch
import triton
import triton.language as tl


# tritonlint: assume a=*fp16, b=*fp16, c=*fp16
@triton.jit
def mm(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    om = tl.program_id(0) * BM + tl.arange(0, BM)
    on = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        ok = k + tl.arange(0, BK)
        acc = tl.dot(
            tl.load(a + om[:, None] * K + ok[None, :]), tl.load(b + ok[:, None] * N + on[None, :]), acc
        )
    tl.store(
        c + om[:, None] * N + on[None, :], acc.to(tl.float16), mask=(om[:, None] < M) & (on[None, :] < N)
    )


def run(a, b, c):
    M, K = a.shape
    N = b.shape[1]
    grid = lambda m: (triton.cdiv(M, m["BM"]), triton.cdiv(N, m["BM"]))
    mm[grid](a, b, c, M, N, K, BM=64, BN=32, BK=32)
