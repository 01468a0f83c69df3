"""Tensor descriptors: kept as such where the target has hardware for them, else taken apart into pointers and masks."""

from __future__ import annotations

from typing import Any

from tritonlint.kernel import dtypes as d
from tritonlint.kernel import semantic as s
from tritonlint.kernel.creation import arange, shape_of
from tritonlint.kernel.graph import Val, type_of
from tritonlint.kernel.machine import Machine
from tritonlint.kernel.memory import load_tensor, store_tensor
from tritonlint.kernel.shaping import reshaped
from tritonlint.kernel.values import Descriptor, Opaque, Refused, Shape, Tensor, Untraceable, known

_MIN_BYTES = 16
_MIN_ROWS = 8


def _sequence(values: Any, what: str) -> tuple[Any, ...]:
    if isinstance(values, Opaque):
        raise Untraceable(values.reason)
    if not isinstance(values, tuple):
        raise Untraceable(f"the {what} of a tensor descriptor is a {type(values).__name__}")
    return values


def make_tensor_descriptor(
    m: Machine, base: Any, shape: Any, strides: Any, block_shape: Any, padding_option: Any = "zero"
) -> Descriptor:
    if isinstance(base, Opaque):
        raise Untraceable(base.reason)
    if not isinstance(base, Tensor) or base.dt.pointee is None or base.shape:
        raise Refused("type", "the base of a tensor descriptor must be a scalar pointer")
    element = base.dt.pointee
    sizes, steps = _sequence(shape, "shape"), _sequence(strides, "strides")
    block = shape_of(m, block_shape, "block shape")
    rank = len(sizes)
    lowest = 1 if m.release >= (3, 4) else 2
    if not lowest <= rank <= 5 or len(steps) != rank or len(block) != rank:
        raise Refused(
            "type",
            f"a tensor descriptor with {rank} sizes, {len(steps)} strides and a block of {len(block)} axes",
        )
    if block[-1] * element.bits // 8 < _MIN_BYTES and m.release >= (3, 4):
        raise Refused(
            "descriptor-block",
            f"the last dimension of a descriptor's block has {block[-1]} x {element.bits // 8} bytes, it needs 16",
            shape=block,
            bytes=block[-1] * element.bits // 8,
            minimum=_MIN_BYTES,
        )
    last = steps[-1].h.const if isinstance(steps[-1], Tensor) else steps[-1]
    if isinstance(last, Opaque):
        raise Untraceable(last.reason)
    if isinstance(steps[-1], Tensor) or last != 1:
        raise Refused("type", "the last stride of a tensor descriptor must be the compile-time number 1")
    for step in steps[:-1]:
        if m.release >= (3, 9) and isinstance(step, int) and step * element.bits // 8 % _MIN_BYTES:
            raise Refused(
                "type",
                f"tensor descriptor strides must be 16-byte aligned, not {step * element.bits // 8} bytes",
            )
    padding = known(padding_option, "padding_option") or "zero"
    dims = tuple([s.cast(m, s.to_tensor(m, x), d.INT32) for x in sizes])
    strided = tuple([s.cast(m, s.to_tensor(m, x), d.INT64) for x in steps])
    if not m.has_tma:
        wide = tuple([s.cast(m, x, d.INT64) for x in dims])
        return Descriptor(None, element, block, base, dims, strided, padding, wide)
    type_ = type_of(f"tensordesc<{element.element}>", block)
    operands = (base.h, *[x.h for x in dims], *[x.h for x in strided])
    node = m.b.emit("tt.make_tensor_descriptor", operands, (type_,), {"rank": rank, "padding": padding})
    return Descriptor(node.results[0], element, block, base, dims, strided, padding)


def _offsets(m: Machine, desc: Descriptor, offsets: Any) -> tuple[Tensor, ...]:
    values = _sequence(offsets, "offsets")
    if len(values) != len(desc.block):
        raise Refused("type", f"{len(values)} offsets for a descriptor of {len(desc.block)} axes")
    return tuple([_offset(m, value) for value in values])


