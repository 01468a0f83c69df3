"""Loads, stores and atomics through pointers."""

from __future__ import annotations

from typing import Any

from tritonlint.kernel import dtypes as d
from tritonlint.kernel import semantic as s
from tritonlint.kernel.dtypes import DType, pointer_to
from tritonlint.kernel.graph import Val, type_of
from tritonlint.kernel.machine import Machine
from tritonlint.kernel.values import BlockPointer, Opaque, Refused, Tensor, Untraceable, known


def _pointee(pointer: Any, what: str) -> DType:
    if isinstance(pointer, Opaque):
        raise Untraceable(pointer.reason)
    if not isinstance(pointer, Tensor) or pointer.dt.pointee is None:
        kind = pointer.dt.name if isinstance(pointer, Tensor) else type(pointer).__name__
        raise Refused("type", f"unsupported pointer type {kind} in tl.{what}", dtype=kind)
    return pointer.dt.pointee


def _maybe(m: Machine, value: Any) -> Tensor | None:
    return None if value is None else s.to_tensor(m, value)


def access_attrs(cache_modifier: Any, eviction_policy: Any, volatile: Any = False) -> dict[str, Any]:
    attrs: dict[str, Any] = {}
    cache = known(cache_modifier, "cache_modifier")
    evict = known(eviction_policy, "eviction_policy")
    if cache:
        attrs["cache"] = str(cache).lstrip(".")
    if evict:
        attrs["evict"] = str(evict)
    if known(volatile, "volatile"):
        attrs["volatile"] = True
    return attrs


def load(
    m: Machine,
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    boundary_check: Any = (),
    padding_option: Any = "",
    cache_modifier: Any = "",
    eviction_policy: Any = "",
    volatile: Any = False,
) -> Tensor:
    attrs = access_attrs(cache_modifier, eviction_policy, volatile)
    if isinstance(pointer, BlockPointer):
        from tritonlint.kernel.blockpointer import load_block

        return load_block(m, pointer, mask, other, boundary_check, padding_option, attrs)
    return load_tensor(m, pointer, _maybe(m, mask), _maybe(m, other), attrs)


def load_tensor(
    m: Machine, pointer: Any, mask: Tensor | None, other: Tensor | None, attrs: dict[str, Any]
) -> Tensor:
    element = _pointee(pointer, "load")
    if mask is None and other is not None:
        raise Refused("type", "`other` cannot be provided without `mask`")
    if not pointer.shape:
        if (mask is not None and mask.shape) or (other is not None and other.shape):
            raise Refused("type", "the mask and other of a load through a scalar pointer must be scalars")
    else:
        if mask is not None:
            pointer, mask = s.broadcast_two(m, pointer, mask)
        if other is not None:
            pointer, other = s.broadcast_two(m, pointer, other)
    boolean = element is d.INT1
    if boolean:
        element = d.INT8
        pointer = s.cast(m, pointer, pointer_to(element))
    if other is not None:
        other = s.cast(m, other, element)
    s.check_dtype(m, element)
    result = _load(m, pointer, element, mask, other, attrs)
    if boolean and m.release >= (3, 2):
        result = s.cast(m, result, d.INT1)
    return result


def _load(
    m: Machine,
    pointer: Tensor,
    element: DType,
    mask: Tensor | None,
    other: Tensor | None,
    attrs: dict[str, Any],
) -> Tensor:
    if mask is not None and mask.h.const is not None and mask.shape:
        if mask.h.const:
            mask = other = None
        elif other is not None:
            return other
    operands: list[Val] = [pointer.h]
    final = {"has_mask": mask is not None, "has_other": other is not None, **attrs}
    if mask is not None:
        if mask.dt is not d.INT1:
            raise Refused("type", f"the mask of a load is {mask.dt.name}, not int1", dtype=mask.dt.name)
        operands.append(mask.h)
        if other is not None:
            operands.append(other.h)
    node = m.b.emit("tt.load", tuple(operands), (type_of(element.element, pointer.shape),), final)
    return Tensor(node.results[0], element, pointer.shape)


def store(
    m: Machine,
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Any = (),
    cache_modifier: Any = "",
    eviction_policy: Any = "",
) -> None:
    attrs = access_attrs(cache_modifier, eviction_policy)
    if isinstance(value, Opaque):
        raise Untraceable(value.reason)
    if isinstance(pointer, BlockPointer):
        from tritonlint.kernel.blockpointer import store_block

        store_block(m, pointer, s.to_tensor(m, value), mask, boundary_check, attrs)
        return
    store_tensor(m, pointer, s.to_tensor(m, value), _maybe(m, mask), attrs)


