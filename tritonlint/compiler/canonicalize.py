"""MLIR's canonicalizer, as far as it changes what later passes see: folding, views of views, loops,
conversions."""

from __future__ import annotations

from collections.abc import Callable

from tritonlint.compiler.convert_cleanup import clean_converts, erase_dead
from tritonlint.compiler.folding import FOLDED, constant, fold
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.inference import infer_dst
from tritonlint.compiler.loop_cleanup import clean_control_flow

_ROUNDS = 24
_COMMUTATIVE = frozenset(
    {"arith.addi", "arith.muli", "arith.andi", "arith.ori", "arith.xori", "arith.addf", "arith.mulf"}
)


def canonicalize(graph: Graph) -> bool:
    """Fold and simplify until nothing changes, in place; whether a second run at once would find nothing."""
    changed = True
    for _ in range(_ROUNDS):
        erase_dead(graph)
        changed = False
        for op in graph.all_ops():
            if op.block is not None and (op.name in _SIMPLE or op.name in FOLDED):
                changed |= _simplify(op)
        changed |= clean_converts(graph)
        changed |= clean_control_flow(graph)
        if not changed:
            break
    return not (erase_dead(graph) or changed)


def fold_in_place(op: GOp) -> bool:
    """Replace the operation by what it folds to, if it does."""
    if len(op.results) != 1:
        return False
    folded = fold(op)
    if folded is None:
        return False
    result = op.results[0]
    if isinstance(folded, GValue):
        if folded.type != result.type or folded.encoding != result.encoding:
            return False
        op.replace_with([folded])
        return True
    if result.type.element.startswith(("fp", "bf")):
        folded = float(folded)
    if op.name == "arith.constant":
        return False
    new = GOp("arith.constant", (), [result.like(result.encoding)], {"value": folded})
    new.line, new.path = op.line, op.path
    new.insert_before(op)
    op.replace_with(new.results)
    return True


def _simplify(op: GOp) -> bool:
    if op.name in _COMMUTATIVE and constant(op.operands[0]) is not None and constant(op.operands[1]) is None:
        op.set_operands([op.operands[1], op.operands[0]])
    if fold_in_place(op):
        return True
    pattern = _PATTERNS.get(op.name)
    return pattern is not None and pattern(op)


def _replace(op: GOp, name: str, operands: list[GValue], attrs: dict[str, object] | None = None) -> bool:
    result = op.results[0]
    new = GOp(name, operands, [result.like(result.encoding)], attrs, line=op.line, path=op.path)
    new.insert_before(op)
    op.replace_with(new.results)
    return True


def _broadcast(op: GOp) -> bool:
    inner = op.operands[0].op
    if inner is not None and inner.name in ("tt.splat", "tt.broadcast"):
        return _replace(op, inner.name, list(inner.operands))
    return False


def _expand_dims(op: GOp) -> bool:
    inner = op.operands[0].op
    if inner is None:
        return False
    if inner.name == "tt.splat":
        return _replace(op, "tt.splat", list(inner.operands))
    if inner.name != "tt.broadcast":
        return False
    source = inner.operands[0]
    axis = op.attrs["axis"]
    shape = (*source.shape[:axis], 1, *source.shape[axis:])
    encoding = None if source.encoding is None else infer_dst(op, source.encoding)
    if source.encoding is not None and encoding is None:
        return False
    expanded = GValue(source.type.with_shape(shape), encoding)
    new = GOp("tt.expand_dims", [source], [expanded], {"axis": axis}, line=op.line, path=op.path)
    new.insert_before(op)
    return _replace(op, "tt.broadcast", [expanded])


def _reshape(op: GOp) -> bool:
    inner = op.operands[0].op
    if inner is None or op.attrs.get("efficient_layout"):
        return False
    result = op.results[0]
    if inner.name == "tt.expand_dims" and not op.attrs.get("allow_reorder"):
        source = inner.operands[0]
        if source.type == result.type and source.encoding == result.encoding:
            op.replace_with([source])
            return True
    if inner.name == "tt.reshape":
        attrs = dict(op.attrs)
        attrs["allow_reorder"] = bool(op.attrs.get("allow_reorder") or inner.attrs.get("allow_reorder"))
        return _replace(op, "tt.reshape", list(inner.operands), attrs)
    if inner.name == "tt.splat":
        return _replace(op, "tt.splat", list(inner.operands))
    return False


def _trans(op: GOp) -> bool:
    inner = op.operands[0].op
    if inner is None or inner.name != "tt.trans":
        return False
    first = tuple(inner.attrs["order"])
    order = tuple(first[dim] for dim in op.attrs["order"])
    return _replace(op, "tt.trans", list(inner.operands), {"order": order})


def _mask(op: GOp, position: int) -> bool | None:
    """Whether the mask is the same for all elements, and then which."""
    if not op.attrs.get("has_mask") or len(op.operands) <= position:
        return None
    value = op.operands[position]
    inner = value.op
    if inner is not None and inner.name == "tt.splat":
        value = inner.operands[0]
    number = constant(value)
    return None if number is None else bool(number)


def _load(op: GOp) -> bool:
    mask = _mask(op, 1)
    if mask is None:
        return False
    if mask:
        op.set_operands(op.operands[:1])
        op.attrs["has_mask"] = op.attrs["has_other"] = False
        return True
    if op.attrs.get("volatile") or not op.attrs.get("has_other"):
        return False
    op.replace_with([op.operands[2]])
    return True


def _store(op: GOp) -> bool:
    mask = _mask(op, 2)
    if mask is None:
        return False
    if mask:
        op.set_operands(op.operands[:2])
        op.attrs["has_mask"] = False
    else:
        op.erase()
    return True


def _add_of_add(op: GOp) -> bool:
    """(x + c1) + c2 and (x * c1) * c2 with one constant."""
    number = constant(op.operands[1])
    inner = op.operands[0].op
    if number is None or inner is None or inner.name != op.name:
        return False
    other = constant(inner.operands[1])
    if not isinstance(number, int) or not isinstance(other, int):
        return False
    from tritonlint.compiler.folding import wrapped

    result = op.results[0]
    together = number + other if op.name == "arith.addi" else number * other
    value = result.like(result.encoding)
    new = GOp("arith.constant", (), [value], {"value": wrapped(together, result.type.bits)})
    new.insert_before(op)
    return _replace(op, op.name, [inner.operands[0], value], dict(op.attrs))


VIEW_PATTERNS: dict[str, Callable[[GOp], bool]] = {
    "tt.broadcast": _broadcast,
    "tt.expand_dims": _expand_dims,
    "tt.reshape": _reshape,
}
_PATTERNS: dict[str, Callable[[GOp], bool]] = {
    **VIEW_PATTERNS,
    "tt.trans": _trans,
    "tt.load": _load,
    "tt.store": _store,
    "arith.addi": _add_of_add,
    "arith.muli": _add_of_add,
}
_SIMPLE = frozenset(_PATTERNS) | _COMMUTATIVE
