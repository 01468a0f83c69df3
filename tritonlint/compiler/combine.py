"""The TTIR passes combine and reorder-broadcast (lib/Dialect/Triton/Transforms/Combine.cpp,
ReorderBroadcast.cpp)."""

from __future__ import annotations

from collections.abc import Callable

from tritonlint.compiler.canonicalize import VIEW_PATTERNS, fold_in_place
from tritonlint.compiler.convert_cleanup import erase_dead
from tritonlint.compiler.folding import FOLDED, constant
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.ops import constant_value, is_elementwise, is_pure
from tritonlint.kernel import ir

_ROUNDS = 24
Pattern = Callable[[GOp], bool]


def _apply(graph: Graph, patterns: dict[str, Pattern], everywhere: Pattern | None = None) -> None:
    for _ in range(_ROUNDS):
        erase_dead(graph)
        changed = False
        for op in graph.all_ops():
            if op.block is None:
                continue
            if op.name in FOLDED and fold_in_place(op):
                changed = True
                continue
            pattern = patterns.get(op.name)
            if (pattern is not None and pattern(op)) or (everywhere is not None and everywhere(op)):
                changed = True
        if not changed:
            break
    erase_dead(graph)


def combine(graph: Graph) -> None:
    """Products with sums, selects with masked loads, pointer sums, in place."""
    _apply(graph, _COMBINE)


def reorder_broadcast(graph: Graph) -> None:
    """Elementwise operations move in front of broadcasts and splats, in place."""
    _apply(graph, VIEW_PATTERNS, _before_views)


def _dot_add(op: GOp) -> bool:
    """a * b + 0 + d becomes a * b + d."""
    for position in (1, 0):
        dot = op.operands[position].op
        if dot is None or dot.name not in ("tt.dot", "tt.dot_scaled"):
            continue
        if dot.name == "tt.dot_scaled" and op.name == "arith.addi":
            continue
        if not dot.results[0].has_one_use or constant_value(dot.operands[2]) != 0:
            return False
        if op.name == "arith.addf" and int(dot.attrs.get("max_num_imprecise_acc", 0)) != 0:
            return False
        dot.set_operand(2, op.operands[1 - position])
        dot.move_before(op)
        op.replace_with(dot.results)
        return True
    return False


def _select_load(op: GOp) -> bool:
    """select(c, load(p, splat(c)), other) becomes load(p, splat(c), other)."""
    condition, yes, no = op.operands
    load = yes.op
    if load is None or load.name != "tt.load" or not load.attrs.get("has_mask"):
        return False
    mask = load.operands[1].op
    if mask is None or mask.name != "tt.splat" or mask.operands[0] is not condition:
        return False
    result = op.results[0]
    attrs = dict(load.attrs)
    attrs["has_other"] = True
    new = GOp("tt.load", [load.operands[0], load.operands[1], no], [result.like(result.encoding)], attrs)
    new.line, new.path = load.line, load.path
    new.insert_before(op)
    op.replace_with(new.results)
    return True


def _addptr(op: GOp) -> bool:
    """p + i + j becomes p + (i + j) where that cannot overflow."""
    inner = op.operands[0].op
    if inner is None or inner.name != "tt.addptr":
        return False
    first, second = inner.operands[1], op.operands[1]
    if first.type != second.type:
        return False
    if first.type.bits != 64:
        a, b = constant_value(first), constant_value(second)
        if not isinstance(a, int) or not isinstance(b, int):
            return False
        if not -(1 << 31) <= a + b < (1 << 31):
            return False
    total = GOp("arith.addi", [first, second], [first.like(first.encoding)], line=op.line, path=op.path)
    total.insert_before(op)
    op.set_operands([inner.operands[0], total.result])
    return True


def _broadcasts_along(op: GOp | None, axis: int) -> bool:
    if op is None or op.name != "tt.broadcast":
        return False
    source, result = op.operands[0].shape, op.results[0].shape
    return all((a != b) == (dim == axis) for dim, (a, b) in enumerate(zip(source, result, strict=True)))


