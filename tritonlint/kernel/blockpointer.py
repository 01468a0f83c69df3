"""Block pointers (up to 3.8), taken apart into offsets per axis as the pass "rewrite tensor pointer" does it.

Up to 3.7 a load makes, per axis, `offset + range` in i64, times the stride, broadcast and added to the pointer; the
mask compares the same offsets with 0 and the size. 3.8 builds the tile of pointers in the front end, with the types
that the user's values have.
"""

from __future__ import annotations

from typing import Any

from tritonlint.kernel import dtypes as d
from tritonlint.kernel import semantic as s
from tritonlint.kernel.creation import arange, shape_of
from tritonlint.kernel.dtypes import pointer_to
from tritonlint.kernel.machine import Machine
from tritonlint.kernel.memory import load_tensor, store_tensor
from tritonlint.kernel.shaping import expand_dims
from tritonlint.kernel.values import BlockPointer, Opaque, Refused, Tensor, Untraceable, known


def _scalars(m: Machine, values: Any, what: str, wide: bool) -> tuple[Tensor, ...]:
    """Sizes, strides or offsets as scalars: i64 where `wide`, else at most i32 (as the rewrite has them)."""
    if isinstance(values, Opaque):
        raise Untraceable(values.reason)
    made = []
    for value in values if isinstance(values, tuple) else (values,):
        x = s.to_tensor(m, value)
        if not x.dt.is_int or x.shape:
            raise Refused("type", f"the {what} of a block pointer must be integer scalars, not {x.dt.name}")
        if m.release < (3, 8) and not wide and x.dt is d.INT64 and isinstance(value, Tensor):
            raise Refused("type", f"block pointers only support 32-bit {what}: add `.to(tl.int32)`")
        x = s.cast(m, x, d.INT64)
        made.append(x)
    return tuple(made)


def make_block_ptr(
    m: Machine, base: Any, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any
) -> BlockPointer:
    if m.release >= (3, 9):
        raise Refused(
            "removed", "block pointers have been removed in Triton 3.9: use tensor descriptors", since="3.9"
        )
    if isinstance(base, Opaque):
        raise Untraceable(base.reason)
    if not isinstance(base, Tensor) or base.dt.pointee is None or base.shape:
        raise Refused("type", "the base of a block pointer must be a scalar pointer")
    block = shape_of(m, block_shape, "block shape")
    element = base.dt.pointee
    if element is d.INT1:
        element = d.INT8
        base = s.cast(m, base, pointer_to(element))
    sizes = _scalars(m, shape, "shape", True)
    steps = _scalars(m, strides, "strides", True)
    starts = _scalars(m, offsets, "offsets", False)
    axes = known(order, "the order")
    if not len(sizes) == len(steps) == len(starts) == len(block) == len(axes):
        raise Refused(
            "type",
            "shape, strides, offsets, block_shape and order of a block pointer must have the same length",
        )
    if sorted(axes) != list(range(len(axes))):
        raise Refused("type", f"the order {list(axes)} is no permutation of the axes")
    return BlockPointer(base, sizes, steps, starts, block, element)


def advance(m: Machine, base: Any, offsets: Any) -> Any:
    if isinstance(base, Opaque):
        raise Untraceable(base.reason)
    if not isinstance(base, BlockPointer):
        if m.release >= (3, 9):
            raise Refused("removed", "block pointers have been removed in Triton 3.9", since="3.9")
        raise Refused("type", "tl.advance takes a block pointer")
    steps = _scalars(m, offsets, "offsets", False)
    if len(steps) != len(base.offsets):
        raise Refused(
            "type", f"tl.advance by {len(steps)} offsets of a block pointer with {len(base.offsets)} axes"
        )
    moved = tuple([s.add(m, x, y) for x, y in zip(base.offsets, steps, strict=False)])
    return BlockPointer(base.base, base.sizes, base.strides, moved, base.block, base.dt)


