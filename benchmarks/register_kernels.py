"""Kernels without products, and some with, whose registers are compiled for the fit (compile_registers.py): what
elementwise, normalising, reducing, scanning, sorting, gathering and quantising kernels do, each written plainly."""

import triton
import triton.language as tl

# --- elementwise


@triton.jit
def add_vectors(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(o + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def scaled_copy(x, o, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + at, tl.load(x + at) * scale)


@triton.jit
def gelu_exact(x, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    v = tl.load(x + at, mask=mask).to(tl.float32)
    tl.store(o + at, (0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))).to(o.dtype.element_ty), mask=mask)


@triton.jit
def gelu_tanh_gate(x, gate, o, width, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = at < width
    v = tl.load(x + row * stride + at, mask=mask).to(tl.float32)
    g = tl.load(gate + row * stride + at, mask=mask).to(tl.float32)
    inner = 0.7978845608028654 * (v + 0.044715 * v * v * v)
    tanh = 1.0 - 2.0 / (tl.exp(2.0 * inner) + 1.0)
    tl.store(o + row * stride + at, (0.5 * v * (1.0 + tanh) * g).to(o.dtype.element_ty), mask=mask)


@triton.jit
def silu_gate_backward(do, x, gate, dx, dgate, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    d = tl.load(do + at, mask=mask).to(tl.float32)
    v = tl.load(x + at, mask=mask).to(tl.float32)
    g = tl.load(gate + at, mask=mask).to(tl.float32)
    s = tl.sigmoid(v)
    tl.store(dx + at, (d * g * s * (1.0 + v * (1.0 - s))).to(dx.dtype.element_ty), mask=mask)
    tl.store(dgate + at, (d * v * s).to(dgate.dtype.element_ty), mask=mask)


@triton.jit
def adam_step(p, g, m, v, lr, beta1, beta2, eps, decay, step, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    gradient = tl.load(g + at, mask=mask).to(tl.float32)
    weight = tl.load(p + at, mask=mask).to(tl.float32)
    first = beta1 * tl.load(m + at, mask=mask) + (1.0 - beta1) * gradient
    second = beta2 * tl.load(v + at, mask=mask) + (1.0 - beta2) * gradient * gradient
    weight = weight * (1.0 - lr * decay) - lr * step * first / (tl.sqrt(second) + eps)
    tl.store(m + at, first, mask=mask)
    tl.store(v + at, second, mask=mask)
    tl.store(p + at, weight.to(p.dtype.element_ty), mask=mask)


@triton.jit
def dropout_mask(x, o, rate, seed, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    v = tl.load(x + at, mask=mask)
    keep = tl.rand(seed, at) > rate
    tl.store(o + at, tl.where(keep, v / (1.0 - rate), 0.0), mask=mask)


@triton.jit
def add_bias_tile(x, bias, o, rows, columns, stride, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (m[:, None] < rows) & (n[None, :] < columns)
    at = m[:, None] * stride + n[None, :]
    b = tl.load(bias + n, mask=n < columns, other=0.0)
    tl.store(o + at, tl.load(x + at, mask=mask) + b[None, :], mask=mask)


@triton.jit
def transpose_tile(x, o, rows, columns, stride_x, stride_o, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (m[:, None] < rows) & (n[None, :] < columns)
    v = tl.load(x + m[:, None] * stride_x + n[None, :], mask=mask)
    tl.store(o + n[:, None] * stride_o + m[None, :], tl.trans(v), mask=tl.trans(mask))


@triton.jit
def strided_copy(x, o, a, b, c, sa, sb, sc, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < a * b * c
    i, rest = at // (b * c), at % (b * c)
    j, k = rest // c, rest % c
    tl.store(o + at, tl.load(x + i * sa + j * sb + k * sc, mask=mask), mask=mask)


@triton.jit
def rotate_pairs(x, cos, sin, o, heads, stride, BH: tl.constexpr, HALF: tl.constexpr):
    token = tl.program_id(0)
    head = tl.program_id(1) * BH + tl.arange(0, BH)
    d = tl.arange(0, HALF)
    c = tl.load(cos + token * HALF + d)[None, :]
    s = tl.load(sin + token * HALF + d)[None, :]
    at = token * stride + head[:, None] * (2 * HALF) + d[None, :]
    mask = head[:, None] < heads
    left = tl.load(x + at, mask=mask, other=0.0).to(tl.float32)
    right = tl.load(x + at + HALF, mask=mask, other=0.0).to(tl.float32)
    tl.store(o + at, (left * c - right * s).to(o.dtype.element_ty), mask=mask)
    tl.store(o + at + HALF, (right * c + left * s).to(o.dtype.element_ty), mask=mask)


# --- rows held in registers


@triton.jit
def softmax_row(x, o, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(o + row * stride + at, (e / tl.sum(e, axis=0)).to(o.dtype.element_ty), mask=at < columns)


@triton.jit
def softmax_rows_tile(x, o, rows, columns, stride, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    mask = (m[:, None] < rows) & (n[None, :] < columns)
    at = m[:, None] * stride + n[None, :]
    v = tl.load(x + at, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=1)[:, None])
    tl.store(o + at, (e / tl.sum(e, axis=1)[:, None]).to(o.dtype.element_ty), mask=mask)


@triton.jit
def softmax_backward(do, y, dx, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = row * stride + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    d = tl.load(do + at, mask=mask, other=0.0).to(tl.float32)
    v = tl.load(y + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(dx + at, (v * (d - tl.sum(d * v, axis=0))).to(dx.dtype.element_ty), mask=mask)


@triton.jit
def softmax_online(x, o, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    most = tl.full((), -float("inf"), tl.float32)
    total = tl.full((), 0.0, tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        v = tl.load(x + row * stride + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        more = tl.maximum(most, tl.max(v, axis=0))
        total = total * tl.exp(most - more) + tl.sum(tl.exp(v - more), axis=0)
        most = more
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        v = tl.load(x + row * stride + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        tl.store(o + row * stride + at, (tl.exp(v - most) / total).to(o.dtype.element_ty), mask=at < columns)


@triton.jit
def rms_norm_residual(x, residual, weight, o, columns, stride, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    v = tl.load(x + row * stride + at, mask=mask, other=0.0).to(tl.float32)
    v += tl.load(residual + row * stride + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(residual + row * stride + at, v.to(residual.dtype.element_ty), mask=mask)
    scale = tl.rsqrt(tl.sum(v * v, axis=0) / columns + eps)
    w = tl.load(weight + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(o + row * stride + at, (v * scale * w).to(o.dtype.element_ty), mask=mask)


@triton.jit
def layer_norm_row(x, weight, bias, o, mean_out, rstd_out, columns, stride, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    v = tl.load(x + row * stride + at, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=0) / columns
    centred = tl.where(mask, v - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    tl.store(mean_out + row, mean)
    tl.store(rstd_out + row, rstd)
    w = tl.load(weight + at, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(bias + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(o + row * stride + at, (centred * rstd * w + b).to(o.dtype.element_ty), mask=mask)


@triton.jit
def layer_norm_backward_rows(
    do,
    x,
    weight,
    mean_in,
    rstd_in,
    dx,
    dweight,
    dbias,
    rows,
    columns,
    stride,
    per_program,
    BLOCK: tl.constexpr,
):
    program = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    w = tl.load(weight + at, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK,), tl.float32)
    db = tl.zeros((BLOCK,), tl.float32)
    for row in range(program * per_program, tl.minimum(rows, (program + 1) * per_program)):
        v = tl.load(x + row * stride + at, mask=mask, other=0.0).to(tl.float32)
        d = tl.load(do + row * stride + at, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_in + row)
        hat = (v - tl.load(mean_in + row)) * rstd
        wd = w * d
        c1 = tl.sum(hat * wd, axis=0) / columns
        c2 = tl.sum(wd, axis=0) / columns
        tl.store(dx + row * stride + at, ((wd - (hat * c1 + c2)) * rstd).to(dx.dtype.element_ty), mask=mask)
        dw += d * hat
        db += d
    tl.store(dweight + program * columns + at, dw, mask=mask)
    tl.store(dbias + program * columns + at, db, mask=mask)


@triton.jit
def layer_norm_loops(x, weight, bias, o, columns, stride, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, columns, BLOCK):
        total += tl.load(x + row * stride + first + at, mask=first + at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    square = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, columns, BLOCK):
        v = tl.load(x + row * stride + first + at, mask=first + at < columns, other=0.0).to(tl.float32)
        v = tl.where(first + at < columns, v - mean, 0.0)
        square += v * v
    rstd = tl.rsqrt(tl.sum(square, axis=0) / columns + eps)
    for first in range(0, columns, BLOCK):
        mask = first + at < columns
        v = tl.load(x + row * stride + first + at, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(weight + first + at, mask=mask, other=0.0)
        b = tl.load(bias + first + at, mask=mask, other=0.0)
        tl.store(o + row * stride + first + at, ((v - mean) * rstd * w + b).to(o.dtype.element_ty), mask=mask)


@triton.jit
def group_norm_tile(x, weight, bias, o, pixels, eps, CG: tl.constexpr, BP: tl.constexpr):
    group = tl.program_id(0)
    c = tl.arange(0, CG)
    p = tl.arange(0, BP)
    at = (group * CG + c)[:, None] * pixels + p[None, :]
    mask = p[None, :] < pixels
    v = tl.load(x + at, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(v) / (pixels * CG)
    v = tl.where(mask, v - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(v * v) / (pixels * CG) + eps)
    w = tl.load(weight + group * CG + c)
    b = tl.load(bias + group * CG + c)
    tl.store(o + at, (v * rstd * w[:, None] + b[:, None]).to(o.dtype.element_ty), mask=mask)


@triton.jit
def cross_entropy_row(logits, labels, loss, dlogits, columns, stride, smoothing, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    label = tl.load(labels + row)
    most = tl.full((), -float("inf"), tl.float32)
    total = tl.full((), 0.0, tl.float32)
    mean = tl.full((), 0.0, tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        v = tl.load(logits + row * stride + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        more = tl.maximum(most, tl.max(v, axis=0))
        total = total * tl.exp(most - more) + tl.sum(tl.exp(v - more), axis=0)
        mean += tl.sum(tl.where(at < columns, -smoothing * v, 0.0), axis=0)
        most = more
    chosen = tl.load(logits + row * stride + label).to(tl.float32)
    tl.store(loss + row, tl.log(total) + most - (1.0 - smoothing) * chosen + mean / columns)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        v = tl.load(logits + row * stride + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        d = tl.exp(v - most) / total - tl.where(at == label, 1.0 - smoothing, smoothing / columns)
        tl.store(dlogits + row * stride + at, d.to(dlogits.dtype.element_ty), mask=at < columns)


# --- reductions


@triton.jit
def sum_columns(x, o, rows, columns, stride, BM: tl.constexpr, BN: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, rows, BM):
        m = first + tl.arange(0, BM)
        mask = (m[:, None] < rows) & (n[None, :] < columns)
        acc += tl.load(x + m[:, None] * stride + n[None, :], mask=mask, other=0.0)
    tl.store(o + n, tl.sum(acc, axis=0), mask=n < columns)


@triton.jit
def sum_rows(x, o, rows, columns, stride, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    acc = tl.zeros((BM,), tl.float32)
    for first in range(0, columns, BN):
        n = first + tl.arange(0, BN)
        mask = (m[:, None] < rows) & (n[None, :] < columns)
        acc += tl.sum(
            tl.load(x + m[:, None] * stride + n[None, :], mask=mask, other=0.0).to(tl.float32), axis=1
        )
    tl.store(o + m, acc, mask=m < rows)


@triton.jit
def mean_and_variance(x, mean_out, var_out, rows, columns, stride, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    mean = tl.zeros((BM, BN), tl.float32)
    square = tl.zeros((BM, BN), tl.float32)
    count = 0.0
    for first in range(0, columns, BN):
        n = first + tl.arange(0, BN)
        mask = (m[:, None] < rows) & (n[None, :] < columns)
        v = tl.load(x + m[:, None] * stride + n[None, :], mask=mask, other=0.0).to(tl.float32)
        count += 1.0
        delta = v - mean
        mean += delta / count
        square += delta * (v - mean)
    tl.store(mean_out + m, tl.sum(mean, axis=1) / BN, mask=m < rows)
    tl.store(var_out + m, tl.sum(square, axis=1) / columns, mask=m < rows)


@triton.jit
def argmax_row(x, o, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + at, mask=at < columns, other=-float("inf"))
    tl.store(o + row, tl.argmax(v, axis=0))


@triton.jit
def matrix_vector(a, x, o, rows, columns, stride, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, columns, BN):
        n = first + tl.arange(0, BN)
        tile = tl.load(a + m[:, None] * stride + n[None, :], mask=n[None, :] < columns, other=0.0)
        acc += tile.to(tl.float32) * tl.load(x + n, mask=n < columns, other=0.0).to(tl.float32)[None, :]
    tl.store(o + m, tl.sum(acc, axis=1), mask=m < rows)


@triton.jit
def decode_by_sums(q, k, v, o, length, scale, stride, BN: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(0)
    d = tl.arange(0, D)
    query = tl.load(q + head * D + d).to(tl.float32) * scale
    most = tl.full((), -float("inf"), tl.float32)
    total = tl.full((), 0.0, tl.float32)
    acc = tl.zeros((D,), tl.float32)
    for first in range(0, length, BN):
        n = first + tl.arange(0, BN)
        at = n[:, None] * stride + head * D + d[None, :]
        mask = n[:, None] < length
        keys = tl.load(k + at, mask=mask, other=0.0).to(tl.float32)
        score = tl.where(n < length, tl.sum(keys * query[None, :], axis=1), -float("inf"))
        more = tl.maximum(most, tl.max(score, axis=0))
        p = tl.exp(score - more)
        old = tl.exp(most - more)
        values = tl.load(v + at, mask=mask, other=0.0).to(tl.float32)
        acc = acc * old + tl.sum(p[:, None] * values, axis=0)
        total = total * old + tl.sum(p, axis=0)
        most = more
    tl.store(o + head * D + d, (acc / total).to(o.dtype.element_ty))


@triton.jit
def merge_splits(parts, lse, o, splits, stride, D: tl.constexpr):
    head = tl.program_id(0)
    d = tl.arange(0, D)
    most = tl.full((), -float("inf"), tl.float32)
    total = tl.full((), 0.0, tl.float32)
    acc = tl.zeros((D,), tl.float32)
    for split in range(splits):
        this = tl.load(lse + head * splits + split)
        more = tl.maximum(most, this)
        acc = acc * tl.exp(most - more) + tl.exp(this - more) * tl.load(parts + split * stride + head * D + d)
        total = total * tl.exp(most - more) + tl.exp(this - more)
        most = more
    tl.store(o + head * D + d, (acc / total).to(o.dtype.element_ty))


# --- scans, sorts, histograms


@triton.jit
def cumulative_sum(x, o, columns, stride, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    at = m[:, None] * stride + n[None, :]
    v = tl.load(x + at, mask=n[None, :] < columns, other=0.0).to(tl.float32)
    tl.store(o + at, tl.cumsum(v, axis=1), mask=n[None, :] < columns)


@triton.jit
def _after(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def linear_recurrence(a, b, o, columns, stride, BT: tl.constexpr, BD: tl.constexpr):
    t = tl.arange(0, BT)
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    at = t[:, None] * stride + d[None, :]
    mask = d[None, :] < columns
    _, h = tl.associative_scan(
        (tl.load(a + at, mask=mask, other=0.0), tl.load(b + at, mask=mask, other=0.0)), 0, _after
    )
    tl.store(o + at, h, mask=mask)


@triton.jit
def state_steps(x, delta, a, b, c, o, steps, width, stride, BD: tl.constexpr, N: tl.constexpr):
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    n = tl.arange(0, N)
    rates = tl.load(a + d[:, None] * N + n[None, :]).to(tl.float32)
    h = tl.zeros((BD, N), tl.float32)
    for step in range(steps):
        v = tl.load(x + step * stride + d, mask=d < width, other=0.0).to(tl.float32)
        dt = tl.load(delta + step * stride + d, mask=d < width, other=0.0).to(tl.float32)
        bs = tl.load(b + step * N + n).to(tl.float32)
        cs = tl.load(c + step * N + n).to(tl.float32)
        h = h * tl.exp(rates * dt[:, None]) + (dt * v)[:, None] * bs[None, :]
        y = tl.sum(h * cs[None, :], axis=1)
        tl.store(o + step * stride + d, y.to(o.dtype.element_ty), mask=d < width)


@triton.jit
def sort_row(x, o, stride, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    at = m[:, None] * stride + n[None, :]
    tl.store(o + at, tl.sort(tl.load(x + at), dim=1))


@triton.jit
def count_values(x, o, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(o + tl.arange(0, BINS), tl.histogram(v, BINS))


# --- gathering and scattering


@triton.jit
def gather_embedding(ids, table, o, width, stride, BT: tl.constexpr, BD: tl.constexpr):
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    row = tl.load(ids + t).to(tl.int64)
    for first in range(0, width, BD):
        d = first + tl.arange(0, BD)
        mask = d[None, :] < width
        v = tl.load(table + row[:, None] * stride + d[None, :], mask=mask, other=0.0)
        tl.store(o + t[:, None] * width + d[None, :], v, mask=mask)


@triton.jit
def scatter_add_rows(ids, x, o, width, stride, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    row = tl.load(ids + token).to(tl.int64)
    for first in range(0, width, BLOCK):
        at = first + tl.arange(0, BLOCK)
        v = tl.load(x + token * stride + at, mask=at < width, other=0.0)
        tl.atomic_add(o + row * stride + at, v, mask=at < width)


@triton.jit
def scatter_add_tile(ids, x, o, tokens, width, BT: tl.constexpr, BD: tl.constexpr):
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    row = tl.load(ids + t, mask=t < tokens, other=0).to(tl.int64)
    mask = (t[:, None] < tokens) & (d[None, :] < width)
    v = tl.load(x + t[:, None] * width + d[None, :], mask=mask, other=0.0)
    tl.atomic_add(o + row[:, None] * width + d[None, :], v.to(tl.float32), mask=mask)


@triton.jit
def store_paged(
    key, value, key_cache, value_cache, slots, stride, page_stride, PAGE: tl.constexpr, BLOCK: tl.constexpr
):
    token = tl.program_id(0)
    slot = tl.load(slots + token).to(tl.int64)
    if slot >= 0:
        at = tl.arange(0, BLOCK)
        place = slot // PAGE * page_stride + slot % PAGE * BLOCK + at
        tl.store(key_cache + place, tl.load(key + token * stride + at).to(key_cache.dtype.element_ty))
        tl.store(value_cache + place, tl.load(value + token * stride + at).to(value_cache.dtype.element_ty))


@triton.jit
def convolve_depthwise(
    x, weight, bias, o, length, stride, W: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr
):
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    acc = tl.zeros((BT, BD), tl.float32) + tl.load(bias + d).to(tl.float32)[None, :]
    for tap in tl.static_range(W):
        at = t - (W - 1) + tap
        mask = (at[:, None] >= 0) & (at[:, None] < length)
        v = tl.load(x + at[:, None] * stride + d[None, :], mask=mask, other=0.0).to(tl.float32)
        acc += v * tl.load(weight + d * W + tap).to(tl.float32)[None, :]
    acc = acc * tl.sigmoid(acc)
    tl.store(o + t[:, None] * stride + d[None, :], acc.to(o.dtype.element_ty), mask=t[:, None] < length)


@triton.jit
def max_pool(x, o, height, width, K: tl.constexpr, BH: tl.constexpr, BW: tl.constexpr):
    h = tl.program_id(0) * BH + tl.arange(0, BH)
    w = tl.program_id(1) * BW + tl.arange(0, BW)
    best = tl.full((BH, BW), -float("inf"), tl.float32)
    for i in tl.static_range(K):
        for j in tl.static_range(K):
            y, z = h * K + i, w * K + j
            mask = (y[:, None] < height) & (z[None, :] < width)
            v = tl.load(x + y[:, None] * width + z[None, :], mask=mask, other=-float("inf"))
            best = tl.maximum(best, v.to(tl.float32))
    tl.store(o + h[:, None] * (width // K) + w[None, :], best.to(o.dtype.element_ty))


# --- quantising


@triton.jit
def quantize_row(x, q, scale_out, columns, stride, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    v = tl.load(x + row * stride + at, mask=mask, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(v), axis=0), 1e-10) / LIMIT
    tl.store(scale_out + row, scale)
    tl.store(q + row * stride + at, tl.clamp(v / scale, -LIMIT, LIMIT).to(q.dtype.element_ty), mask=mask)


@triton.jit
def quantize_groups(x, q, scale_out, stride, LIMIT: tl.constexpr, G: tl.constexpr, BG: tl.constexpr):
    group = tl.program_id(1) * BG + tl.arange(0, BG)
    at = tl.program_id(0) * stride + group[:, None] * G + tl.arange(0, G)[None, :]
    v = tl.load(x + at).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(v), axis=1), 1e-10) / LIMIT
    tl.store(q + at, tl.clamp(v / scale[:, None], -LIMIT, LIMIT).to(q.dtype.element_ty))
    tl.store(scale_out + tl.program_id(0) * (stride // G) + group, scale)


@triton.jit
def unpack_int4(w, scale_in, zeros, o, columns, G: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr):
    k = tl.program_id(0) * BK + tl.arange(0, BK)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    packed = tl.load(w + (k // 8)[:, None] * columns + n[None, :])
    s = tl.load(scale_in + (k // G)[:, None] * columns + n[None, :])
    z = tl.load(zeros + (k // G)[:, None] * columns + n[None, :])
    value = (packed >> (4 * (k % 8))[:, None]) & 15
    tl.store(o + k[:, None] * columns + n[None, :], ((value - z).to(s.dtype) * s).to(o.dtype.element_ty))


# --- with products


@triton.jit
def product_epilogue(
    a,
    b,
    bias,
    residual,
    c,
    M,
    N,
    K,
    sa,
    sb,
    sc,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    ACT: tl.constexpr,
):
    """c = act(a @ b + bias) + residual, row-major tiles without bands."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        x = tl.load(a + m[:, None] * sa + (first + k)[None, :], mask=m[:, None] < M, other=0.0)
        y = tl.load(b + (first + k)[:, None] * sb + n[None, :], mask=n[None, :] < N, other=0.0)
        acc = tl.dot(x, y, acc)
    acc += tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    if ACT == 1:
        acc = tl.maximum(acc, 0.0)
    if ACT == 2:
        acc = acc * tl.sigmoid(acc)
    at = m[:, None] * sc + n[None, :]
    mask = (m[:, None] < M) & (n[None, :] < N)
    acc += tl.load(residual + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(c + at, acc.to(c.dtype.element_ty), mask=mask)


@triton.jit
def two_products(a, b, d, c, M, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = silu(a @ b) * (a @ d)."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    left = a + m[:, None] * sa + k[None, :]
    gate = b + k[:, None] * sb + n[None, :]
    up = d + k[:, None] * sb + n[None, :]
    one = tl.zeros((BM, BN), tl.float32)
    two = tl.zeros((BM, BN), tl.float32)
    for _ in range(tl.cdiv(K, BK)):
        x = tl.load(left)
        one = tl.dot(x, tl.load(gate), one)
        two = tl.dot(x, tl.load(up), two)
        left += BK
        gate += BK * sb
        up += BK * sb
    out = one * tl.sigmoid(one) * two
    tl.store(c + m[:, None] * sc + n[None, :], out.to(c.dtype.element_ty), mask=m[:, None] < M)


@triton.jit
def product_block_scales(
    a, b, sa_ptr, sb_ptr, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """c = a @ b in 8 bits, with one scale for each row and BK columns of a and each BK x BN tile of b."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    left = a + m[:, None] * sa + k[None, :]
    right = b + n[None, :] * sb + k[:, None]
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(tl.cdiv(K, BK)):
        x = tl.load(left, mask=m[:, None] < M, other=0.0)
        y = tl.load(right)
        row_scale = tl.load(sa_ptr + m * tl.cdiv(K, BK) + i, mask=m < M, other=0.0)
        tile_scale = tl.load(sb_ptr + tl.program_id(1) * tl.cdiv(K, BK) + i)
        acc += tl.dot(x, y) * row_scale[:, None] * tile_scale
        left += BK
        right += BK
    tl.store(
        c + m[:, None] * sc + n[None, :], acc.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N)
    )


@triton.jit
def product_descriptors(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc)
    c.store([m, n], acc.to(tl.float16))


@triton.jit
def attention_causal(
    q,
    k,
    v,
    o,
    lse,
    length,
    scale,
    stride,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    start = tl.program_id(0) * BM
    base = tl.program_id(1).to(tl.int64) * length * stride
    m = start + tl.arange(0, BM)
    n = tl.arange(0, BN)
    d = tl.arange(0, D)
    query = tl.load(q + base + m[:, None] * stride + d[None, :], mask=m[:, None] < length, other=0.0)
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    end = tl.minimum(start + BM, length) if CAUSAL else length
    for first in range(0, end, BN):
        at = first + n
        key = tl.load(k + base + at[None, :] * stride + d[:, None], mask=at[None, :] < length, other=0.0)
        s = tl.dot(query, key) * (scale * 1.44269504)
        s = tl.where(at[None, :] < length, s, -float("inf"))
        if CAUSAL:
            s = tl.where(m[:, None] >= at[None, :], s, -float("inf"))
        more = tl.maximum(most, tl.max(s, axis=1))
        p = tl.exp2(s - more[:, None])
        old = tl.exp2(most - more)
        total = total * old + tl.sum(p, axis=1)
        acc = acc * old[:, None]
        value = tl.load(v + base + at[:, None] * stride + d[None, :], mask=at[:, None] < length, other=0.0)
        acc = tl.dot(p.to(value.dtype), value, acc)
        most = more
    tl.store(lse + tl.program_id(1) * length + m, most + tl.log2(total), mask=m < length)
    tl.store(
        o + base + m[:, None] * stride + d[None, :],
        (acc / total[:, None]).to(o.dtype.element_ty),
        mask=m[:, None] < length,
    )


@triton.jit
def attention_backward_keys(
    q,
    k,
    v,
    do,
    dk,
    dv,
    lse,
    delta,
    length,
    scale,
    stride,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    d = tl.arange(0, D)
    at_n = n[:, None] * stride + d[None, :]
    key = tl.load(k + at_n)
    value = tl.load(v + at_n)
    gk = tl.zeros((BN, D), tl.float32)
    gv = tl.zeros((BN, D), tl.float32)
    for first in range(0, length, BM):
        m = first + tl.arange(0, BM)
        query_t = tl.load(q + m[None, :] * stride + d[:, None])
        p = tl.exp2(tl.dot(key, query_t) * scale - tl.load(lse + m)[None, :])
        grad = tl.load(do + m[:, None] * stride + d[None, :])
        gv = tl.dot(p.to(grad.dtype), grad, gv)
        ds = p * (tl.dot(value, tl.trans(grad)) - tl.load(delta + m)[None, :])
        gk = tl.dot(ds.to(query_t.dtype), tl.trans(query_t), gk)
    tl.store(dv + at_n, gv.to(dv.dtype.element_ty))
    tl.store(dk + at_n, (gk * scale).to(dk.dtype.element_ty))


@triton.jit
def chunk_products(q, k, v, o, decay, steps, stride, BT: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr):
    """A recurrence over chunks whose state is a matrix."""
    t = tl.arange(0, BT)
    i = tl.arange(0, DK)
    j = tl.program_id(0) * DV + tl.arange(0, DV)
    state = tl.zeros((DK, DV), tl.float32)
    for chunk in range(steps):
        at = chunk * BT + t
        g = tl.load(decay + at).to(tl.float32)
        total = tl.sum(g, axis=0)
        g = tl.cumsum(g, axis=0)
        query = tl.load(q + at[:, None] * stride + i[None, :])
        key = tl.load(k + at[None, :] * stride + i[:, None])
        value = tl.load(v + at[:, None] * stride + j[None, :])
        inner = tl.dot(query, key) * tl.exp(g[:, None] - g[None, :])
        inner = tl.where(t[:, None] >= t[None, :], inner, 0.0)
        out = tl.dot(inner.to(value.dtype), value)
        out += tl.dot(query, state.to(query.dtype)) * tl.exp(g)[:, None]
        state = state * tl.exp(total) + tl.dot((key * tl.exp(total - g)[None, :]).to(value.dtype), value)
        tl.store(o + at[:, None] * stride + j[None, :], out.to(o.dtype.element_ty))


@triton.jit
def product_of_nibbles(a, w, scale_in, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Two 4-bit weights in a byte, one of the upper and one of the lower half of a block of K."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    half = tl.arange(0, BK // 2)
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (first + tl.arange(0, BK))[None, :], mask=m[:, None] < M, other=0.0)
        packed = tl.load(w + (first // 2 + half)[:, None] * N + n[None, :])
        low, high = (packed << 4) >> 4, packed >> 4
        y = tl.join(low, high).permute(2, 0, 1).reshape(BK, BN)
        s = tl.load(scale_in + (first // 64) * N + n)
        acc = tl.dot(x, y.to(tl.float16) * s[None, :], acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=m[:, None] < M)


@triton.jit
def decode_products(
    q, k, v, o, lse, length, scale, stride, G: tl.constexpr, BN: tl.constexpr, D: tl.constexpr
):
    """Queries of a group of heads against the keys that they share."""
    head = tl.program_id(0)
    g = tl.arange(0, G)
    d = tl.arange(0, D)
    query = tl.load(q + (head * G + g)[:, None] * D + d[None, :])
    most = tl.full((G,), -float("inf"), tl.float32)
    total = tl.zeros((G,), tl.float32)
    acc = tl.zeros((G, D), tl.float32)
    for first in range(0, length, BN):
        n = first + tl.arange(0, BN)
        mask = n < length
        keys = tl.load(k + n[None, :] * stride + head * D + d[:, None], mask=mask[None, :], other=0.0)
        score = tl.where(mask[None, :], tl.dot(query, keys) * scale, -float("inf"))
        more = tl.maximum(most, tl.max(score, 1))
        p = tl.math.exp2(score - more[:, None])
        old = tl.math.exp2(most - more)
        values = tl.load(v + n[:, None] * stride + head * D + d[None, :], mask=mask[:, None], other=0.0)
        acc = acc * old[:, None] + tl.dot(p.to(values.dtype), values)
        total = total * old + tl.sum(p, 1)
        most = more
    tl.store(o + (head * G + g)[:, None] * D + d[None, :], (acc / total[:, None]).to(o.dtype.element_ty))
    tl.store(lse + head * G + g, most + tl.math.log2(total))
