"""The scratch of an operation: which formula of conversion.py and scratch.py it takes."""

from __future__ import annotations

from collections.abc import Callable

from tritonlint.compiler.conversion import scratch_bytes
from tritonlint.compiler.graph import GOp
from tritonlint.compiler.releases import Release
from tritonlint.compiler.scratch import (
    DESCRIPTOR_BYTES,
    atomic_scratch,
    gather_scratch,
    histogram_scratch,
    reduce_scratch,
    scan_scratch,
)
from tritonlint.compiler.swizzle import exchange_machine
from tritonlint.compiler.target import Target

_ATOMICS = frozenset({"tt.atomic_rmw", "tt.atomic_cas"})


def scratch_by_op(num_warps: int, target: Target, release: Release) -> Callable[[GOp], int]:
    """A function from an operation to the bytes that it needs while it runs (0 for none)."""

    def size(op: GOp) -> int:
        name = op.name
        if name == "ttg.convert_layout":
            source = op.operands[0]
            element = source.type.element
            return scratch_bytes(source.encoding, op.result.encoding, source.shape, element, target, release)
        if name in ("tt.reduce", "tt.scan"):
            source = op.operands[0]
            elements = tuple(value.type.element for value in op.operands)
            axis = op.attrs["axis"]
            if name == "tt.reduce":
                machine = exchange_machine(target, generic=True)
                return reduce_scratch(source.encoding, source.shape, axis, elements, machine, release)
            return scan_scratch(source.encoding, source.shape, axis, elements, release)
        if name == "tt.histogram":
            return histogram_scratch(op.result.shape[0], op.result.type.element, target)
        if name == "tt.gather":
            source, indices = op.operands[:2]
            return gather_scratch(
                source.encoding,
                source.shape,
                indices.encoding,
                indices.shape,
                op.attrs["axis"],
                source.type.element,
            )
        if name in _ATOMICS:
            value = op.operands[1]
            used = bool(op.results and op.results[0].uses)
            encoding = value.encoding if value.is_tensor else None
            return atomic_scratch(encoding, value.shape, value.type.element, used, num_warps, release)
        if name in ("tt.make_tensor_descriptor", "ttng.tensormap_create"):
            return DESCRIPTOR_BYTES
        if name == "ttg.warp_specialize":
            return int(op.attrs["capture_bytes"])
        return 0

    return size
