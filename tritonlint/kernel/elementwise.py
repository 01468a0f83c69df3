"""Elementwise functions: math, comparisons of two, conversions, and calls into device libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tritonlint.kernel import dtypes as d
from tritonlint.kernel import semantic as s
from tritonlint.kernel.creation import dtype_of
from tritonlint.kernel.dtypes import DType
from tritonlint.kernel.graph import type_of
from tritonlint.kernel.machine import Machine
from tritonlint.kernel.shaping import tensor_of
from tritonlint.kernel.values import Opaque, Refused, Tensor, TensorType, Untraceable, is_dynamic, known

_32_64 = (d.FP32, d.FP64)


def _unary(name: str, op: str, dtypes: tuple[DType, ...] = _32_64) -> Callable[..., Tensor]:
    def function(m: Machine, x: Any) -> Tensor:
        x = tensor_of(m, x)
        if x.dt not in dtypes and m.release >= (2, 1):
            allowed = ", ".join(t.name for t in dtypes)
            raise Refused("type", f"{name} expects {allowed}, not {x.dt.name}", dtype=x.dt.name)
        return Tensor(m.b.op(op, (x.h,), x.h.type), x.dt, x.shape)

    return function


exp = _unary("exp", "math.exp")
exp2 = _unary("exp2", "math.exp2")
log = _unary("log", "math.log")
log2 = _unary("log2", "math.log2")
cos = _unary("cos", "math.cos")
sin = _unary("sin", "math.sin")
sqrt = _unary("sqrt", "math.sqrt")
sqrt_rn = _unary("sqrt_rn", "tt.precise_sqrt", (d.FP32,))
rsqrt = _unary("rsqrt", "math.rsqrt")
erf = _unary("erf", "math.erf")
floor = _unary("floor", "math.floor")
ceil = _unary("ceil", "math.ceil")


def absolute(m: Machine, value: Any) -> Tensor:
    x = tensor_of(m, value)
    if x.dt is d.FP8E4B15:
        return Tensor(
            m.b.op("arith.andi", (x.h, s.splat(m, s.constant(m, 0x7F, d.INT8), x.shape).h), x.h.type),
            x.dt,
            x.shape,
        )
    if x.dt.is_float:
        return Tensor(m.b.op("math.absf", (x.h,), x.h.type), x.dt, x.shape)
    if x.dt.signed:
        return Tensor(m.b.op("math.absi", (x.h,), x.h.type), x.dt, x.shape)
    return x


def fdiv(m: Machine, x: Any, y: Any, ieee_rounding: Any = False, approx: Any = False) -> Tensor:
    if m.release < (3, 9):
        x, y = tensor_of(m, x), tensor_of(m, y)
    return s.fdiv(m, x, y, bool(known(ieee_rounding, "ieee_rounding")), bool(known(approx, "approx")))


def _typed(m: Machine, *values: Any) -> tuple[Any, ...]:
    """Until 3.9 these functions take a number as the int32 or fp32 that it is."""
    return values if m.release >= (3, 9) else tuple([s.to_tensor(m, v) for v in values])


def div_rn(m: Machine, x: Any, y: Any) -> Tensor:
    a, b = s.binary(m, *_typed(m, x, y))
    return Tensor(m.b.op("tt.precise_divf", (a.h, b.h), a.h.type), a.dt, a.shape)


def umulhi(m: Machine, x: Any, y: Any) -> Tensor:
    a, b = s.binary(m, *_typed(m, x, y))
    if m.release < (3, 0):
        symbol = "__nv_umulhi" if a.dt.bits == 32 and not a.dt.signed else "__nv_mulhi"
        return Tensor(
            m.b.op("tt.extern_elementwise", (a.h, b.h), a.h.type, {"symbol": symbol, "pure": True}),
            a.dt,
            a.shape,
        )
    return Tensor(m.b.op("tt.mulhiui", (a.h, b.h), a.h.type), a.dt, a.shape)


def fma(m: Machine, x: Any, y: Any, z: Any) -> Tensor:
    if m.release >= (3, 9):
        a, b, c = s.ternary(m, x, y, z)
    else:
        x, y, z = _typed(m, x, y, z)
        a, b = s.binary(m, x, y)
        c, a = s.binary(m, z, a)
        c, b = s.binary(m, c, b)
    return Tensor(m.b.op("math.fma", (a.h, b.h, c.h), a.h.type), a.dt, a.shape)


def sigmoid(m: Machine, x: Any) -> Tensor:
    x = tensor_of(m, x)
    return s.truediv(m, 1, s.add(m, 1, exp(m, s.minus(m, x))))


def cdiv(m: Machine, x: Any, div: Any) -> Any:
    """(x + (div - 1)) // div; up to 3.4 the sum is (x + div) - 1."""
    x, div = _plain(x), _plain(div)
    if not is_dynamic(x) and not is_dynamic(div):
        result = (x + div - 1) // div
        return result if m.release >= (3, 5) else s.to_tensor(m, result)
    if m.release >= (3, 5):
        return s.floordiv(m, s.add(m, x, _sub(m, div, 1)), div)
    return s.floordiv(m, s.sub(m, s.add(m, x, div), 1), div)


