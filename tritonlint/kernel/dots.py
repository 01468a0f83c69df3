"""tl.dot and tl.dot_scaled, with the checks that the front end makes."""

from __future__ import annotations

from typing import Any

from tritonlint.kernel import dtypes as d
from tritonlint.kernel import semantic as s
from tritonlint.kernel.creation import dtype_of
from tritonlint.kernel.dtypes import DType
from tritonlint.kernel.graph import type_of
from tritonlint.kernel.machine import Machine
from tritonlint.kernel.shaping import reshaped, tensor_of
from tritonlint.kernel.values import Refused, Shape, Tensor, Untraceable, known

_DOT_TYPES = (d.INT8, d.UINT8, d.FP16, d.BF16, d.FP32, d.FP64)
_NVIDIA_PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")


def min_dot_size(m: Machine, lhs: DType, rhs: DType) -> tuple[int, int, int]:
    """The smallest M, N and K that Triton accepts, by release and target (facts: tensor cores, smallest dot)."""
    if not m.is_nvidia:
        return (1, 1, 1) if m.release >= (3, 3) else (16, 16, 16) if m.release < (3, 2) else (1, 1, 1)
    if m.release < (3, 2):
        return (16, 16, 32 if lhs is d.INT8 else 16)
    if m.release < (3, 3):
        return (16, 16, 16)
    narrow = 32 if lhs.bits == 8 else 16
    if m.release < (3, 5):
        return (16, 16, narrow)
    if m.release < (3, 8):
        return (1, 1, narrow)
    return (1, 1, {8: 32, 16: 16, 32: 8, 64: 4}.get(lhs.bits, narrow))


def _check_types(m: Machine, a: Tensor, b: Tensor) -> None:
    if d.FP8E4NV in (a.dt, b.dt):
        s.refuse_old_fp8(m)
        if m.release < (3, 0) and m.capability < 90:
            raise Refused(
                "dtype-unsupported",
                "Dot op does not support fp8e4nv on CUDA arch < 90",
                dtype="fp8e4nv",
                supported=(),
            )
    if a.dt.is_fp8 and b.dt.is_fp8:
        return
    for x in (a, b):
        allowed = _DOT_TYPES if m.release >= (3, 2) else (*_DOT_TYPES, d.INT1)
        if x.dt not in allowed or (x.dt is d.FP64 and m.release < (3, 5)):
            raise Refused("type", f"unsupported dtype {x.dt.name} in tl.dot", dtype=x.dt.name)
    if a.dt is not b.dt:
        raise Refused(
            "dot-mixed-types",
            f"both operands of tl.dot must have the same dtype, got {a.dt.name} and {b.dt.name}",
            left=a.dt.name,
            right=b.dt.name,
        )


def _check_shapes(m: Machine, a: Tensor, b: Tensor) -> None:
    rank = len(a.shape)
    if rank != len(b.shape) or rank not in (2, 3) or (rank == 3 and m.release < (3, 0)):
        raise Refused(
            "shape",
            f"tl.dot of {list(a.shape)} and {list(b.shape)}: two or three dimensions are needed",
            left=a.shape,
            right=b.shape,
        )
    if a.shape[-1] != b.shape[-2] or a.shape[:-2] != b.shape[:-2]:
        raise Refused(
            "shape",
            f"tl.dot of {list(a.shape)} and {list(b.shape)}: the inner dimensions {a.shape[-1]} and {b.shape[-2]} differ",
            left=a.shape,
            right=b.shape,
        )
    minimum = min_dot_size(m, a.dt, b.dt)
    sizes = (a.shape[-2], b.shape[-1], a.shape[-1])
    if any(have < want for have, want in zip(sizes, minimum, strict=False)):
        raise Refused(
            "dot-too-small",
            f"tl.dot of M={sizes[0]}, N={sizes[1]}, K={sizes[2]}: "
            f"{a.dt.name} needs M >= {minimum[0]}, N >= {minimum[1]} and K >= {minimum[2]}",
            m=sizes[0],
            n=sizes[1],
            k=sizes[2],
            minimum=minimum,
            dtype=a.dt.name,
        )


