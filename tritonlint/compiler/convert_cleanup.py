"""Simplifies layout conversions: the canonicalization patterns of ttg.convert_layout, and removal of dead
operations.

lib/Dialect/TritonGPU/IR/Ops.cpp of Triton, in the order in which its greedy driver would get to the same end:
the patterns only ever remove conversions or push them into operations that can give any encoding.
"""

from __future__ import annotations

from collections.abc import Callable

from tritonlint.compiler.encodings import DotOperand, NvidiaMma, TensorMemory
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.inference import can_use_result_encoding, infer_dst, is_expensive_view
from tritonlint.compiler.ops import is_removable
from tritonlint.compiler.tmem_layouts import default_layout, row_layout
from tritonlint.compiler.to_linear import to_linear

_ROUNDS = 32


def erase_dead(graph: Graph) -> bool:
    """Erase operations that have no effect and whose results nothing uses, the last ones first; whether there were
    any."""
    return _erase_dead_in(graph.all_ops())


def _erase_dead_in(ops: list[GOp]) -> bool:
    erased = False
    for op in reversed(ops):
        if not op.results or op.block is None:
            continue
        for result in op.results:
            if result.uses:
                break
        else:
            if is_removable(op):
                op.erase()
                erased = True
    return erased


def clean_converts(graph: Graph) -> bool:
    """Apply the patterns until none fits; whether any did."""
    any_change = False
    for _ in range(_ROUNDS):
        ops = graph.all_ops()
        _erase_dead_in(ops)
        changed = False
        patterns = _WITHOUT_TMEM if graph.attrs.get("keeps_tmem_conversions") else _PATTERNS
        for op in ops:
            if op.name in patterns and op.block is not None and patterns[op.name](op):
                changed = True
        if not changed:
            return any_change
        any_change = True
    return any_change


def _source_convert(value: GValue) -> GOp | None:
    op = value.op
    return op if op is not None and op.name == "ttg.convert_layout" else None


def _is_trivial(convert: GOp) -> bool:
    """The same linear layout on both sides."""
    source, result = convert.operands[0], convert.results[0]
    if source.encoding == result.encoding:
        return True
    return to_linear(source.encoding, source.shape) == to_linear(result.encoding, source.shape)


def _replace(op: GOp, new: GOp, at: GOp) -> bool:
    new.line, new.path = op.line, op.path
    new.insert_before(at)
    op.replace_with(new.results)
    return True


def _convert(op: GOp) -> bool:
    source, result = op.operands[0], op.results[0]
    if source.encoding == result.encoding:
        op.replace_with([source])
        return True
    if isinstance(result.encoding, DotOperand) and isinstance(source.encoding, NvidiaMma):
        return False
    arg = source.op
    if arg is None:
        return False
    fresh = result.like(result.encoding)
    name = arg.name
    if name == "ttg.convert_layout":
        return _replace(op, GOp(name, arg.operands, [fresh], dict(arg.attrs)), op)
    if name in ("tt.splat", "tt.make_range", "tt.histogram"):
        return _replace(op, GOp(name, arg.operands, [fresh], dict(arg.attrs)), op)
    if name == "arith.constant":
        return _replace(op, GOp(name, (), [fresh], dict(arg.attrs)), op)
    if name == "ttg.local_load":
        return _replace(op, GOp(name, arg.operands, [fresh], dict(arg.attrs)), arg)
    if name == "tt.cat":
        if not can_use_result_encoding(arg, result.encoding):
            return False
        return _replace(op, GOp(name, arg.operands, [fresh], dict(arg.attrs)), op)
    if name == "tt.reshape":
        inner = arg.operands[0]
        if not arg.attrs.get("allow_reorder") or arg.attrs.get("efficient_layout"):
            return False
        if is_expensive_view(inner.shape, inner.encoding, result.shape, result.encoding):
            return False
        if isinstance(source.encoding, DotOperand) or isinstance(result.encoding, DotOperand):
            return False
        return _replace(op, GOp(name, arg.operands, [fresh], dict(arg.attrs)), op)
    return False


def _reshape(op: GOp) -> bool:
    convert = _source_convert(op.operands[0])
    if convert is None:
        return False
    inner, result = convert.operands[0], op.results[0]
    if not _is_trivial(convert):
        if not op.attrs.get("allow_reorder"):
            return False
        if is_expensive_view(inner.shape, inner.encoding, result.shape, result.encoding):
            return False
    op.set_operand(0, inner)
    return True


def _trans(op: GOp) -> bool:
    order = tuple(op.attrs["order"])
    if order == tuple(range(len(order))):
        result = op.results[0]
        return _replace(op, GOp("ttg.convert_layout", op.operands, [result.like(result.encoding)]), op)
    convert = _source_convert(op.operands[0])
    if convert is None or not _is_trivial(convert):
        return False
    op.set_operand(0, convert.operands[0])
    return True


def _histogram(op: GOp) -> bool:
    convert = _source_convert(op.operands[0])
    if convert is None:
        return False
    source = convert.operands[0]
    op.set_operand(0, source)
    if len(op.operands) > 1:
        mask = op.operands[1]
        new = GOp("ttg.convert_layout", [mask], [mask.like(source.encoding)], line=op.line, path=op.path)
        new.insert_before(op)
        op.set_operand(1, new.result)
    return True


def _take_source(op: GOp) -> bool:
    """Operations that write to shared memory take a tensor in any encoding."""
    if not op.operands or op.attrs.get("efficient_layout"):
        return False
    convert = _source_convert(op.operands[0])
    if convert is None:
        return False
    op.set_operand(0, convert.operands[0])
    return True


def _tensor_memory_store(op: GOp) -> bool:
    """A store to tensor memory takes any encoding that its instructions have."""
    position = len(op.operands) - 2
    convert = _source_convert(op.operands[position])
    memory = op.operands[0]
    if convert is None or not isinstance(memory.encoding, TensorMemory):
        return False
    source = convert.operands[0]
    layout = to_linear(source.encoding, source.shape)
    warps = 1 << len(layout.warp)
    for make in (default_layout, row_layout):
        candidate = make(memory.shape, memory.encoding, memory.type.bits, warps)
        if candidate is not None and candidate.layout == layout:
            op.set_operand(position, source)
            return True
    return False


def _split(op: GOp) -> bool:
    convert = _source_convert(op.operands[0])
    if convert is None or infer_dst(op, convert.operands[0].encoding) != op.results[0].encoding:
        return False
    op.set_operand(0, convert.operands[0])
    return True


_PATTERNS: dict[str, Callable[[GOp], bool]] = {
    "ttg.convert_layout": _convert,
    "tt.reshape": _reshape,
    "tt.trans": _trans,
    "tt.histogram": _histogram,
    "tt.gather": _take_source,
    "ttg.local_alloc": _take_source,
    "ttg.local_store": _take_source,
    "tt.split": _split,
    "ttng.tmem_store": _tensor_memory_store,
}
_WITHOUT_TMEM = {name: pattern for name, pattern in _PATTERNS.items() if name != "ttng.tmem_store"}
