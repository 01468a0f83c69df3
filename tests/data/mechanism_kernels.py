"""Small kernels, each of which needs one mechanism of the compiler to come out right.

The truth in mechanism_rows.jsonl is that of the real release.
"""

import math

import triton
import triton.language as tl


@triton.jit
def state_scan(c_ptr, s_ptr, a_ptr, d_ptr, x_ptr, o_ptr, n,
               BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BS: tl.constexpr):
    """A product before the loop starts the accumulator; in the loop the left operand is scaled in registers."""
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    states = tl.arange(0, BS)
    c = tl.load(c_ptr + rows[:, None] * BS + states[None, :])
    s = tl.load(s_ptr + states[:, None] * BN + columns[None, :])
    acc = tl.dot(c, s)
    steps = tl.arange(0, BK)
    for k in range(0, n, BK):
        a = tl.load(a_ptr + rows[:, None] * n + (k + steps)[None, :]).to(tl.float32)
        a *= tl.load(d_ptr + k + steps)[None, :]
        x = tl.load(x_ptr + (k + steps)[:, None] * BN + columns[None, :])
        acc += tl.dot(a.to(x_ptr.dtype.element_ty), x)
    tl.store(o_ptr + rows[:, None] * BN + columns[None, :], acc)


@triton.jit
def scaled_product(a_ptr, b_ptr, s_ptr, o_ptr, heads, stride_a, stride_b, stride_s,
                   BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The result of each step's product is scaled by a load in the loop: where its operands are prefetched, the
    scale is converted before it is widened."""
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    depth = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for h in range(heads):
        a = tl.load(a_ptr + h * stride_a + rows[:, None] * BK + depth[None, :])
        b = tl.load(b_ptr + h * stride_b + depth[:, None] * BN + columns[None, :])
        product = tl.dot(a, b)
        scale = tl.exp(tl.load(s_ptr + h * stride_s + rows).to(tl.float32))
        acc += product * scale[:, None]
    tl.store(o_ptr + rows[:, None] * BN + columns[None, :], acc)


@triton.jit
def known_steps(a_ptr, b_ptr, o_ptr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, K: tl.constexpr):
    """A loop of two steps on tcgen05 whose loads are too narrow to be copied: the last step is peeled, and the one
    that is left is no loop any more."""
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    depth = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + rows[:, None] * 2 * K + (k + depth)[None, :] * 2)
        b = tl.load(b_ptr + (k + depth)[:, None] * 2 + columns[None, :] * 2 * K)
        acc += tl.dot(a, b)
    best = tl.min(acc, axis=1)
    tl.store(o_ptr + rows, best)


@triton.jit
def transposed_left(a_ptr, b_ptr, o_ptr, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The left operand is loaded as it lies and transposed in registers: on AMD its load is still that of an
    operand."""
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    depth = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, n, BK):
        a = tl.load(a_ptr + (k + depth)[:, None] * BM + rows[None, :])
        b = tl.load(b_ptr + (k + depth)[:, None] * BN + columns[None, :])
        acc += tl.dot(tl.trans(a), b)
    tl.store(o_ptr + rows[:, None] * BN + columns[None, :], acc)


