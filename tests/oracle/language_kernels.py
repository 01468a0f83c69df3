"""Kernels that use one corner of the language each, to hold the tracer against the real front end.

They are compiled, never run. Every kernel takes (x, y, z, n, m, s): three pointers and three integers.
"""

# ruff: noqa: B002, B007
import triton
import triton.language as tl


@triton.jit
def folds_tensor(x, y, z, n, m, s, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    tl.store(y + i, (a + 1) + 2)
    tl.store(y + i + B, (a - 1) + 3)
    tl.store(y + i + 2 * B, (a * 2) * 3)
    tl.store(y + i + 3 * B, (5 - a) + 2)
    tl.store(y + i + 4 * B, (a + 4) - 9)
    tl.store(y + i + 5 * B, 7 - (a + 2))
    tl.store(y + i + 6 * B, 7 - (a - 2))
    tl.store(y + i + 7 * B, (a - 3) - 4)
    tl.store(y + i + 8 * B, a * 1 + 0)
    tl.store(y + i + 9 * B, a // 1 + a % 1)
    tl.store(y + i + 10 * B, (a & 255) & 15)
    tl.store(y + i + 11 * B, (a | 0) ^ 0)
    tl.store(y + i + 12 * B, ~(~a))
    tl.store(y + i + 13 * B, -(-a))
    tl.store(y + i + 14 * B, (a << 0) >> 0)


@triton.jit
def folds_scalar(x, y, z, n, m, s, B: tl.constexpr):
    a = tl.load(x)
    tl.store(y, (a + 1) + 2)
    tl.store(y + 1, (a - 1) + 3)
    tl.store(y + 2, (a * 2) * 3)
    tl.store(y + 3, (5 - a) + 2)
    tl.store(y + 4, (a + 4) - 9)
    tl.store(y + 5, 7 - (a + 2))
    tl.store(y + 6, 7 - (a - 2))
    tl.store(y + 7, (a - 3) - 4)
    tl.store(y + 8, a * 1 + 0)
    tl.store(y + 9, a // 1 + a % 1)
    tl.store(y + 10, (a & 255) & 15)
    tl.store(y + 11, ~(~a))
    tl.store(y + 12, -(-a))
    tl.store(y + 13, (n * 0 + m) * s)


@triton.jit
def booleans(x, y, z, n, m, s, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    f = tl.load(z + i)
    tl.store(y + i, tl.where(~(a < n), a, 0))
    tl.store(y + i + B, tl.where(not (n < m), a, 1))
    tl.store(y + i + 2 * B, tl.where((a < n) & True, a, 2))
    tl.store(y + i + 3 * B, tl.where((f > 0.0) ^ True, a, 3))
    tl.store(y + i + 4 * B, tl.where((a > 3) == 1, a, 4))
    tl.store(y + i + 5 * B, (a < n).to(tl.int32))
    tl.store(y + i + 6 * B, ((a < n).to(tl.int32) != 0).to(tl.int32))
    tl.store(y + i + 7 * B, tl.where((i < n) & (i < n), a, 5))
    tl.store(y + i + 8 * B, tl.where((i < 4) | (i < 3), a, 6))
    if not (n < m):
        tl.store(y, 1)
    if n < m and s > 3:
        tl.store(y + 1, 2)
    if n < m or s > 3:
        tl.store(y + 2, 2)


@triton.jit
def chained(x, y, z, n, m, s, B: tl.constexpr):
    if 0 < n < m:
        tl.store(y + 3, 2)


@triton.jit
def casts(x, y, z, n, m, s, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    f = tl.load(z + i)
    tl.store(y + i, a.to(tl.int64).to(tl.int32))
    tl.store(y + i + B, a.to(tl.int8).to(tl.int32))
    tl.store(y + i + 2 * B, a.to(tl.uint8).to(tl.int32))
    tl.store(y + i + 3 * B, a.to(tl.uint32).to(tl.int64).to(tl.int32))
    tl.store(z + i, f.to(tl.float16).to(tl.float32))
    tl.store(z + i + B, f.to(tl.bfloat16).to(tl.float16).to(tl.float32))
    tl.store(z + i + 2 * B, f.to(tl.int32, bitcast=True).to(tl.float32, bitcast=True))
    tl.store(z + i + 3 * B, a.to(tl.float32))
    tl.store(z + i + 4 * B, a.to(tl.uint32).to(tl.float32))
    tl.store(y + i + 4 * B, f.to(tl.int32))
    tl.store(y + i + 5 * B, f.to(tl.uint32).to(tl.int32, bitcast=True))
    tl.store(y + i + 6 * B, f.to(tl.int1).to(tl.int32))
    tl.store(y + i + 7 * B, a.to(tl.int1).to(tl.int32))
    tl.store(z + i + 5 * B, f.to(tl.float64).to(tl.float32))
    tl.store(z + i + 6 * B, f.to(tl.float8e5).to(tl.float32))
    tl.store(y + i + 8 * B, (a.to(tl.int64) >> 32).to(tl.int32))
    tl.store(z + i + 7 * B, f.to(tl.float16).to(tl.bfloat16).to(tl.float32))


@triton.jit
def promotion(x, y, z, n, m, s, B: tl.constexpr):
    i = tl.arange(0, B)
    f = tl.load(z + i)
    h = f.to(tl.float16)
    b = f.to(tl.bfloat16)
    a = tl.load(x + i)
    w = a.to(tl.int16)
    u = a.to(tl.uint32)
    tl.store(z + i, h + 1.5)
    tl.store(z + i + B, b * 2)
    tl.store(z + i + 2 * B, h / 3)
    tl.store(z + i + 3 * B, h + f)
    tl.store(z + i + 4 * B, h + b)
    tl.store(z + i + 5 * B, a + f)
    tl.store(z + i + 6 * B, a / n)
    tl.store(y + i, w + 1)
    tl.store(y + i + B, w + a)
    tl.store(y + i + 2 * B, u + 1)
    tl.store(y + i + 3 * B, (u // 3).to(tl.int32))
    tl.store(y + i + 4 * B, (u >> 1).to(tl.int32))
    tl.store(y + i + 5 * B, (u < 3).to(tl.int32))
    tl.store(z + i + 7 * B, f % 2.0)
    tl.store(y + i + 6 * B, a % n)
    tl.store(z + i + 8 * B, -f)
    tl.store(z + i + 9 * B, tl.maximum(b, 0.0))
    tl.store(z + i + 10 * B, tl.minimum(h, f))
    tl.store(y + i + 7 * B, tl.maximum(a, n))
    tl.store(y + i + 8 * B, max(n, m))
    tl.store(y + i + 9 * B, tl.where(a > 0, a, 0))
    tl.store(z + i + 11 * B, tl.where(a > 0, f, 0))
    tl.store(z + i + 12 * B, tl.where(a > 0, h, 0.0))
    tl.store(z + i + 13 * B, h * h)


@triton.jit
def narrow(x, y, z, n, m, s, B: tl.constexpr):
    i = tl.arange(0, B)
    f = tl.load(z + i)
    h = f.to(tl.float16)
    c = tl.load(x + i).to(tl.uint8)
    k = tl.load(x + i).to(tl.int16)
    tl.store(y + i, (h > 0.5).to(tl.int32))
    tl.store(y + i, (c == 15).to(tl.int32))
    tl.store(y + i, (k > 3).to(tl.int32))
    tl.store(y + i, ((c & 15) * 2).to(tl.int32))
    tl.store(y + i, (k // 3 + k % 5).to(tl.int32))
    tl.store(y + i, ((c >> 4) - 8).to(tl.int32))
    tl.store(z + i, tl.where(h > 0, h, 0.0))
    tl.store(z + i, tl.minimum(h, 1.0) + tl.maximum(0.0, f))
    tl.store(z + i, h * n + k)
    tl.store(z + i, 1.0 / h)
    tl.store(z + i, h.to(tl.float32) ** 1 if B == 1 else f)
    tl.store(y + i, c.to(tl.int1).to(tl.int32) + (n > 3))


@triton.jit
def mathematics(x, y, z, n, m, s, B: tl.constexpr):
    i = tl.arange(0, B)
    f = tl.load(z + i)
    tl.store(z + i, tl.exp(f) + tl.log(f))
    tl.store(z + i, tl.sqrt(tl.abs(f)) * tl.sin(f) - tl.cos(f))
    tl.store(z + i, tl.sigmoid(f))
    tl.store(z + i, tl.softmax(f))
    tl.store(z + i, tl.cdiv(n, 4) * 1.0)
    tl.store(y + i, tl.abs(i - n))


@triton.jit
def shapes(x, y, z, n, m, s, B: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, B)
    j = tl.arange(0, C)
    a = tl.load(z + i[:, None] * C + j[None, :])
    tl.store(z + j[:, None] * B + i[None, :], tl.trans(a))
    tl.store(z + j[:, None] * B + i[None, :], a.T + 1.0)
    tl.store(z + tl.arange(0, B * C), tl.reshape(a, (B * C,)))
    tl.store(z + tl.arange(0, B * C), tl.ravel(a) * 2.0)
    b = tl.broadcast_to(tl.load(z + i)[:, None], (B, C))
    tl.store(z + i[:, None] * C + j[None, :], a + b)
    c = tl.full((B, C), 2.0, tl.float32) * 3.0
    tl.store(z + i[:, None] * C + j[None, :], a * c)
    tl.store(z + i[:, None] * C + j[None, :], tl.zeros_like(a) + n)
    d = tl.expand_dims(tl.load(z + i), 0)
    tl.store(z + i[None, :] + tl.arange(0, 1)[:, None], d)
    tl.store(z + i, tl.sum(a, 1) + tl.max(a, axis=1))
    tl.store(z + j, tl.sum(a, axis=0, keep_dims=True).reshape(C))
    tl.store(z, tl.sum(a))
    tl.store(z + 1, tl.max(tl.sum(a, 1), 0))


@triton.jit
def reductions(x, y, z, n, m, s, B: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, B)
    j = tl.arange(0, C)
    p = i[:, None] * C + j[None, :]
    a = tl.load(z + p)
    k = tl.load(x + p)
    h = a.to(tl.float16)
    b = a.to(tl.bfloat16)
    tl.store(z + i, tl.sum(h, 1))
    tl.store(z + i, tl.sum(b, 1))
    tl.store(z + i, tl.max(b, 1))
    tl.store(z + i, tl.min(h, 1))
    tl.store(y + i, tl.argmax(a, 1))
    tl.store(y + i, tl.argmin(k, 1))
    tl.store(y + i, tl.sum(k.to(tl.int8), 1))
    tl.store(y + i, tl.max(k.to(tl.int16), 1))
    tl.store(y + i, tl.xor_sum(k, 1))
    tl.store(z + p, tl.cumsum(a, 1))
    tl.store(y + i, tl.sum((k > 0).to(tl.int32), 1))
    tl.store(z + p, tl.cumprod(a, 0))


@triton.jit
def _largest(v1, i1, v2, i2):
    better = v1 > v2
    return tl.where(better, v1, v2), tl.where(better, i1, i2)


@triton.jit
def _add(a, b):
    return a + b


@triton.jit
def own_reduction(x, y, z, n, m, s, B: tl.constexpr):
    i = tl.arange(0, B)
    v, w = tl.reduce((tl.load(z + i), i), 0, _largest)
    tl.store(z, v)
    tl.store(y, w)
    tl.store(z + i, tl.associative_scan(tl.load(z + i), 0, _add))


@triton.jit
def loops(x, y, z, n, m, s, B: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    count = 0
    unchanged = n * 2
    p = z + i
    for k in range(n):
        acc += tl.load(p)
        p += s
        count += unchanged
        t = acc * 2
        acc = t
    for k in range(4):
        acc += k
    for k in range(1):
        acc *= 2
    for k in range(m, 0, -2):
        acc += k * 1.0
    for k in tl.static_range(3):
        acc += tl.load(z + k * B + i)
    while count > 3:
        count = count // 2
        acc += 1
    tl.store(z + i, acc + count)


@triton.jit
def nested(x, y, z, n, m, s, B: tl.constexpr):
    i = tl.arange(0, B)
    best = tl.full((B,), -1.0, tl.float32)
    total = 0.0
    for a in range(n):
        inner = tl.zeros((B,), tl.float32)
        for b in range(m):
            inner += tl.load(z + a * s + b + i)
            if b > 3:
                total += 1.0
        best = tl.maximum(best, inner)
    tl.store(z + i, best + total)


@triton.jit
def branches(x, y, z, n, m, s, B: tl.constexpr, FLAG: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(z + i)
    if FLAG:
        a = a + 1
    else:
        a = a.to(tl.float16)
    if n > 3:
        b = a * 2
        c = 1
    else:
        b = a * 3
        c = 2
    if m > 3:
        b = b + 1
    d = n if m > 2 else s
    e = (a + 1) if FLAG else a
    if s > 2:
        tl.store(z + i, b)
    tl.store(z + i + B, b + c + d + e)


@triton.jit
def early(x, y, z, n, m, s, B: tl.constexpr):
    i = tl.arange(0, B)
    if n > 3:
        return
    a = tl.load(z + i)
    if m > 3:
        tl.store(z + i, a + 1)
        return
    else:
        a = a * 2
    tl.store(z + i, a)


@triton.jit
def _pick(a, b, c: tl.constexpr):
    if c:
        return a
    return b


@triton.jit
def _pair(a, b=2):
    return a + b, a * b


@triton.jit
def calls(x, y, z, n, m, s, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(z + i)
    p, q = _pair(a)
    r = _pick(p, q, True)
    u = n
    v, w = _pair(m, b=n)
    tl.store(z + i, r + u + v + w)


@triton.jit
def masks(x, y, z, n, m, s, B: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, B)
    j = tl.arange(0, C)
    p = z + i[:, None] * s + j[None, :]
    k = (i < n)[:, None] & (j < m)[None, :]
    a = tl.load(p, mask=k, other=0)
    b = tl.load(p, mask=(i < n)[:, None])
    c = tl.load(z + n, mask=n < m, other=1.0)
    d = tl.load(p, mask=True)
    e = tl.load(p, k, 0.0, eviction_policy="evict_first")
    tl.store(p, a + b + c + d + e, mask=j[None, :] < m)
    tl.store(z + n, 1.0, mask=n < m)
    tl.store(p, 0.0, mask=False)


@triton.jit
def pointers(x, y, z, n, m, s, B: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, B)
    j = tl.arange(0, C)
    p = z + n
    p = p + 4
    q = (p + i[:, None] * s) + j[None, :]
    q = q + 16
    r = z + i.to(tl.int64)[:, None] * s + j.to(tl.int64)[None, :] + n
    w = z + tl.program_id(0).to(tl.int64) * s + i * 1
    t = tl.load(q) + tl.load(r)
    tl.store(q - 3, t)
    tl.store(w, 1.0)
    g = tl.load(y + i) * 2
    tl.store(z + g, 2.0)


@triton.jit
def atomics(x, y, z, n, m, s, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_add(z + i, 1.0)
    tl.atomic_add(y, n)
    tl.atomic_max(y + i, i, mask=i < n)
    tl.atomic_min(z, 1.0)
    tl.atomic_xchg(y + i, 1)
    old = tl.atomic_cas(y, 0, 1)
    tl.store(y, old)
    while tl.atomic_cas(y, 0, 1) == 1:
        pass
    tl.debug_barrier()
    tl.atomic_and(y + i, 3)


@triton.jit
def dots(x, y, z, n, m, s, B: tl.constexpr):
    i = tl.arange(0, B)
    p = i[:, None] * B + i[None, :]
    a = tl.load(z + p).to(tl.float16)
    b = tl.load(z + B * B + p).to(tl.float16)
    c = tl.dot(a, b)
    d = tl.dot(a, b, allow_tf32=False)
    e = c * 2 + tl.dot(a, b)
    e += tl.dot(b, a)
    f = tl.dot(a, tl.trans(b)).to(tl.float16)
    g = tl.dot(f, a, out_dtype=tl.float16)
    tl.store(z + p, c + d + e + g)


@triton.jit
def hints(x, y, z, n, m, s, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    i = tl.max_contiguous(tl.multiple_of(i % n, B), B)
    s = tl.multiple_of(s, 16)
    tl.store(z + i * s, 1.0)
    tl.store(z + pid * tl.num_programs(0), 1.0)


@triton.jit
def randoms(x, y, z, n, m, s, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(z + i, tl.rand(n, i))
    tl.store(y + i, tl.randint(n, i).to(tl.int32))
    tl.store(z + i, tl.randn(m, i))


@triton.jit
def swizzles(x, y, z, n, m, s, B: tl.constexpr):
    pid = tl.program_id(0)
    a, b = tl.swizzle2d(pid // n, pid % n, n, m, 8)
    tl.store(y + a, b)


@triton.jit
def assembly(x, y, z, n, m, s, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(y + i)
    b = tl.inline_asm_elementwise("shl.b32 $0, $0, 3;", "=r,r", [a], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(y + i, b)


@triton.jit
def constants(x, y, z, n, m, s, B: tl.constexpr):
    TWO: tl.constexpr = 2
    a = tl.zeros((B,), tl.float32)
    for k in tl.static_range(TWO):
        a += k
    if TWO == 2 and B > 1:
        a += TWO
    offs = TWO * B
    x_ = None
    if x_ is not None:
        a += tl.load(x_)
    q: tl.constexpr = B // 2 if B % 2 == 0 else B
    a = a + q
    tl.store(z + offs + tl.arange(0, B), a.to(z.dtype.element_ty))
    tl.store(z.to(tl.pointer_type(tl.float32)) + tl.arange(0, B), 1.0)


if hasattr(tl, "join"):

    @triton.jit
    def joins(x, y, z, n, m, s, B: tl.constexpr):
        i = tl.arange(0, B)
        a = tl.load(z + i)
        b = tl.load(z + B + i)
        c = tl.join(a, b)
        d, e = tl.split(c)
        tl.store(z + i, d + e)
        tl.store(z + tl.arange(0, 2 * B), tl.interleave(a, b))
        tl.store(z + tl.arange(0, 2 * B), tl.cat(a, b, can_reorder=True))
        u, v = tl.split(tl.reshape(tl.load(z + tl.arange(0, 2 * B)), (B, 2)))
        tl.store(z + tl.arange(0, B)[:, None] * 2 + tl.arange(0, 2)[None, :], tl.join(u, v))
        g, h = tl.split(tl.sum(c, 0))
        tl.store(z, g + h)
        w = tl.permute(tl.reshape(c, (B // 2, 2, 2)), (2, 0, 1))
        tl.store(z + tl.arange(0, 2 * B), tl.reshape(w, (2 * B,)))

    @triton.jit
    def sorting(x, y, z, n, m, s, B: tl.constexpr):
        i = tl.arange(0, B)
        a = tl.load(z + i)
        tl.store(z + i, tl.sort(a))
        tl.store(z + i, tl.sort(a, descending=True))
        tl.store(z + i, tl.flip(a, 0))

    @triton.jit
    def clamps(x, y, z, n, m, s, B: tl.constexpr):
        i = tl.arange(0, B)
        a = tl.load(z + i)
        tl.store(z + i, tl.clamp(a, -1.0, 1.0))
        tl.store(z + i, tl.fma(a, a, 1.0))
        tl.store(z + i, tl.div_rn(a, 3.0))
        tl.store(z + i, tl.math.rsqrt(a) + tl.math.exp2(a) + tl.floor(a) + tl.ceil(a) + tl.erf(a))
        tl.store(z + i, tl.fdiv(a, a))
        tl.store(y + i, tl.histogram(tl.load(y + i), 16) if B == 16 else i)
        tl.store(z + i, tl.cumsum(a, 0, reverse=True))


if hasattr(tl, "make_block_ptr"):

    @triton.jit
    def blocks(x, y, z, n, m, s, B: tl.constexpr, C: tl.constexpr):
        p = tl.make_block_ptr(z, (n, m), (s, 1), (n, 0), (B, C), (1, 0))
        q = tl.make_block_ptr(
            z + n, shape=(n, m), strides=(s, 1), offsets=(0, 0), block_shape=(B, C), order=(1, 0)
        )
        acc = tl.zeros((B, C), tl.float32)
        for k in range(0, m, C):
            acc += tl.load(p, boundary_check=(0, 1), padding_option="zero")
            acc += tl.load(q, boundary_check=(1,))
            p = tl.advance(p, (0, C))
            q = tl.advance(q, (B, 0))
        tl.store(p, acc, boundary_check=(0,))
        tl.store(q, acc.to(tl.float32))


if hasattr(tl, "gather"):

    @triton.jit
    def gathers(x, y, z, n, m, s, B: tl.constexpr):
        i = tl.arange(0, B)
        a = tl.load(z + i)
        tl.store(z + i, tl.gather(a, tl.load(y + i), 0))


if hasattr(tl, "topk"):

    @triton.jit
    def topks(x, y, z, n, m, s, B: tl.constexpr):
        i = tl.arange(0, B)
        a = tl.load(z + i)
        tl.store(z + tl.arange(0, 4), tl.topk(a, 4))


if hasattr(tl, "make_tensor_descriptor"):

    @triton.jit
    def descriptors(x, y, z, n, m, s, B: tl.constexpr, C: tl.constexpr):
        d = tl.make_tensor_descriptor(z, [n, m], [m, 1], [B, C])
        e = tl.make_tensor_descriptor(z, shape=[n, m], strides=[m, 1], block_shape=[1, C])
        acc = tl.zeros((B, C), tl.float32)
        for k in tl.range(0, m, C, num_stages=2):
            acc += d.load([n, k])
        rows = tl.arange(0, B)
        acc += e.gather(rows, 0)
        d.store([n, 0], acc)
        d.atomic_add([0, 0], acc)
        e.scatter(acc, rows, 4)


@triton.jit
def halves_cast(x, y, z, n, m, s, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(z + i)
    h = a.to(tl.float16)
    b = a.to(tl.bfloat16)
    tl.store(x + i, h.to(tl.int32))
    tl.store(x + i, b.to(tl.int32))
    tl.store(x + i, h.to(tl.uint8).to(tl.int32) + b.to(tl.int64).to(tl.int32))
    tl.store(x + i, h.to(tl.int1).to(tl.int32) + b.to(tl.int1).to(tl.int32))
    tl.store(z + i, h.to(tl.float64).to(tl.float32) + b.to(tl.float64).to(tl.float32))
    tl.store(z + i, h.to(tl.bfloat16).to(tl.float32) + b.to(tl.float16).to(tl.float32))
    tl.store(z + i, h.to(tl.float8e5).to(tl.float32) + b.to(tl.float8e5).to(tl.float32))
    tl.store(z + i, tl.load(x + i).to(tl.float16).to(tl.float32) + tl.load(y + i).to(tl.bfloat16).to(tl.float32))
