"""Where values come from: program ids, ranges, filled blocks."""

from __future__ import annotations

from typing import Any

from tritonlint.kernel import dtypes as d
from tritonlint.kernel import semantic as s
from tritonlint.kernel.dtypes import DType
from tritonlint.kernel.graph import type_of
from tritonlint.kernel.machine import Machine
from tritonlint.kernel.values import (
    Opaque,
    Refused,
    Shape,
    Tensor,
    TensorType,
    Untraceable,
    known,
)


def shape_of(m: Machine, shape: Any, what: str = "shape") -> Shape:
    """A block shape, checked as Triton checks it: compile-time powers of two, not too many elements."""
    if isinstance(shape, Opaque):
        raise Untraceable(shape.reason)
    if isinstance(shape, int):
        shape = (shape,)
    if not isinstance(shape, tuple):
        raise Untraceable(f"the {what} is a {type(shape).__name__}")
    sizes = []
    for i, size in enumerate(shape):
        if isinstance(size, Tensor):
            raise Refused(
                "shape", f"shape element {i} must be a compile-time integer (tl.constexpr)", index=i
            )
        size = known(size, f"element {i} of the {what}")
        if isinstance(size, float) or not isinstance(size, int):
            raise Refused("shape", f"shape element {i} must be an integer, not {size!r}", index=i)
        sizes.append(int(size))
    final = tuple(sizes)
    check_shape(m, final)
    return final


def check_shape(m: Machine, shape: Shape) -> None:
    for i, size in enumerate(shape):
        if size <= 0 or size & (size - 1):
            raise Refused(
                "block-not-power-of-two",
                f"shape element {i} is {size}, which is no power of 2",
                shape=shape,
                index=i,
                size=size,
            )
    s.check_elements(m, shape)


def program_id(m: Machine, axis: Any) -> Tensor:
    return _program("tt.get_program_id", m, axis)


def num_programs(m: Machine, axis: Any) -> Tensor:
    return _program("tt.get_num_programs", m, axis)


def _program(op: str, m: Machine, axis: Any) -> Tensor:
    axis = known(axis, "the axis")
    if axis not in (0, 1, 2):
        raise Refused("type", f"the axis must be 0, 1 or 2, not {axis}", axis=axis)
    return Tensor(m.b.op(op, (), type_of("i32", None), {"axis": int(axis)}), d.INT32)


def arange(m: Machine, start: Any, end: Any) -> Tensor:
    for bound in (start, end):
        if isinstance(bound, Tensor):
            raise Refused(
                "arange-bounds", "the arguments of arange must be compile-time values (tl.constexpr)"
            )
        known(bound, "a bound of arange")
        if not isinstance(bound, int):
            raise Refused("arange-bounds", f"the arguments of arange must be integers, not {bound!r}")
    length = end - start
    if not -(2**31) <= start < 2**31 or not 0 <= end < 2**32:
        raise Refused("arange-bounds", "arange must fit in 32 bits", start=start, end=end)
    if length <= 0:
        raise Refused(
            "arange-bounds",
            f"arange({start}, {end}): the end must be greater than the start",
            start=start,
            end=end,
        )
    if length & (length - 1):
        raise Refused(
            "block-not-power-of-two",
            f"arange({start}, {end}) has {length} elements, which is no power of 2",
            shape=(length,),
            index=0,
            size=length,
        )
    check_shape(m, (length,))
    type_ = type_of("i32", (length,))
    if length == 1:
        return Tensor(m.b.constant(start, type_), d.INT32, (1,))
    return Tensor(
        m.b.op("tt.make_range", (), type_, {"start": int(start), "end": int(end)}), d.INT32, (length,)
    )


def full(m: Machine, shape: Any, value: Any, dtype: Any) -> Tensor:
    sizes = shape_of(m, shape)
    dtype = dtype_of(dtype)
    if isinstance(value, Tensor):
        if value.numel != 1:
            raise Refused(
                "type", "tl.full takes a scalar or a one-element tensor as value", shape=value.shape
            )
        scalar = s.cast(m, value, dtype)
        if scalar.shape:
            raise Untraceable("tl.full of a one-element block")
    else:
        scalar = s.constant(m, known(value, "the value"), dtype)
    return s.splat(m, scalar, sizes)


def zeros(m: Machine, shape: Any, dtype: Any) -> Tensor:
    return full(m, shape, 0, dtype)


def zeros_like(m: Machine, input: Tensor) -> Tensor:
    return full(m, input.shape, 0, input.dt)


def dtype_of(value: Any) -> DType:
    """A type given as an argument."""
    if isinstance(value, DType):
        return value
    if isinstance(value, TensorType) and not value.shape:
        return value.dt
    if isinstance(value, Opaque):
        raise Untraceable(value.reason)
    if isinstance(value, str):
        found = d.dtype_named(value)
        if found is not None:
            return found
    raise Untraceable(f"{value!r} where a type is needed")


def to_tensor(m: Machine, x: Any) -> Tensor:
    return s.to_tensor(m, x)