@triton.jit
def block_scaled(a_ptr, b_ptr, s_ptr, t_ptr, o_ptr, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Each step's product is scaled by rows and columns that are loaded in the layout of its tile."""
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    depth = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(n):
        a = tl.load(a_ptr + rows[:, None] * n * BK + (step * BK + depth)[None, :])
        b = tl.load(b_ptr + (step * BK + depth)[:, None] + columns[None, :] * n * BK)
        by_row = tl.load(s_ptr + rows * n + step)
        by_column = tl.load(t_ptr + columns // 128 * n + step)
        acc += tl.dot(a, b) * by_row[:, None] * by_column[None, :]
    tl.store(o_ptr + rows[:, None] * BN + columns[None, :], acc)


@triton.jit
def held_operand(v_ptr, do_ptr, q_ptr, o_ptr, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """An operand from before the loop is put in memory there, although the loop writes."""
    columns = tl.arange(0, BN)
    rows = tl.arange(0, BM)
    d = tl.arange(0, D)
    v = tl.load(v_ptr + columns[:, None] * D + d[None, :])
    for i in range(0, n, BM):
        q = tl.load(q_ptr + (i + rows)[:, None] * BN + columns[None, :])
        do = tl.load(do_ptr + (i + rows)[:, None] * D + d[None, :])
        p = tl.dot(do, tl.trans(v)) * q
        tl.atomic_add(o_ptr + (i + rows)[:, None] * BN + columns[None, :], p)


@triton.jit
def both_sides(q_ptr, k_ptr, o_ptr, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """A tile that is the left operand of one product and the right one of the next: two buffers on AMD."""
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    d = tl.arange(0, D)
    k = tl.load(k_ptr + columns[:, None] * D + d[None, :])
    acc = tl.zeros((BN, D), dtype=tl.float32)
    for start in range(0, n, BM):
        q = tl.load(q_ptr + (start + rows)[:, None] * D + d[None, :])
        scores = tl.dot(q, tl.trans(k)).to(q.dtype)
        acc += tl.dot(tl.trans(scores), q)
    tl.store(o_ptr + columns[:, None] * D + d[None, :], acc)


@triton.jit
def packed_weights(a_ptr, w_ptr, s_ptr, o_ptr, k_size, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The right operand is unpacked and scaled in registers, and a pipelined loop carries it packed."""
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    steps = tl.arange(0, BK)
    packed = tl.arange(0, BK // 2)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, k_size, BK):
        a = tl.load(a_ptr + rows[:, None] * k_size + (k + steps)[None, :])
        w = tl.load(w_ptr + (k // 2 + packed)[:, None] * BN + columns[None, :])
        both = tl.join(w & 0xF, (w >> 4) & 0xF).permute(0, 2, 1).reshape(BK, BN)
        scale = tl.load(s_ptr + k // BK * BN + columns)
        acc += tl.dot(a, both.to(a.dtype) * scale[None, :])
    tl.store(o_ptr + rows[:, None] * BN + columns[None, :], acc)


@triton.jit
def packed_keys(q_ptr, k_ptr, s_ptr, v_ptr, o_ptr, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Keys of 8 bits become wide in registers, and the first product feeds the second one."""
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + d[None, :])
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for start in range(0, n, BN):
        k = tl.load(k_ptr + (start + columns)[None, :] * D + d[:, None])
        scale = tl.load(s_ptr + start + columns)
        scores = tl.dot(q, k.to(q.dtype) * scale[None, :].to(q.dtype))
        v = tl.load(v_ptr + (start + columns)[:, None] * D + d[None, :])
        acc = tl.dot(tl.exp(scores).to(v.dtype), v, acc)
    tl.store(o_ptr + rows[:, None] * D + d[None, :], acc)


@triton.jit
def added_bias(q_ptr, k_ptr, b_ptr, v_ptr, o_ptr, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """A product adds to a bias that is loaded in the loop, and the sum goes over rows into the next product."""
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    d = tl.arange(0, D)
    k = tl.load(k_ptr + columns[None, :] * D + d[:, None])
    acc = tl.zeros((BN, D), dtype=tl.float32)
    for start in range(0, n, BM):
        q = tl.load(q_ptr + (start + rows)[:, None] * D + d[None, :])
        bias = tl.load(b_ptr + (start + rows)[:, None] * BN + columns[None, :])
        scores = tl.exp(tl.dot(q, k) + bias)
        v = tl.load(v_ptr + (start + rows)[:, None] * D + d[None, :])
        acc += tl.dot(tl.trans(scores.to(v.dtype)), v)
    tl.store(o_ptr + columns[:, None] * D + d[None, :], acc)


@triton.jit
def scaled_rows(x_ptr, o_ptr, ROWS: tl.constexpr, SIZE: tl.constexpr):
    """A scale of each row that meets its rows again through a reshape: two encodings to choose from."""
    i = tl.arange(0, ROWS * SIZE)
    x = tl.load(x_ptr + i)
    scale = tl.exp2(tl.max(tl.abs(tl.reshape(x, [ROWS, SIZE])), axis=1))
    scaled = tl.reshape(x, [ROWS, SIZE]) / tl.reshape(scale, [ROWS, 1])
    tl.store(o_ptr + i, tl.reshape(scaled.to(tl.float16), [ROWS * SIZE]))


@triton.jit
def transposed_weights(q_ptr, k_ptr, v_ptr, o_ptr, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """A computed operand that lies in memory while a reduction runs, as nothing waits between the two."""
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    d = tl.arange(0, D)
    k = tl.load(k_ptr + d[:, None] * BM + rows[None, :])
    low = tl.zeros((BM,), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for start in range(0, n, BN):
        q = tl.load(q_ptr + (start + columns)[:, None] * D + d[None, :])
        scores = tl.dot(q, k, input_precision="ieee")
        high = tl.maximum(low, tl.max(scores, axis=0))
        weights = tl.exp(scores - high[None, :])
        alpha = tl.exp(low - high)
        total = alpha * total + tl.sum(weights, axis=0)
        v = tl.load(v_ptr + (start + columns)[:, None] * D + d[None, :])
        acc = alpha[:, None] * acc + tl.dot(tl.trans(weights), v, input_precision="ieee")
        low = high
    tl.store(o_ptr + rows[:, None] * D + d[None, :], acc / total[:, None])


@triton.jit
def flat_tiles(a_ptr, b_ptr, c_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A flattened loop that carries the columns of its tile, which are zeros before the first one."""
    inner = tl.arange(0, BK).to(tl.int64)
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, BM) * tl.cdiv(n, BN), 8, flatten=True):
        rows = (tile // tl.cdiv(n, BN)) * BM + tl.arange(0, BM)
        columns = (tile % tl.cdiv(n, BN)) * BN + tl.arange(0, BN)
        rows = tl.max_contiguous(tl.multiple_of(tl.where(rows < m, rows, 0), BM), BM)
        columns = tl.max_contiguous(tl.multiple_of(tl.where(columns < n, columns, 0), BN), BN)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for step in range(tl.cdiv(k, BK)):
            at = step * BK + inner
            a = tl.load(a_ptr + rows[:, None] * k + at[None, :])
            b = tl.load(b_ptr + at[:, None] * n + columns[None, :])
            acc = tl.dot(a, b, acc)
        tl.store(c_ptr + rows[:, None] * n + columns[None, :], acc.to(tl.float16))


@triton.jit
def ws_pointers(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A specialized loop with descriptor loads; the result leaves through pointers."""
    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[K, N], strides=[N, 1], block_shape=[BK, BN])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, tl.cdiv(K, BK), warp_specialize=True):
        a = a_desc.load([row, k * BK])
        b = b_desc.load([k * BK, column])
        acc = tl.dot(a, b, acc)
    rows = row + tl.arange(0, BM)
    columns = column + tl.arange(0, BN)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], acc.to(tl.float16), mask=(rows < M)[:, None])


@triton.jit
def ws_persistent(a_ptr, b_ptr, c_ptr, bias_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                  PROGRAMS: tl.constexpr, FLAT: tl.constexpr, BIAS: tl.constexpr, DESC: tl.constexpr):
    """Persistent and specialized, with the epilogue in the loop."""
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    down = tl.cdiv(M, BM)
    tiles = down * tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=FLAT, warp_specialize=True):
        row = tile % down * BM
        column = tile // down * BN
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(tl.cdiv(K, BK)):
            a = a_desc.load([row, k * BK])
            b = b_desc.load([column, k * BK])
            acc = tl.dot(a, b.T, acc)
        columns = column + tl.arange(0, BN)
        if BIAS:
            acc += tl.load(bias_ptr + columns)[None, :]
        if DESC:
            c_desc.store([row, column], acc.to(tl.float16))
        else:
            rows = row + tl.arange(0, BM)
            tl.store(c_ptr + rows[:, None] * N + columns[None, :], acc.to(tl.float16), mask=(rows < M)[:, None])


@triton.jit
def ws_host(a_desc, b_desc, c_desc, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, S: tl.constexpr):
    """Descriptors made on the host, stages of the loop's own."""
    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True, num_stages=S):
        a = a_desc.load([row, k])
        b = b_desc.load([column, k])
        acc = tl.dot(a, b.T, acc)
    c_desc.store([row, column], acc.to(tl.float16))


@triton.jit
def ws_twice(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, MODE: tl.constexpr):
    """A product of its own in each step of a specialized loop."""
    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    m = tl.zeros((BM,), dtype=tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        b = b_desc.load([column, k])
        a = a_desc.load([row, k])
        if MODE == 0:
            acc += tl.dot(a, b.T) * 2.0
        elif MODE == 1:
            acc = tl.dot(a, b.T, acc)
            m += tl.sum(a.to(tl.float32), 1)
        else:
            s = tl.dot(a, b.T)
            m = tl.maximum(m, tl.max(s, 1))
    rows = row + tl.arange(0, BM)
    columns = column + tl.arange(0, BN)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], (acc + m[:, None]).to(tl.float16))


@triton.jit
def transposed_copy(a_ptr, c_ptr, n, BM: tl.constexpr, BN: tl.constexpr, KIND: tl.constexpr):
    """A transposed tile, read and written in rows."""
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    x = tl.load(a_ptr + rows[:, None] * n + columns[None, :])
    if KIND == 1:
        x = x.to(tl.float32) * 2
    y = tl.trans(x)
    if KIND == 2:
        y = y + 1
    if KIND == 3:
        s = tl.sum(y, 0)
        tl.store(c_ptr + rows, s)
    else:
        tl.store(c_ptr + columns[:, None] * n + rows[None, :], y)


@triton.jit
def scaled_tiles(a_ptr, as_ptr, b_ptr, bs_ptr, c_ptr, k_size, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                 A: tl.constexpr, B: tl.constexpr, AP: tl.constexpr, BP: tl.constexpr, KIND: tl.constexpr):
    """A product of operands with a scale for each 32 elements; AP and BP elements stand in one byte."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    a_depth = tl.arange(0, BK // AP)
    b_depth = tl.arange(0, BK // BP)
    groups = tl.arange(0, BK // 32)
    a_at = a_ptr + rows[:, None] * k_size + a_depth[None, :]
    if KIND == 1:
        b_at = b_ptr + b_depth[:, None] * 4096 + columns[None, :]
    else:
        b_at = b_ptr + b_depth[:, None] + columns[None, :] * k_size
    as_at = as_ptr + rows[:, None] * (k_size // 32) + groups[None, :]
    bs_at = bs_ptr + columns[:, None] * (k_size // 32) + groups[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, k_size, BK):
        a = tl.load(a_at)
        b = tl.load(b_at)
        a_scale = tl.load(as_at)
        b_scale = tl.load(bs_at)
        acc = tl.dot_scaled(a, a_scale, A, b, b_scale, B, acc)
        a_at += BK // AP
        if KIND == 1:
            b_at += BK // BP * 4096
        else:
            b_at += BK // BP
        as_at += BK // 32
        bs_at += BK // 32
    if KIND == 2:
        acc = acc * 2 + tl.max(acc, 1)[:, None]
    tl.store(c_ptr + rows[:, None] * 4096 + columns[None, :], acc.to(tl.bfloat16))


@triton.jit
def packed_scales(a_desc, as_desc, b_desc, bs_desc, c_ptr, k_size, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                  A: tl.constexpr, B: tl.constexpr, AP: tl.constexpr, BP: tl.constexpr, V: tl.constexpr, S: tl.constexpr):
    """Tiles and scales through descriptors, the scales in the order in which tensor memory wants them."""
    row = tl.program_id(0)
    column = tl.program_id(1)
    RM: tl.constexpr = BM // 128
    RN: tl.constexpr = BN // 128
    RK: tl.constexpr = BK // V // 4
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, k_size // BK, num_stages=S):
        a = a_desc.load([row * BM, k * BK // AP])
        b = b_desc.load([column * BN, k * BK // BP])
        a_scale = as_desc.load([0, row * RM, k * RK, 0, 0])
        b_scale = bs_desc.load([0, column * RN, k * RK, 0, 0])
        a_scale = a_scale.reshape(RM, RK, 32, 4, 4).trans(0, 3, 2, 1, 4).reshape(BM, BK // V)
        b_scale = b_scale.reshape(RN, RK, 32, 4, 4).trans(0, 3, 2, 1, 4).reshape(BN, BK // V)
        acc = tl.dot_scaled(a, a_scale, A, b.T, b_scale, B, acc)
    rows = row * BM + tl.arange(0, BM)
    columns = column * BN + tl.arange(0, BN)
    tl.store(c_ptr + rows[:, None] * 4096 + columns[None, :], acc.to(tl.float16))


@triton.jit
def numbered_pointers(a_ptrs, b_ptrs, c_ptrs, sizes, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Pointers that are loaded as numbers; hints inside of the loop tell of their alignment."""
    lda = tl.load(sizes)
    ldb = tl.load(sizes + 1)
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    inner = tl.arange(0, BK)
    a = tl.load(a_ptrs).to(tl.pointer_type(tl.float16)) + rows[:, None] * lda + inner[None, :]
    b = tl.load(b_ptrs).to(tl.pointer_type(tl.float16)) + inner[:, None] * ldb + columns[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, tl.load(sizes + 2), BK):
        tl.multiple_of(a, [16, 16])
        tl.multiple_of(b, [16, 16])
        acc += tl.dot(tl.load(a), tl.load(b))
        a += BK
        b += BK * ldb
    c = tl.load(c_ptrs).to(tl.pointer_type(tl.float16))
    tl.store(c + rows[:, None] * BN + columns[None, :], acc.to(tl.float16))


@triton.jit
def summed_products(a_ptr, b_ptr, x_ptr, s_ptr, o_ptr, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A product meets a loaded tile, and the sums of rows go on in one of their two encodings."""
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    k = tl.arange(0, BK)
    at = rows[:, None] * n + columns[None, :]
    a = tl.load(a_ptr + rows[:, None] * BK + k[None, :])
    b = tl.load(b_ptr + k[:, None] * BN + columns[None, :])
    scale = tl.load(s_ptr + rows).to(tl.float32)
    acc = tl.dot(a, b) * tl.exp(scale)[:, None]
    x = tl.load(x_ptr + at).to(tl.float32)
    sums = tl.sum(acc * x, axis=1)
    tl.atomic_add(s_ptr + n + rows, sums)
    changes = -(sums * scale)
    tl.atomic_add(s_ptr + 2 * n, tl.sum(changes))
    tl.atomic_add(s_ptr + 3 * n + rows, changes)
    tl.store(o_ptr + at, (acc * scale[:, None]).to(tl.float16))


@triton.jit
def bound_that_is_true(a_ptr, o_ptr, steps, BM: tl.constexpr):
    """A bound that is True is -1 as the int32 of the loop variable, so that nothing runs."""
    r = tl.arange(0, BM)
    tile = r[:, None] * BM + r[None, :]
    acc = tl.zeros((BM, BM), dtype=tl.float32)
    for k in range(0, steps, BM):
        a = tl.load(a_ptr + k * BM + tile)
        acc += tl.dot(a, a)
    tl.store(o_ptr + tile, acc)


@triton.jit
def alloc_across_wait(a_ptr, b_ptr, d_ptr, t_ptr, v_ptr, o_ptr, n, BM: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr):
    """Tiles of two products are loaded in rows of which no thread can copy 4 bytes, before the wait for one that is
    copied: their memory is taken where they are loaded, since a wait says nothing of writes."""
    rows = tl.arange(0, BM)
    depth = tl.arange(0, BK)
    columns = tl.arange(0, BN)
    q = tl.load(a_ptr + rows[:, None] * BK + depth[None, :])
    r = tl.load(b_ptr + rows[:, None] * BK + depth[None, :])
    acc = tl.zeros((BM, BK), dtype=tl.float32)
    for i in range(n):
        at = tl.load(t_ptr + i).to(tl.int64)
        k = tl.load(d_ptr + depth[:, None] * 64 + columns[None, :] * 1024 + at)
        s = tl.load(d_ptr + 4096 + depth[:, None] * 64 + columns[None, :] * 1024 + at)
        v = tl.load(v_ptr + columns[:, None] * BK + depth[None, :] + at * 1024)
        p = tl.dot(r, s, acc=tl.dot(q, k))
        acc = tl.dot(tl.exp(p).to(v.dtype), v, acc=acc)
    tl.store(o_ptr + rows[:, None] * BK + depth[None, :], acc)


@triton.jit
def cat_of_short_ranges(x_ptr, y_ptr, n, stride, BM: tl.constexpr, BN: tl.constexpr):
    """Two ranges with fewer elements than threads: a thread holds one of each, which no other layout has, so the rows
    are converted once, before they are used."""
    steps = tl.arange(0, BM) * 8
    rows = n * 64 + tl.cat(steps, steps + 1, True)
    columns = tl.arange(0, BN)
    x = tl.load(x_ptr + rows[:, None] * stride + columns[None, :], mask=rows[:, None] < n)
    tl.store(y_ptr + rows[:, None] * stride + columns[None, :], x * 2, mask=rows[:, None] < n)


@triton.jit
def kept_behind_write(k_ptr, v_ptr, o_ptr, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                      SAYS: tl.constexpr):
    """A tile from before the loop: its memory is taken in the loop, which writes, unless something in it does not
    declare its effects."""
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    depth = tl.arange(0, BK)
    v = tl.load(v_ptr + columns[:, None] * BK + depth[None, :])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(0, n):
        k = tl.load(k_ptr + i * BM * BK + rows[:, None] * BK + depth[None, :])
        acc += tl.dot(k, tl.trans(v), input_precision="ieee")
        tl.store(o_ptr + i * BM * BN + rows[:, None] * BN + columns[None, :], acc.to(tl.bfloat16))
        if SAYS == "barrier":
            tl.debug_barrier()
        elif SAYS == "assume":
            tl.assume(i < 10000)
        elif SAYS == "scan":
            total = tl.cumsum(acc, axis=0)
            tl.store(o_ptr + n + i * BM * BN + rows[:, None] * BN + columns[None, :], total.to(tl.bfloat16))


@triton.jit
def narrow_right(a_ptr, b_ptr, o_ptr, n, stride_b, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The right operand is read byte by byte, so it is not pipelined on AMD; behind the loop, where the last steps
    follow under conditions, it changes layout only after it is widened."""
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    depth = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, n, BK):
        a = tl.load(a_ptr + rows[:, None] * n + (k + depth)[None, :])
        b = tl.load(b_ptr + (k + depth)[:, None] * stride_b + columns[None, :] * 3 * stride_b)
        acc += tl.dot(a, b.to(a.dtype))
    tl.store(o_ptr + rows[:, None] * BN + columns[None, :], acc)


@triton.jit
def paged_values(q_ptr, k_ptr, v_ptr, pages_ptr, o_ptr, n, stride_d, BM: tl.constexpr, BN: tl.constexpr,
                 D: tl.constexpr):
    """The rows of V stand in a table that is read where the first product is waited for: up to 3.8 that is too early
    for its numbers to stay in registers. With one stage, each step begins the scores anew in tensor memory."""
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + d[None, :])
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for start in range(0, n, BN):
        pages = tl.load(pages_ptr + start + columns)
        k = tl.load(k_ptr + pages[None, :] * D + d[:, None])
        p = tl.dot(q, k)
        p = tl.exp(p - tl.max(p, 1)[:, None])
        v = tl.load(v_ptr + pages[:, None] * stride_d + d[None, :] * stride_d)
        acc += tl.dot(p.to(v.dtype), v)
    tl.store(o_ptr + rows[:, None] * D + d[None, :], acc)


