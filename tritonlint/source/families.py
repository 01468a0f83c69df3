"""The kernels behind tuned files, as small Triton programs of the same shape.

A tuned file holds configs, not code; what a config costs follows from the kernel that it is for. These programs do what
the families' kernels do where it matters to the compiler: which tiles are loaded with which types and through which
indirection, what is multiplied, and what is scaled inside the loop. In which order programs take tiles (GROUP_SIZE_M)
is not among that: it is arithmetic on one number, so that one size of group stands for all.
"""

from __future__ import annotations

# A routed matrix product: rows of A are picked by sorted token ids, each block of rows has one expert's B.
# QUANT: 0 operands as they are; 1 eight-bit A and B; 2 eight-bit B, converted; 3 four-bit B, two in a byte.
FUSED_MOE = """
import triton
import triton.language as tl


@triton.jit
def fused_moe(
    a_ptr, b_ptr, c_ptr, a_scale_ptr, b_scale_ptr, weight_ptr, token_ptr, expert_ptr, padded_ptr,
    N, K, EM, tokens, stride_am, stride_be, stride_bn, stride_cm, stride_asm, stride_bse, stride_bsk, stride_bsn,
    GROUP_N: tl.constexpr, GROUP_K: tl.constexpr, QUANT: tl.constexpr, OUT: tl.constexpr, TOP_K: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    blocks_m = tl.cdiv(EM, BLOCK_SIZE_M)
    blocks_n = tl.cdiv(N, BLOCK_SIZE_N)
    in_group = 8 * blocks_n
    first_m = (pid // in_group) * 8
    group_m = min(blocks_m - first_m, 8)
    pid_m = first_m + ((pid % in_group) % group_m)
    pid_n = (pid % in_group) // group_m
    padded = tl.load(padded_ptr)
    if pid_m * BLOCK_SIZE_M >= padded:
        return
    rows = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M).to(tl.int64)
    token = tl.load(token_ptr + rows).to(tl.int64)
    valid = token < tokens
    expert = tl.load(expert_ptr + pid_m).to(tl.int64)
    columns = (pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N).to(tl.int64)) % N
    inner = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + (token[:, None] // TOP_K * stride_am + inner[None, :])
    if QUANT == 3:
        b_ptrs = b_ptr + expert * stride_be + ((inner[:, None] // 2) + columns[None, :] * stride_bn)
        shift = (inner[:, None] % 2) * 4
    else:
        b_ptrs = b_ptr + expert * stride_be + (inner[:, None] + columns[None, :] * stride_bn)
    if QUANT == 2:
        b_scale = tl.load(b_scale_ptr + expert * stride_bse + columns[None, :] * stride_bsn)
    if QUANT == 1:
        if GROUP_K > 0:
            a_scale_ptrs = a_scale_ptr + (token // TOP_K) * stride_asm
            b_scale_ptrs = b_scale_ptr + expert * stride_bse + (columns // GROUP_N) * stride_bsn
        else:
            a_scale = tl.load(a_scale_ptr)
            b_scale = tl.load(b_scale_ptr + expert)
    acc = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        a = tl.load(a_ptrs, mask=valid[:, None] & (inner[None, :] < K - k * BLOCK_SIZE_K), other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] < K - k * BLOCK_SIZE_K, other=0.0)
        if QUANT == 2:
            acc = tl.dot(a, b.to(OUT), acc=acc)
        elif QUANT == 3:
            nibble = (b >> shift) & 0xF
            group = (inner[:, None] + BLOCK_SIZE_K * k) // GROUP_K
            scale = tl.load(
                b_scale_ptr + expert * stride_bse + columns[None, :] * stride_bsn + group * stride_bsk
            ).to(tl.float32)
            acc = tl.dot(a, ((nibble.to(tl.float32) - 8) * scale).to(OUT), acc=acc)
        elif QUANT == 1:
            if GROUP_K > 0:
                step = k * BLOCK_SIZE_K // GROUP_K
                a_scale = tl.load(a_scale_ptrs + step, mask=valid, other=0.0)
                b_scale = tl.load(b_scale_ptrs + step * stride_bsk)
                acc += tl.dot(a, b) * a_scale[:, None] * b_scale[None, :]
            else:
                acc += tl.dot(a, b)
        else:
            acc += tl.dot(a, b)
        a_ptrs += BLOCK_SIZE_K
        if QUANT == 3:
            b_ptrs += BLOCK_SIZE_K // 2
        else:
            b_ptrs += BLOCK_SIZE_K
    if QUANT == 2:
        acc = acc * b_scale
    if QUANT == 1:
        if GROUP_K == 0:
            acc = acc * a_scale * b_scale
    acc = acc.to(OUT)
    out_columns = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    c_ptrs = c_ptr + stride_cm * token[:, None] + out_columns[None, :]
    tl.store(c_ptrs, acc, mask=valid[:, None] & (out_columns[None, :] < N))
"""

# A product of block-scaled eight-bit matrices.
BLOCK_GEMM = """
import triton
import triton.language as tl


@triton.jit
def block_scaled_gemm(
    a_ptr, b_ptr, c_ptr, a_scale_ptr, b_scale_ptr, M, N, K, stride_am, stride_bn, stride_cm, stride_asm, stride_bsn,
    GROUP_N: tl.constexpr, GROUP_K: tl.constexpr, OUT: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    blocks_m = tl.cdiv(M, BLOCK_SIZE_M)
    blocks_n = tl.cdiv(N, BLOCK_SIZE_N)
    in_group = 8 * blocks_n
    first_m = (pid // in_group) * 8
    group_m = min(blocks_m - first_m, 8)
    pid_m = first_m + (pid % group_m)
    pid_n = (pid % in_group) // group_m
    rows = (pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)) % M
    columns = (pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)) % N
    inner = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + (rows[:, None] * stride_am + inner[None, :])
    b_ptrs = b_ptr + (inner[:, None] + columns[None, :] * stride_bn)
    a_scale_ptrs = a_scale_ptr + rows * stride_asm
    b_scale_ptrs = b_scale_ptr + (columns // GROUP_N) * stride_bsn
    acc = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        a = tl.load(a_ptrs, mask=inner[None, :] < K - k * BLOCK_SIZE_K, other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] < K - k * BLOCK_SIZE_K, other=0.0)
        step = k * BLOCK_SIZE_K // GROUP_K
        a_scale = tl.load(a_scale_ptrs + step)
        b_scale = tl.load(b_scale_ptrs + step)
        acc += tl.dot(a, b) * a_scale[:, None] * b_scale[None, :]
        a_ptrs += BLOCK_SIZE_K
        b_ptrs += BLOCK_SIZE_K
    c = acc.to(OUT)
    out_rows = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    out_columns = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    c_ptrs = c_ptr + stride_cm * out_rows[:, None] + out_columns[None, :]
    tl.store(c_ptrs, c, mask=(out_rows[:, None] < M) & (out_columns[None, :] < N))
"""

SOURCES = {"fused-moe": ("fused_moe", FUSED_MOE), "block-gemm": ("block_scaled_gemm", BLOCK_GEMM)}