def _sub(m: Machine, x: Any, y: Any) -> Any:
    return s.sub(m, x, y) if is_dynamic(x) or is_dynamic(y) else x - y


def _plain(value: Any) -> Any:
    if isinstance(value, Opaque):
        raise Untraceable(value.reason)
    return value


def swizzle2d(m: Machine, i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any) -> tuple[Any, Any]:
    import ast

    from tritonlint.kernel.expressions import operate
    from tritonlint.kernel.reductions import minimum

    ij = operate(m, ast.Add, operate(m, ast.Mult, i, size_j), j)
    size_gj = operate(m, ast.Mult, size_g, size_j)
    group = operate(m, ast.FloorDiv, ij, size_gj)
    off_i = operate(m, ast.Mult, group, size_g)
    rows = minimum(m, operate(m, ast.Sub, size_i, off_i), size_g)
    if m.release >= (3, 2):
        ij = operate(m, ast.Mod, ij, size_gj)
        return operate(m, ast.Add, off_i, operate(m, ast.Mod, ij, rows)), operate(m, ast.FloorDiv, ij, rows)
    new_i = operate(m, ast.Add, off_i, operate(m, ast.Mod, ij, rows))
    return new_i, operate(m, ast.FloorDiv, operate(m, ast.Mod, ij, size_gj), rows)


def cast(
    m: Machine, input: Any, dtype: Any, fp_downcast_rounding: Any = None, bitcast: Any = False
) -> Tensor:
    x = tensor_of(m, input)
    # A block takes the element of another block's type (`x.to(y.type)`).
    dt = dtype.dt if isinstance(dtype, TensorType) and x.shape else dtype_of(dtype)
    if known(bitcast, "bitcast"):
        return s.bitcast(m, x, dt)
    return s.cast(m, x, dt, known(fp_downcast_rounding, "fp_downcast_rounding"))


def where(m: Machine, condition: Any, x: Any, y: Any) -> Tensor:
    return s.where(m, condition, x, y)


def builtin_extreme(kind: str) -> Callable[..., Any]:
    """Python's min and max inside a kernel."""

    def function(m: Machine, *args: Any, **_: Any) -> Any:
        from tritonlint.kernel.reductions import maximum, minimum

        items = tuple(args[0]) if len(args) == 1 and isinstance(args[0], tuple) else args
        for item in items:
            _plain(item)
        if not any(is_dynamic(item) for item in items):
            return max(items) if kind == "max" else min(items)
        result = items[0]
        for item in items[1:]:
            result = maximum(m, result, item) if kind == "max" else minimum(m, result, item)
        return result

    return function


