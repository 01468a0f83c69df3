"""Kernels that nothing is fitted on, timed on a real GPU (held_out.py): training, quantised and serving shapes."""

import triton
import triton.language as tl


@triton.jit
def layernorm_bwd_dx(DX, DY, X, W, MEAN, RSTD, DWP, stride, N, GROUP_ROWS, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    w = tl.load(W + cols, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(GROUP_ROWS):
        row = pid * GROUP_ROWS + i
        x = tl.load(X + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(DY + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
        mean = tl.load(MEAN + row)
        rstd = tl.load(RSTD + row)
        xhat = (x - mean) * rstd
        wdy = w * dy
        xhat = tl.where(mask, xhat, 0.0)
        c1 = tl.sum(xhat * wdy, axis=0) / N
        c2 = tl.sum(wdy, axis=0) / N
        dx = (wdy - (xhat * c1 + c2)) * rstd
        dw += dy * xhat
        tl.store(DX + row * stride + cols, dx, mask=mask)
    tl.store(DWP + pid * N + cols, dw, mask=mask)


@triton.jit
def cross_entropy(LOGITS, LABELS, LOSS, LSE, V, stride, BLOCK_V: tl.constexpr):
    row = tl.program_id(0)
    base = LOGITS + row.to(tl.int64) * stride
    label = tl.load(LABELS + row)
    m = -float("inf")
    s = 0.0
    for start in range(0, V, BLOCK_V):
        offs = start + tl.arange(0, BLOCK_V)
        x = tl.load(base + offs, mask=offs < V, other=-float("inf")).to(tl.float32)
        mn = tl.maximum(m, tl.max(x, 0))
        s = s * tl.exp(m - mn) + tl.sum(tl.exp(x - mn), 0)
        m = mn
    lse = m + tl.log(s)
    picked = tl.load(base + label).to(tl.float32)
    tl.store(LOSS + row, lse - picked)
    tl.store(LSE + row, lse)


@triton.jit
def swiglu_bwd(DC, A, B, DA, DB, n, stride, BLOCK: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    dc = tl.load(DC + pid * stride + offs, mask=mask, other=0)
    a = tl.load(A + pid * stride + offs, mask=mask, other=0).to(tl.float32)
    b = tl.load(B + pid * stride + offs, mask=mask, other=0)
    sig = tl.sigmoid(a)
    silu = a * sig
    db = dc * silu
    da = dc * (silu * (1 - sig) + sig) * b
    tl.store(DA + pid * stride + offs, da, mask=mask)
    tl.store(DB + pid * stride + offs, db, mask=mask)


@triton.jit
def rope_pairs(X, COS, SIN, Y, T, H, D: tl.constexpr, BLOCK_T: tl.constexpr):
    pid = tl.program_id(0)
    head = tl.program_id(1)
    rows = pid * BLOCK_T + tl.arange(0, BLOCK_T)
    cols = tl.arange(0, D)
    half = tl.arange(0, D // 2)
    mask = rows[:, None] < T
    x = tl.load(X + (rows[:, None] * H + head) * D + cols[None, :], mask=mask, other=0.0)
    even, odd = tl.split(tl.reshape(x, (BLOCK_T, D // 2, 2)))
    c = tl.load(COS + rows[:, None] * (D // 2) + half[None, :], mask=mask, other=0.0)
    s = tl.load(SIN + rows[:, None] * (D // 2) + half[None, :], mask=mask, other=0.0)
    out = tl.reshape(tl.join(even * c - odd * s, even * s + odd * c), (BLOCK_T, D))
    tl.store(Y + (rows[:, None] * H + head) * D + cols[None, :], out, mask=mask)


@triton.jit
def moe_gemm(
    A,
    B,
    C,
    IDS,
    EXPERTS,
    N,
    K,
    stride_am,
    stride_be,
    stride_bn,
    stride_cm,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    TOPK: tl.constexpr,
):
    pid_n = tl.program_id(0)
    pid_m = tl.program_id(1)
    slots = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    tokens = tl.load(IDS + slots)
    expert = tl.load(EXPERTS + pid_m).to(tl.int64)
    offs_n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = A + (tokens[:, None] // TOPK) * stride_am + offs_k[None, :]
    b_ptrs = B + expert * stride_be + offs_n[None, :] * stride_bn + offs_k[:, None]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(
        C + tokens[:, None] * stride_cm + offs_cn[None, :], acc.to(tl.bfloat16), mask=offs_cn[None, :] < N
    )


@triton.jit
def int4_weights(
    A,
    QW,
    S,
    C,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    rq = tl.arange(0, BLOCK_K // 2)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(A + (rm[:, None] % M) * K + k + rk[None, :])
        q = tl.load(QW + (k // 2 + rq[:, None]) * N + rn[None, :])
        lo = (q & 0xF).to(tl.int8) - 8
        hi = ((q >> 4) & 0xF).to(tl.int8) - 8
        w = tl.join(lo, hi).permute(0, 2, 1).reshape(BLOCK_K, BLOCK_N)
        s = tl.load(S + (k // GROUP) * N + rn)
        acc += tl.dot(a, w.to(tl.float16)) * s[None, :].to(tl.float32)
    tl.store(C + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=rm[:, None] < M)


@triton.jit
def fp8_block_gemm(
    A, B, AS, BS, C, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    pid = tl.program_id(0)
    num_m = tl.cdiv(M, BLOCK_M)
    pid_m = pid % num_m
    pid_n = pid // num_m
    rm = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    rn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    rk = tl.arange(0, BLOCK_K)
    a_ptrs = A + rm[:, None] * K + rk[None, :]
    b_ptrs = B + rn[None, :] * K + rk[:, None]
    kb = K // 128
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs)
        b = tl.load(b_ptrs)
        sa = tl.load(AS + rm * kb + (k * BLOCK_K) // 128)
        sb = tl.load(BS + (rn // 128) * kb + (k * BLOCK_K) // 128)
        acc += tl.dot(a, b) * sa[:, None] * sb[None, :]
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    om = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    on = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(
        C + om[:, None] * N + on[None, :], acc.to(tl.bfloat16), mask=(om[:, None] < M) & (on[None, :] < N)
    )


@triton.jit
def batched_product(
    A, B, C, M, N, K, sab, sbb, scb, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    batch = tl.program_id(2)
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    a_ptrs = A + batch * sab + rm[:, None] * K + rk[None, :]
    b_ptrs = B + batch * sbb + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (rk[None, :] + k < K), other=0.0)
        b = tl.load(b_ptrs, mask=(rk[:, None] + k < K) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    tl.store(
        C + batch * scb + rm[:, None] * N + rn[None, :],
        acc.to(tl.float16),
        mask=(rm[:, None] < M) & (rn[None, :] < N),
    )


@triton.jit
def conv3x3(X, W, Y, H, WD, CIN, COUT, BLOCK_P: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_C: tl.constexpr):
    # channels last, no padding of the input: the input is (H + 2, WD + 2, CIN)
    pix = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    oy = pix // WD
    ox = pix % WD
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    rc = tl.arange(0, BLOCK_C)
    live = pix < H * WD
    acc = tl.zeros((BLOCK_P, BLOCK_N), tl.float32)
    for step in range(9 * (CIN // BLOCK_C)):
        tap = step // (CIN // BLOCK_C)
        c = (step % (CIN // BLOCK_C)) * BLOCK_C
        ky = tap // 3
        kx = tap % 3
        x = tl.load(
            X + ((oy + ky) * (WD + 2) + ox + kx)[:, None] * CIN + (c + rc)[None, :],
            mask=live[:, None],
            other=0.0,
        )
        w = tl.load(W + (tap * CIN + c + rc)[:, None] * COUT + rn[None, :])
        acc += tl.dot(x, w)
    tl.store(Y + pix[:, None] * COUT + rn[None, :], acc.to(tl.float16), mask=live[:, None])


@triton.jit
def attn_bwd_dkdv(
    Q,
    K,
    V,
    DO,
    DK,
    DV,
    LSE,
    DELTA,
    sm_scale,
    S,
    stride_h,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    D: tl.constexpr,
):
    n = tl.program_id(0)
    h = tl.program_id(1)
    base = h.to(tl.int64) * stride_h
    rn = n * BLOCK_N + tl.arange(0, BLOCK_N)
    rd = tl.arange(0, D)
    k = tl.load(K + base + rn[:, None] * D + rd[None, :])
    v = tl.load(V + base + rn[:, None] * D + rd[None, :])
    dk = tl.zeros((BLOCK_N, D), tl.float32)
    dv = tl.zeros((BLOCK_N, D), tl.float32)
    for m in range(n * BLOCK_N // BLOCK_M * BLOCK_M, S, BLOCK_M):
        rm = m + tl.arange(0, BLOCK_M)
        qT = tl.load(Q + base + rm[None, :] * D + rd[:, None])
        lse = tl.load(LSE + h * S + rm)
        kq = tl.dot(k, qT)
        p = tl.math.exp2(kq * sm_scale - lse[None, :])
        p = tl.where(rm[None, :] >= rn[:, None], p, 0.0)
        do = tl.load(DO + base + rm[:, None] * D + rd[None, :])
        dv += tl.dot(p.to(tl.bfloat16), do)
        delta = tl.load(DELTA + h * S + rm)
        dp = tl.dot(v, tl.trans(do))
        ds = (p * (dp - delta[None, :])).to(tl.bfloat16)
        dk += tl.dot(ds, tl.trans(qT))
    tl.store(DK + base + rn[:, None] * D + rd[None, :], (dk * sm_scale).to(tl.bfloat16))
    tl.store(DV + base + rn[:, None] * D + rd[None, :], dv.to(tl.bfloat16))


@triton.jit
def paged_decode(
    Q,
    KC,
    VC,
    O,
    LSE,
    TABLE,
    LENGTH,
    sm_scale,
    HEADS,
    KVH: tl.constexpr,
    G: tl.constexpr,
    D: tl.constexpr,
    PAGE: tl.constexpr,
    SPLITS: tl.constexpr,
    PAGES: tl.constexpr,
    BLOCK_G: tl.constexpr,
):
    b = tl.program_id(0)
    kvh = tl.program_id(1)
    split = tl.program_id(2)
    rg = tl.arange(0, BLOCK_G)
    rd = tl.arange(0, D)
    rp = tl.arange(0, PAGE)
    q = tl.load(Q + (b * HEADS + kvh * G + rg[:, None]) * D + rd[None, :], mask=rg[:, None] < G, other=0.0)
    length = tl.load(LENGTH + b)
    per = tl.cdiv(tl.cdiv(length, PAGE), SPLITS)
    m = tl.full((BLOCK_G,), -float("inf"), tl.float32)
    l = tl.zeros((BLOCK_G,), tl.float32)
    acc = tl.zeros((BLOCK_G, D), tl.float32)
    for i in range(split * per, min((split + 1) * per, tl.cdiv(length, PAGE))):
        page = tl.load(TABLE + b * PAGES + i).to(tl.int64)
        k = tl.load(KC + ((page * KVH + kvh) * PAGE + rp[None, :]) * D + rd[:, None])
        v = tl.load(VC + ((page * KVH + kvh) * PAGE + rp[:, None]) * D + rd[None, :])
        s = tl.dot(q, k) * sm_scale
        s = tl.where(i * PAGE + rp[None, :] < length, s, -1e9)
        mn = tl.maximum(m, tl.max(s, 1))
        alpha = tl.math.exp2(m - mn)
        p = tl.math.exp2(s - mn[:, None])
        l = l * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p.to(tl.float16), v)
        m = mn
    out = O + (((b * KVH + kvh) * SPLITS + split) * G + rg[:, None]) * D + rd[None, :]
    tl.store(out, acc / l[:, None], mask=rg[:, None] < G)
    tl.store(LSE + ((b * KVH + kvh) * SPLITS + split) * G + rg, m + tl.math.log2(l), mask=rg < G)


@triton.jit
def chunk_linear_attn(
    Q, K, V, O, T, stride_h, BT: tl.constexpr, BV: tl.constexpr, D: tl.constexpr, DV: tl.constexpr
):
    iv = tl.program_id(0)
    h = tl.program_id(1)
    rd = tl.arange(0, D)
    rv = iv * BV + tl.arange(0, BV)
    rt = tl.arange(0, BT)
    state = tl.zeros((D, BV), tl.float32)
    causal = rt[:, None] >= rt[None, :]
    for t in range(0, T, BT):
        q = tl.load(Q + h * stride_h + (t + rt[:, None]) * D + rd[None, :])
        k = tl.load(K + h * stride_h + (t + rt[None, :]) * D + rd[:, None])
        v = tl.load(V + h * T * DV + (t + rt[:, None]) * DV + rv[None, :])
        s = tl.where(causal, tl.dot(q, k), 0.0)
        o = tl.dot(s.to(tl.bfloat16), v) + tl.dot(q, state.to(tl.bfloat16))
        state += tl.dot(k, v)
        tl.store(O + h * T * DV + (t + rt[:, None]) * DV + rv[None, :], o.to(tl.bfloat16))


@triton.jit
def embedding_bwd(GRAD, IDS, DW, n, D, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    rt = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    rd = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    mask = (rt[:, None] < n) & (rd[None, :] < D)
    ids = tl.load(IDS + rt, mask=rt < n, other=0)
    g = tl.load(GRAD + rt[:, None] * D + rd[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.atomic_add(DW + ids[:, None] * D + rd[None, :], g, mask=mask, sem="relaxed")


@triton.jit
def row_cumsum(X, Y, rows, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    carry = tl.zeros((BLOCK_M,), tl.float32)
    for n in range(0, N, BLOCK_N):
        rn = n + tl.arange(0, BLOCK_N)
        x = tl.load(
            X + rm[:, None] * N + rn[None, :], mask=(rm[:, None] < rows) & (rn[None, :] < N), other=0.0
        ).to(tl.float32)
        y = tl.cumsum(x, 1) + carry[:, None]
        carry += tl.sum(x, 1)
        tl.store(Y + rm[:, None] * N + rn[None, :], y, mask=(rm[:, None] < rows) & (rn[None, :] < N))


@triton.jit
def permute_heads(X, Y, T, H: tl.constexpr, D: tl.constexpr, BLOCK_T: tl.constexpr):
    pid = tl.program_id(0)
    h = tl.program_id(1)
    rt = pid * BLOCK_T + tl.arange(0, BLOCK_T)
    rd = tl.arange(0, D)
    x = tl.load(X + rt[:, None] * (H * D) + h * D + rd[None, :], mask=rt[:, None] < T)
    tl.store(Y + (h * D + rd[:, None]) * T + rt[None, :], tl.trans(x), mask=rt[None, :] < T)


@triton.jit
def quant_rows(X, Y, S, N, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(X + row * stride + cols, mask=cols < N, other=0.0).to(tl.float32)
    top = tl.max(tl.abs(x), 0)
    scale = tl.maximum(top, 1e-8) / 448.0
    tl.store(Y + row * stride + cols, (x / scale).to(tl.float8e4nv), mask=cols < N)
    tl.store(S + row, scale)


@triton.jit
def gemm_gelu_desc(
    a_desc,
    b_desc,
    bias,
    c_desc,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    pid = tl.program_id(0)
    num_m = tl.cdiv(M, BLOCK_M)
    num_n = tl.cdiv(N, BLOCK_N)
    width = GROUP_M * num_n
    group = pid // width
    size = min(num_m - group * GROUP_M, GROUP_M)
    pid_m = group * GROUP_M + (pid % size)
    pid_n = (pid % width) // size
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        a = a_desc.load([pid_m * BLOCK_M, k])
        b = b_desc.load([pid_n * BLOCK_N, k])
        acc = tl.dot(a, b.T, acc)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    acc += tl.load(bias + rn, mask=rn < N, other=0.0)[None, :]
    x = acc * 0.5 * (1.0 + tl.math.erf(acc * 0.70710678))
    c_desc.store([pid_m * BLOCK_M, pid_n * BLOCK_N], x.to(tl.bfloat16))


@triton.jit
def gemv(X, W, Y, N, K, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rn = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_N, BLOCK_K), tl.float32)
    for k in range(0, K, BLOCK_K):
        rk = k + tl.arange(0, BLOCK_K)
        w = tl.load(W + rn[:, None] * K + rk[None, :], mask=rn[:, None] < N, other=0.0)
        x = tl.load(X + rk)
        acc += w.to(tl.float32) * x.to(tl.float32)[None, :]
    tl.store(Y + rn, tl.sum(acc, 1), mask=rn < N)


@triton.jit
def adamw(P, G, M, V, lr, b1, b2, eps, wd, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    p = tl.load(P + offs, mask=mask)
    g = tl.load(G + offs, mask=mask).to(tl.float32)
    m = tl.load(M + offs, mask=mask)
    v = tl.load(V + offs, mask=mask)
    m = b1 * m + (1 - b1) * g
    v = b2 * v + (1 - b2) * g * g
    p = p * (1 - lr * wd) - lr * m / (tl.sqrt(v) + eps)
    tl.store(P + offs, p, mask=mask)
    tl.store(M + offs, m, mask=mask)
    tl.store(V + offs, v, mask=mask)


@triton.jit
def group_norm(X, Y, W, B, C, HW, GC: tl.constexpr, BLOCK_HW: tl.constexpr):
    pid = tl.program_id(0)
    g = tl.program_id(1)
    rc = tl.arange(0, GC)
    base = pid.to(tl.int64) * C * HW + g * GC * HW
    s = tl.zeros((GC, BLOCK_HW), tl.float32)
    s2 = tl.zeros((GC, BLOCK_HW), tl.float32)
    for i in range(0, HW, BLOCK_HW):
        r = i + tl.arange(0, BLOCK_HW)
        x = tl.load(X + base + rc[:, None] * HW + r[None, :], mask=r[None, :] < HW, other=0.0).to(tl.float32)
        s += x
        s2 += x * x
    n = GC * HW
    mean = tl.sum(s) / n
    var = tl.sum(s2) / n - mean * mean
    rstd = tl.rsqrt(var + 1e-5)
    w = tl.load(W + g * GC + rc).to(tl.float32)
    b = tl.load(B + g * GC + rc).to(tl.float32)
    for i in range(0, HW, BLOCK_HW):
        r = i + tl.arange(0, BLOCK_HW)
        x = tl.load(X + base + rc[:, None] * HW + r[None, :], mask=r[None, :] < HW, other=0.0).to(tl.float32)
        y = (x - mean) * rstd * w[:, None] + b[:, None]
        tl.store(Y + base + rc[:, None] * HW + r[None, :], y, mask=r[None, :] < HW)


@triton.jit
def lora(
    X, A, B, Y, M, N, K, R: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    rr = tl.arange(0, R)
    rk = tl.arange(0, BLOCK_K)
    low = tl.zeros((BLOCK_M, R), tl.float32)
    for k in range(0, K, BLOCK_K):
        x = tl.load(X + rm[:, None] * K + (k + rk)[None, :], mask=rm[:, None] < M, other=0.0)
        a = tl.load(A + (k + rk)[:, None] * R + rr[None, :])
        low += tl.dot(x, a)
    b = tl.load(B + rr[:, None] * N + rn[None, :])
    y = tl.dot(low.to(tl.bfloat16), b)
    tl.store(Y + rm[:, None] * N + rn[None, :], y.to(tl.bfloat16), mask=rm[:, None] < M)