def store_tensor(m: Machine, pointer: Any, value: Tensor, mask: Tensor | None, attrs: dict[str, Any]) -> None:
    element = _pointee(pointer, "store")
    if not pointer.shape:
        if value.shape or (mask is not None and mask.shape):
            raise Refused(
                "type",
                "the value and mask of a store through a scalar pointer must be scalars",
                shape=value.shape,
            )
    else:
        shape = pointer.shape
        pointer, value, mask = _together(m, pointer, value, mask)
        if pointer.shape != shape:
            raise Refused(
                "shape",
                f"the pointer of a store has shape {list(shape)}, its value or mask {list(pointer.shape)}",
                left=shape,
                right=pointer.shape,
            )
    value = s.cast(m, value, element)
    if element is d.INT1:
        element = d.INT8
        pointer = s.cast(m, pointer, pointer_to(element))
        value = s.cast(m, value, element)
    if mask is not None and mask.h.const is not None and mask.shape:
        if not mask.h.const:
            return
        mask = None
    operands = [pointer.h, value.h]
    if mask is not None:
        if mask.dt is not d.INT1:
            raise Refused("type", f"the mask of a store is {mask.dt.name}, not int1", dtype=mask.dt.name)
        operands.append(mask.h)
    m.b.emit("tt.store", tuple(operands), (), {"has_mask": mask is not None, **attrs})


def _together(m: Machine, pointer: Tensor, value: Tensor | None, mask: Tensor | None) -> Any:
    """Pointer, value and mask in one shape, broadcast in the order of the front end."""
    parts = [pointer] + [t for t in (value, mask) if t is not None]
    parts = s.broadcast_all(m, parts)
    pointer = parts.pop(0)
    value = parts.pop(0) if value is not None else None
    return pointer, value, parts.pop(0) if mask is not None else None


# --- atomics ------------------------------------------------------------------------------------------------------------

_SEMANTICS = {"acquire": "acquire", "release": "release", "acq_rel": "acq_rel", "relaxed": "relaxed"}


def _order(sem: Any, scope: Any, default: str = "acq_rel") -> dict[str, Any]:
    sem, scope = known(sem, "sem"), known(scope, "scope")
    if sem and sem not in _SEMANTICS:
        raise Refused("type", f"memory semantic {sem} not supported", sem=sem)
    return {"sem": sem or default, "scope": scope or "gpu"}


def _prepare(m: Machine, pointer: Any, value: Any, mask: Any, op: str) -> tuple[Tensor, Tensor, Tensor]:
    element = _pointee(pointer, f"atomic_{op}")
    v = s.to_tensor(m, value)
    k = _maybe(m, mask)
    narrow = element.bits < 16 or element in (d.INT16, d.UINT16)
    if (
        narrow
        or (element is d.FP16 and op != "add")
        or (element is d.BF16 and (op != "add" or m.release < (3, 3)))
    ):
        raise Refused("type", f"atomic_{op} does not support {element.name}", dtype=element.name)
    if pointer.shape:
        pointer, v, k = _together(m, pointer, v, k)
    elif v.shape or (k is not None and k.shape):
        raise Refused("type", "the value and mask of an atomic through a scalar pointer must be scalars")
    v = s.cast(m, v, element)
    if k is None:
        k = s.splat(m, s.constant(m, True, d.INT1), pointer.shape)
    return pointer, v, k


def _rmw(m: Machine, op: str, pointer: Tensor, value: Tensor, mask: Tensor, order: dict[str, Any]) -> Tensor:
    node = m.b.emit("tt.atomic_rmw", (pointer.h, value.h, mask.h), (value.h.type,), {"rmw_op": op, **order})
    return Tensor(node.results[0], value.dt, value.shape)