def _multiply_reduce(op: GOp) -> bool:
    """sum(x[:, :, None] * y[None, :, :], 1) becomes a dot without tensor cores."""
    source = op.operands[0]
    if len(source.shape) != 3 or op.attrs["axis"] != 1 or len(op.operands) != 1:
        return False
    body = op.body.ops
    if len(body) != 2 or body[0].name != "arith.addf" or body[0].results[0].type.bits > 32:
        return False
    product = source.op
    if product is None or product.name != "arith.mulf":
        return False
    left, right = product.operands[0].op, product.operands[1].op
    if not _broadcasts_along(left, 2) or not _broadcasts_along(right, 0):
        return False
    assert left is not None and right is not None
    m, k, n = product.results[0].shape
    if n < 16 or m < 16:
        return False
    element = left.operands[0].type.element
    operands: list[GValue] = []
    for view, shape in ((left, (m, k)), (right, (k, n))):
        value = GValue(ir.Type(element, shape))
        new = GOp("tt.reshape", [view.operands[0]], [value], {"allow_reorder": False})
        new.line, new.path = op.line, op.path
        new.insert_before(op)
        operands.append(value)
    zero = GValue(ir.Type(element, (m, n)))
    GOp("arith.constant", (), [zero], {"value": 0.0}, line=op.line, path=op.path).insert_before(op)
    dot = GOp(
        "tt.dot",
        [*operands, zero],
        [GValue(ir.Type(element, (m, n)))],
        {"input_precision": "ieee", "max_num_imprecise_acc": 0},
        line=op.line,
        path=op.path,
    )
    dot.insert_before(op)
    op.replace_with(dot.results)
    return True


def _reshape(op: GOp) -> bool:
    source, result = op.operands[0], op.results[0]
    if (
        not op.attrs.get("allow_reorder")
        and len(result.shape) == 1
        and all(user.name in ("tt.reduce", "tt.histogram") for user in result.uses)
    ):
        op.attrs["allow_reorder"] = True
        return True
    load = source.op
    if load is None or load.name != "tt.descriptor_load" or not source.has_one_use:
        return False
    extra = len(source.shape) - len(result.shape)
    if extra <= 0 or any(size != 1 for size in source.shape[:extra]) or source.shape[extra:] != result.shape:
        return False
    source.type = result.type
    op.replace_with([source])
    return True


_COMBINE: dict[str, Pattern] = {
    "arith.addi": _dot_add,
    "arith.addf": _dot_add,
    "arith.select": _select_load,
    "tt.addptr": _addptr,
    "tt.reduce": _multiply_reduce,
    "tt.reshape": _reshape,
}


def _is_splat(op: GOp) -> bool:
    return op.name == "tt.splat" or (op.name == "arith.constant" and constant(op.results[0]) is not None)


def _before_views(op: GOp) -> bool:
    """elementwise(broadcast(a), splat(b)) becomes broadcast(elementwise(a, splat(b))); of splats only, a
    splat."""
    if not is_elementwise(op) or not is_pure(op) or not op.operands or not op.results[0].is_tensor:
        return False
    makers: list[GOp] = []
    for operand in op.operands:
        if operand.op is None:
            return False
        makers.append(operand.op)
    if all(_is_splat(maker) for maker in makers):
        return _splat_after(op, makers)
    sources = [maker.operands[0] for maker in makers if maker.name == "tt.broadcast"]
    if not sources or any(source.shape != sources[0].shape for source in sources):
        return False
    if not all(maker.name == "tt.broadcast" or _is_splat(maker) for maker in makers):
        return False
    shape = sources[0].shape
    operands: list[GValue] = []
    for maker in makers:
        if maker.name == "tt.broadcast":
            operands.append(maker.operands[0])
            continue
        value = GValue(maker.results[0].type.with_shape(shape), sources[0].encoding)
        new = GOp(maker.name, maker.operands, [value], dict(maker.attrs), line=op.line, path=op.path)
        new.insert_before(op)
        operands.append(value)
    return _rebuild(op, operands, shape, "tt.broadcast")


def _splat_after(op: GOp, makers: list[GOp]) -> bool:
    operands: list[GValue] = []
    for maker in makers:
        if maker.name == "tt.splat":
            operands.append(maker.operands[0])
            continue
        value = GValue(maker.results[0].type.with_shape(None))
        GOp("arith.constant", (), [value], dict(maker.attrs)).insert_before(op)
        operands.append(value)
    return _rebuild(op, operands, None, "tt.splat")


def _rebuild(op: GOp, operands: list[GValue], shape: tuple[int, ...] | None, spread: str) -> bool:
    results = [
        GValue(result.type.with_shape(shape), None if shape is None else operands[0].encoding)
        for result in op.results
    ]
    inner = GOp(op.name, operands, results, dict(op.attrs), line=op.line, path=op.path)
    inner.insert_before(op)
    spread_results: list[GValue] = []
    for old, value in zip(op.results, results, strict=True):
        new = GOp(spread, [value], [old.like(old.encoding)], line=op.line, path=op.path)
        new.insert_before(op)
        spread_results.append(new.result)
    op.replace_with(spread_results)
    return True
