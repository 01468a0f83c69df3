"""Kernels whose real shared memory is recorded in compiled_rows.jsonl: each shows one behaviour of the compiler.

They are read, not run.
"""
import triton
import triton.language as tl


# ---------------------------------------------------------------------------------------------------------------------
# Matrix products, pointer loads
# ---------------------------------------------------------------------------------------------------------------------
@triton.jit
def _band_walk(tile, down, across, BAND: tl.constexpr):
    """Row and column of the tile-th tile of a down x across grid, walked in bands of BAND rows, downwards in a band."""
    in_full_band = BAND * across
    top = tile // in_full_band * BAND
    height = min(down - top, BAND)
    place = tile % in_full_band
    return top + place % height, place // height


@triton.jit
def mm(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
       BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
       GROUP_SIZE_M: tl.constexpr):
    """C = A @ B in fp16, one-dimensional grid, wrapped rows and columns, masked K, every stride an argument."""
    row, col = _band_walk(tl.program_id(0), tl.cdiv(M, BLOCK_SIZE_M), tl.cdiv(N, BLOCK_SIZE_N), GROUP_SIZE_M)
    rows = row * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    rows_read = rows % M
    cols = col * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    cols_read = cols % N
    depth = tl.arange(0, BLOCK_SIZE_K)
    a_tile = a_ptr + (rows_read[:, None] * stride_am + depth[None, :] * stride_ak)
    b_tile = b_ptr + (depth[:, None] * stride_bk + cols_read[None, :] * stride_bn)
    total = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for step in range(tl.cdiv(K, BLOCK_SIZE_K)):
        inside = depth < K - step * BLOCK_SIZE_K
        total += tl.dot(tl.load(a_tile, mask=inside[None, :], other=0.0),
                        tl.load(b_tile, mask=inside[:, None], other=0.0))
        a_tile += BLOCK_SIZE_K * stride_ak
        b_tile += BLOCK_SIZE_K * stride_bk
    result = total.to(tl.float16)
    c_tile = c_ptr + stride_cm * rows[:, None] + stride_cn * cols[None, :]
    tl.store(c_tile, result, mask=(rows < M)[:, None] & (cols < N)[None, :])