def _precision(m: Machine, input_precision: Any, allow_tf32: Any) -> str:
    given = known(input_precision, "input_precision")
    tf32 = known(allow_tf32, "allow_tf32")
    has_tf32 = m.is_nvidia or (m.arch.startswith("gfx94") and m.release >= (3, 2))
    if given is None:
        return "tf32" if has_tf32 and (tf32 or tf32 is None) else "ieee"
    allowed: tuple[str, ...] = (
        _NVIDIA_PRECISIONS if m.is_nvidia else ("ieee", "bf16x3", "bf16x6", *(("tf32",) if has_tf32 else ()))
    )
    if str(given).lower() not in allowed:
        raise Refused(
            "type", f"input_precision must be one of {', '.join(allowed)}, not {given}", precision=str(given)
        )
    return str(given).lower()


def dot(
    m: Machine,
    input: Any,
    other: Any,
    acc: Any = None,
    input_precision: Any = None,
    allow_tf32: Any = None,
    max_num_imprecise_acc: Any = None,
    out_dtype: Any = None,
) -> Tensor:
    if m.release < (3, 0):
        if input_precision is not None:
            raise Refused(
                "unknown-option",
                "tl.dot has input_precision since Triton 3.0",
                option="input_precision",
                since="3.0",
            )
        if isinstance(acc, bool):  # the third parameter of 2.x is allow_tf32
            allow_tf32, acc = acc, None
    a, b = tensor_of(m, input), tensor_of(m, other)
    start = None if acc is None else tensor_of(m, acc)
    if not a.shape or not b.shape:
        raise Refused("type", "the operands of tl.dot must be blocks, not scalars")
    wide = len(a.shape) >= 4 and m.release >= (3, 8) and len(a.shape) == len(b.shape)
    shape: Shape = (*a.shape[:-1], b.shape[-1])
    if wide:
        batch = a.numel // (a.shape[-1] * a.shape[-2])
        a, b = reshaped(m, a, (batch, *a.shape[-2:])), reshaped(m, b, (batch, *b.shape[-2:]))
        start = None if start is None else reshaped(m, start, (batch, *start.shape[-2:]))
    result = _dot(
        m,
        a,
        b,
        start,
        _precision(m, input_precision, allow_tf32),
        known(max_num_imprecise_acc, "max_num_imprecise_acc"),
        out_dtype,
    )
    return reshaped(m, result, shape) if wide else result


def _dot(
    m: Machine, a: Tensor, b: Tensor, acc: Tensor | None, precision: str, imprecise: Any, out_dtype: Any
) -> Tensor:
    _check_types(m, a, b)
    for x in (a, b):
        s.check_dtype(m, x.dt)
    if d.FP8E4B15 in (a.dt, b.dt) or (
        not m.is_nvidia and {a.dt, b.dt} & {d.FP8E4B8, d.FP8E5B16} and not m.arch.startswith("gfx94")
    ):
        a, b = s.cast(m, a, d.FP16), s.cast(m, b, d.FP16)
    _check_shapes(m, a, b)
    out = d.FP32 if out_dtype is None else dtype_of(out_dtype)
    if out_dtype is None and acc is not None and m.release >= (3, 9):
        out = acc.dt
    if a.dt.is_int:
        result = d.INT32
        if a.dt is not d.INT8 and m.release >= (3, 3):
            raise Refused(
                "type", f"tl.dot of {a.dt.name}: of the integers only int8 is supported", dtype=a.dt.name
            )
    elif out is d.BF16 and m.release >= (2, 2):
        raise Refused("type", "out_dtype=bfloat16 is unsupported: use float32 and cast", dtype="bf16")
    elif a.dt in (d.FP32, d.BF16):
        result = d.FP32
    elif a.dt is d.FP64:
        result = d.FP64
    else:
        result = out
    shape: Shape = (*a.shape[:-2], a.shape[-2], b.shape[-1])
    if acc is None:
        acc = s.splat(m, s.constant(m, 0 if result.is_int else 0.0, result), shape)
    elif acc.shape != shape:
        raise Refused(
            "shape",
            f"an accumulator of {list(acc.shape)} for a product of {list(shape)}",
            left=acc.shape,
            right=shape,
        )
    elif acc.dt is not result:
        raise Refused(
            "type",
            f"an accumulator of {acc.dt.name} for a product of {result.name}",
            left=acc.dt.name,
            right=result.name,
        )
    fp8 = a.dt.is_fp8 and b.dt.is_fp8
    if imprecise is None:
        imprecise = 2**30 if fp8 and m.is_nvidia and m.capability == 90 else 0
    elif fp8 and m.release >= (3, 2) and imprecise > a.shape[-1]:
        raise Refused("type", f"max_num_imprecise_acc ({imprecise}) must be <= K ({a.shape[-1]})")
    attrs = {"input_precision": precision, "max_num_imprecise_acc": int(imprecise)}
    node = m.b.emit("tt.dot", (a.h, b.h, acc.h), (type_of(result.element, shape),), attrs)
    return Tensor(node.results[0], result, shape)