def atomic_add(
    m: Machine, pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> Tensor:
    p, v, k = _prepare(m, pointer, val, mask, "add")
    return _rmw(m, "fadd" if v.dt.is_float else "add", p, v, k, _order(sem, scope))


def _plain_rmw(op: str, kind: str) -> Any:
    def function(
        m: Machine, pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
    ) -> Tensor:
        p, v, k = _prepare(m, pointer, val, mask, op)
        return _rmw(m, kind, p, v, k, _order(sem, scope))

    return function


atomic_and = _plain_rmw("and", "and")
atomic_or = _plain_rmw("or", "or")
atomic_xor = _plain_rmw("xor", "xor")
atomic_xchg = _plain_rmw("xchg", "exch")


def _extreme_rmw(kind: str) -> Any:
    def function(
        m: Machine, pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
    ) -> Tensor:
        p, v, k = _prepare(m, pointer, val, mask, kind)
        order = _order(sem, scope)
        if v.dt.is_int:
            return _rmw(m, kind if v.dt.signed else f"u{kind}", p, v, k, order)
        if v.dt not in (d.FP32, d.FP64):
            raise Refused("type", f"atomic_{kind} not supported for {v.dt.name}", dtype=v.dt.name)
        return _float_extreme(m, kind, p, v, k, order)

    return function


def _float_extreme(m: Machine, kind: str, p: Tensor, v: Tensor, k: Tensor, order: dict[str, Any]) -> Tensor:
    """Floats compare as integers do if positive, and the other way round if negative."""
    signed = d.INT32 if v.dt is d.FP32 else d.INT64
    unsigned = d.UINT32 if v.dt is d.FP32 else d.UINT64
    iv, ip = s.bitcast(m, v, signed), s.bitcast(m, p, pointer_to(signed))
    uv, up = s.bitcast(m, v, unsigned), s.bitcast(m, p, pointer_to(unsigned))
    if m.release >= (3, 4):
        bits = s.bitwise(m, "shrui", s.bitcast(m, v, unsigned), v.dt.bits - 1)
        negative = s.cast(m, bits, d.INT1)
        positive = s.logical_not(m, negative)
    else:
        zero = s.constant(m, 0.0, v.dt)
        positive, negative = s.compare(m, "ge", v, zero), s.compare(m, "lt", v, zero)
    other = "umin" if kind == "max" else "umax"
    one = _rmw(m, kind, ip, iv, s.bitwise(m, "andi", k, positive), order)
    two = _rmw(m, other, up, uv, s.bitwise(m, "andi", k, negative), order)
    if m.release < (3, 2):
        two = Tensor(two.h, one.dt, two.shape)
    return s.bitcast(m, s.where(m, positive, one, two), v.dt)


atomic_max = _extreme_rmw("max")
atomic_min = _extreme_rmw("min")


def atomic_cas(m: Machine, pointer: Any, cmp: Any, val: Any, sem: Any = None, scope: Any = None) -> Tensor:
    element = _pointee(pointer, "atomic_cas")
    if element.bits not in (16, 32, 64):
        raise Refused("type", f"atomic_cas of {element.name}", dtype=element.name)
    c, v = s.to_tensor(m, cmp), s.to_tensor(m, val)
    node = m.b.emit("tt.atomic_cas", (pointer.h, c.h, v.h), (v.h.type,), _order(sem, scope))
    return Tensor(node.results[0], v.dt, v.shape)


def atomic_load(m: Machine, pointer: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> Tensor:
    element = _pointee(pointer, "atomic_load")
    p, _, k = (
        _together(m, pointer, None, _maybe(m, mask)) if pointer.shape else (pointer, None, _maybe(m, mask))
    )
    if k is None:
        k = s.splat(m, s.constant(m, True, d.INT1), p.shape)
    node = m.b.emit(
        "tt.atomic_load", (p.h, k.h), (type_of(element.element, p.shape),), _order(sem, scope, "acquire")
    )
    return Tensor(node.results[0], element, p.shape)


def atomic_store(
    m: Machine, pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> None:
    element = _pointee(pointer, "atomic_store")
    p, v, k = pointer, s.to_tensor(m, val), _maybe(m, mask)
    if pointer.shape:
        p, v, k = _together(m, pointer, v, k)
    if k is None:
        k = s.splat(m, s.constant(m, True, d.INT1), p.shape)
    m.b.emit("tt.atomic_store", (p.h, s.cast(m, v, element).h, k.h), (), _order(sem, scope, "release"))


def atomic_poll(
    m: Machine, pointer: Any, expected_value: Any, sem: Any = None, scope: Any = None, timeout_ns: Any = None
) -> Tensor:
    element = _pointee(pointer, "atomic_poll")
    value = s.cast(m, s.to_tensor(m, expected_value), element)
    p = pointer
    if pointer.shape:
        p, value, _ = _together(m, pointer, value, None)
    node = m.b.emit(
        "tt.atomic_poll", (p.h, value.h), (type_of("i1", p.shape),), _order(sem, scope, "acquire")
    )
    return Tensor(node.results[0], d.INT1, p.shape)
