"""What is known of integers and pointers along each dimension: the axis analysis (lib/Analysis/AxisInfo.cpp).

For each value: how many neighbours in a row count up by one (contiguity), the largest power of two that
divides the first of each such row (divisibility, of a pointer in bytes), how many neighbours are equal
(constancy), and the value if it is the same everywhere. It decides how wide accesses are, and with that the
layouts of loads and stores.

The rules are forward ones; a loop is followed until nothing changes, from the values that it starts with.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tritonlint.compiler.axis_rules import RULES, Info, Rule, joined_divisor, pessimistic
from tritonlint.compiler.releases import Release, newest
from tritonlint.kernel.ir import bits_of

if TYPE_CHECKING:
    from tritonlint.compiler.graph import GBlock, GOp, Graph, GValue

_ROUNDS = 64  # of a loop: each round lowers some power of two, real loops need two or three

__all__ = ["AxisInfo", "Info", "pessimistic"]


def _hint(given: Any, known: tuple[int, ...]) -> tuple[int, ...]:
    """A hint as the program gives it: a number, or one for each dimension."""
    if given is None:
        return known
    values = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not all(isinstance(v, int) and v > 0 for v in values) or len(values) != len(known):
        return known
    return values


class AxisInfo:
    """The analysis of a graph as it stands; made anew after a pass that changes addresses.

    Works on the mutable graph; a value that it has not seen is known nothing about. Never raises.
    """

    def __init__(self, graph: Graph, release: Release | None = None) -> None:
        self._graph = graph
        self._release = release or newest()
        self._known: dict[GValue, Info] = {}
        body = graph.body
        for position, argument in enumerate(body.args):
            divisor = graph.divisibility.get(position, 1)
            self._known[argument] = Info((1,), (divisor,), (1,), None)
        self._visit_block(body)

    def info(self, value: GValue) -> Info:
        """What is known of a value; ones where nothing is."""
        found = self._known.get(value)
        return found if found is not None else pessimistic(len(value.shape) or 1)

    # --- Questions of the passes ---

    def contiguity(self, value: GValue) -> int:
        """Elements that a thread may access at once through a tensor of pointers (or of offsets)."""
        if not value.is_tensor or value.encoding is None:
            return 1
        order, contig = self._thread_order(value)
        return min(self.alignment(value), contig[order[0]])

    def alignment(self, value: GValue) -> int:
        """Neighbouring elements that are contiguous and aligned together."""
        if not value.is_tensor or value.encoding is None:
            return 1
        order, _ = self._thread_order(value)
        known = self.info(value)
        divisor = known.divisibility[order[0]]
        element = value.type.element
        if element.startswith("*"):
            divisor = max(divisor // max(bits_of(element[1:]) // 8, 1), 1)
        return min(divisor, known.contiguity[order[0]])

    def mask_alignment(self, mask: GValue) -> int:
        """Elements in a row that a mask treats alike."""
        if not mask.is_tensor or mask.encoding is None:
            return 1
        order, _ = self._thread_order(mask)
        return max(self.info(mask).constancy[order[0]], 1)

    @staticmethod
    def _thread_order(value: GValue) -> tuple[tuple[int, ...], tuple[int, ...]]:
        from tritonlint.compiler.layout_properties import contig_per_thread_of, order_of

        return order_of(value.encoding, value.shape), contig_per_thread_of(value.encoding, value.shape)

    # --- The analysis ---

    def _visit_block(self, block: GBlock) -> None:
        for op in block.ops:
            if op.blocks:
                self._visit_region(op)
            elif op.results:
                self._visit(op)

    def _visit(self, op: GOp) -> None:
        result = op.results[0]
        element = result.type.element
        if not (element.startswith("*") or element[0] == "i"):
            return  # what is known of numbers decides nothing
        rule = RULES.get(op.name)
        known = self._apply(rule, op) if rule is not None else None
        if known is None:
            known = pessimistic(len(result.shape) or 1)
        attrs = op.attrs
        if "tt.contiguity" in attrs or "tt.divisibility" in attrs or "tt.constancy" in attrs:
            known = Info(
                _hint(attrs.get("tt.contiguity"), known.contiguity),
                _hint(attrs.get("tt.divisibility"), known.divisibility),
                _hint(attrs.get("tt.constancy"), known.constancy),
                known.value,
            )
        known = self._spread_divisibility(known)
        for each in op.results:
            self._known[each] = known

    def _apply(self, rule: Rule, op: GOp) -> Info | None:
        known = rule(op, [self.info(operand) for operand in op.operands], self._release)
        if known is not None and len(known.contiguity) != (len(op.results[0].shape) or 1):
            return None
        return known

    def _spread_divisibility(self, known: Info) -> Info:
        """Along a dimension without contiguity each element starts a row, so its divisor divides all
        elements."""
        if not self._release.axis_global_divisibility or len(known.contiguity) == 1:
            return known
        overall = max(
            (d for c, d in zip(known.contiguity, known.divisibility, strict=True) if c == 1), default=1
        )
        if overall == 1:
            return known
        return known._replace(divisibility=tuple(max(d, overall) for d in known.divisibility))

    def _join(self, first: Info | None, second: Info | None) -> Info | None:
        """What holds of a value that may come from either."""
        if first is None or second is None or first == second:
            return first if second is None else second
        if len(first.contiguity) != len(second.contiguity):
            return pessimistic(len(first.contiguity))
        contiguity = tuple(map(math.gcd, first.contiguity, second.contiguity))
        constancy = tuple(map(math.gcd, first.constancy, second.constancy))
        divisibility = tuple(map(math.gcd, first.divisibility, second.divisibility))
        if self._release.axis_joins_by_contiguity:
            divisibility = tuple(
                joined_divisor(first, second, dim, self._release) for dim in range(len(contiguity))
            )
        value = first.value if first.value == second.value else None
        return self._spread_divisibility(Info(contiguity, divisibility, constancy, value))

    def _visit_region(self, op: GOp) -> None:
        if op.name == "scf.for":
            self._visit_for(op)
        elif op.name == "scf.if":
            self._visit_if(op)
        elif op.name == "scf.while":
            self._visit_while(op)
        else:
            for block in op.blocks:
                self._visit_block(block)

    def _visit_for(self, op: GOp) -> None:
        block = op.blocks[0]
        lower, step = self.info(op.operands[0]), self.info(op.operands[2])
        divisor = math.gcd(lower.divisibility[0], step.divisibility[0])
        self._known[block.args[0]] = Info((1,), (divisor or 1,), (1,), None)
        carried = block.args[1:]
        initial = op.operands[3 : 3 + len(carried)]
        for argument, value in zip(carried, initial, strict=False):
            self._known[argument] = self.info(value)
        for _ in range(_ROUNDS):
            self._visit_block(block)
            if not block.ops or not self._widen(carried, block.ops[-1].operands):
                break
        for result, argument in zip(op.results, carried, strict=False):
            self._known[result] = self.info(argument)

    def _widen(self, arguments: list[GValue], values: list[GValue]) -> bool:
        """Join values into the arguments that they reach; whether anything changed."""
        changed = False
        for argument, value in zip(arguments, values, strict=False):
            before = self._known.get(argument)
            after = self._join(before, self.info(value))
            if after is not None and after != before:
                self._known[argument] = after
                changed = True
        return changed

    def _visit_if(self, op: GOp) -> None:
        for block in op.blocks:
            self._visit_block(block)
        ends = [block.ops[-1].operands for block in op.blocks if block.ops]
        for position, result in enumerate(op.results):
            known: Info | None = None
            for operands in ends:
                if position < len(operands):
                    known = self._join(known, self.info(operands[position]))
            if known is not None:
                self._known[result] = known

    def _visit_while(self, op: GOp) -> None:
        if len(op.blocks) != 2:
            return
        before, after = op.blocks
        for argument, value in zip(before.args, op.operands, strict=False):
            self._known[argument] = self.info(value)
        for _ in range(_ROUNDS):
            self._visit_block(before)
            passed = before.ops[-1].operands[1:] if before.ops else []
            for argument, value in zip(after.args, passed, strict=False):
                self._known[argument] = self.info(value)
            for result, value in zip(op.results, passed, strict=False):
                self._known[result] = self.info(value)
            self._visit_block(after)
            if not after.ops or not self._widen(before.args, after.ops[-1].operands):
                break