_FORMATS: dict[str, tuple[DType, DType]] = {
    "e5m2": (d.FP8E5, d.UINT8),
    "e4m3": (d.FP8E4NV, d.UINT8),
    "bf16": (d.BF16, d.UINT16),
    "fp16": (d.FP16, d.UINT16),
}


def _in_format(m: Machine, x: Tensor, name: str) -> Tensor:
    if name == "e2m1":
        if x.dt is not d.UINT8:
            raise Refused("type", f"e2m1 must be packed as uint8, not {x.dt.name}", dtype=x.dt.name)
        return x
    pair = _FORMATS.get(name)
    if pair is None:
        raise Refused("type", f"invalid float format {name}", format=name)
    if x.dt is pair[0]:
        return x
    if x.dt is not pair[1]:
        raise Refused(
            "type", f"unexpected dtype {x.dt.name} for the format {name}", dtype=x.dt.name, format=name
        )
    return s.bitcast(m, x, pair[0])


def dot_scaled(
    m: Machine,
    lhs: Any,
    lhs_scale: Any,
    lhs_format: Any,
    rhs: Any,
    rhs_scale: Any,
    rhs_format: Any,
    acc: Any = None,
    fast_math: Any = False,
    lhs_k_pack: Any = True,
    rhs_k_pack: Any = True,
    out_dtype: Any = d.FP32,
) -> Tensor:
    if m.release < (3, 2):
        raise Untraceable("tl.dot_scaled is not in this release")
    if m.release < (3, 3) and rhs_scale is not None:
        raise Refused("type", "tl.dot_scaled of 3.2 takes no scale of the right operand")
    a_type, b_type = known(lhs_format, "lhs_format"), known(rhs_format, "rhs_format")
    a, b = _in_format(m, tensor_of(m, lhs), a_type), _in_format(m, tensor_of(m, rhs), b_type)
    rank = len(a.shape)
    if rank != len(b.shape) or rank not in (2, 3):
        raise Refused(
            "shape", f"tl.dot_scaled of {list(a.shape)} and {list(b.shape)}", left=a.shape, right=b.shape
        )
    a_pack, b_pack = bool(known(lhs_k_pack, "lhs_k_pack")), bool(known(rhs_k_pack, "rhs_k_pack"))
    a_factor, b_factor = (2 if a_type == "e2m1" else 1), (2 if b_type == "e2m1" else 1)
    a_k = a.shape[-1] * (a_factor if a_pack else 1)
    b_k = b.shape[-2] * (b_factor if b_pack else 1)
    if a_k != b_k:
        raise Refused(
            "shape",
            f"tl.dot_scaled: the reduction dimensions hold {a_k} and {b_k} elements",
            left=a.shape,
            right=b.shape,
        )
    rows = a.shape[-2] * (1 if a_pack else a_factor)
    columns = b.shape[-1] * (1 if b_pack else b_factor)
    shape: Shape = (*a.shape[:-2], rows, columns)
    if acc is None:
        start = s.splat(m, s.constant(m, 0.0, d.FP32), shape)
    else:
        start = tensor_of(m, acc)
        if start.shape != shape:
            raise Refused(
                "shape",
                f"an accumulator of {list(start.shape)} for a product of {list(shape)}",
                left=start.shape,
                right=shape,
            )
    operands = [a.h, b.h, start.h]
    scales = [None if x is None else tensor_of(m, x) for x in (lhs_scale, rhs_scale)]
    operands.extend(x.h for x in scales if x is not None)
    attrs = {
        "a_type": a_type,
        "b_type": b_type,
        "fast_math": bool(known(fast_math, "fast_math")),
        "lhs_k_pack": a_pack,
        "rhs_k_pack": b_pack,
        "has_a_scale": scales[0] is not None,
        "has_b_scale": scales[1] is not None,
    }
    node = m.b.emit("tt.dot_scaled", tuple(operands), (type_of("fp32", shape),), attrs)
    return Tensor(node.results[0], d.FP32, shape)
