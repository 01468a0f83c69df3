"""Typed operations on front-end values: promotion, conversion, broadcasting, arithmetic.

Follows what Triton's `language/semantic.py` does, release by release: which types an operation is carried out in, and
which TTIR operation it becomes.
"""

from __future__ import annotations

from typing import Any

from tritonlint.kernel import dtypes as d
from tritonlint.kernel.dtypes import DType, promote_integers
from tritonlint.kernel.graph import type_of
from tritonlint.kernel.machine import Machine
from tritonlint.kernel.values import Opaque, Refused, Shape, Tensor, Untraceable, number

# --- constants and scalars --------------------------------------------------------------------------------------


def number_dtype(value: Any) -> DType:
    """The type that a Python number has in a kernel."""
    if isinstance(value, bool):
        return d.INT1
    if isinstance(value, int):
        if -(2**31) <= value < 2**31:
            return d.INT32
        if 0 <= value < 2**32:
            return d.UINT32
        if -(2**63) <= value < 2**63:
            return d.INT64
        if 0 <= value < 2**64:
            return d.UINT64
        raise Refused("type", f"the integer {value} does not fit in 64 bits", value=str(value))
    size = abs(value)
    fits = size == float("inf") or size == 0.0 or value != value or 2**-126 <= size <= (2 - 2**-23) * 2**127
    return d.FP32 if fits else d.FP64


def constant(m: Machine, value: Any, dt: DType) -> Tensor:
    """A scalar of a given type."""
    check_dtype(m, dt)
    if dt.is_pointer or dt is d.VOID:
        raise Untraceable(f"a constant of type {dt.name}")
    if dt.is_float or not isinstance(value, float):
        return Tensor(m.b.constant(value, type_of(dt.element, None)), dt)
    if value != value or value in (float("inf"), float("-inf")):
        raise Refused("type", f"{value} is no value of type {dt.name}", dtype=dt.name)
    return Tensor(m.b.constant(int(value), type_of(dt.element, None)), dt)


def to_tensor(m: Machine, value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (int, float)):
        return constant(m, value, number_dtype(value))
    if isinstance(value, Opaque):
        raise Untraceable(value.reason)
    raise Untraceable(f"a {type(value).__name__} where a tensor is needed")


def check_dtype(m: Machine, dt: DType) -> None:
    """Refuse an fp8 type that the target does not have (since 3.2, wherever a type becomes IR)."""
    if dt.is_fp8 and m.release >= (3, 2) and not _has_fp8(m, dt.name):
        raise Refused(
            "dtype-unsupported",
            f"type {dt.name} not supported in this architecture",
            dtype=dt.name,
            supported=tuple(sorted(fp8_dtypes(m))),
        )


def refuse_old_fp8(m: Machine) -> None:
    """3.0 and 3.1 only check fp8e4nv in conversions and dots; no AMD target has it there."""
    if (3, 0) <= m.release < (3, 2) and not (m.is_nvidia and m.capability >= 89):
        raise Refused(
            "dtype-unsupported",
            "fp8e4nv data type is not supported on CUDA arch < 89",
            dtype="fp8e4nv",
            supported=(),
        )


def _has_fp8(m: Machine, name: str) -> bool:
    """Whether the target has an fp8 type, since 3.2. It asks the target no more than that, so that those which have it
    share a trace, whatever else they have."""
    if name == "fp8e5":
        return True
    if not m.is_nvidia:
        return name in fp8_dtypes(m)
    return name == "fp8e4b15" or (name == "fp8e4nv" and m.capability >= 89)


def fp8_dtypes(m: Machine) -> frozenset[str]:
    """The fp8 types that Triton accepts on the target."""
    if m.is_nvidia:
        if m.capability >= 90:
            return frozenset({"fp8e5", "fp8e4nv"} | ({"fp8e4b15"} if m.release >= (3, 2) else set()))
        if m.capability >= 89:
            return frozenset({"fp8e5", "fp8e4b15", "fp8e4nv"})
        return frozenset({"fp8e5", "fp8e4b15"})
    if m.release >= (3, 5):  # what the hardware has not is emulated
        return frozenset({"fp8e5", "fp8e4nv", "fp8e4b8", "fp8e5b16"})
    found = {"fp8e5"}
    if m.arch.startswith("gfx94"):
        found |= {"fp8e4b8", "fp8e5b16"}
    if m.release >= (3, 3) and m.arch.startswith(("gfx94", "gfx950")):
        found.add("fp8e4nv")
    if m.release >= (3, 4) and m.arch.startswith("gfx12"):
        found.add("fp8e4nv")
    return frozenset(found)