def _offset(m: Machine, value: Any) -> Tensor:
    x = s.to_tensor(m, value)
    if isinstance(value, Tensor):
        if x.numel != 1 or not x.dt.is_int:
            raise Refused(
                "type", f"the offsets of a descriptor must be integer scalars, not {x.dt.name}{list(x.shape)}"
            )
        if x.dt is d.INT64:
            raise Refused("type", "the offsets of a descriptor are 32-bit: add `.to(tl.int32)`")
        return x
    return s.cast(m, x, d.INT32)


def _descriptor(value: Any) -> Descriptor:
    if isinstance(value, Opaque):
        raise Untraceable(value.reason)
    if not isinstance(value, Descriptor):
        raise Refused("type", "a tensor descriptor is needed here")
    return value


def load(m: Machine, desc: Any, offsets: Any, **_: Any) -> Tensor:
    desc = _descriptor(desc)
    places = _offsets(m, desc, offsets)
    s.check_dtype(m, desc.dt)
    if desc.h is None:
        pointer, mask = _tile(m, desc, desc.block, _places(m, desc.block, places))
        return load_tensor(m, pointer, mask, _filler(m, desc), {})
    type_ = type_of(desc.dt.element, desc.block)
    node = m.b.emit("tt.descriptor_load", (desc.h, *[x.h for x in places]), (type_,))
    return Tensor(node.results[0], desc.dt, desc.block)


def store(m: Machine, desc: Any, offsets: Any, value: Any) -> None:
    desc = _descriptor(desc)
    v = s.to_tensor(m, value)
    if v.shape != desc.block:
        raise Refused(
            "shape",
            f"a value of {list(v.shape)} for a descriptor of {list(desc.block)}",
            left=v.shape,
            right=desc.block,
        )
    v = s.cast(m, v, desc.dt)
    places = _offsets(m, desc, offsets)
    if desc.h is None:
        pointer, mask = _tile(m, desc, desc.block, _places(m, desc.block, places))
        store_tensor(m, pointer, v, mask, {})
        return
    m.b.emit("tt.descriptor_store", (desc.h, v.h, *[x.h for x in places]), ())


def reduce_into(kind: str) -> Any:
    """desc.atomic_add and its like."""

    def function(m: Machine, desc: Any, offsets: Any, value: Any) -> None:
        desc = _descriptor(desc)
        v = s.cast(m, s.to_tensor(m, value), desc.dt)
        places = _offsets(m, desc, offsets)
        if desc.h is not None:
            m.b.emit("tt.descriptor_reduce", (desc.h, v.h, *[x.h for x in places]), (), {"kind": kind})
            return
        pointer, mask = _tile(m, desc, desc.block, _places(m, desc.block, places))
        op = {"add": "fadd" if desc.dt.is_float else "add"}.get(kind, kind if desc.dt.signed else f"u{kind}")
        attrs = {"rmw_op": op, "sem": "relaxed", "scope": "gpu"}
        m.b.emit("tt.atomic_rmw", (pointer.h, v.h, mask.h), (v.h.type,), attrs)

    return function


def _row_check(desc: Descriptor, rows: Tensor) -> None:
    if len(desc.block) != 2 or desc.block[0] != 1:
        raise Refused(
            "type",
            f"gather and scatter need a descriptor block of one row, not {list(desc.block)}",
            shape=desc.block,
        )
    if len(rows.shape) != 1 or rows.shape[0] < _MIN_ROWS:
        raise Refused(
            "descriptor-block",
            f"gather and scatter need at least 8 rows, not {list(rows.shape)}",
            shape=rows.shape,
            minimum=_MIN_ROWS,
        )
    columns = 32 // desc.dt.bits * 8
    if desc.block[1] < columns:
        raise Refused(
            "descriptor-block",
            f"gather and scatter of {desc.dt.name} need at least {columns} columns, not {desc.block[1]}",
            shape=desc.block,
            minimum=columns,
        )


