"""Forward and backward slices of the graph, as MLIR's slice analysis takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tritonlint.compiler.graph import GOp, GValue

Filter = Callable[[GOp], bool]


def _everything(op: GOp) -> bool:
    return True


def forward_slice(root: GValue, wanted: Filter = _everything) -> dict[GOp, None]:
    """The operations that use the value, those that use their results, and so on; operations inside a user
    count as users. Values do not flow out of blocks."""
    found: dict[GOp, None] = {}
    queue = list(root.uses)
    while queue:
        op = queue.pop()
        if op in found or not wanted(op):
            continue
        found[op] = None
        for block in op.blocks:
            queue.extend(block.ops)
        for result in op.results:
            queue.extend(result.uses)
    return found


def backward_slice(
    root: GValue, wanted: Filter = _everything, *, through_block_arguments: bool = True
) -> dict[GOp, None]:
    """The operations that the value is made from, the one that makes it included. A block argument stands for
    the operation around its block."""
    found: dict[GOp, None] = {}
    queue = [root]
    while queue:
        value = queue.pop()
        op = value.op
        if op is None:
            block = value.block
            if not through_block_arguments or block is None or block.parent is None:
                continue
            op = block.parent
            if op.name == "tt.func":
                continue
        if op in found or not wanted(op):
            continue
        found[op] = None
        queue.extend(op.operands)
        queue.extend(_used_from_above(op))
    return found


def _used_from_above(op: GOp) -> Iterator[GValue]:
    """Values from outside that operations inside use."""
    if not op.blocks:
        return
    inside = set()
    for block in op.blocks:
        inside.update(block.args)
    for inner in op.walk():
        inside.update(inner.results)
        for block in inner.blocks:
            inside.update(block.args)
    for inner in op.walk():
        for operand in inner.operands:
            if operand not in inside:
                yield operand


def whole_slice(op: GOp, wanted: Filter) -> dict[GOp, None]:
    """All operations that hang together with one, forwards and backwards (getSlice), itself included."""
    found: dict[GOp, None] = {op: None}
    queue = [op]
    while queue:
        current = queue.pop()
        near: list[GOp] = []
        for operand in current.operands:
            if operand.op is not None:
                near.append(operand.op)
            elif operand.block is not None and operand.block.parent is not None:
                near.append(operand.block.parent)
        for result in current.results:
            near.extend(result.uses)
        for block in current.blocks:
            near.extend(block.ops)
        for other in near:
            if other not in found and other.name != "tt.func" and wanted(other):
                found[other] = None
                queue.append(other)
    return found