def _checked(boundary_check: Any, rank: int) -> tuple[int, ...]:
    if isinstance(boundary_check, Opaque):
        raise Untraceable(boundary_check.reason)
    if boundary_check in (None, "", ()):
        return ()
    axes = boundary_check if isinstance(boundary_check, tuple) else (boundary_check,)
    final = [known(a, "boundary_check") for a in axes]
    if any(not isinstance(a, int) or not 0 <= a < rank for a in final) or len(set(final)) != len(final):
        raise Refused("type", f"boundary_check {final} for {rank} axes")
    return tuple(sorted(final))


def tile(m: Machine, p: BlockPointer, checked: tuple[int, ...]) -> tuple[Tensor, Tensor | None]:
    """The pointers of the block, and the mask of the axes that are checked."""
    if m.release >= (3, 8):
        return _tile_in_front_end(m, p, checked)
    places = []
    for axis, size in enumerate(p.block):
        span = s.cast(m, arange(m, 0, size), d.INT64)
        place = s.add(m, s.splat(m, p.offsets[axis], (size,)), span)
        for other in range(len(p.block)):
            if other != axis:
                place = s.expand_dims(m, place, other)
        places.append(place)
    pointer = s.splat(m, p.base, p.block)
    m.b.combining = m.release >= (3, 0)  # 2.x takes them apart after it has combined additions
    for place, stride in zip(places, p.strides, strict=False):
        step = s.broadcast_to(m, s.mul(m, place, stride), p.block)
        pointer = s.add(m, pointer, step)
    m.b.combining = True
    mask: Tensor | None = None
    for axis in checked:
        place = places[axis]
        inside = s.bitwise(
            m,
            "andi",
            s.compare(m, "ge", place, s.constant(m, 0, d.INT64)),
            s.compare(m, "lt", place, p.sizes[axis]),
        )
        inside = s.broadcast_to(m, inside, p.block)
        mask = inside if mask is None else s.bitwise(m, "andi", mask, inside)
    return pointer, mask


def _tile_in_front_end(m: Machine, p: BlockPointer, checked: tuple[int, ...]) -> tuple[Tensor, Tensor | None]:
    pointer = p.base
    mask: Tensor | None = None
    rank = len(p.block)
    for axis, size in enumerate(p.block):
        place = s.add(m, p.offsets[axis], arange(m, 0, size))
        for _ in range(axis):
            place = expand_dims(m, place, 0)
        for _ in range(axis + 1, rank):
            place = expand_dims(m, place, -1)
        place = s.broadcast_to(m, place, p.block)
        pointer = s.add(m, pointer, s.mul(m, place, p.strides[axis]))
        if axis in checked:
            inside = s.bitwise(
                m, "andi", s.compare(m, "ge", place, 0), s.compare(m, "lt", place, p.sizes[axis])
            )
            mask = inside if mask is None else s.bitwise(m, "andi", mask, inside)
    return pointer, mask


def load_block(
    m: Machine,
    p: BlockPointer,
    mask: Any,
    other: Any,
    boundary_check: Any,
    padding_option: Any,
    attrs: dict[str, Any],
) -> Tensor:
    if mask is not None or other is not None:
        raise Refused("type", "`mask` and `other` cannot be given for a block pointer")
    checked = _checked(boundary_check, len(p.block))
    pointer, generated = tile(m, p, checked)
    padding = known(padding_option, "padding_option")
    filler: Tensor | None = None
    if padding and generated is not None:
        if padding == "nan" and p.dt.is_int:
            raise Refused("type", "padding option `nan` is not supported for integer block pointers")
        value: Any = float("nan") if padding == "nan" else 0.0 if p.dt.is_float else 0
        filler = s.constant(m, value, p.dt)
    return load_tensor(m, pointer, generated, filler, attrs)


def store_block(
    m: Machine, p: BlockPointer, value: Tensor, mask: Any, boundary_check: Any, attrs: dict[str, Any]
) -> None:
    if mask is not None:
        raise Refused("type", "`mask` cannot be given for a block pointer")
    pointer, generated = tile(m, p, _checked(boundary_check, len(p.block)))
    value = s.cast(m, s.broadcast_to(m, value, p.block), p.dt)
    store_tensor(m, pointer, value, generated, attrs)
