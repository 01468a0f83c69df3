"""Reductions, scans, sorting and what else combines elements of a block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tritonlint.kernel import dtypes as d
from tritonlint.kernel import semantic as s
from tritonlint.kernel.creation import arange, dtype_of, zeros_like
from tritonlint.kernel.dtypes import DType
from tritonlint.kernel.graph import Val, type_of
from tritonlint.kernel.machine import Machine
from tritonlint.kernel.shaping import broadcast_to, expand_dims, reshaped, tensor_of, wrap_axis
from tritonlint.kernel.values import Opaque, Refused, Shape, Tensor, Untraceable, known
from tritonlint.source.sites import KernelSource

Combine = Callable[[Machine, list[Tensor]], list[Tensor]]
"""From two elements of each input (all of the first, then all of the second) to one of each."""


# --- the operations themselves ------------------------------------------------------------------------------------


def _combine_of(function: Any) -> tuple[Combine, Any]:
    """A combine function given by the user, and what tells it from others."""
    if isinstance(function, Opaque):
        raise Untraceable(function.reason)
    if not isinstance(function, KernelSource) and not hasattr(function, "call"):
        raise Untraceable("the combine function is no jit function")

    def combine(m: Machine, args: list[Tensor]) -> list[Tensor]:
        result = (
            function.call(m, *args) if not isinstance(function, KernelSource) else m.call(function, args, {})
        )
        results = list(result) if isinstance(result, tuple) else [result]
        return [s.to_tensor(m, r) for r in results]

    return combine, id(function)


def _region(m: Machine, inputs: list[Tensor], combine: Combine, end: str) -> Any:
    b = m.b
    region = b.enter()
    try:
        params = []
        for x in (*inputs, *inputs):
            value = Val(type_of(x.dt.element, None))
            region.args.append(value)
            params.append(Tensor(value, x.dt))
        results = combine(m, params)
        if len(results) != len(inputs) or any(
            r.dt is not x.dt or r.shape for r, x in zip(results, inputs, strict=False)
        ):
            kinds = ", ".join(r.dt.name for r in results)
            raise Refused(
                "type",
                f"the combine function returns ({kinds}) for inputs of ({', '.join(x.dt.name for x in inputs)})",
            )
        b.emit(end, tuple([r.h for r in results]), ())
    finally:
        b.leave()
    region.writes = False
    return region


def reduction(m: Machine, inputs: list[Tensor], axis: int | None, combine: Combine, tag: Any) -> list[Tensor]:
    """tt.reduce; `tag` tells combine functions apart, so that equal reductions are done once."""
    if axis is None:
        inputs = [reshaped(m, x, (x.numel,), True) for x in inputs]
        axis = 0
    shape = inputs[0].shape
    for x in inputs:
        if not x.shape:
            raise Refused("type", "a reduction of a scalar", dtype=x.dt.name)
        if x.shape != shape:
            raise Refused(
                "type", "all inputs of a reduction must have the same shape", left=shape, right=x.shape
            )
    rest: Shape = (*shape[:axis], *shape[axis + 1 :])
    types = tuple([type_of(x.dt.element, rest) for x in inputs])
    node = m.b.emit("tt.reduce", tuple([x.h for x in inputs]), types, {"axis": axis, "combine": tag})
    node.blocks = (_region(m, inputs, combine, "tt.reduce.return"),)
    return [Tensor(h, x.dt, rest) for h, x in zip(node.results, inputs, strict=False)]


def scan(
    m: Machine, inputs: list[Tensor], axis: int, combine: Combine, reverse: bool, tag: Any
) -> list[Tensor]:
    shape = inputs[0].shape
    if any(x.shape != shape for x in inputs):
        raise Refused("type", "all inputs of a scan must have the same shape")
    axis = wrap_axis(axis, len(shape))
    types = tuple([x.h.type for x in inputs])
    attrs = {"axis": axis, "reverse": reverse, "combine": tag}
    node = m.b.emit("tt.scan", tuple([x.h for x in inputs]), types, attrs)
    node.blocks = (_region(m, inputs, combine, "tt.scan.return"),)
    return [Tensor(h, x.dt, shape) for h, x in zip(node.results, inputs, strict=False)]


def _expand_back(m: Machine, results: list[Tensor], axis: int | None, rank: int) -> list[Tensor]:
    if axis is not None:
        return [s.expand_dims(m, t, axis) for t in results]
    for _ in range(rank):
        results = [s.expand_dims(m, t, 0) for t in results]
    return results


def _reduce(
    m: Machine, inputs: list[Tensor], axis: Any, combine: Combine, tag: Any, keep_dims: Any
) -> list[Tensor]:
    if m.release < (3, 0) and known(keep_dims, "keep_dims"):
        raise Refused(
            "unknown-option", "reductions have keep_dims since Triton 3.0", option="keep_dims", since="3.0"
        )
    rank = len(inputs[0].shape)
    place = None if axis is None else wrap_axis(axis, rank)
    results = reduction(m, inputs, place, combine, tag)
    return _expand_back(m, results, place, rank) if known(keep_dims, "keep_dims") else results


def reduce(m: Machine, input: Any, axis: Any, combine_fn: Any, keep_dims: Any = False) -> Any:
    combine, tag = _combine_of(combine_fn)
    if isinstance(input, tuple):
        return tuple(_reduce(m, [tensor_of(m, x) for x in input], axis, combine, tag, keep_dims))
    return _reduce(m, [tensor_of(m, input)], axis, combine, tag, keep_dims)[0]


def associative_scan(m: Machine, input: Any, axis: Any, combine_fn: Any, reverse: Any = False) -> Any:
    combine, tag = _combine_of(combine_fn)
    single = not isinstance(input, tuple)
    inputs = [tensor_of(m, x) for x in (input if isinstance(input, tuple) else (input,))]
    results = scan(m, inputs, known(axis, "the axis"), combine, bool(known(reverse, "reverse")), tag)
    return results[0] if single else tuple(results)


# --- combine functions ----------------------------------------------------------------------------------------------


def _sum(m: Machine, v: list[Tensor]) -> list[Tensor]:
    return [s.add(m, v[0], v[1])]


def _product(m: Machine, v: list[Tensor]) -> list[Tensor]:
    return [s.mul(m, v[0], v[1])]


def _xor(m: Machine, v: list[Tensor]) -> list[Tensor]:
    return [s.bitwise(m, "xori", v[0], v[1])]


def _or(m: Machine, v: list[Tensor]) -> list[Tensor]:
    return [s.bitwise(m, "ori", v[0], v[1])]


def _first(m: Machine, v: list[Tensor]) -> list[Tensor]:
    return [v[0]]


def _extreme(kind: str) -> Combine:
    def combine(m: Machine, v: list[Tensor]) -> list[Tensor]:
        if m.release < (2, 2):
            return [s.library_extreme(m, kind, v[0], v[1])]
        return [maximum(m, v[0], v[1]) if kind == "max" else minimum(m, v[0], v[1])]

    return combine


def _arg_extreme(kind: str, left: bool) -> Combine:
    predicate = "gt" if kind == "max" else "lt"

    def combine(m: Machine, v: list[Tensor]) -> list[Tensor]:
        value1, index1, value2, index2 = v
        better = s.compare(m, predicate, value1, value2)
        if left:
            tie = s.logical(m, "andi", s.compare(m, "eq", value1, value2), s.compare(m, "lt", index1, index2))
            better = s.logical(m, "ori", s.compare(m, predicate, value1, value2), tie)
        return [s.where(m, better, value1, value2), s.where(m, better, index1, index2)]

    return combine


_MAX, _MIN = _extreme("max"), _extreme("min")
_ARG = {(kind, left): _arg_extreme(kind, left) for kind in ("max", "min") for left in (True, False)}


def first_element(m: Machine, x: Tensor) -> Tensor:
    """How releases before 3.5 make a scalar of a one-element block."""
    if m.release < (3, 4):
        return reduction(m, [x], None, _first, "first")[0]
    if len(x.shape) >= 2:
        x = reshaped(m, x, (1,))
    return reduction(m, [x], 0, _first, "first")[0]


# --- maximum and minimum ----------------------------------------------------------------------------------------------


def _no_bfloat16(m: Machine, value: Any) -> Any:
    """Releases 3.0 to 3.8 compute the maximum and minimum of bf16 in fp32."""
    if (3, 0) <= m.release < (3, 9) and isinstance(value, Tensor) and value.dt is d.BF16:
        return s.cast(m, value, d.FP32)
    return value


def _nan(propagate_nan: Any) -> bool:
    return bool(known(propagate_nan, "propagate_nan") == "all")


def maximum(m: Machine, x: Any, y: Any, propagate_nan: Any = "none") -> Tensor:
    return _two_extreme(m, "max", x, y, propagate_nan)


def minimum(m: Machine, x: Any, y: Any, propagate_nan: Any = "none") -> Tensor:
    return _two_extreme(m, "min", x, y, propagate_nan)


def _two_extreme(m: Machine, kind: str, x: Any, y: Any, propagate_nan: Any) -> Tensor:
    if m.release < (3, 9):
        x, y = s.to_tensor(m, x), s.to_tensor(m, y)
    return s.extreme(m, kind, _no_bfloat16(m, x), _no_bfloat16(m, y), _nan(propagate_nan))


def clamp(m: Machine, x: Any, min: Any, max: Any, propagate_nan: Any = "none") -> Tensor:
    x, low, high = (_no_bfloat16(m, v) for v in (x, min, max))
    if m.release < (3, 9):
        x, low, high = s.to_tensor(m, x), s.to_tensor(m, low), s.to_tensor(m, high)
        low, high = s.binary(m, low, high)
        x, low = s.binary(m, x, low)
        x, high = s.binary(m, x, high)
        if not x.dt.is_float:
            raise Refused(
                "type", f"clamp of {x.dt.name} values: this release only has it for floats", dtype=x.dt.name
            )
    else:
        x, low, high = s.ternary(m, x, low, high)
    if x.dt.is_int:
        return s.extreme(m, "min", s.extreme(m, "max", x, low), high)
    attrs = {"propagate_nan": "all" if _nan(propagate_nan) else "none"}
    return Tensor(m.b.op("tt.clampf", (x.h, low.h, high.h), x.h.type, attrs), x.dt, x.shape)


# --- named reductions -----------------------------------------------------------------------------------------------


def _widened(m: Machine, x: Tensor) -> Tensor:
    """The input of max, min and, in old releases, of every reduction."""
    if m.release < (2, 2) and x.dt.is_int and x.dt.bits < 32:
        return s.cast(m, x, d.INT32)
    if m.release < (3, 9) and x.dt is d.BF16:
        return s.cast(m, x, d.FP32)
    return x


def _max_min(kind: str) -> Callable[..., Any]:
    def reduce_extreme(
        m: Machine,
        input: Any,
        axis: Any = None,
        return_indices: Any = False,
        return_indices_tie_break_left: Any = True,
        keep_dims: Any = False,
    ) -> Any:
        x = _widened(m, tensor_of(m, input))
        if known(return_indices, "return_indices"):
            return _with_indices(
                m, kind, x, axis, bool(known(return_indices_tie_break_left, "the tie break")), keep_dims
            )
        if x.dt.bits < 32:
            x = s.cast(m, x, d.FP32 if x.dt.is_float else d.INT32)
        return _reduce(m, [x], axis, _MAX if kind == "max" else _MIN, kind, keep_dims)[0]

    return reduce_extreme


def _with_indices(
    m: Machine, kind: str, x: Tensor, axis: Any, left: bool, keep_dims: Any
) -> tuple[Tensor, ...]:
    if axis is None:
        raise Untraceable("the index of an extreme over all axes")
    place = wrap_axis(axis, len(x.shape))
    index = arange(m, 0, x.shape[place])
    if len(x.shape) > 1:
        index = expand_dims(m, index, tuple([i for i in range(len(x.shape)) if i != place]))
        index = broadcast_to(m, index, x.shape)
    return tuple(_reduce(m, [x, index], axis, _ARG[kind, left], (kind, left), keep_dims))


max_ = _max_min("max")
min_ = _max_min("min")


def argmax(m: Machine, input: Any, axis: Any, tie_break_left: Any = True, keep_dims: Any = False) -> Tensor:
    result = max_(m, input, axis, True, tie_break_left, keep_dims)[1]
    assert isinstance(result, Tensor)
    return result


def argmin(m: Machine, input: Any, axis: Any, tie_break_left: Any = True, keep_dims: Any = False) -> Tensor:
    result = min_(m, input, axis, True, tie_break_left, keep_dims)[1]
    assert isinstance(result, Tensor)
    return result


def _sum_input(m: Machine, x: Tensor, dtype: Any, scanning: bool) -> Tensor:
    """The input of sum, cumsum and cumprod in the type that the release adds in."""
    if m.release < (3, 3) or (scanning and m.release < (3, 9)):
        x = _widened(m, x)
    if m.release < ((3, 4) if scanning else (3, 3)):
        return x
    if dtype is not None:
        return s.cast(m, x, dtype_of(dtype))
    if x.dt.is_int and x.dt.bits < 32:
        return s.cast(m, x, d.INT32 if x.dt.signed else d.UINT32)
    return x


def sum_(m: Machine, input: Any, axis: Any = None, keep_dims: Any = False, dtype: Any = None) -> Tensor:
    x = _sum_input(m, tensor_of(m, input), dtype, False)
    return _reduce(m, [x], axis, _sum, "sum", keep_dims)[0]


def xor_sum(m: Machine, input: Any, axis: Any = None, keep_dims: Any = False) -> Tensor:
    x = _integer(_widened(m, tensor_of(m, input)) if m.release < (3, 3) else tensor_of(m, input), "xor_sum")
    return _reduce(m, [x], axis, _xor, "xor", keep_dims)[0]


def reduce_or(m: Machine, input: Any, axis: Any, keep_dims: Any = False) -> Tensor:
    return _reduce(m, [_integer(tensor_of(m, input), "reduce_or")], axis, _or, "or", keep_dims)[0]


def _integer(x: Tensor, what: str) -> Tensor:
    if not x.dt.is_int:
        raise Refused("static-assert", f"{what} only supports integers, not {x.dt.name}", dtype=x.dt.name)
    return x


def cumsum(m: Machine, input: Any, axis: Any = 0, reverse: Any = False, dtype: Any = None) -> Tensor:
    x = _sum_input(m, tensor_of(m, input), dtype, True)
    return scan(m, [x], known(axis, "the axis"), _sum, bool(known(reverse, "reverse")), "sum")[0]


def cumprod(m: Machine, input: Any, axis: Any = 0, reverse: Any = False, dtype: Any = None) -> Tensor:
    x = tensor_of(m, input)
    x = _sum_input(m, x, dtype, True) if m.release >= (3, 9) else _widened(m, x)
    return scan(m, [x], known(axis, "the axis"), _product, bool(known(reverse, "reverse")), "prod")[0]


def softmax(
    m: Machine, x: Any, dim: Any = None, keep_dims: Any = False, ieee_rounding: Any = False
) -> Tensor:
    x = tensor_of(m, x)
    axis = 0 if dim is None else known(dim, "dim")
    if m.release < (3, 4):
        axis = 0
    keep: bool = True if m.release >= (3, 9) else m.release >= (3, 4) and bool(known(keep_dims, "keep_dims"))
    from tritonlint.kernel.elementwise import exp

    z = s.sub(m, x, max_(m, x, axis, keep_dims=keep))
    e = exp(m, z)
    return s.fdiv(m, e, sum_(m, e, axis, keep_dims=keep), bool(known(ieee_rounding, "ieee_rounding")))


# --- histogram and gather -------------------------------------------------------------------------------------------


def histogram(m: Machine, input: Any, num_bins: Any, mask: Any = None) -> Tensor:
    x = tensor_of(m, input)
    bins = known(num_bins, "num_bins")
    if len(x.shape) != 1:
        raise Refused("type", "histogram only takes one-dimensional input", shape=x.shape)
    operands = [x.h]
    if mask is not None:
        operands.append(broadcast_to(m, mask, x.shape).h)
    type_ = type_of("i32", (bins,))
    return Tensor(m.b.emit("tt.histogram", tuple(operands), (type_,)).results[0], d.INT32, (bins,))


def gather(m: Machine, src: Any, index: Any, axis: Any) -> Tensor:
    x, i = tensor_of(m, src), tensor_of(m, index)
    place = wrap_axis(axis, len(x.shape))
    if not i.dt.is_int:
        raise Refused("type", f"gather needs an integer index, not {i.dt.name}", dtype=i.dt.name)
    if len(i.shape) != len(x.shape) or any(
        p != q for k, (p, q) in enumerate(zip(x.shape, i.shape, strict=False)) if k != place
    ):
        raise Refused(
            "type", f"gather of {list(x.shape)} with an index of {list(i.shape)}", left=x.shape, right=i.shape
        )
    type_ = type_of(x.dt.element, i.shape)
    return Tensor(m.b.emit("tt.gather", (x.h, i.h), (type_,), {"axis": place}).results[0], x.dt, i.shape)


# --- sorting ------------------------------------------------------------------------------------------------------------


def log2(n: int) -> int:
    return n.bit_length() - 1


def _integer_of(x: Tensor) -> DType:
    found = d.integer_dtype(x.dt.bits, True)
    if found is None:
        raise Untraceable(f"no integer as wide as {x.dt.name}")
    return found


def _indicator(m: Machine, rank: int, j: int) -> Tensor:
    return reshaped(m, arange(m, 0, 2), (*([1] * (rank - j - 1)), 2, *([1] * j)))


def _swap(m: Machine, x: Tensor, flip: Any, i: int) -> Tensor:
    """Compare and swap along the i-th innermost axis of a hypercube."""
    rank = log2(x.numel)
    bits = s.bitcast(m, x, _integer_of(x))
    partner = s.bitwise(m, "xori", bits, xor_sum(m, bits, rank - 1 - i, True))
    y = s.bitcast(m, partner, x.dt)
    right = _indicator(m, rank, i)
    turned = s.bitwise(m, "xori", flip, right)
    if m.release >= (3, 9):
        turned = s.cast(m, turned, d.INT1)
    return s.where(m, s.compare(m, "ne", s.compare(m, "gt", x, y), turned), y, x)


def _merge_hypercube(m: Machine, x: Tensor, stage: int, order: int) -> Tensor:
    flip: Any = _indicator(m, log2(x.numel), stage) if order == 2 else order
    for i in range(stage):
        m.spend()
        x = _swap(m, x, flip, stage - 1 - i)
    return x


def _last_axis(x: Tensor, dim: Any) -> None:
    if dim is not None and known(dim, "dim") not in (len(x.shape) - 1,):
        raise Refused("static-assert", "only the minor dimension can be sorted", shape=x.shape)


def _sort(m: Machine, x: Tensor, k: int | None, dim: Any, descending: Any) -> Tensor:
    _last_axis(x, dim)
    down = known(descending, "descending")
    log_n = log2(x.shape[-1])
    log_k = log_n if k is None else log2(k)
    extreme = max_ if down else min_
    if log_k == 0 and m.release >= (3, 9):
        result = extreme(m, x, len(x.shape) - 1, keep_dims=True)
        assert isinstance(result, Tensor)
        return result
    rank = log2(x.numel)
    h = reshaped(m, x, (2,) * rank if rank else (1,))
    for i in range(1, log_k + 1):
        h = _merge_hypercube(m, h, i, 2 if i < log_n else down)
    for i in range(log_k + 1, log_n + 1):
        h = extreme(m, h, log2(h.numel) - 1 - log_k)
        h = _merge_hypercube(m, h, log_k, 2 if i < log_n else down)
    return reshaped(m, h, (*x.shape[:-1], 1 << log_k))


def sort(m: Machine, x: Any, dim: Any = None, descending: Any = 0) -> Tensor:
    x = tensor_of(m, x)
    if m.release >= (3, 4):
        return _sort(m, x, None, dim, descending)
    if m.release < (3, 0):
        raise Untraceable("tl.sort of releases before 3.0")
    _last_axis(x, dim)
    dims = log2(x.shape[-1])
    down = known(descending, "descending")
    for i in range(1, dims + 1):
        x = _old_merge(m, x, i, 2 if i < dims else down, dims)
    return tensor_of(m, x)


def topk(m: Machine, x: Any, k: Any, dim: Any = None, descending: Any = True) -> Tensor:
    return _sort(m, tensor_of(m, x), known(k, "k"), dim, descending)


def bitonic_merge(m: Machine, x: Any, dim: Any = None, descending: Any = 0) -> Tensor:
    x = tensor_of(m, x)
    _last_axis(x, dim)
    h = reshaped(m, x, (2,) * log2(x.numel))
    h = _merge_hypercube(m, h, log2(x.shape[-1]), known(descending, "descending"))
    return reshaped(m, h, x.shape)


def _old_merge(m: Machine, x: Tensor, stage: int, order: int, dims: int) -> Tensor:
    """The sorting network of 3.0 to 3.3: sums with a 0/1 mask pick the partners."""
    outer = x.numel >> dims
    flip: Any = order
    if order == 2:
        shape = (outer << (dims - 1 - stage), 2, 1 << stage)
        flip = reshaped(m, broadcast_to(m, expand_dims(m, arange(m, 0, 2), (0, 2)), shape), x.shape)
    for i in range(stage):
        m.spend()
        x = _old_swap(m, x, flip, i + dims - stage, dims)
    return x


def _old_swap(m: Machine, x: Tensor, flip: Any, i: int, dims: int) -> Tensor:
    shape = ((x.numel >> dims) << i, 2, 1 << (dims - i - 1))
    y = reshaped(m, x, shape)
    mask = expand_dims(m, arange(m, 0, 2), (0, 2))
    sides = []
    for side in (s.sub(m, 1, mask), mask):
        picked = broadcast_to(m, s.expand_dims(m, sum_(m, s.mul(m, y, side), 1), 1), shape)
        if m.release >= (3, 2):
            picked = s.cast(m, picked, y.dt)
        sides.append(reshaped(m, picked, x.shape))
    left, right = sides
    integer = _integer_of(x)
    ix = s.bitcast(m, x, integer)
    both = s.bitwise(m, "xori", s.bitcast(m, left, integer), s.bitcast(m, right, integer))
    greater = s.compare(m, "gt", left, right)
    turned = s.compare(m, "ne", greater, flip) if m.release >= (3, 2) else s.bitwise(m, "xori", greater, flip)
    return s.bitcast(m, s.bitwise(m, "xori", ix, s.where(m, turned, both, zeros_like(m, ix))), x.dt)


def flip(m: Machine, x: Any, dim: Any = None) -> Tensor:
    x = tensor_of(m, x)
    if m.release < (3, 0):
        raise Untraceable("tl.flip of releases before 3.0")
    rank = len(x.shape)
    if dim is None and (3, 4) <= m.release < (3, 9):
        raise Refused("type", "tl.flip without a dimension does not compile in this release")
    place = wrap_axis(rank - 1 if dim is None else dim, rank)
    if m.release < (3, 4):
        return _old_flip(m, x)
    steps = log2(x.shape[place])
    y = reshaped(
        m, s.bitcast(m, x, _integer_of(x)), (*x.shape[:place], *((2,) * steps), *x.shape[place + 1 :])
    )
    for i in range(steps):
        y = s.bitwise(m, "xori", y, xor_sum(m, y, place + i, True))
    return s.bitcast(m, reshaped(m, y, x.shape), x.dt)


def _old_flip(m: Machine, x: Tensor) -> Tensor:
    steps = log2(x.numel)
    start = steps - log2(x.shape[-1])
    integer = m.release >= (3, 3)
    y = reshaped(m, s.bitcast(m, x, _integer_of(x)) if integer else x, (2,) * steps)
    y = s.expand_dims(m, y, start)
    two = arange(m, 0, 2)
    mirror = s.compare(m, "eq", s.expand_dims(m, two, 1), s.sub(m, 1, two))
    for i in range(start, steps):
        mask = mirror
        for j in range(steps + 1):
            if j not in (i, i + 1):
                mask = s.expand_dims(m, mask, j)
        y = sum_(m, s.mul(m, y, mask), i + 1, keep_dims=True, dtype=y.dt if integer else None)
    y = reshaped(m, y, x.shape)
    return s.bitcast(m, y, x.dt) if integer else y