def inline_asm_elementwise(
    m: Machine, asm: Any, constraints: Any, args: Any, dtype: Any, is_pure: Any, pack: Any
) -> Any:
    several = isinstance(dtype, tuple)
    wanted = [dtype_of(t) for t in (dtype if isinstance(dtype, tuple) else (dtype,))]
    if isinstance(args, Opaque):
        raise Untraceable(args.reason)
    inputs = s.broadcast_all(m, [tensor_of(m, a) for a in (args if isinstance(args, tuple) else (args,))])
    shape = inputs[0].shape if inputs else ()
    attrs = {
        "pure": bool(known(is_pure, "is_pure")),
        "packed": known(pack, "pack"),
        "asm": str(known(asm, "the assembly"))[:200],
        "constraints": str(known(constraints, "the constraints")),
    }
    operands = tuple([x.h for x in inputs])
    types = tuple([type_of(t.element, shape) for t in wanted])
    if len(types) == 1 and attrs["pure"]:
        handles = [m.b.op("tt.elementwise_inline_asm", operands, types[0], attrs)]
    elif attrs["pure"]:
        handles = list(m.b.emit("tt.elementwise_inline_asm", operands, types, attrs).results)
    else:
        node = m.b.emit("tt.elementwise_inline_asm", operands, types, attrs)
        m.b.region.writes = True
        handles = list(node.results)
    results = tuple([Tensor(h, t, shape) for h, t in zip(handles, wanted, strict=False)])
    return results if several else results[0]


# --- device libraries ---------------------------------------------------------------------------------------------------

_SAME = "same"
_INT32 = "int32"
_RESULTS: dict[str, str] = {
    **dict.fromkeys(
        ("isnan", "isinf", "finitef", "isfinited", "signbit", "ilogb", "popc", "clz", "ffs"), _INT32
    ),
    **dict.fromkeys(
        ("float2int_rn", "float2int_rz", "float2int_rd", "float2int_ru", "float_as_int", "double2int_rz"),
        _INT32,
    ),
    **dict.fromkeys(("llrint", "llround", "float2ll_rz", "double_as_longlong"), "int64"),
    **dict.fromkeys(
        ("int2float_rn", "uint2float_rn", "int_as_float", "uint_as_float", "double2float_rn"), "fp32"
    ),
    **dict.fromkeys(("longlong_as_double", "int2double_rn"), "fp64"),
}
"""Functions of libdevice whose result is not of the type of their first argument."""


def library_function(name: str) -> Callable[..., Tensor]:
    """A function of libdevice (or AMD's ocml): opaque, elementwise, in the common type of its arguments."""

    def function(m: Machine, *args: Any) -> Tensor:
        if not args:
            raise Untraceable(f"libdevice.{name} without arguments")
        inputs = [tensor_of(m, a) for a in args]
        shapes = s.broadcast_all(m, inputs)
        floats = [x.dt for x in shapes if x.dt.is_float]
        if floats and len({x.dt for x in shapes}) > 1:
            widest = d.FP64 if d.FP64 in floats else d.FP32
            shapes = [s.cast(m, x, widest) for x in shapes]
        first = shapes[0]
        if first.dt.is_float and first.dt not in _32_64:
            raise Refused("type", f"libdevice.{name} has no version for {first.dt.name}", dtype=first.dt.name)
        kind = _RESULTS.get(name, _SAME)
        dt = first.dt if kind == _SAME else _named(kind)
        suffix = "f" if first.dt is d.FP32 else ""
        symbol = f"__nv_{name}{suffix}" if m.is_nvidia else f"__ocml_{name}_f{first.dt.bits}"
        attrs = {"symbol": symbol, "pure": True}
        handle = m.b.op(
            "tt.extern_elementwise", tuple([x.h for x in shapes]), type_of(dt.element, first.shape), attrs
        )
        made = Tensor(handle, dt, first.shape)
        if name in ("isnan", "isinf", "isfinited", "finitef", "signbit") and m.release >= (3, 0):
            return s.cast(m, made, d.INT1)
        return made

    return function


def _named(kind: str) -> DType:
    found = d.dtype_named(kind)
    assert found is not None
    return found
