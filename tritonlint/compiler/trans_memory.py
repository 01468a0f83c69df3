"""Transposes of the releases up to 2.3: they are views of a tile in shared memory.

What is transposed is written to shared memory as a whole, and whoever uses the result reads the view
(TritonToTritonGPU's pattern of tt.trans; later releases transpose registers).
"""

from __future__ import annotations

from tritonlint.compiler.encodings import SwizzledShared, cta_of
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.layout_properties import order_of
from tritonlint.compiler.pipeline_build import memory_value


def transpose_in_memory(graph: Graph) -> None:
    """Put what tt.trans moves into shared memory, in place."""
    for op in list(graph.walk()):
        if op.name == "tt.trans" and op.result.is_tensor:
            _transpose(op)


def _transpose(op: GOp) -> None:
    source = op.operands[0]
    while source.op is not None and source.op.name == "ttg.convert_layout" and source.has_one_use:
        source = source.op.operands[0]
    order = order_of(source.encoding, source.shape)
    shared = SwizzledShared(1, 1, 1, order, cta_of(source.encoding))
    tile = memory_value(source.shape, source.type.element, shared, mutable=False)
    GOp("ttg.local_alloc", (source,), [tile], {"role": "operand"}, line=op.line, path=op.path).insert_before(
        op
    )
    for user in op.result.users():
        if user.name == "ttg.convert_layout":
            user.replace_with([_read(tile, user.result, user)])
    if op.result.uses:
        op.replace_with([_read(tile, op.result, op)])


def _read(tile: GValue, like: GValue, before: GOp) -> GValue:
    loaded = like.copy()
    return (
        GOp("ttg.local_load", (tile,), [loaded], line=before.line, path=before.path)
        .insert_before(before)
        .result
    )
