"""From what the source stage knows of a name to a value of the tracer."""

from __future__ import annotations

from typing import Any

from tritonlint.kernel import dtypes as d
from tritonlint.kernel.values import Opaque
from tritonlint.source.sites import KernelSource, ModuleRef
from tritonlint.source.values import Bounded, DType, Known, OneOf, Unknown


class _None:
    """Stands for a name whose value is None (a lookup that finds nothing also gives None)."""


NONE = _None()


def from_scope(found: Any, name: str) -> Any:
    """The value of a looked-up name; None where it is not defined, NONE where it is defined as None."""
    if found is None or isinstance(found, KernelSource):
        return found
    if isinstance(found, Known):
        value = from_python(found.value, name)
        return NONE if value is None else value
    if isinstance(found, ModuleRef):
        from tritonlint.kernel.language import resolve

        value = resolve(found.dotted)
        return Opaque(f"{found.dotted} is not read") if value is None else value
    if isinstance(found, Unknown):
        return Opaque(f"{name}: {found.reason}")
    if isinstance(found, OneOf):
        return Opaque(f"{name} may be any of {len(found.values)} values")
    if isinstance(found, Bounded):
        return Opaque(f"{name} is only known within bounds")
    return from_python(found, name)


def from_python(value: Any, name: str) -> Any:
    """A value of the evaluator: numbers, strings, tuples and dtypes are taken over."""
    if value is None or isinstance(value, (bool, int, float, str, d.DType, KernelSource)):
        return value
    if isinstance(value, DType):
        found = d.dtype_named(value.name)
        return (
            Opaque(f"{name} is the type {value.name}, which Triton does not have") if found is None else found
        )
    if isinstance(value, (tuple, list)):
        return tuple([from_python(v, name) for v in value])
    if isinstance(value, dict):
        return {k: from_python(v, name) for k, v in value.items()}
    if isinstance(value, ModuleRef):
        return from_scope(value, name)
    return Opaque(f"{name} is a {type(value).__name__}")
