"""Common subexpressions: equal operations are done once, as MLIR's pass of that name does it.

It runs after folding and after "combine", so what those see are still separate operations: `(i < n) & (i < n)` keeps
its `andi`, and a product that is written twice can still take two accumulators.
"""

from __future__ import annotations

from typing import Any

from tritonlint.kernel.folding import COMMUTATIVE
from tritonlint.kernel.graph import BLOCK_OPS, READS, WRITES, Node, Region, Val, has_effect


def merge_equal(root: Region) -> None:
    """Replace operations by equal ones that dominate them."""
    _Merge().region(root, None)


class _Scope:
    """What was seen in a block and in those around it."""

    __slots__ = ("parent", "table")

    def __init__(self, parent: _Scope | None) -> None:
        self.parent = parent
        self.table: dict[Any, Node] = {}

    def find(self, key: Any) -> Node | None:
        scope: _Scope | None = self
        while scope is not None:
            found = scope.table.get(key)
            if found is not None:
                return found
            scope = scope.parent
        return None


class _Merge:
    def __init__(self) -> None:
        self.instead: dict[Val, Val] = {}

    def region(self, region: Region, scope: _Scope | None) -> None:
        instead = self.instead
        here = _Scope(scope)
        epoch = 0
        kept: list[Node] = []
        for node in region.ops:
            if instead:
                operands = node.operands
                for operand in operands:
                    if operand in instead:
                        node.operands = tuple([instead.get(v, v) for v in operands])
                        break
            name = node.name
            if name in WRITES or name in BLOCK_OPS or has_effect(node):
                for block in node.blocks:
                    self.region(block, here)
                if name not in BLOCK_OPS or any(block.writes for block in node.blocks):
                    epoch += 1
                kept.append(node)
                continue
            key = _key(node, epoch)
            found = here.table.get(key) if name in READS else here.find(key)
            if found is not None:
                for old, new in zip(node.results, found.results, strict=False):
                    instead[old] = new
                continue
            for block in node.blocks:
                self.region(block, here)
            here.table[key] = node
            kept.append(node)
        region.ops = kept


def _key(node: Node, epoch: int) -> Any:
    operands: Any = node.operands
    if node.name in COMMUTATIVE and len(operands) == 2 and id(operands[0]) > id(operands[1]):
        operands = (operands[1], operands[0])
    attrs = node.attrs
    return (
        node.name,
        operands,
        tuple([r.type for r in node.results]),
        tuple([(k, repr(attrs[k])) for k in sorted(attrs)]) if attrs else None,
        epoch if node.name in READS else 0,
    )
