"""The pass coalesce: loads and stores get the encoding that coalesces their accesses, with conversions around
them.

lib/Dialect/TritonGPU/Transforms/Coalesce.cpp. Which encoding that is for a pointer is decided in coalesce.py.
"""

from __future__ import annotations

from collections.abc import Callable

from tritonlint.compiler.blocked import blocked
from tritonlint.compiler.encodings import Blocked, cta_of, shape_per_cta
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.ops import memory_pointer
from tritonlint.compiler.releases import Release

_LOADS = frozenset({"tt.descriptor_load", "tt.descriptor_gather"})
_STORES = frozenset({"tt.descriptor_store", "tt.descriptor_reduce", "tt.descriptor_scatter"})


def coalesce(graph: Graph, choose: Callable[[GOp], Blocked], release: Release) -> None:
    """Rewrite all accesses to memory, in place. `choose` gives the encoding of one with a tensor of
    pointers."""
    chosen: list[tuple[GOp, Blocked]] = []
    for op in graph.walk_post():
        pointer = memory_pointer(op)
        if pointer is not None and pointer.is_tensor and pointer.type.is_pointer:
            chosen.append((op, choose(op)))
    if release.coalesces_descriptors:
        for op in graph.walk_post():
            if op.name in _LOADS:
                chosen.append((op, _of_descriptor(op.results[0], graph)))
            elif op.name in _STORES:
                chosen.append((op, _of_descriptor(_stored(op), graph)))
    for op, encoding in chosen:
        convert_all(op, encoding)


def _stored(op: GOp) -> GValue:
    return next(value for value in op.operands[1:] if value.is_tensor and len(value.shape) > 1)


def _of_descriptor(value: GValue, graph: Graph) -> Blocked:
    """Row-major, up to 16 bytes a thread: what reads and writes the staged tile best."""
    cta = cta_of(value.encoding)
    elements = 1
    for size in shape_per_cta(value.shape, cta):
        elements *= size
    threads = graph.num_warps * graph.threads_per_warp
    rank = len(value.shape)
    vector = min(max(elements // threads, 1), 128 // value.type.bits)
    sizes = (1,) * (rank - 1) + (vector,)
    order = tuple(range(rank - 1, -1, -1))
    return blocked(value.shape, sizes, order, graph.num_warps, graph.threads_per_warp, cta)


def convert_all(op: GOp, encoding: Blocked) -> None:
    """Give an operation all its tensors in one encoding, with conversions to and from the old ones."""
    for position, operand in enumerate(op.operands):
        rows = op.name in ("tt.descriptor_gather", "tt.descriptor_scatter") and len(operand.shape) == 1
        if operand.is_tensor and not rows:
            new = GOp("ttg.convert_layout", [operand], [operand.like(encoding)], line=op.line, path=op.path)
            new.insert_before(op)
            op.set_operand(position, new.result)
    after = op
    for result in op.results:
        if not result.is_tensor or result.encoding == encoding:
            continue
        back = GOp("ttg.convert_layout", [result], [result.like(result.encoding)], line=op.line, path=op.path)
        back.insert_after(after)
        after = back
        result.encoding = encoding
        result.replace_uses_if(back.result, lambda user, back=back: user is not back)  # type: ignore[misc]
