"""Removes what nothing needs, and simplifies loops and branches, as MLIR's canonicalizer does at the end."""

from __future__ import annotations

from tritonlint.kernel.builder import Builder
from tritonlint.kernel.graph import BLOCK_OPS, Node, Region, Val, has_effect

_ROUNDS = 12


class Uses:
    """How often each value is used, and what it is to be replaced with."""

    __slots__ = ("counts", "instead")

    def __init__(self) -> None:
        self.counts: dict[Val, int] = {}
        self.instead: dict[Val, Val] = {}

    def count(self, region: Region) -> None:
        counts = self.counts
        for node in region.ops:
            for operand in node.operands:
                counts[operand] = counts.get(operand, 0) + 1
            for block in node.blocks:
                self.count(block)

    def drop(self, node: Node) -> None:
        """The node is gone: its operands are used less."""
        counts = self.counts
        for operand in node.operands:
            counts[operand] -= 1
        for block in node.blocks:
            for inner in block.ops:
                self.drop(inner)

    def used(self, node: Node) -> bool:
        counts = self.counts
        return any(counts.get(r, 0) for r in node.results)


def replace(region: Region, instead: dict[Val, Val]) -> None:
    """Use other values in place of some."""
    for node in region.ops:
        if any(v in instead for v in node.operands):
            node.operands = tuple([final(v, instead) for v in node.operands])
        for block in node.blocks:
            replace(block, instead)


def final(value: Val, instead: dict[Val, Val]) -> Val:
    while value in instead:
        value = instead[value]
    return value


def clean(root: Region, builder: Builder) -> None:
    """Drop dead operations and simplify control flow until nothing changes."""
    for _ in range(_ROUNDS):
        uses = Uses()
        uses.count(root)
        changed = _sweep(root, uses, builder)
        if uses.instead:
            replace(root, uses.instead)
            changed = True
        if not changed:
            return


def _needed(node: Node, uses: Uses) -> bool:
    if uses.used(node):
        return True
    if node.name in BLOCK_OPS:
        return node.name == "cf.cond_br" or any(_inner_effect(block) for block in node.blocks)
    return has_effect(node)


def _inner_effect(region: Region) -> bool:
    for node in region.ops:
        if node.name in ("scf.yield", "scf.condition", "cf.br"):
            continue
        if node.name in BLOCK_OPS:
            if any(_inner_effect(block) for block in node.blocks):
                return True
        elif has_effect(node):
            return True
    return False


def _sweep(region: Region, uses: Uses, builder: Builder) -> bool:
    changed = False
    kept: list[Node] = []
    for node in reversed(region.ops):
        if not _needed(node, uses):
            uses.drop(node)
            changed = True
            continue
        if node.name == "scf.for":
            changed |= _simplify_for(node, uses)
        before: list[Node] = []
        if node.name == "scf.if":
            changed |= _simplify_if(node, uses, builder, before)
        for block in node.blocks:
            changed |= _sweep(block, uses, builder)
        kept.append(node)
        kept.extend(before)
    kept.reverse()
    region.ops = kept
    return changed


def _simplify_for(node: Node, uses: Uses) -> bool:
    """Drop what a loop carries without need: unchanged, unused, or twice the same."""
    block = node.blocks[0]
    end = block.ops[-1]
    inits = node.operands[3:]
    seen: dict[tuple[Val, Val], int] = {}
    keep: list[int] = []
    args = block.args[1:]
    counts = uses.counts
    for i, (init, arg, result, out) in enumerate(zip(inits, args, node.results, end.operands, strict=False)):
        if out is arg or out is init:
            uses.instead[arg] = init
            uses.instead[result] = init
        elif not counts.get(arg, 0) and not counts.get(result, 0):
            uses.instead[arg] = init
        elif (init, out) in seen:
            first = seen[init, out]
            uses.instead[arg] = args[first]
            uses.instead[result] = node.results[first]
        else:
            seen[init, out] = i
            keep.append(i)
    if len(keep) == len(inits):
        return False
    node.operands = (*node.operands[:3], *[inits[i] for i in keep])
    node.results = tuple([node.results[i] for i in keep])
    block.args = [block.args[0], *[args[i] for i in keep]]
    end.operands = tuple([end.operands[i] for i in keep])
    return True


def _simplify_if(node: Node, uses: Uses, builder: Builder, before: list[Node]) -> bool:
    """Drop unused and trivial results; a result that both sides take from outside becomes a select."""
    then, other = node.blocks
    left, right = then.ops[-1], other.ops[-1]
    keep: list[int] = []
    condition = node.operands[0]
    for i, (result, x, y) in enumerate(zip(node.results, left.operands, right.operands, strict=False)):
        if not uses.counts.get(result, 0):
            continue
        if x is y:
            uses.instead[result] = x
            continue
        if _outside(x, then) and _outside(y, other):
            if (
                x.type.element == "i1"
                and x.type.shape is None
                and x.const is not None
                and y.const == 0
                and x.const == 1
            ):
                uses.instead[result] = condition
                continue
            select = Node("arith.select", (condition, x, y), {}, node.line, node.path)
            made = Val(result.type, select, name=result.name)
            select.results = (made,)
            select.region = node.region
            before.append(select)
            uses.instead[result] = made
            continue
        keep.append(i)
    if len(keep) == len(node.results):
        return False
    node.results = tuple([node.results[i] for i in keep])
    left.operands = tuple([left.operands[i] for i in keep])
    right.operands = tuple([right.operands[i] for i in keep])
    return True


def _outside(value: Val, region: Region) -> bool:
    return value.node is None or value.node.region is not region