def gather(m: Machine, desc: Any, x_offsets: Any, y_offset: Any) -> Tensor:
    desc = _descriptor(desc)
    rows = s.to_tensor(m, x_offsets)
    _row_check(desc, rows)
    shape = (rows.shape[0], desc.block[1])
    y = _offset(m, y_offset)
    if desc.h is None:
        pointer, mask = _tile(m, desc, shape, _row_places(m, shape, rows, y))
        return load_tensor(m, pointer, mask, _filler(m, desc), {})
    node = m.b.emit("tt.descriptor_gather", (desc.h, rows.h, y.h), (type_of(desc.dt.element, shape),))
    return Tensor(node.results[0], desc.dt, shape)


def scatter(m: Machine, desc: Any, value: Any, x_offsets: Any, y_offset: Any) -> None:
    desc = _descriptor(desc)
    rows = s.to_tensor(m, x_offsets)
    _row_check(desc, rows)
    v, y = s.to_tensor(m, value), _offset(m, y_offset)
    if desc.h is None:
        shape = (rows.shape[0], desc.block[1])
        pointer, mask = _tile(m, desc, shape, _row_places(m, shape, rows, y))
        store_tensor(m, pointer, v, mask, {})
        return
    operands: tuple[Val, ...] = (desc.h, v.h, rows.h, y.h)
    m.b.emit("tt.descriptor_scatter", operands, ())


# --- without hardware ---------------------------------------------------------------------------------------------------


def _place(m: Machine, block: Shape, offset: Tensor, axis: int) -> Tensor:
    """offset + range along one axis, in i64, of the rank of the block."""
    size = block[axis]
    span = s.cast(m, arange(m, 0, size), d.INT64)
    place = s.add(m, s.splat(m, s.cast(m, offset, d.INT64), (size,)), span)
    return _spread(m, block, place, axis)


def _spread(m: Machine, block: Shape, place: Tensor, axis: int) -> Tensor:
    if m.release >= (3, 9):
        return reshaped(m, place, tuple([size if i == axis else 1 for i, size in enumerate(block)]))
    for other in range(len(block)):
        if other != axis:
            place = s.expand_dims(m, place, other)
    return place


def _places(m: Machine, block: Shape, offsets: tuple[Tensor, ...]) -> list[Tensor]:
    return [_place(m, block, offset, axis) for axis, offset in enumerate(offsets)]


def _row_places(m: Machine, block: Shape, rows: Tensor, y: Tensor) -> list[Tensor]:
    return [s.cast(m, _spread(m, block, rows, 0), d.INT64), _place(m, block, y, 1)]


def _tile(m: Machine, desc: Descriptor, block: Shape, places: list[Tensor]) -> tuple[Tensor, Tensor]:
    assert desc.base is not None
    pointer = s.splat(m, desc.base, block)
    for place, stride in zip(places, desc.strides, strict=False):
        pointer = s.add(m, pointer, s.broadcast_to(m, s.mul(m, place, stride), block))
    mask: Tensor | None = None
    for place, size in zip(places, desc.wide, strict=False):
        inside = s.bitwise(
            m,
            "andi",
            s.compare(m, "ge", place, s.constant(m, 0, d.INT64)),
            s.compare(m, "lt", place, size),
        )
        inside = s.broadcast_to(m, inside, block)
        mask = inside if mask is None else s.bitwise(m, "andi", mask, inside)
    assert mask is not None
    return pointer, mask


def _filler(m: Machine, desc: Descriptor) -> Tensor:
    value: Any = (
        float("nan") if desc.padding == "nan" and desc.dt.is_float else 0.0 if desc.dt.is_float else 0
    )
    return s.constant(m, value, desc.dt)
