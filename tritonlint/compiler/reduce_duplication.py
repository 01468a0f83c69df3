"""The pass reduce-data-duplication: conversions to dot operands that need shared memory become a store and a
load.

lib/Dialect/TritonGPU/Transforms/ReduceDataDuplication.cpp.
"""

from __future__ import annotations

from tritonlint.compiler.amd_shared import swizzled_for_matrix
from tritonlint.compiler.conversion import scratch_bytes
from tritonlint.compiler.encodings import AmdMfma, DotOperand, NvidiaMma, cta_of
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.layout_properties import order_for_memory
from tritonlint.compiler.pipeline_loads import swizzled_for_operand
from tritonlint.compiler.releases import Release
from tritonlint.compiler.target import Target


def reduce_data_duplication(graph: Graph, target: Target, release: Release) -> None:
    """Replace such conversions, in place."""
    for op in list(graph.walk()):
        if op.name != "ttg.convert_layout":
            continue
        source, result = op.operands[0], op.results[0]
        encoding = result.encoding
        if not isinstance(encoding, DotOperand):
            continue
        if release.linear_layouts:
            needed = scratch_bytes(
                source.encoding, encoding, source.shape, source.type.element, target, release
            )
        else:
            needed = not _stays_in_registers(source.encoding, encoding)
        if not needed:
            continue
        order = order_for_memory(source.encoding, source.shape)
        shared = (
            swizzled_for_matrix(encoding, source.shape, order, source.type.bits)
            if target.is_amd
            else swizzled_for_operand(
                encoding, source.shape, order, cta_of(source.encoding), source.type.bits
            )
        )
        alloc = GOp("ttg.local_alloc", [source], [GValue(source.type, shared, memory="shared")])
        load = GOp("ttg.local_load", [alloc.result], [result.like(encoding)])
        for new in (alloc, load):
            new.line, new.path = op.line, op.path
            new.insert_before(op)
        op.replace_with(load.results)


def _stays_in_registers(source: object, operand: DotOperand) -> bool:
    """Up to 3.1: the result of one product becomes operand A of the next one, warps being along M only."""
    if isinstance(source, NvidiaMma):
        return source.version != 2 or (source.warps_per_cta[1] == 1 and operand.parent == source)
    if isinstance(source, AmdMfma):
        return source.warps_per_cta[1] == 1 and source.is_transposed and operand.parent == source
    return False