@triton.jit
def narrow_piece(a_ptr, b_ptr, o_ptr, stride_b, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """As `narrow_right`, with one step that is known to run: nothing is under a condition then."""
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    depth = tl.arange(0, BK)
    piece = tl.program_id(0)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(piece, piece + 1):
        a = tl.load(a_ptr + rows[:, None] * 4096 + (k * BK + depth)[None, :])
        b = tl.load(b_ptr + (k * BK + depth)[:, None] * stride_b + columns[None, :] * 3 * stride_b)
        acc += tl.dot(a, b.to(a.dtype))
    tl.store(o_ptr + rows[:, None] * BN + columns[None, :], acc)


@triton.jit
def loaded_before_branch(a_ptr, b_ptr, c_ptr, o_ptr, n, D: tl.constexpr, WRITES: tl.constexpr):
    """Tiles that are loaded before a branch and multiplied one after the other in it: where it writes, their memory is
    taken in the branch, one tile at a time."""
    r = tl.arange(0, D)
    tile = r[:, None] * D + r[None, :]
    a = tl.load(a_ptr + tile)
    b = tl.load(b_ptr + tile)
    c = tl.load(c_ptr + tile)
    acc = tl.zeros((D, D), dtype=tl.float32)
    if n > 3:
        acc = tl.dot(tl.trans(a), c)
        acc = tl.dot(tl.trans(b), c, acc=acc)
        if WRITES:
            tl.store(o_ptr + tile, acc * 2)
    tl.store(o_ptr + D * D + tile, acc)


@triton.jit
def loaded_before_writes(a_ptr, b_ptr, c_ptr, o_ptr, n, D: tl.constexpr, KIND: tl.constexpr):
    """Memory for a loaded tile is not taken before a loop that writes, or the branch of a loop; it is before a barrier,
    and before the loop that multiplies it. The product that is the keyword comes before the transposed argument."""
    r = tl.arange(0, D)
    tile = r[:, None] * D + r[None, :]
    a = tl.load(a_ptr + tile)
    b = tl.load(b_ptr + tile)
    c = tl.load(c_ptr + tile)
    if KIND == "loop":
        for i in range(n):
            tl.store(o_ptr + i, i)
    if KIND == "barrier":
        tl.debug_barrier()
    if KIND == "in a loop":
        for i in range(n):
            acc = tl.dot(tl.trans(b), c, acc=tl.dot(tl.trans(a), c))
            tl.store(o_ptr + i * D * D + tile, acc)
    elif KIND == "in a branch of a loop":
        for i in range(n):
            if i % 3 == 1:
                acc = tl.dot(tl.trans(b), c, acc=tl.dot(tl.trans(a), c))
                tl.store(o_ptr + i * D * D + tile, acc)
    else:
        acc = tl.dot(tl.trans(b), c, acc=tl.dot(tl.trans(a), c))
        tl.store(o_ptr + tile, acc)


@triton.jit
def dequantised_twice(q_ptr, kv_ptr, s_ptr, i_ptr, o_ptr, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """A tile of bytes, scaled and masked by row, is used as it lies and transposed: the conversion to the operand goes
    up to the load, since mask and scale have the operand's layout already, by another name."""
    rows = tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + d[None, :])
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for start in range(0, n, BN):
        columns = start + tl.arange(0, BN)
        at = tl.load(i_ptr + columns, mask=columns < n, other=-1)
        valid = (columns < n) & (at != -1)
        scale = tl.load(s_ptr + at, mask=valid, other=127).to(tl.uint8)
        tile = tl.load(kv_ptr + at[:, None] * D + d[None, :], mask=valid[:, None], other=0)
        scale = tl.math.exp2(scale.to(tl.float32) - 127.0).to(tl.bfloat16)
        kv = (tile.to(tl.float8e4nv, bitcast=True).to(tl.bfloat16) * scale[:, None]).to(tl.bfloat16)
        kv = tl.where(valid[:, None], kv, 0.0)
        p = tl.where(valid[None, :], tl.dot(q, tl.trans(kv)), float("-inf"))
        p = tl.exp(p - tl.max(p, axis=1)[:, None])
        acc = tl.dot(p.to(tl.bfloat16), kv, acc=acc)
    tl.store(o_ptr + rows[:, None] * D + d[None, :], acc)


@triton.jit
def three_products(a_ptr, b_ptr, c_ptr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Accumulators of more columns of tensor memory than there are: the kernel becomes a trap."""
    rows, columns, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    first = tl.zeros((BM, BN), dtype=tl.float32)
    second = tl.zeros((BM, BN), dtype=tl.float32)
    third = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, 1024, BK):
        a = tl.load(a_ptr + rows[:, None] * 1024 + start + k[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * 1024 + columns[None, :])
        first = tl.dot(a, b, first)
        second = tl.dot(a, b + 1, second)
        third = tl.dot(a + 1, b, third)
    places = c_ptr + rows[:, None] * 1024 + columns[None, :]
    tl.store(places, first)
    tl.store(places + 4096, second)
    tl.store(places + 8192, third)


@triton.jit
def masked_by_wide_rows(q_ptr, m_ptr, o_ptr, BM: tl.constexpr, D: tl.constexpr):
    """Narrow rows meet the sums of wide ones: of two blocked encodings the first stays, copies and all."""
    rows = tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + d[None, :]).to(tl.float32)
    mask = tl.load(m_ptr + rows[:, None] * BM + rows[None, :]).to(tl.float32)
    q = q * tl.sum(mask, axis=1)[:, None]
    tl.store(o_ptr + rows[:, None] * BM + rows[None, :], tl.dot(q, tl.trans(q)) * mask)


@triton.jit
def scaled_columns(x_ptr, o_ptr, ROWS: tl.constexpr, SIZE: tl.constexpr):
    """As scaled_rows, but the copies of the scale lie in the warps, and each thread of a warp has its own."""
    i = tl.arange(0, ROWS * SIZE)
    x = tl.load(x_ptr + i)
    scale = tl.exp2(tl.max(tl.abs(tl.reshape(x, [ROWS, SIZE])), axis=0))
    scaled = tl.reshape(x, [ROWS, SIZE]) / tl.reshape(scale, [1, SIZE])
    tl.store(o_ptr + i, tl.reshape(scaled.to(tl.float16), [ROWS * SIZE]))


@triton.jit
def stored_and_spread_sums(x_ptr, m_ptr, o_ptr, n, N: tl.constexpr):
    """The sum of a row of fewer elements than threads is stored, and spread over the row again."""
    r = tl.program_id(0) + tl.arange(0, 1)
    d = tl.arange(0, N)
    x = tl.load(x_ptr + r[:, None] * n + d[None, :])
    s = tl.sum(x, axis=1)
    tl.store(m_ptr + r, s)
    tl.store(o_ptr + r[:, None] * n + d[None, :], x * s[:, None])


@triton.jit
def two_ways(x_ptr, w_ptr, o_ptr, n, B: tl.constexpr):
    """A loaded tile is the left operand of one product and the right one of the next: the last one's lies in the ring."""
    i, j = tl.arange(0, B), tl.arange(0, B)
    w = tl.load(w_ptr + i[:, None] * B + j[None, :])
    total = tl.zeros((B, B), dtype=tl.float32)
    for k in range(0, n):
        x = tl.load(x_ptr + k * B * B + i[:, None] * B + j[None, :])
        total += tl.dot(x, w)
        tl.store(o_ptr + (k + 1) * B * B + j[:, None] * B + i[None, :], tl.dot(w, x))
    tl.store(o_ptr + i[:, None] * B + j[None, :], total)


@triton.jit
def turned_in_threads(a_ptr, v_ptr, w_ptr, p_ptr, s_ptr, B: tl.constexpr):
    """The first product of a tile loaded by columns turns it over in registers on AMD; later ones keep a copy."""
    i, j = tl.arange(0, B), tl.arange(0, B)
    a = tl.load(a_ptr + i[:, None] + j[None, :] * B)
    v = tl.load(v_ptr + i[:, None] * B + j[None, :])
    w = tl.load(w_ptr + i[:, None] * B + j[None, :])
    tl.store(p_ptr + i[:, None] * B + j[None, :], tl.dot(a, v))
    s = tl.dot(w, tl.trans(v))
    s = tl.dot(s.to(a.dtype), a)
    s = tl.dot(a, s.to(a.dtype))
    s = tl.dot(s.to(a.dtype), w)
    tl.store(s_ptr + i[:, None] * B + j[None, :], s)


@triton.jit
def made_before_stored(x_ptr, o_ptr, n, B: tl.constexpr):
    """A descriptor is made after what is stored through it: it is written to memory, which no allocation passes."""
    i, j = tl.arange(0, B), tl.arange(0, B)
    x = tl.make_tensor_descriptor(x_ptr, [n, B], [B, 1], [B, B]).load([0, 0])
    s = tl.where(i[:, None] > j[None, :], tl.dot(x, tl.trans(x)), 0.0)
    o = tl.make_tensor_descriptor(o_ptr, [n, B], [B, 1], [B, B])
    o.store([0, 0], s)


@triton.jit
def loaded_and_stored(x_ptr, w_ptr, o_ptr, n, B: tl.constexpr):
    """What a descriptor loaded is stored from where it lies."""
    x = tl.make_tensor_descriptor(x_ptr, [n, B], [B, 1], [B, B])
    first, second = x.load([0, 0]), x.load([B, 0])
    third = tl.dot(tl.dot(second, first), first)
    o = tl.make_tensor_descriptor(o_ptr, [n, B], [B, 1], [B, B])
    o.store([0, 0], first)
    o.store([B, 0], second)
    o.store([2 * B, 0], third)


@triton.jit
def operand_of_two_loops(a_ptr, b_ptr, c_ptr, n, B: tl.constexpr):
    """Two loops multiply with one tile. The loops store, which parts equal reads of shared memory up to 3.7 only."""
    i, j = tl.arange(0, B), tl.arange(0, B)
    at = i[:, None] * B + j[None, :]
    a = tl.load(a_ptr + at)
    for t in range(n):
        b = tl.load(b_ptr + t * B * B + at)
        tl.store(c_ptr + t * B * B + at, tl.dot(a.to(b.dtype), b).to(b.dtype))
    for t in range(n):
        b = tl.load(b_ptr + (n + t) * B * B + at)
        tl.store(c_ptr + (n + t) * B * B + at, tl.dot(a.to(b.dtype), b + 1).to(b.dtype))


@triton.jit
def read_behind_store(a_ptr, b_ptr, c_ptr, B: tl.constexpr):
    """A store lies between the loads of both operands: from 3.6 on it keeps the read of B where it is, and B's memory
    is free before A's is taken."""
    i, j = tl.arange(0, B), tl.arange(0, B)
    at = i[:, None] * B + j[None, :]
    b = tl.load(b_ptr + at)
    tl.store(c_ptr + at, b + 1)
    row = tl.arange(0, 16)[:, None] * B + j[None, :]
    a = tl.load(a_ptr + row)
    tl.store(c_ptr + B * B + row, tl.dot(a, b) + tl.dot(a + 1, b))


@triton.jit
def scaled_by_sums(x_ptr, o_ptr, n, B: tl.constexpr):
    """One row, scaled by two sums of it: what is converted for the store is not converted before it is widened, since
    the sums, spread over the row, cannot be repeated."""
    i = tl.arange(0, B)
    first = tl.zeros((1, B), dtype=tl.float32)
    second = tl.zeros((1, B), dtype=tl.float32)
    for k in range(0, n, B):
        x = tl.load(x_ptr + k + i[None, :]).to(tl.float32)
        first += x
        second += x * x
    mean, square = tl.sum(first, axis=1) / n, tl.sum(second, axis=1) / n
    for k in range(0, n, B):
        x = tl.load(x_ptr + k + i[None, :]).to(tl.float32)
        tl.store(o_ptr + k + i[None, :], (x - mean[:, None]) * square[:, None])


@triton.jit
def spread_sums(x_ptr, o_ptr, n, N: tl.constexpr, K: tl.constexpr, MAX: tl.constexpr):
    """Sums of rows of fewer elements than threads, spread over the rows again, one kind of which is not stored."""
    r, d = tl.arange(0, K), tl.arange(0, N)
    x = tl.load(x_ptr + r[:, None] * n + d[None, :])
    s = tl.max(x, axis=1) if MAX else tl.sum(x * x, axis=1)
    s = tl.exp(s / n)
    if MAX:
        tl.store(o_ptr + K * n + r, s)
    tl.store(o_ptr + r[:, None] * n + d[None, :], x * s[:, None])


@triton.jit
def shifted_and_back(x_ptr, o_ptr, n, B: tl.constexpr):
    """Columns one to the left, in place and one to the right: in place they are aligned, since 1 - 1 is folded."""
    r, c = tl.arange(0, B), tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros((B, B), dtype=tl.float32)
    for k in tl.static_range(3):
        total += tl.load(x_ptr + r[:, None] * n + (c + k - 1)[None, :])
    total = total - tl.sum(total, axis=1)[:, None]
    tl.store(o_ptr + r[:, None] * n + c[None, :], total)


@triton.jit
def small_and_large_products(q_ptr, k_ptr, v_ptr, o_ptr, n, B: tl.constexpr, D: tl.constexpr, V: tl.constexpr):
    """An accumulator in tensor memory is read between the making of a left operand and its use: no write, so that
    the operand is put into shared memory at once."""
    i, d, e = tl.arange(0, B), tl.arange(0, D), tl.arange(0, V)
    h = tl.zeros((D, V), dtype=tl.float32)
    for t in range(0, n, B):
        q = tl.load(q_ptr + (t + i)[:, None] * D + d[None, :])
        k = tl.load(k_ptr + (t + i)[None, :] * D + d[:, None])
        v = tl.load(v_ptr + (t + i)[:, None] * V + e[None, :])
        s = tl.dot(q, k)
        y = tl.dot(s.to(q.dtype), v)
        y += tl.dot(q, h.to(q.dtype)) * 0.5
        h = 0.5 * h + tl.dot(k, (v * 2.0).to(k.dtype))
        tl.store(o_ptr + (t + i)[:, None] * V + e[None, :], y)


@triton.jit
def normalised_after(x_ptr, o_ptr, n, N: tl.constexpr):
    """A sum spread over few elements that were just stored: the one element has the wanted layout by another name."""
    r, d = tl.program_id(0) + tl.arange(0, 1), tl.arange(0, N)
    x = tl.load(x_ptr + r[:, None] * n + d[None, :])
    total = tl.zeros((1,), dtype=tl.float32)
    for k in tl.static_range(2):
        best, at = tl.max(x, axis=1, return_indices=True)
        total += best
        tl.store(o_ptr + r * N + k, best)
        x = tl.where(d[None, :] == at[:, None], float("-inf"), x)
    e = tl.arange(0, 2)
    p = o_ptr + r[:, None] * N + e[None, :]
    tl.store(p, tl.load(p) / total[:, None])


@triton.jit
def scaled_by_root(x_ptr, o_ptr, n, N: tl.constexpr, D: tl.constexpr):
    """Python's own functions of constants: a shape and a factor."""
    W: tl.constexpr = 2 ** math.ceil(math.log2(N))
    i, d = tl.arange(0, W), tl.arange(0, D)
    x = tl.load(x_ptr + i[:, None] * n + d[None, :], mask=i[:, None] < N, other=0.0)
    s = tl.dot(x, tl.trans(x)) * (1.0 / math.sqrt(D))
    tl.store(o_ptr + i[:, None] * W + i[None, :], s / tl.sum(s, axis=1)[:, None])


@triton.jit
def scaled_fp4_by_fp8(a_ptr, x_ptr, b_ptr, y_ptr, o_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Packed fp4 times fp8: what is spread from scales has the operand's layout by another name, and conversions of both
    operands go through what is made of them to be that of the operand."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    half, k, groups = tl.arange(0, BK // 2), tl.arange(0, BK), tl.arange(0, BK // 32)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for t in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptr + m[:, None] * (K // 2) + t * (BK // 2) + half[None, :])
        b = tl.load(b_ptr + (t * BK + k)[:, None] + n[None, :] * K)
        x = tl.load(x_ptr + m[:, None] * (K // 32) + t * (BK // 32) + groups[None, :])
        y = tl.load(y_ptr + n[:, None] * (K // 32) + t * (BK // 32) + groups[None, :])
        acc = tl.dot_scaled(a, x, "e2m1", b, y, "e4m3", acc)
    tl.store(o_ptr + m[:, None] * 512 + n[None, :], acc)


@triton.jit
def narrow_left_operand(q_ptr, k_ptr, v_ptr, o_ptr, N, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """A left operand of fp8 that is computed: in tensor memory in some releases, in shared memory in others."""
    m, n, d = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for s in range(0, N, BN):
        k = tl.load(k_ptr + (s + n)[None, :] * D + d[:, None])
        v = tl.load(v_ptr + (s + n)[:, None] * D + d[None, :])
        p = tl.exp(tl.dot(q, k))
        acc += tl.dot(p.to(v.dtype), v)
    tl.store(o_ptr + m[:, None] * D + d[None, :], acc)


@triton.jit
def scores_masked_by_load(q_ptr, k_ptr, v_ptr, i_ptr, m_ptr, o_ptr, N, scale, BM: tl.constexpr, BN: tl.constexpr,
                          D: tl.constexpr):
    """Scores are read from tensor memory where the loaded mask wants them, below the load of the next operand."""
    m, n, d = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    top = tl.zeros((BM,), dtype=tl.float32) - float("inf")
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for s in range(0, N, BN):
        valid = s + n < N
        at = tl.load(i_ptr + s + n, mask=valid, other=0)
        k = tl.load(k_ptr + at[None, :] * D + d[:, None], mask=valid[None, :], other=0.0)
        x = tl.dot(q, k) * scale
        mask = (m < N)[:, None] & valid[None, :]
        mask &= tl.load(m_ptr + m[:, None] * (N + 1) + (s + n)[None, :], mask=mask, other=0) != 0
        x = tl.where(mask, x, float("-inf"))
        v = tl.load(v_ptr + at[:, None] * D + d[None, :], mask=valid[:, None], other=0.0)
        best = tl.maximum(tl.max(x, 1), top)
        acc = acc * tl.exp(top - best)[:, None] + tl.dot(tl.exp(x - best[:, None]).to(v.dtype), v)
        top = best
    tl.store(o_ptr + m[:, None] * D + d[None, :], acc)


@triton.jit
def widened_ieee(a_ptr, b_ptr, o_ptr, B: tl.constexpr):
    """Full precision of operands that one side was widened for: on tcgen05 up to 3.7, without tensor cores since."""
    i, j = tl.arange(0, B), tl.arange(0, B)
    a = tl.load(a_ptr + i[:, None] * B + j[None, :]).to(tl.float32)
    b = tl.exp(tl.load(b_ptr + i[:, None] * B + j[None, :]).to(tl.float32))
    tl.store(o_ptr + i[:, None] * B + j[None, :], tl.dot(a, b, input_precision="ieee"))


@triton.jit
def halves_joined(a_ptr, b_ptr, o_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PAIRS: tl.constexpr):
    """An operand is joined from the halves of bytes: it is as wide along K as four bits are."""
    m, n, k, half = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK), tl.arange(0, BK // 2)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for t in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptr + m[:, None] * K + t * BK + k[None, :])
        b = tl.load(b_ptr + (t * (BK // 2) + half)[:, None] * 4096 + n[None, :])
        low, high = (b & 15).to(a.dtype), ((b >> 4) & 15).to(a.dtype)
        if PAIRS:
            b = tl.reshape(tl.permute(tl.join(low, high), (0, 2, 1)), (BK, BN))
        else:
            b = tl.reshape(tl.permute(tl.join(low, high), (2, 0, 1)), (BK, BN))
        acc += tl.dot(a, b)
    tl.store(o_ptr + m[:, None] * 4096 + n[None, :], acc)


@triton.jit
def flattened_tiles(a_ptr, b_ptr, o_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A persistent loop over tiles and the loop over their depth become one loop; its pointers are carried."""
    tiles = tl.cdiv(N, BN)
    k = tl.arange(0, BK)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * tiles, 16, flatten=True):
        m, n = tile // tiles * BM + tl.arange(0, BM), tile % tiles * BN + tl.arange(0, BN)
        a_at = a_ptr + m[:, None] * K + k[None, :]
        b_at = b_ptr + k[:, None] * N + n[None, :]
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for step in range(0, K, BK):
            a = tl.load(a_at, mask=k[None, :] < K - step, other=0.0)
            b = tl.load(b_at, mask=k[:, None] < K - step, other=0.0)
            acc = tl.dot(a, b, acc)
            a_at += BK
            b_at += BK * N
        tl.store(o_ptr + m[:, None] * N + n[None, :], acc * 0.5)


@triton.jit
def tiles_of_groups(a_ptr, b_ptr, c_ptr, m_ptr, G, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A while loop over the tiles of each group stores through a descriptor: up to 3.8 the staging tile lives around the
    loop over groups, since then around the while loop."""
    tile = tl.program_id(0)
    done = 0
    row = 0
    for g in range(G):
        M = tl.load(m_ptr + g)
        tiles = tl.cdiv(M, BM) * tl.cdiv(N, BN)
        a_desc = tl.make_tensor_descriptor(a_ptr + row * K, [M, K], [K, 1], [BM, BK])
        b_desc = tl.make_tensor_descriptor(b_ptr + g * N * K, [N, K], [K, 1], [BN, BK])
        c_desc = tl.make_tensor_descriptor(c_ptr + row * N, [M, N], [N, 1], [BM, BN])
        while tile >= done and tile < done + tiles:
            m, n = (tile - done) // tl.cdiv(N, BN), (tile - done) % tl.cdiv(N, BN)
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for k in range(0, K, BK):
                acc = tl.dot(a_desc.load([m * BM, k]), b_desc.load([n * BN, k]).T, acc)
            c_desc.store([m * BM, n * BN], acc.to(c_ptr.dtype.element_ty))
            tile += 16
        done += tiles
        row += M


@triton.jit
def long_left_operand(a_ptr, b_ptr, o_ptr, M, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Columns of a left operand of fp32 are read in pieces of 128 rows, which tensor memory takes in any order."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for t in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] + (t + k)[None, :] * (M + 1))
        b = tl.load(b_ptr + (t + k)[:, None] * BN + n[None, :])
        acc += tl.dot(a, b)
    tl.store(o_ptr + m[:, None] * BN + n[None, :], acc)


@triton.jit
def taps(x_ptr, w_ptr, o_ptr, L, C, BL: tl.constexpr, BO: tl.constexpr, BC: tl.constexpr, TAPS: tl.constexpr):
    """Products of one round go on in one accumulator, which is not read between them; the rows are loaded too narrow
    for asynchronous copies."""
    m, n, c = tl.program_id(0) * BL + tl.arange(0, BL), tl.arange(0, BO), tl.arange(0, BC)
    acc = tl.zeros((BL, BO), dtype=tl.float32)
    for s in range(0, C, BC):
        for tap in tl.static_range(TAPS):
            row = m + tap
            x = tl.load(x_ptr + row[:, None] * (C + 1) + (s + c)[None, :], mask=(row < L)[:, None], other=0.0)
            w = tl.load(w_ptr + (tap * C + s + c)[:, None] * BO + n[None, :])
            acc = tl.dot(x, w, acc)
    tl.store(o_ptr + m[:, None] * BO + n[None, :], acc, mask=(m < L)[:, None])


@triton.jit
def cat_of_loads(x_ptr, y_ptr, o_ptr, B: tl.constexpr):
    """The concatenation takes the layout of the store if a thread then holds as much as of both operands."""
    i = tl.arange(0, B)
    both = tl.cat(tl.load(x_ptr + i).to(tl.float32), tl.load(y_ptr + i).to(tl.float32), can_reorder=True)
    tl.store(o_ptr + tl.arange(0, 2 * B), both * 2)


@triton.jit
def ticket(x_ptr, o_ptr, B: tl.constexpr):
    """The old value of a number that one warp adds to is handed on between its threads from 3.9 on."""
    old = tl.atomic_add(o_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, B)), 0))
    tl.store(o_ptr + 1 + tl.program_id(0), old)


@triton.jit
def flattened_descriptors(a_ptr, b_ptr, o_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Without a TMA unit descriptors become addresses. Those of a tile leave the loop over its depth before both loops
    become one, which carries them: their rows are then no longer known to count up."""
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    o_desc = tl.make_tensor_descriptor(o_ptr, [M, N], [N, 1], [BM, BN])
    tiles = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * tiles, 16, flatten=True):
        m, n = tile // tiles * BM, tile % tiles * BN
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(tl.cdiv(K, BK)):
            acc = tl.dot(a_desc.load([m, k * BK]), b_desc.load([k * BK, n]), acc)
        o_desc.store([m, n], acc.to(o_ptr.dtype.element_ty))


@triton.jit
def tail_product(a_ptr, b_ptr, o_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """What is left behind the loop is multiplied under a condition, through the pointers that the loop ended with: they
    exist in the layout of its loads already."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    a_at = a_ptr + m[:, None] * K + k[None, :]
    b_at = b_ptr + k[:, None] * 512 + n[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(K // BK):
        acc = tl.dot(tl.load(a_at), tl.load(b_at), acc)
        a_at += BK
        b_at += BK * 512
    left = K % BK
    if left != 0:
        a = tl.load(a_at, mask=(k < left)[None, :], other=0.0)
        b = tl.load(b_at, mask=(k < left)[:, None], other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(o_ptr + m[:, None] * 512 + n[None, :], acc)


@triton.jit
def turned_rows(a_ptr, b_ptr, o_ptr, K, stride, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The right operand is loaded by rows and transposed. On AMD its conversion stands before that: up to 3.7 WMMA does
    not see its operand in it, and a load that is narrow anyway skips LDS from 3.6 on."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for t in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] * stride + (t + k)[None, :])
        b = tl.load(b_ptr + n[:, None] * stride + (t + k)[None, :])
        acc = tl.dot(a, b.T, acc)
    tl.store(o_ptr + m[:, None] * BN + n[None, :], acc)


@triton.jit
def tile_for_two(k_ptr, v_ptr, q_ptr, d_ptr, o_ptr, T, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Tiles are read by two products each, once transposed and in pieces of other widths: up to 3.5 such readers share no
    buffer on AMD."""
    m, n, d = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    k = tl.load(k_ptr + n[:, None] * D + d[None, :])
    v = tl.load(v_ptr + n[:, None] * D + d[None, :])
    of_k = tl.zeros((BN, D), dtype=tl.float32)
    of_v = tl.zeros((BN, D), dtype=tl.float32)
    for t in range(0, T, BM):
        q = tl.load(q_ptr + (t + m)[None, :] * D + d[:, None])
        p = tl.exp2(tl.dot(k, q))
        g = tl.load(d_ptr + (t + m)[:, None] * D + d[None, :])
        of_v += tl.dot(p.to(g.dtype), g)
        s = (p * tl.dot(v, tl.trans(g))).to(g.dtype)
        of_k += tl.dot(s, tl.trans(q))
    tl.store(o_ptr + n[:, None] * D + d[None, :], of_v)
    tl.store(o_ptr + BN * D + n[:, None] * D + d[None, :], of_k)


@triton.jit
def scaled_blocks(x_ptr, o_ptr, s_ptr, M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr):
    """Largest values of blocks of a row: up to 3.2 encodings go through reshapes only while they stay blocked."""
    m, n = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :]).to(tl.float32)
    blocks = tl.reshape(x, (M, N // BLOCK, BLOCK))
    most = tl.max(tl.abs(blocks), 2, keep_dims=True)
    tl.store(o_ptr + m[:, None] * N + n[None, :], tl.reshape(blocks / most, (M, N)))
    out = s_ptr + m[:, None] * (N // BLOCK) + tl.arange(0, N // BLOCK)[None, :]
    tl.store(out, tl.reshape(most * 2, (M, N // BLOCK)))


@triton.jit
def nibbles_by_rows(x_ptr, w_ptr, s_ptr, o_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Eight numbers a word: up to 3.2 tiles with fewer rows than a matrix instruction, and scales, are not pipelined, and
    an operand is as wide as before its casts only."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for t in range(0, K, BK):
        x = tl.load(x_ptr + m[:, None] * K + (t + k)[None, :])
        scale = tl.load(s_ptr + (t // 64) * 512 + n).to(tl.float32)
        w = tl.load(w_ptr + (t // 8 + tl.arange(0, BK // 8))[:, None] * 512 + n[None, :])
        q = tl.reshape((w[:, None, :] >> (tl.arange(0, 8) * 4)[None, :, None]) & 15, (BK, BN))
        acc = tl.dot(x, ((q.to(tl.float32) - 8.0) * scale[None, :]).to(x.dtype), acc)
    tl.store(o_ptr + m[:, None] * 512 + n[None, :], acc)


@triton.jit
def chunks_of_state(q_ptr, k_ptr, v_ptr, o_ptr, T, C: tl.constexpr, D: tl.constexpr, DV: tl.constexpr):
    """An operand of two products is read for each of them on AMD in 3.2, where a hint stands behind every product."""
    c, d, e = tl.arange(0, C), tl.arange(0, D), tl.arange(0, DV)
    state = tl.zeros((D, DV), dtype=tl.float32)
    for t in range(0, T, C):
        q = tl.load(q_ptr + (t + c)[:, None] * D + d[None, :])
        k = tl.load(k_ptr + (t + c)[None, :] * D + d[:, None])
        v = tl.load(v_ptr + (t + c)[:, None] * DV + e[None, :])
        w = tl.where(c[:, None] >= c[None, :], tl.dot(q, k), 0.0)
        o = tl.dot(w.to(v.dtype), v) + tl.dot(q, state.to(q.dtype))
        state = state * 0.5 + tl.dot(k, v)
        tl.store(o_ptr + (t + c)[:, None] * DV + e[None, :], o)


@triton.jit
def nibbles_with_one_scale(a_ptr, b_ptr, s_ptr, o_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Scales that no round changes are loaded in each one up to 3.3, where no pass takes loads out of loops."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a_ptr + m[:, None] * K + (k + tl.arange(0, BK))[None, :])
        w = tl.load(b_ptr + (k // 2 + tl.arange(0, BK // 2))[:, None] * BN + n[None, :])
        scale = tl.load(s_ptr + n)
        both = tl.join((w & 15).to(tl.float16), (w >> 4).to(tl.float16))
        acc = tl.dot(x, both.permute(0, 2, 1).reshape([BK, BN]) * scale[None, :], acc)
    tl.store(o_ptr + m[:, None] * BN + n[None, :], acc)