def element_type(dt: DType, shape: Shape) -> Any:
    return type_of(dt.element, shape)


# --- promotion ----------------------------------------------------------------------------------------------------


def computation_dtype(
    m: Machine, a: DType, a_scalar: bool, b: DType, b_scalar: bool, division: bool
) -> DType:
    """The type in which a binary operation is done. `a_scalar`: a is a Python number (since 3.2 it then gives way)."""
    if a_scalar != b_scalar and m.release >= (3, 2):
        scalar, tensor = (a, b) if a_scalar else (b, a)
        if scalar.kind <= tensor.kind:
            a = b = tensor
    if a is d.FP64 or b is d.FP64:
        return d.FP64
    if division and (a.is_float or b.is_float) and (m.release >= (3, 8) or not (a.is_fp8 or b.is_fp8)):
        return d.FP32
    if a is d.FP32 or b is d.FP32:
        return d.FP32
    if a is d.FP16 or b is d.FP16:
        return d.FP16
    if a is d.BF16 or b is d.BF16:
        return d.BF16 if a is b else d.FP32
    if a.is_fp8 and b.is_fp8:
        return a if a is b else d.FP16
    if not a.is_int or not b.is_int:
        raise Refused("type", f"unexpected type {a.name} and {b.name}", left=a.name, right=b.name)
    if division and a.signed != b.signed:
        raise Refused(
            "type",
            f"cannot use /, // or % with {a.name} and {b.name}: they differ in sign; cast one of them",
            left=a.name,
            right=b.name,
        )
    return promote_integers(a, b)


def binary(
    m: Machine,
    x: Any,
    y: Any,
    pointer_left: bool = False,
    pointer_right: bool = False,
    arithmetic: bool = True,
    division: bool = False,
) -> tuple[Tensor, Tensor]:
    """Both operands in one type and one shape."""
    if isinstance(x, Opaque):
        raise Untraceable(x.reason)
    if isinstance(y, Opaque):
        raise Untraceable(y.reason)
    x_number, y_number = number(x), number(y)
    if (not x_number and not isinstance(x, Tensor)) or (not y_number and not isinstance(y, Tensor)):
        other = y if isinstance(x, Tensor) or x_number else x
        raise Untraceable(f"arithmetic with a {type(other).__name__}")
    a = number_dtype(x) if x_number else x.dt
    b = number_dtype(y) if y_number else y.dt
    if a.is_pointer or b.is_pointer:
        _check_pointers(a, b, pointer_left)
        _check_pointers(b, a, pointer_right)
        x, y = to_tensor(m, x), to_tensor(m, y)
    elif arithmetic:
        dt = computation_dtype(m, a, x_number, b, y_number, division)
        x = as_dtype(m, x, dt)
        y = as_dtype(m, y, dt)
    else:
        x, y = to_tensor(m, x), to_tensor(m, y)
    if x.shape != y.shape:
        return broadcast_two(m, x, y)
    return x, y


def as_dtype(m: Machine, value: Any, dt: DType) -> Tensor:
    """A tensor converted, or a Python number as a constant of the type."""
    if isinstance(value, Tensor):
        return value if value.dt is dt else cast(m, value, dt)
    if m.release < (3, 2):
        return cast(m, to_tensor(m, value), dt)
    if dt.is_int:
        if value < 0 and not dt.signed:
            raise Refused(
                "type",
                f"a binary operation between an unsigned tensor ({dt.name}) and the negative number {value}",
                dtype=dt.name,
            )
        if not dt.lowest <= value <= dt.highest and m.release >= (3, 3):
            raise Refused(
                "type",
                f"the number {value} is out of range for type {dt.name}",
                dtype=dt.name,
                value=str(value),
            )
    return constant(m, value, dt)


def _check_pointers(a: DType, b: DType, allowed: bool) -> None:
    if not a.is_pointer:
        return
    if not allowed or (b.is_pointer and b is not a) or b.is_float:
        raise Refused("type", f"invalid operands of type {a.name} and {b.name}", left=a.name, right=b.name)


# --- broadcasting ---------------------------------------------------------------------------------------------------


def splat(m: Machine, value: Tensor, shape: Shape) -> Tensor:
    if not shape:
        return value
    return Tensor(m.b.splat(value.h, shape), value.dt, shape)


