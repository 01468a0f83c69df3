"""Attributes and methods of front-end values: `x.dtype`, `x.to`, `dtype.is_fp8()`, `desc.load`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tritonlint.kernel import dtypes as d
from tritonlint.kernel import shaping
from tritonlint.kernel.dtypes import DType
from tritonlint.kernel.machine import Machine
from tritonlint.kernel.values import (
    BlockPointer,
    Bound,
    Descriptor,
    Opaque,
    Record,
    Refused,
    Slice,
    Tensor,
    TensorType,
    Untraceable,
)


def attribute(m: Machine, owner: Any, name: str) -> Any:
    """`owner.name`; AttributeError is the user's mistake, Untraceable ours."""
    if isinstance(owner, Tensor):
        return _of_tensor(m, owner, name)
    if isinstance(owner, DType):
        return _of_dtype(owner, name)
    if isinstance(owner, TensorType):
        return _of_type(owner, name)
    if isinstance(owner, Descriptor):
        return _of_descriptor(owner, name)
    if isinstance(owner, BlockPointer):
        return _of_block_pointer(owner, name)
    if isinstance(owner, Record) and name in owner.fields:
        return owner[owner.fields.index(name)]
    if isinstance(owner, tuple) and name == "values":
        return owner
    if name == "value":  # constexpr.value
        return owner
    if isinstance(owner, Slice):
        return getattr(owner, name)
    if isinstance(owner, (str, int, float, tuple, dict)) and not name.startswith("_"):
        found = getattr(owner, name, None)
        if found is not None:
            return found
    raise Untraceable(f"the attribute {name} of a {type(owner).__name__}")


def _of_tensor(m: Machine, x: Tensor, name: str) -> Any:
    if name == "dtype":
        return x.dt
    if name == "shape":
        return x.shape
    if name == "type":
        return TensorType(x.dt, x.shape)
    if name == "T":
        return shaping.permute(m, x, (1, 0))
    if name == "numel":
        return x.numel
    if name == "value":
        return x
    from tritonlint.kernel.language import MEMBERS

    found = MEMBERS.get(name)
    if found is not None:
        return Bound(x, found)
    if name in ("is_fp8", "is_floating", "is_ptr", "is_block", "is_int"):
        raise Refused("type", f"a tensor has no attribute {name}: ask its dtype", attribute=name)
    raise Untraceable(f"the attribute {name} of a tensor")


_DTYPE_TESTS: dict[str, Callable[[DType], bool]] = {
    "is_fp8": lambda t: t.is_fp8,
    "is_floating": lambda t: t.is_float,
    "is_standard_floating": lambda t: t.standard,
    "is_int_signed": lambda t: t.is_int and t.signed,
    "is_int_unsigned": lambda t: t.is_int and not t.signed,
    "is_int": lambda t: t.is_int,
    "is_integer_type": lambda t: t.is_int,
    "is_bool": lambda t: t is d.INT1,
    "is_ptr": lambda t: t.is_pointer,
    "is_block": lambda t: False,
    "is_const": lambda t: False,
    "is_void": lambda t: t is d.VOID,
}


def _is_this(wanted: DType) -> Callable[[DType], bool]:
    return lambda t: t is wanted


_DTYPE_TESTS.update({f"is_{t.name}": _is_this(t) for t in set(d.LANGUAGE_NAMES.values())})
_DTYPE_TESTS["is_fp8e4"] = _DTYPE_TESTS["is_fp8e4nv"]


def _of_dtype(t: DType, name: str) -> Any:
    test = _DTYPE_TESTS.get(name)
    if test is not None:
        answer = test(t)
        return lambda: answer
    if name == "element_ty" and t.pointee is not None:
        return t.pointee
    if name in ("scalar", "dtype", "value"):
        return t
    if name == "primitive_bitwidth":
        return t.bits
    if name == "itemsize":
        return t.bits // 8
    if name == "int_bitwidth" and t.is_int:
        return t.bits
    if name == "fp_mantissa_width" and t.is_float:
        return t.mantissa
    if name == "name":
        return t.name
    if name == "kind":
        return lambda: t.kind
    if name == "get_int_max_value" and t.is_int:
        return lambda: t.highest
    if name == "get_int_min_value" and t.is_int:
        return lambda: t.lowest
    if name == "shape":
        return ()
    if name == "numel":
        return 1
    raise Untraceable(f"the attribute {name} of the type {t.name}")


def _of_type(t: TensorType, name: str) -> Any:
    if name == "element_ty":
        return t.dt if t.shape else _of_dtype(t.dt, name)
    if name == "scalar":
        return t.dt
    if name == "shape":
        return t.shape
    if name == "numel":
        total = 1
        for size in t.shape:
            total *= size
        return total
    if name == "is_block":
        return lambda: bool(t.shape)
    if name == "get_block_shapes":
        return lambda: t.shape
    if name in ("is_ptr", "is_const") and t.shape:
        return lambda: False
    return _of_dtype(t.dt, name)


def _of_descriptor(x: Descriptor, name: str) -> Any:
    if name == "dtype":
        return x.dt
    if name == "block_shape":
        return x.block
    if name == "block_type":
        return TensorType(x.dt, x.block)
    if name == "shape" and x.sizes:
        return x.sizes
    if name == "strides" and x.strides:
        return x.strides
    if name == "type":
        return Opaque("the type of a tensor descriptor")
    from tritonlint.kernel.language import DESCRIPTOR_MEMBERS

    found = DESCRIPTOR_MEMBERS.get(name)
    if found is not None:
        return Bound(x, found)
    raise Untraceable(f"the attribute {name} of a tensor descriptor")


def _of_block_pointer(x: BlockPointer, name: str) -> Any:
    from tritonlint.kernel.language import MEMBERS

    if name == "dtype":
        return d.pointer_to(x.dt)
    if name == "type":
        return TensorType(d.pointer_to(x.dt), ())
    if name == "shape":
        return ()
    if name in ("advance", "load", "store"):
        return Bound(x, MEMBERS[name])
    raise Untraceable(f"the attribute {name} of a block pointer")
