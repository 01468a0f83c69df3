"""What a product on tensor memory still needs once loops are pipelined (MMALowering.cpp).

One that nothing waits for yet gets a barrier of its own, right before it; scales that lie in shared memory
are copied to tensor memory.
"""

from __future__ import annotations

from tritonlint.compiler.encodings import TensorMemoryScales, cta_of
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.pipeline_build import TOKEN, barrier_encoding, memory_value
from tritonlint.compiler.pipeline_loads import TCGEN05

_SCALES = slice(4, 6)  # operands of a scaled product after a, b, d and the token


def lower_mma(graph: Graph) -> None:
    """Make every product asynchronous with a barrier, in place."""
    for op in list(graph.walk()):
        if op.name not in TCGEN05:
            continue
        if not op.attrs.get("is_async"):
            _synchronous(op, graph.num_ctas)
        if op.name == "ttng.tc_gen5_mma_scaled":
            _copy_scales(op)


def _insert(point: GOp, name: str, *operands: GValue, results: tuple[GValue, ...] = ()) -> GOp:
    return GOp(name, operands, results, line=point.line, path=point.path).insert_before(point)


def _synchronous(op: GOp, num_ctas: int) -> None:
    barrier = memory_value((num_ctas,), "i64", barrier_encoding(num_ctas))
    alloc = _insert(op, "ttg.local_alloc", results=(barrier,))
    alloc.attrs["role"] = "barrier"
    _insert(op, "ttng.init_barrier", barrier)
    op.add_operand(barrier)
    op.attrs["is_async"] = True
    wait = GOp("ttng.wait_barrier", (barrier,), line=op.line, path=op.path).insert_after(op)
    GOp("ttng.inval_barrier", (barrier,), line=op.line, path=op.path).insert_after(wait)


def _copy_scales(op: GOp) -> None:
    accumulator = op.operands[2].shape
    for position, rows in zip(range(_SCALES.start, _SCALES.stop), accumulator[-2:], strict=True):
        scales = op.operands[position]
        if scales.memory != "shared":
            continue
        split = cta_of(scales.encoding)
        parts = split.split if split is not None else (1, 1)
        encoding = TensorMemoryScales(parts[0], parts[1])
        block = min(128, rows) if position == _SCALES.start else rows
        shape = (block, scales.type.elements // block)
        copy = memory_value(shape, scales.type.element, encoding, memory="tensor")
        _insert(op, "ttng.tmem_alloc", results=(copy, GValue(TOKEN)))
        _insert(op, "ttng.tmem_copy", scales, copy)
        op.set_operand(position, copy)