@triton.jit
def mmc(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
        BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, OUT: tl.constexpr, ACC: tl.constexpr):
    """C = A @ B, two-dimensional grid, unit inner strides, masks, output type OUT, accumulator type ACC."""
    row0 = tl.program_id(0)
    col0 = tl.program_id(1)
    rows = row0 * BM + tl.arange(0, BM)
    cols = col0 * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    ap = a_ptr + rows[:, None] * stride_am + depth[None, :]
    bp = b_ptr + depth[:, None] * stride_bk + cols[None, :]
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, K, BK):
        a = tl.load(ap, mask=depth[None, :] < K - k, other=0.0)
        b = tl.load(bp, mask=depth[:, None] < K - k, other=0.0)
        acc += tl.dot(a, b)
        ap += BK
        bp += BK * stride_bk
    cp = c_ptr + rows[:, None] * stride_cm + cols[None, :]
    tl.store(cp, acc.to(OUT), mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def mmbt(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bn, stride_cm,
         BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, OUT: tl.constexpr, ACC: tl.constexpr):
    """As mmc, with B stored as [N, K] (K contiguous)."""
    row0 = tl.program_id(0)
    col0 = tl.program_id(1)
    rows = row0 * BM + tl.arange(0, BM)
    cols = col0 * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    ap = a_ptr + rows[:, None] * stride_am + depth[None, :]
    bp = b_ptr + depth[:, None] + cols[None, :] * stride_bn
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, K, BK):
        a = tl.load(ap, mask=depth[None, :] < K - k, other=0.0)
        b = tl.load(bp, mask=depth[:, None] < K - k, other=0.0)
        acc += tl.dot(a, b)
        ap += BK
        bp += BK
    cp = c_ptr + rows[:, None] * stride_cm + cols[None, :]
    tl.store(cp, acc.to(OUT), mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def mmind(a_ptr, idx_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
          BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, OUT: tl.constexpr):
    """Indirect B: the row numbers of B are loaded in the loop, so the load of B is one step away from them."""
    row0 = tl.program_id(0)
    col0 = tl.program_id(1)
    rows = row0 * BM + tl.arange(0, BM)
    cols = col0 * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    ap = a_ptr + rows[:, None] * stride_am + depth[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        where = tl.load(idx_ptr + k + depth)
        a = tl.load(ap)
        b = tl.load(b_ptr + where[:, None] * stride_bk + cols[None, :])
        acc += tl.dot(a, b)
        ap += BK
    cp = c_ptr + rows[:, None] * stride_cm + cols[None, :]
    tl.store(cp, acc.to(OUT), mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def mmdq(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
         BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, DQA: tl.constexpr, DBG: tl.constexpr):
    """Operands converted to fp16 between load and dot (give one of them as *i8); DBG adds a print to the loop."""
    row0 = tl.program_id(0)
    col0 = tl.program_id(1)
    rows = row0 * BM + tl.arange(0, BM)
    cols = col0 * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    ap = a_ptr + rows[:, None] * stride_am + depth[None, :]
    bp = b_ptr + depth[:, None] * stride_bk + cols[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(ap).to(tl.float16)
        b = tl.load(bp).to(tl.float16)
        if DBG:
            tl.device_print("x", k)
        acc += tl.dot(a, b)
        ap += BK
        bp += BK * stride_bk
    tl.store(c_ptr + rows[:, None] * stride_cm + cols[None, :], acc.to(tl.float16))


@triton.jit
def mmx3(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bn, stride_cm,
         BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, P: tl.constexpr, UP: tl.constexpr):
    """fp32 product with input precision P ("tf32", "tf32x3", "ieee"), B as [N, K]; UP converts the operands to fp32
    first. Needs Triton 3.0."""
    row0 = tl.program_id(0)
    col0 = tl.program_id(1)
    rows = row0 * BM + tl.arange(0, BM)
    cols = col0 * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    ap = a_ptr + rows[:, None] * stride_am + depth[None, :]
    bp = b_ptr + depth[:, None] + cols[None, :] * stride_bn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(ap)
        b = tl.load(bp)
        if UP:
            a = a.to(tl.float32)
            b = b.to(tl.float32)
        acc += tl.dot(a, b, input_precision=P)
        ap += BK
        bp += BK
    tl.store(c_ptr + rows[:, None] * stride_cm + cols[None, :], acc)


# ---------------------------------------------------------------------------------------------------------------------
# Two chained dots
# ---------------------------------------------------------------------------------------------------------------------
@triton.jit
def fa(q_ptr, k_ptr, v_ptr, o_ptr, N_CTX, sm_scale, stride_m, stride_n,
       BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, OUT: tl.constexpr):
    """Attention forward with a running maximum and sum: two chained dots in one loop, no mask, no causal part."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    keys = tl.arange(0, BN)
    head = tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * stride_m + head[None, :])
    top = tl.zeros([BM], dtype=tl.float32) - float("inf")
    norm = tl.zeros([BM], dtype=tl.float32) + 1.0
    out = tl.zeros([BM, D], dtype=tl.float32)
    for first in range(0, N_CTX, BN):
        k = tl.load(k_ptr + (first + keys[None, :]) * stride_n + head[:, None])
        scores = tl.dot(q, k)
        new_top = tl.maximum(top, tl.max(scores, 1) * sm_scale)
        scores = scores * sm_scale - new_top[:, None]
        p = tl.math.exp2(scores)
        row_sum = tl.sum(p, 1)
        shrink = tl.math.exp2(top - new_top)
        norm = norm * shrink + row_sum
        out = out * shrink[:, None]
        v = tl.load(v_ptr + (first + keys[:, None]) * stride_n + head[None, :])
        out += tl.dot(p.to(OUT), v)
        top = new_top
    out = out / norm[:, None]
    tl.store(o_ptr + rows[:, None] * stride_m + head[None, :], out.to(OUT))


# ---------------------------------------------------------------------------------------------------------------------
# Reductions, scans, conversions, loops without a dot
# ---------------------------------------------------------------------------------------------------------------------
@triton.jit
def softmax(x_ptr, y_ptr, stride, n, BLOCK: tl.constexpr):
    """Softmax of one row held in registers: two reductions of a one-dimensional tensor."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols, mask=cols < n, other=-float("inf"))
    x = x - tl.max(x, axis=0)
    e = tl.exp(x)
    tl.store(y_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=cols < n)


@triton.jit
def colsum(x_ptr, y_ptr, stride, BM: tl.constexpr, BN: tl.constexpr):
    """Sum over the outer axis of a tile (the reduced axis is spread over warps)."""
    rows = tl.arange(0, BM)
    cols = tl.arange(0, BN)
    x = tl.load(x_ptr + rows[:, None] * stride + cols[None, :])
    tl.store(y_ptr + cols, tl.sum(x, axis=0))


@triton.jit
def rowargmax(x_ptr, y_ptr, stride, BM: tl.constexpr, BN: tl.constexpr):
    """Argmax over the inner axis: a reduction of two operands (value and index)."""
    rows = tl.arange(0, BM)
    cols = tl.arange(0, BN)
    x = tl.load(x_ptr + rows[:, None] * stride + cols[None, :])
    tl.store(y_ptr + rows, tl.argmax(x, axis=1))


@triton.jit
def cums(x_ptr, y_ptr, stride, BM: tl.constexpr, BN: tl.constexpr, AX: tl.constexpr):
    """Cumulative sum along axis AX."""
    rows = tl.arange(0, BM)
    cols = tl.arange(0, BN)
    x = tl.load(x_ptr + rows[:, None] * stride + cols[None, :])
    tl.store(y_ptr + rows[:, None] * stride + cols[None, :], tl.cumsum(x, axis=AX))


@triton.jit
def transp(x_ptr, y_ptr, stride, stride2, BM: tl.constexpr, BN: tl.constexpr):
    """Transpose through one layout conversion (coalesced load, coalesced store)."""
    rows = tl.arange(0, BM)
    cols = tl.arange(0, BN)
    x = tl.load(x_ptr + rows[:, None] * stride + cols[None, :])
    tl.store(y_ptr + cols[:, None] * stride2 + rows[None, :], tl.trans(x))


@triton.jit
def rowloop(x_ptr, y_ptr, stride, n, BLOCK: tl.constexpr):
    """Row sum in a loop without a dot, default pipelining."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for k in range(0, n, BLOCK):
        acc += tl.load(x_ptr + row * stride + k + cols)
    tl.store(y_ptr + row, tl.sum(acc, axis=0))


@triton.jit
def atom(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """Scalar atomic add whose old value is used."""
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols, mask=cols < n, other=0)
    s = tl.sum(x, axis=0)
    old = tl.atomic_add(y_ptr, s)
    tl.store(y_ptr + 1 + tl.program_id(0), old)


# ---------------------------------------------------------------------------------------------------------------------
# Needs tl.range (3.0+)
# ---------------------------------------------------------------------------------------------------------------------
if hasattr(tl, "range"):

    @triton.jit
    def rowloop_ns(x_ptr, y_ptr, stride, n, BLOCK: tl.constexpr, NS: tl.constexpr):
        """As rowloop, with NS stages asked for on the loop itself."""
        row = tl.program_id(0)
        cols = tl.arange(0, BLOCK)
        acc = tl.zeros((BLOCK,), dtype=tl.float32)
        for k in tl.range(0, n, BLOCK, num_stages=NS):
            acc += tl.load(x_ptr + row * stride + k + cols)
        tl.store(y_ptr + row, tl.sum(acc, axis=0))

    @triton.jit
    def mmc_ns(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
               BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, OUT: tl.constexpr, NS: tl.constexpr):
        """As mmc, with NS stages asked for on the loop itself."""
        row0 = tl.program_id(0)
        col0 = tl.program_id(1)
        rows = row0 * BM + tl.arange(0, BM)
        cols = col0 * BN + tl.arange(0, BN)
        depth = tl.arange(0, BK)
        ap = a_ptr + rows[:, None] * stride_am + depth[None, :]
        bp = b_ptr + depth[:, None] * stride_bk + cols[None, :]
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in tl.range(0, K, BK, num_stages=NS):
            a = tl.load(ap, mask=depth[None, :] < K - k, other=0.0)
            b = tl.load(bp, mask=depth[:, None] < K - k, other=0.0)
            acc += tl.dot(a, b)
            ap += BK
            bp += BK * stride_bk
        cp = c_ptr + rows[:, None] * stride_cm + cols[None, :]
        tl.store(cp, acc.to(OUT), mask=(rows[:, None] < M) & (cols[None, :] < N))

    @triton.jit
    def softns(x_ptr, y_ptr, n_rows, stride, n_cols, BLOCK: tl.constexpr, NS: tl.constexpr):
        """Softmax of many rows by one program, in a loop with NS stages."""
        for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0), num_stages=NS):
            cols = tl.arange(0, BLOCK)
            inside = cols < n_cols
            x = tl.load(x_ptr + row * stride + cols, mask=inside, other=-float("inf"))
            x = x - tl.max(x, axis=0)
            e = tl.exp(x)
            tl.store(y_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=inside)

    @triton.jit
    def dotplus(a_ptr, b_ptr, s_ptr, c_ptr, K, stride_am, stride_bk, stride_cm,
                BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, NS: tl.constexpr):
        """A dot loop with one more load that does not feed the dot (a scale per step)."""
        rows = tl.arange(0, BM)
        cols = tl.arange(0, BN)
        depth = tl.arange(0, BK)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in tl.range(0, K, BK, num_stages=NS):
            a = tl.load(a_ptr + rows[:, None] * stride_am + (k + depth)[None, :])
            b = tl.load(b_ptr + (k + depth)[:, None] * stride_bk + cols[None, :])
            s = tl.load(s_ptr + k + rows)
            acc += tl.dot(a, b) * s[:, None]
        tl.store(c_ptr + rows[:, None] * stride_cm + cols[None, :], acc)


# ---------------------------------------------------------------------------------------------------------------------
# Histogram (3.0+), gather (3.3+)
# ---------------------------------------------------------------------------------------------------------------------
if hasattr(tl, "histogram"):

    @triton.jit
    def hist(x_ptr, y_ptr, BLOCK: tl.constexpr, NB: tl.constexpr):
        """Histogram of BLOCK values into NB bins."""
        x = tl.load(x_ptr + tl.arange(0, BLOCK))
        tl.store(y_ptr + tl.arange(0, NB), tl.histogram(x, NB))


if hasattr(tl, "gather"):

    @triton.jit
    def gath(x_ptr, i_ptr, y_ptr, BLOCK: tl.constexpr):
        """Gather along the only axis of a tensor."""
        cols = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols)
        i = tl.load(i_ptr + cols)
        tl.store(y_ptr + cols, tl.gather(x, i, 0))


# ---------------------------------------------------------------------------------------------------------------------
# Tensor descriptors made in the kernel (3.3+: experimental name, 3.4+: final name); B is [N, K]
# ---------------------------------------------------------------------------------------------------------------------
descriptor = (getattr(tl, "make_tensor_descriptor", None)
              or getattr(tl, "_experimental_make_tensor_descriptor", None))
if descriptor is not None:

    @triton.jit
    def mmtma(a_ptr, b_ptr, c_ptr, M, N, K,
              BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, OUT: tl.constexpr):
        """One tile per program, descriptor loads and a descriptor store after the loop."""
        row0 = tl.program_id(0)
        col0 = tl.program_id(1)
        a_desc = descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
        b_desc = descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
        c_desc = descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            a = a_desc.load([row0 * BM, k])
            b = b_desc.load([col0 * BN, k])
            acc = tl.dot(a, b.T, acc)
        c_desc.store([row0 * BM, col0 * BN], acc.to(OUT))

    @triton.jit
    def mmptma(a_ptr, b_ptr, c_ptr, M, N, K, NUM_SMS: tl.constexpr,
               BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, OUT: tl.constexpr,
               FLAT: tl.constexpr, WS: tl.constexpr, SUB: tl.constexpr):
        """Persistent: many tiles per program, stores inside the outer loop. FLAT flattens the loops, WS asks for warp
        specialization, SUB stores the tile in two halves."""
        a_desc = descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
        b_desc = descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
        c_desc = descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN if not SUB else BN // 2])
        down = tl.cdiv(M, BM)
        across = tl.cdiv(N, BN)
        for tile in tl.range(tl.program_id(0), down * across, NUM_SMS, flatten=FLAT, warp_specialize=WS):
            row0 = tile % down
            col0 = tile // down
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for k in range(0, tl.cdiv(K, BK)):
                a = a_desc.load([row0 * BM, k * BK])
                b = b_desc.load([col0 * BN, k * BK])
                acc = tl.dot(a, b.T, acc)
            if SUB:
                halves = tl.permute(tl.reshape(acc, (BM, 2, BN // 2)), (0, 2, 1))
                left, right = tl.split(halves)
                c_desc.store([row0 * BM, col0 * BN], left.to(OUT))
                c_desc.store([row0 * BM, col0 * BN + BN // 2], right.to(OUT))
            else:
                c_desc.store([row0 * BM, col0 * BN], acc.to(OUT))

    @triton.jit
    def mmtma_ws(a_ptr, b_ptr, c_ptr, M, N, K,
                 BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, OUT: tl.constexpr):
        """As mmtma, with warp specialization asked for on the K loop."""
        row0 = tl.program_id(0)
        col0 = tl.program_id(1)
        a_desc = descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
        b_desc = descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
        c_desc = descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in tl.range(0, K, BK, warp_specialize=True):
            a = a_desc.load([row0 * BM, k])
            b = b_desc.load([col0 * BN, k])
            acc = tl.dot(a, b.T, acc)
        c_desc.store([row0 * BM, col0 * BN], acc.to(OUT))


# ---------------------------------------------------------------------------------------------------------------------
# Scaled dot (3.2+)
# ---------------------------------------------------------------------------------------------------------------------
if hasattr(tl, "dot_scaled"):

    @triton.jit
    def mmsc(a_ptr, as_ptr, b_ptr, bs_ptr, c_ptr, K,
             BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        """fp8 product with one 8-bit scale per 32 elements of K."""
        rows = tl.arange(0, BM)
        cols = tl.arange(0, BN)
        depth = tl.arange(0, BK)
        groups = tl.arange(0, BK // 32)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        ap = a_ptr + rows[:, None] * K + depth[None, :]
        bp = b_ptr + depth[:, None] * BN + cols[None, :]
        asp = as_ptr + rows[:, None] * (K // 32) + groups[None, :]
        bsp = bs_ptr + cols[:, None] * (K // 32) + groups[None, :]
        for k in range(0, K, BK):
            acc = tl.dot_scaled(tl.load(ap), tl.load(asp), "e4m3", tl.load(bp), tl.load(bsp), "e4m3", acc)
            ap += BK
            bp += BK * BN
            asp += BK // 32
            bsp += BK // 32
        tl.store(c_ptr + rows[:, None] * BN + cols[None, :], acc)
