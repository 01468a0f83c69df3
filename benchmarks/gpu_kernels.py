"""Kernels whose launches are timed on a real GPU (measure_gpu.py); plain, masked where sizes need it."""

import triton
import triton.language as tl


@triton.jit
def gemm(
    a,
    b,
    c,
    M,
    N,
    K,
    stride_a,
    stride_b,
    stride_c,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    B_BY_COLUMN: tl.constexpr,
):
    """c = a @ b in bands of GROUP rows of tiles; b is [K, N], or [N, K] with B_BY_COLUMN."""
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    band = GROUP * tiles_n
    first = pid // band * GROUP
    height = min(tiles_m - first, GROUP)
    tile_m = first + (pid % band) % height
    tile_n = (pid % band) // height
    rows = (tile_m * BM + tl.arange(0, BM)) % M
    cols = (tile_n * BN + tl.arange(0, BN)) % N
    depth = tl.arange(0, BK)
    a_tile = a + rows[:, None] * stride_a + depth[None, :]
    if B_BY_COLUMN:
        b_tile = b + cols[None, :] * stride_b + depth[:, None]
    else:
        b_tile = b + depth[:, None] * stride_b + cols[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(tl.cdiv(K, BK)):
        left = K - k * BK
        x = tl.load(a_tile, mask=depth[None, :] < left, other=0.0)
        y = tl.load(b_tile, mask=depth[:, None] < left, other=0.0)
        acc = tl.dot(x, y, acc)
        a_tile += BK
        b_tile += BK if B_BY_COLUMN else BK * stride_b
    rows = tile_m * BM + tl.arange(0, BM)
    cols = tile_n * BN + tl.arange(0, BN)
    tl.store(
        c + rows[:, None] * stride_c + cols[None, :],
        acc.to(c.dtype.element_ty),
        mask=(rows[:, None] < M) & (cols[None, :] < N),
    )


@triton.jit
def gemm_int8_weights(
    a,
    b,
    scales,
    c,
    M,
    N,
    K,
    stride_a,
    stride_b,
    stride_c,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    """c = a @ (b * scales), b in int8, converted in the loop."""
    tiles_n = tl.cdiv(N, BN)
    rows = (tl.program_id(0) // tiles_n * BM + tl.arange(0, BM)) % M
    cols = (tl.program_id(0) % tiles_n * BN + tl.arange(0, BN)) % N
    depth = tl.arange(0, BK)
    a_tile = a + rows[:, None] * stride_a + depth[None, :]
    b_tile = b + depth[:, None] * stride_b + cols[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(tl.cdiv(K, BK)):
        x = tl.load(a_tile)
        y = tl.load(b_tile).to(a.dtype.element_ty)
        acc = tl.dot(x, y, acc)
        a_tile += BK
        b_tile += BK * stride_b
    acc = acc * tl.load(scales + cols)[None, :]
    tl.store(c + rows[:, None] * stride_c + cols[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def attention(
    q,
    k,
    v,
    o,
    scale,
    head_stride,
    row_stride,
    length,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """One head and BM queries a program, a running maximum over blocks of BN keys."""
    tile = tl.program_id(0)
    base = tl.program_id(1) * head_stride
    rows = tile * BM + tl.arange(0, BM)
    keys = tl.arange(0, BN)
    width = tl.arange(0, D)
    query = tl.load(q + base + rows[:, None] * row_stride + width[None, :])
    top = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    end = length
    if CAUSAL:
        end = (tile + 1) * BM
    for start in range(0, end, BN):
        key = tl.load(k + base + (start + keys)[None, :] * row_stride + width[:, None])
        scores = tl.dot(query, key) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= (start + keys)[None, :], scores, -float("inf"))
        peak = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp2(scores - peak[:, None])
        shrink = tl.exp2(top - peak)
        total = total * shrink + tl.sum(weights, 1)
        acc = acc * shrink[:, None]
        value = tl.load(v + base + (start + keys)[:, None] * row_stride + width[None, :])
        acc = tl.dot(weights.to(value.dtype), value, acc)
        top = peak
    tl.store(
        o + base + rows[:, None] * row_stride + width[None, :], (acc / total[:, None]).to(o.dtype.element_ty)
    )


@triton.jit
def softmax(x, y, columns, stride, BLOCK: tl.constexpr):
    """One row a program, held in registers."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    t = tl.load(x + row * stride + c, mask=c < columns, other=-float("inf")).to(tl.float32)
    e = tl.exp(t - tl.max(t, 0))
    tl.store(y + row * stride + c, (e / tl.sum(e, 0)).to(y.dtype.element_ty), mask=c < columns)


@triton.jit
def layer_norm(x, weight, bias, y, columns, stride, eps, BLOCK: tl.constexpr):
    """One row a program in steps of BLOCK: mean and variance first, then the result."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    square = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        t = tl.load(x + row * stride + start + c, mask=start + c < columns, other=0.0).to(tl.float32)
        total += t
        square += t * t
    mean = tl.sum(total, 0) / columns
    scale = tl.rsqrt(tl.sum(square, 0) / columns - mean * mean + eps)
    for start in range(0, columns, BLOCK):
        inside = start + c < columns
        t = tl.load(x + row * stride + start + c, mask=inside, other=0.0).to(tl.float32)
        w = tl.load(weight + start + c, mask=inside, other=0.0).to(tl.float32)
        b = tl.load(bias + start + c, mask=inside, other=0.0).to(tl.float32)
        tl.store(
            y + row * stride + start + c, ((t - mean) * scale * w + b).to(y.dtype.element_ty), mask=inside
        )


@triton.jit
def silu_mul(x, gate, y, n, BLOCK: tl.constexpr):
    """Elementwise, two inputs and one output."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    t = tl.load(x + i, mask=inside).to(tl.float32)
    g = tl.load(gate + i, mask=inside).to(tl.float32)
    tl.store(y + i, (t / (1.0 + tl.exp(-t)) * g).to(y.dtype.element_ty), mask=inside)


@triton.jit
def column_sum(x, y, rows, columns, stride, BM: tl.constexpr, BN: tl.constexpr):
    """Sum over rows, BN columns a program."""
    c = tl.program_id(0) * BN + tl.arange(0, BN)
    r = tl.arange(0, BM)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, rows, BM):
        acc += tl.load(
            x + (start + r)[:, None] * stride + c[None, :],
            mask=(start + r < rows)[:, None] & (c < columns)[None, :],
            other=0.0,
        ).to(tl.float32)
    tl.store(y + c, tl.sum(acc, 0), mask=c < columns)


@triton.jit
def gemm_split_k(
    a,
    b,
    c,
    M,
    N,
    K,
    stride_a,
    stride_b,
    stride_c,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    SPLIT: tl.constexpr,
):
    """c += a @ b, each of SPLIT programs along K adding its part."""
    tiles_n = tl.cdiv(N, BN)
    part = tl.program_id(1)
    rows = (tl.program_id(0) // tiles_n * BM + tl.arange(0, BM)) % M
    cols = (tl.program_id(0) % tiles_n * BN + tl.arange(0, BN)) % N
    depth = part * BK + tl.arange(0, BK)
    a_tile = a + rows[:, None] * stride_a + depth[None, :]
    b_tile = b + depth[:, None] * stride_b + cols[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(tl.cdiv(K, BK * SPLIT)):
        acc = tl.dot(tl.load(a_tile), tl.load(b_tile), acc)
        a_tile += BK * SPLIT
        b_tile += BK * SPLIT * stride_b
    rows = tl.program_id(0) // tiles_n * BM + tl.arange(0, BM)
    cols = tl.program_id(0) % tiles_n * BN + tl.arange(0, BN)
    tl.atomic_add(
        c + rows[:, None] * stride_c + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N)
    )


@triton.jit
def gemm_persistent(
    a,
    b,
    c,
    M,
    N,
    K,
    stride_a,
    stride_b,
    stride_c,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    B_BY_COLUMN: tl.constexpr,
    PROGRAMS: tl.constexpr,
):
    """c = a @ b, each program going from tile to tile."""
    tiles_n = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * tiles_n
    depth = tl.arange(0, BK)
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=False):
        rows = (tile // tiles_n * BM + tl.arange(0, BM)) % M
        cols = (tile % tiles_n * BN + tl.arange(0, BN)) % N
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(tl.cdiv(K, BK)):
            at = k * BK + depth
            x = tl.load(a + rows[:, None] * stride_a + at[None, :], mask=at[None, :] < K, other=0.0)
            if B_BY_COLUMN:
                place = b + cols[None, :] * stride_b + at[:, None]
            else:
                place = b + at[:, None] * stride_b + cols[None, :]
            acc = tl.dot(x, tl.load(place, mask=at[:, None] < K, other=0.0), acc)
        rows = tile // tiles_n * BM + tl.arange(0, BM)
        cols = tile % tiles_n * BN + tl.arange(0, BN)
        tl.store(
            c + rows[:, None] * stride_c + cols[None, :],
            acc.to(c.dtype.element_ty),
            mask=(rows[:, None] < M) & (cols[None, :] < N),
        )


@triton.jit
def rows_softmax(x, y, rows, columns, stride, BM: tl.constexpr, BLOCK: tl.constexpr):
    """BM rows a program, held in registers."""
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.arange(0, BLOCK)
    inside = (r[:, None] < rows) & (c[None, :] < columns)
    t = tl.load(x + r[:, None] * stride + c[None, :], mask=inside, other=-float("inf")).to(tl.float32)
    e = tl.exp(t - tl.max(t, 1)[:, None])
    tl.store(
        y + r[:, None] * stride + c[None, :], (e / tl.sum(e, 1)[:, None]).to(y.dtype.element_ty), mask=inside
    )


@triton.jit
def rms_norm(x, weight, y, columns, stride, eps, BLOCK: tl.constexpr):
    """One row a program, held in registers."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = c < columns
    t = tl.load(x + row * stride + c, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(t * t, 0) / columns + eps)
    w = tl.load(weight + c, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row * stride + c, (t * scale * w).to(y.dtype.element_ty), mask=inside)


@triton.jit
def rope(x, cosines, sines, y, heads, stride, BM: tl.constexpr, HALF: tl.constexpr):
    """Rotary embedding of one position a program, BM heads at a time."""
    position = tl.program_id(0)
    c = tl.arange(0, HALF)
    co = tl.load(cosines + position * HALF + c).to(tl.float32)
    si = tl.load(sines + position * HALF + c).to(tl.float32)
    for first in range(0, heads, BM):
        h = first + tl.arange(0, BM)
        at = position * stride + h[:, None] * (2 * HALF) + c[None, :]
        inside = h[:, None] < heads
        a = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
        b = tl.load(x + at + HALF, mask=inside, other=0.0).to(tl.float32)
        tl.store(y + at, (a * co[None, :] - b * si[None, :]).to(y.dtype.element_ty), mask=inside)
        tl.store(y + at + HALF, (b * co[None, :] + a * si[None, :]).to(y.dtype.element_ty), mask=inside)


@triton.jit
def transpose(x, y, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    """y = x.T, a tile a program."""
    tiles_n = tl.cdiv(columns, BN)
    r = tl.program_id(0) // tiles_n * BM + tl.arange(0, BM)
    c = tl.program_id(0) % tiles_n * BN + tl.arange(0, BN)
    inside = (r[:, None] < rows) & (c[None, :] < columns)
    t = tl.load(x + r[:, None] * columns + c[None, :], mask=inside)
    tl.store(y + c[None, :] * rows + r[:, None], t, mask=inside)


@triton.jit
def column_sum_parts(x, y, rows, columns, stride, BM: tl.constexpr, BN: tl.constexpr, SPLIT: tl.constexpr):
    """Sum over rows, SPLIT programs for BN columns, each adding its part."""
    c = tl.program_id(0) * BN + tl.arange(0, BN)
    r = tl.program_id(1) * BM + tl.arange(0, BM)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, rows, BM * SPLIT):
        inside = (start + r < rows)[:, None] & (c < columns)[None, :]
        acc += tl.load(x + (start + r)[:, None] * stride + c[None, :], mask=inside, other=0.0).to(tl.float32)
    tl.atomic_add(y + c, tl.sum(acc, 0), mask=c < columns)
