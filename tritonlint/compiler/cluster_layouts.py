"""How a cluster's CTAs share a product: the pass that plans them (PlanCTA, since 3.9 assign-cga-layouts).

lib/Dialect/TritonNvidiaGPU/Transforms/PlanCTA.cpp. A product is cut along its rows and columns; its operands, up to the
loads that they come from, are cut as they are read. Kernels without a product keep the split that they start with.
"""

from __future__ import annotations

from tritonlint.compiler.accelerate_matmul import insert_convert
from tritonlint.compiler.blocked import blocked
from tritonlint.compiler.coalesce_pass import convert_all
from tritonlint.compiler.encodings import Blocked, CtaLayout, DotOperand, cta_layout, cta_of
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.ops import is_elementwise

_LARGEST, _SMALLEST = 128, 64  # of the part that one CTA computes, in rows or columns


def assign_cluster_layouts(graph: Graph) -> None:
    """Cut all products, in place."""
    if graph.num_ctas == 1:
        return
    for op in list(graph.walk()):
        if op.name == "tt.dot" and len(op.results[0].shape) == 2:
            _cut(op, graph)


def _tiling(rows: int, columns: int, ctas: int) -> tuple[int, int]:
    """Into how many parts rows and columns are cut: large parts first, rows before columns."""
    part = _LARGEST
    split = (1, ctas)
    while part >= _SMALLEST:
        along_rows = max(1, min(rows // part, ctas))
        split = (along_rows, ctas // along_rows)
        if columns // split[1] >= _SMALLEST:
            break
        part //= 2
    return split


def _cut(dot: GOp, graph: Graph) -> None:
    result = dot.results[0]
    old = result.encoding
    assert isinstance(old, Blocked)
    split = _tiling(result.shape[0], result.shape[1], graph.num_ctas)
    new = _with_cta(old, result.shape, graph, cta_layout(split, split, (1, 0)))
    for index in (0, 1):
        operand = DotOperand(index, new, 0)
        converted = insert_convert(dot.operands[index], operand, dot)
        _cut_sources(converted, cta_of(operand), graph)
        dot.set_operand(index, converted)
    dot.set_operand(2, insert_convert(dot.operands[2], new, dot))
    back = GOp("ttg.convert_layout", [result], [result.like(old)], line=dot.line, path=dot.path)
    back.insert_after(dot)
    result.encoding = new
    result.replace_uses_if(back.result, lambda user: user is not back)


def _cut_sources(value: GValue, cta: CtaLayout | None, graph: Graph) -> None:
    """Cut what an operand is made of as the operand is cut, up to the load."""
    while value.op is not None and (value.op.name == "ttg.convert_layout" or is_elementwise(value.op)):
        value = next((one for one in value.op.operands if one.is_tensor), value)
    load = value.op
    if (
        load is not None
        and load.name in ("tt.load", "tt.descriptor_load")
        and isinstance(value.encoding, Blocked)
    ):
        convert_all(load, _with_cta(value.encoding, value.shape, graph, cta))


def _with_cta(encoding: Blocked, shape: tuple[int, ...], graph: Graph, cta: CtaLayout | None) -> Blocked:
    warps, lanes = graph.num_warps, graph.threads_per_warp
    return blocked(shape, encoding.size_per_thread, encoding.order, warps, lanes, cta)