def expand_dims(m: Machine, value: Tensor, axis: int) -> Tensor:
    shape = (*value.shape[:axis], 1, *value.shape[axis:])
    if not value.shape:
        return splat(m, value, shape)
    return Tensor(m.b.expand_dims(value.h, axis), value.dt, shape)


def broadcast_to(m: Machine, value: Tensor, shape: Shape) -> Tensor:
    if not value.shape:
        return splat(m, value, shape)
    if value.shape == shape:
        return value
    if len(value.shape) != len(shape):
        raise Refused(
            "shape",
            f"cannot broadcast {list(value.shape)} to {list(shape)}: the ranks differ",
            left=value.shape,
            right=shape,
        )
    for have, want in zip(value.shape, shape, strict=False):
        if have != want and have != 1:
            raise Refused(
                "shape",
                f"cannot broadcast {list(value.shape)} to {list(shape)}",
                left=value.shape,
                right=shape,
            )
    return Tensor(m.b.broadcast(value.h, shape), value.dt, shape)


def broadcast_two(m: Machine, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    if x.shape == y.shape:
        return x, y
    if not y.shape:
        return x, splat(m, y, x.shape)
    if not x.shape:
        return splat(m, x, y.shape), y
    while len(x.shape) < len(y.shape):
        x = expand_dims(m, x, 0)
    while len(y.shape) < len(x.shape):
        y = expand_dims(m, y, 0)
    shape = []
    for i, (left, right) in enumerate(zip(x.shape, y.shape, strict=False)):
        if left == 1:
            shape.append(right)
        elif right == 1 or right == left:
            shape.append(left)
        else:
            raise Refused(
                "shape",
                f"incompatible dimensions at index {i}: {left} and {right} (shapes {list(x.shape)} and {list(y.shape)})",
                left=x.shape,
                right=y.shape,
            )
    final = tuple(shape)
    check_elements(m, final)
    return broadcast_to(m, x, final), broadcast_to(m, y, final)


def check_elements(m: Machine, shape: Shape) -> None:
    """Refuse a block with too many elements."""
    total = 1
    for size in shape:
        total *= size
    if total > m.max_elements:
        raise Refused(
            "tensor-too-large",
            f"{total:,} elements exceed Triton's largest tensor of {m.max_elements:,}",
            shape=shape,
            elements=total,
            limit=m.max_elements,
        )


def broadcast_all(m: Machine, values: list[Tensor]) -> list[Tensor]:
    """All in one shape."""
    if not values:
        return []
    head, tail = values[0], list(values[1:])
    for i in range(len(tail)):
        head, tail[i] = broadcast_two(m, head, tail[i])
    for i in range(len(tail) - 1):
        head, tail[i] = broadcast_two(m, head, tail[i])
    return [head, *tail]


# --- conversion -----------------------------------------------------------------------------------------------------


def _convert(m: Machine, op: str, value: Tensor, dt: DType, attrs: dict[str, Any] | None = None) -> Tensor:
    return Tensor(m.b.op(op, (value.h,), type_of(dt.element, value.shape), attrs), dt, value.shape)


def bitcast(m: Machine, value: Tensor, dt: DType) -> Tensor:
    src = value.dt
    if src is dt:
        return value
    if src.is_pointer or dt.is_pointer:
        return cast(m, value, dt)
    if src.bits != dt.bits:
        raise Refused(
            "type",
            f"cannot bitcast {src.name} ({src.bits} bits) to {dt.name} ({dt.bits} bits)",
            left=src.name,
            right=dt.name,
        )
    check_dtype(m, dt)
    return _convert(m, "tt.bitcast", value, dt)


def cast(m: Machine, value: Tensor, dt: DType, rounding: str | None = None) -> Tensor:
    src = value.dt
    if src is dt:
        return value
    check_dtype(m, dt)
    if d.FP8E4NV in (src, dt):
        refuse_old_fp8(m)
    if src.is_float and dt.is_float:
        return _cast_float(m, value, dt, rounding)
    if src.is_int and dt.is_int:
        if dt is d.INT1:
            return compare(m, "ne", value, constant(m, 0, src))
        return _cast_integer(m, value, dt)
    if src.standard and dt.is_int:
        if src in (d.FP16, d.BF16):
            value = cast(m, value, d.FP32)
        if dt is d.INT1:
            zero = splat(m, constant(m, 0.0, value.dt), value.shape)
            return _compare_as(m, value, zero, "une", "ne")
        return _convert(m, "arith.fptosi" if dt.signed else "arith.fptoui", value, dt)
    if src.is_int and dt.standard:
        return _convert(m, "arith.sitofp" if src.signed else "arith.uitofp", value, dt)
    if src.is_pointer and dt.is_int:
        if dt.bits == 64:
            return _convert(m, "tt.ptr_to_int", value, dt)
        if dt.bits == 1:
            return compare(m, "ne", cast(m, value, d.INT64), constant(m, 0, d.INT64))
    if src.is_int and dt.is_pointer:
        return _convert(m, "tt.int_to_ptr", value, dt)
    if src.is_pointer and dt.is_pointer:
        return _convert(m, "tt.bitcast", value, dt)
    raise Untraceable(f"a cast from {src.name} to {dt.name}")


def _cast_integer(m: Machine, value: Tensor, dt: DType) -> Tensor:
    src = value.dt
    if src.bits == dt.bits:
        return Tensor(value.h, dt, value.shape)
    if src.bits > dt.bits:
        return _convert(m, "arith.trunci", value, dt)
    return _convert(m, "arith.extsi" if src.signed else "arith.extui", value, dt)


def loop_bound(m: Machine, value: Tensor, dt: DType) -> Tensor:
    """A bound or step in the type of the loop variable. It is extended by that type's sign, whatever its own: as an
    int32, True is -1."""
    if dt.signed and not value.dt.signed and value.dt.bits < dt.bits:
        return _convert(m, "arith.extsi", value, dt)
    return cast(m, value, dt)


def _cast_float(m: Machine, value: Tensor, dt: DType, rounding: str | None) -> Tensor:
    src = value.dt
    custom = False
    if dt.bits < src.bits:
        custom = rounding not in (None, "rtne")
    elif rounding is not None:
        raise Refused(
            "type", f"fp_downcast_rounding needs a narrowing conversion, not {src.name} to {dt.name}"
        )
    mode = {"rounding": rounding or "rtne"} if dt.bits < src.bits else None
    if {src, dt} == {d.FP16, d.BF16} and m.release >= (3, 9):
        return _convert(m, "tt.fp_to_fp", value, dt, {"rounding": "rtne"})
    if d.FP8E4B15 in (src, dt):
        return _cast_e4b15(m, value, dt)
    if src.is_fp8 or dt.is_fp8 or custom:
        return _convert(m, "tt.fp_to_fp", value, dt, mode)
    if src in (d.FP16, d.BF16) and dt is not d.FP32:
        return cast(m, cast(m, value, d.FP32), dt)
    return _convert(m, "arith.truncf" if src.bits > dt.bits else "arith.extf", value, dt)


def _cast_e4b15(m: Machine, value: Tensor, dt: DType) -> Tensor:
    """NVIDIA's own conversion: inline assembly between fp16 and fp8e4b15, four at a time."""
    src = value.dt
    if dt is d.FP8E4B15:
        if src not in (d.FP16, d.FP32):
            value = cast(m, value, d.FP32)
        half = value if value.dt is d.FP16 else cast(m, value, d.FP16)
        out = dt
    else:
        half, out = value, d.FP16
    asm = m.b.op(
        "tt.elementwise_inline_asm",
        (half.h,),
        type_of(out.element, half.shape),
        {"pure": True, "packed": 4, "asm": f"{half.dt.name}->{out.name}"},
    )
    made = Tensor(asm, out, value.shape)
    return made if out is dt else cast(m, made, dt)


# --- arithmetic -------------------------------------------------------------------------------------------------------


def _same(m: Machine, op: str, x: Tensor, y: Tensor) -> Tensor:
    return Tensor(m.b.op(op, (x.h, y.h), x.h.type), x.dt, x.shape)


def add(m: Machine, x: Any, y: Any) -> Tensor:
    x, y = binary(m, x, y, True, True)
    if y.dt.is_pointer:
        if x.dt.is_pointer:
            raise Refused("type", "cannot add two pointers")
        x, y = y, x
    if x.dt.is_pointer:
        return add_pointer(m, x, y)
    return _same(m, "arith.addf" if x.dt.is_float else "arith.addi", x, y)


def add_pointer(m: Machine, pointer: Tensor, offset: Tensor) -> Tensor:
    if m.release >= (3, 3) and offset.dt.is_int and not offset.dt.signed and offset.dt.bits < 64:
        offset = _convert(m, "arith.extui", offset, d.INT64)
    return _same(m, "tt.addptr", pointer, offset)


def sub(m: Machine, x: Any, y: Any) -> Tensor:
    x, y = binary(m, x, y, True, False)
    if x.dt.is_pointer:
        return add_pointer(m, x, minus(m, y))
    return _same(m, "arith.subf" if x.dt.is_float else "arith.subi", x, y)


def mul(m: Machine, x: Any, y: Any) -> Tensor:
    x, y = binary(m, x, y)
    return _same(m, "arith.mulf" if x.dt.is_float else "arith.muli", x, y)


def truediv(m: Machine, x: Any, y: Any) -> Tensor:
    x, y = binary(m, x, y, division=True)
    if x.dt.is_int:
        x, y = cast(m, x, d.FP32), cast(m, y, d.FP32)
    return _same(m, "arith.divf", x, y)


def floordiv(m: Machine, x: Any, y: Any) -> Tensor:
    x, y = binary(m, x, y, division=True)
    if not x.dt.is_int:
        raise Refused("type", f"floor division of {x.dt.name} values: only integers have it", dtype=x.dt.name)
    return _same(m, "arith.divsi" if x.dt.signed else "arith.divui", x, y)


def mod(m: Machine, x: Any, y: Any) -> Tensor:
    x, y = binary(m, x, y, division=True)
    if x.dt.is_float:
        if m.release >= (3, 3):
            return _same(m, "arith.remf", x, y)
        quotient = _same(m, "arith.divf", x, y)
        floored = Tensor(m.b.op("math.floor", (quotient.h,), quotient.h.type), x.dt, x.shape)
        return sub(m, x, mul(m, floored, y))
    return _same(m, "arith.remsi" if x.dt.signed else "arith.remui", x, y)


def fdiv(m: Machine, x: Any, y: Any, ieee: bool = False, approx: bool = False) -> Tensor:
    if m.release >= (3, 9):
        x, y = binary(m, x, y, division=True)
    else:
        x, y = binary(m, x, y, arithmetic=False, division=True)
    if not x.dt.is_float or not y.dt.is_float:
        raise Refused("type", "both operands of fdiv must be floats", left=x.dt.name, right=y.dt.name)
    if approx:
        return _same(m, "tt.approx_divf", x, y)
    return _same(m, "tt.precise_divf" if ieee and m.release >= (3, 0) else "arith.divf", x, y)


def bitwise(m: Machine, op: str, x: Any, y: Any) -> Tensor:
    if m.release < (3, 2):
        x, y = binary(m, x, y, arithmetic=False)
    else:
        x, y = binary(m, x, y)
    if not x.dt.is_int or not y.dt.is_int:
        raise Refused(
            "type", f"invalid operands of type {x.dt.name} and {y.dt.name}", left=x.dt.name, right=y.dt.name
        )
    dt = promote_integers(x.dt, y.dt)
    x, y = cast(m, x, dt), cast(m, y, dt)
    return _same(m, f"arith.{op}", x, y)


def shift_right(m: Machine, x: Any, y: Any) -> Tensor:
    dt = x.dt if isinstance(x, Tensor) else y.dt
    return bitwise(m, "shrsi" if dt.signed else "shrui", x, y)


def minus(m: Machine, x: Tensor) -> Tensor:
    if x.dt.is_pointer:
        raise Refused("type", f"wrong type argument to unary minus ({x.dt.name})", dtype=x.dt.name)
    if x.dt.is_float and m.release >= (3, 8):
        return Tensor(m.b.op("arith.negf", (x.h,), x.h.type), x.dt, x.shape)
    zero = splat(m, constant(m, 0.0 if x.dt.is_float else 0, x.dt), x.shape)
    return _same(m, "arith.subf" if x.dt.is_float else "arith.subi", zero, x)


def invert(m: Machine, x: Tensor) -> Tensor:
    if not x.dt.is_int:
        raise Refused("type", f"wrong type argument to unary invert ({x.dt.name})", dtype=x.dt.name)
    ones = splat(m, Tensor(m.b.constant(-1, type_of(x.dt.element, None)), x.dt), x.shape)
    return _same(m, "arith.xori", x, ones)


def logical_not(m: Machine, x: Tensor) -> Tensor:
    return invert(m, x if x.dt is d.INT1 else _as_boolean(m, x))


def logical(m: Machine, op: str, x: Any, y: Any) -> Tensor:
    x, y = to_tensor(m, x), to_tensor(m, y)
    return bitwise(
        m, op, x if x.dt is d.INT1 else _as_boolean(m, x), y if y.dt is d.INT1 else _as_boolean(m, y)
    )


def _as_boolean(m: Machine, x: Tensor) -> Tensor:
    # The front end bitcasts here, which only works for one-bit values.
    raise Refused(
        "type", f"cannot bitcast data-type of size {x.dt.bits} to data-type of size 1", dtype=x.dt.name
    )


def _compare_as(m: Machine, x: Tensor, y: Tensor, float_predicate: str, int_predicate: str) -> Tensor:
    if x.dt.is_float:
        op, predicate = "arith.cmpf", float_predicate
    else:
        op, predicate = "arith.cmpi", int_predicate
        if predicate not in ("eq", "ne"):
            predicate = ("s" if x.dt.signed else "u") + predicate
    return Tensor(m.b.op(op, (x.h, y.h), type_of("i1", x.shape), {"predicate": predicate}), d.INT1, x.shape)


_FLOAT_PREDICATES = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


def compare(m: Machine, predicate: str, x: Any, y: Any) -> Tensor:
    if m.release < (3, 9):  # until then a number is compared as the int32 or fp32 that it is
        x, y = to_tensor(m, x), to_tensor(m, y)
    x, y = binary(m, x, y)
    if not x.dt.is_int and not x.dt.is_float:
        raise Refused("type", f"a comparison of {x.dt.name} values", dtype=x.dt.name)
    return _compare_as(m, x, y, _FLOAT_PREDICATES[predicate], predicate)


def where(m: Machine, condition: Any, x: Any, y: Any) -> Tensor:
    condition = cast(m, to_tensor(m, condition), d.INT1)
    if m.release < (3, 2):
        x, y = to_tensor(m, x), to_tensor(m, y)
    x, y = binary(m, x, y, True, True)
    if condition.shape or m.release < (3, 0):
        condition, x = broadcast_two(m, condition, x)
        x, y = broadcast_two(m, x, y)
    else:
        condition = broadcast_two(m, condition, x)[0]
    return Tensor(m.b.op("arith.select", (condition.h, x.h, y.h), x.h.type), x.dt, x.shape)


def extreme(m: Machine, kind: str, x: Any, y: Any, all_nan: bool = False) -> Tensor:
    """tl.minimum and tl.maximum; `kind` is "min" or "max", `all_nan` propagates NaN."""
    if m.release < (2, 2):
        x, y = to_tensor(m, x), to_tensor(m, y)
        return where(m, compare(m, "lt" if kind == "min" else "gt", x, y), x, y)
    x, y = binary(m, x, y)
    if x.dt.is_float:
        all_nan = all_nan or m.release < (3, 0)
        return _same(m, f"arith.{kind}{'imumf' if all_nan else 'numf'}", x, y)
    if not x.dt.is_int:
        raise Refused("type", f"unexpected dtype {x.dt.name}", dtype=x.dt.name)
    return _same(m, f"arith.{kind}{'si' if x.dt.signed else 'ui'}", x, y)


def library_extreme(m: Machine, kind: str, x: Tensor, y: Tensor) -> Tensor:
    """2.1 calls libdevice for these, in reductions."""
    symbols = {d.FP32: f"__nv_f{kind}f", d.FP64: f"__nv_f{kind}"}
    symbols.update(
        {
            d.INT32: f"__nv_{kind}",
            d.INT64: f"__nv_ll{kind}",
            d.UINT32: f"__nv_u{kind}",
            d.UINT64: f"__nv_ull{kind}",
        }
    )
    symbol = symbols.get(x.dt)
    if symbol is None:
        raise Refused("type", f"{kind}imum of {x.dt.name} values is not in this release", dtype=x.dt.name)
    return Tensor(
        m.b.op("tt.extern_elementwise", (x.h, y.h), x.h.type, {"symbol": symbol, "pure": True}), x.dt, x.shape
    )


def ternary(m: Machine, *values: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Three operands in one type and shape (since 3.9): the numbers among them give way to the tensors."""
    tensor: DType | None = None
    scalar: DType | None = None
    for value in values:
        if number(value):
            dt = number_dtype(value)
            scalar = dt if scalar is None else computation_dtype(m, scalar, True, dt, True, False)
        else:
            value = to_tensor(m, value)
            tensor = (
                value.dt if tensor is None else computation_dtype(m, tensor, False, value.dt, False, False)
            )
    if tensor is not None and scalar is not None:
        final = computation_dtype(m, tensor, False, scalar, True, False)
    else:
        final = tensor or scalar or d.INT32
    a, b, c = (as_dtype(m, v, final) for v in values)
    a, b = broadcast_two(m, a, b)
    a, c = broadcast_two(m, a, c)
    b, c = broadcast_two(m, b, c)
    return a, b, c
