"""The first half of remove-layout-conversions: encodings of anchors spread forwards to all that hangs on
them.

LayoutPropagation of lib/Dialect/TritonGPU/Transforms/RemoveLayoutConversions.cpp: anchors (large loads, dots,
atomics) keep their encoding; it is inferred for everything downstream; where several meet, one is picked and
conversions are put in between.
"""

from __future__ import annotations

from typing import Any

from tritonlint.compiler.encodings import AmdMfma, AmdWmma, Blocked, Distributed, NvidiaMma
from tritonlint.compiler.graph import GBlock, GOp, Graph, GValue
from tritonlint.compiler.inference import (
    can_use_result_encoding,
    infer_dst,
    infer_src,
    is_expensive_load_or_store,
)
from tritonlint.compiler.ops import DOTS, has_same_encoding
from tritonlint.compiler.releases import Release

_DESCRIPTOR_READS = frozenset({"tt.descriptor_load", "tt.descriptor_gather"})
_SPREAD_TO = frozenset(
    {"tt.reduce", "tt.expand_dims", "tt.reshape", "tt.trans", "tt.join", "tt.split", "ttg.convert_layout"}
)
_STEPS = 200_000


def is_layout_anchor(op: GOp, graph: Graph, release: Release) -> bool:
    """Whether the encoding of the operation's result is to be kept."""
    name = op.name
    if name in ("tt.load", "tt.store"):
        return is_expensive_load_or_store(op, graph.num_warps, graph.threads_per_warp)
    if name in _DESCRIPTOR_READS or name in DOTS:
        return True
    if name in ("tt.atomic_rmw", "tt.atomic_cas", "ttng.tmem_load"):
        return True
    if name == "tt.reshape" and release.reordering_reshapes_are_anchors:
        return bool(op.attrs.get("allow_reorder"))
    if name in ("tt.gather", "tt.reshape"):
        return bool(op.attrs.get("efficient_layout"))
    return False


def propagate_layouts(graph: Graph, release: Release) -> None:
    """Rewrite the graph so that every value has the encoding that its anchors ask for."""
    propagation = _Propagation(graph, release)
    propagation.anchors()
    propagation.propagate()
    propagation.resolve()
    propagation.rewrite()


class _Propagation:
    def __init__(self, graph: Graph, release: Release) -> None:
        self.graph = graph
        self.release = release
        self.layouts: dict[GValue, dict[Distributed, None]] = {}
        self.chosen: dict[GValue, Distributed] = {}
        self.original: dict[GValue, Any] = {}

    def anchors(self) -> None:
        for arg in self.graph.body.args:
            if arg.is_tensor:
                self.layouts[arg] = {arg.encoding: None}
        for op in self.graph.all_ops():
            if op.results and is_layout_anchor(op, self.graph, self.release):
                for result in op.results:
                    if result.is_tensor:
                        self.layouts[result] = {result.encoding: None}

    def propagate(self) -> None:
        queue = list(self.layouts)
        for _ in range(_STEPS):
            if not queue:
                return
            value = queue.pop()
            queue.extend(self.to_users(value, list(self.layouts[value])))

    def set_encoding(
        self, values: list[GValue], encodings: list[Distributed], changed: list[GValue], op: GOp
    ) -> None:
        for value in values:
            if not value.is_tensor:
                continue
            has_changed = False
            for encoding in encodings:
                target = encoding if op.name == "ttg.convert_layout" else infer_dst(op, encoding)
                if target is not None:
                    known = self.layouts.setdefault(value, {})
                    if target not in known:
                        known[target] = None
                        has_changed = True
            if has_changed:
                changed.append(value)

    def to_users(self, value: GValue, encodings: list[Distributed]) -> list[GValue]:
        changed: list[GValue] = []
        for user in reversed(list(value.uses)):
            for position in range(len(user.operands) - 1, -1, -1):
                if user.operands[position] is value:
                    self.to_user(user, position, encodings, changed)
        return changed

    def to_user(self, user: GOp, position: int, encodings: list[Distributed], changed: list[GValue]) -> None:
        name = user.name
        if name == "scf.for":
            if position >= 3:
                place = position - 3
                self.set_encoding([user.body.args[place + 1], user.results[place]], encodings, changed, user)
        elif name == "scf.while":
            self.set_encoding([user.body.args[position]], encodings, changed, user)
        elif name == "scf.yield":
            parent = user.parent
            if parent is None or parent.name not in ("scf.for", "scf.if", "scf.while"):
                return
            values: list[GValue] = []
            if parent.name in ("scf.for", "scf.if"):
                values.append(parent.results[position])
            if parent.name == "scf.for":
                values.append(parent.body.args[position + 1])
            elif parent.name == "scf.while":
                values.append(parent.body.args[position])
            self.set_encoding(values, encodings, changed, user)
        elif name == "scf.condition":
            parent = user.parent
            if parent is not None and position:
                place = position - 1
                values = [parent.blocks[1].args[place], parent.results[place]]
                self.set_encoding(values, encodings, changed, user)
        elif name == "ttng.warp_group_dot_wait":
            self.set_encoding([user.results[position]], encodings, changed, user)
        elif name == "tt.gather":
            if position == 1 and not user.attrs.get("efficient_layout"):
                self.set_encoding(user.results, encodings, changed, user)
        elif (
            name == "tt.reshape"
            and user.attrs.get("efficient_layout")
            and self.release.efficient_reshapes_block
        ):
            return
        elif has_same_encoding(user) or name in _SPREAD_TO:
            self.set_encoding(user.results, encodings, changed, user)

    def resolve(self) -> None:
        for value, encodings in self.layouts.items():
            self.chosen[value] = self.pick(value, list(encodings))

    def pick(self, value: GValue, encodings: list[Distributed]) -> Distributed:
        first = encodings[0]
        if len(encodings) == 1:
            return first
        op = value.op
        if op is not None and op.name in ("tt.load", "tt.store", "tt.atomic_rmw", "tt.atomic_cas"):
            preferred: tuple[type, ...] = (Blocked,)
        else:
            preferred = (NvidiaMma, AmdMfma, AmdWmma)
        for encoding in encodings:
            if isinstance(encoding, preferred):
                return encoding
        return first

    # Rewriting

    def rewrite(self) -> None:
        queue: list[GBlock] = list(self.graph.func.blocks)
        for block in queue:
            for op in list(block.ops):
                if self.rewrite_op_in_block(op):
                    queue.extend(op.blocks)

    def rewrite_op_in_block(self, op: GOp) -> bool:
        """Rewrite one operation; whether what it holds is to be visited."""
        name = op.name
        chosen = self.chosen
        if any(result in chosen and chosen[result] != result.encoding for result in op.results):
            self.rewrite_op(op)
            return True
        if name == "scf.yield":
            self.rewrite_yield(op)
        elif name == "scf.condition":
            self.rewrite_condition(op)
        elif name == "tt.reduce" and not op.results[0].is_tensor:
            self.rewrite_reduce_to_scalar(op)
        elif name == "tt.assert":
            encoding = chosen.get(op.operands[0])
            if encoding is not None:
                self.operand_as(op, 0, encoding)
        else:
            for position, operand in enumerate(op.operands):
                if operand in chosen:
                    self.operand_as(op, position, self.original.get(operand, operand.encoding))
            return True
        return False

    def value_as(self, value: GValue, encoding: Distributed) -> GValue:
        if not value.is_tensor or value.encoding == encoding:
            return value
        convert = GOp("ttg.convert_layout", [value], [value.like(encoding)])
        if value.op is not None:
            convert.line, convert.path = value.op.line, value.op.path
            convert.insert_after(value.op)
        else:
            block = value.block
            assert block is not None
            convert.prepend_to(block)
        return convert.result

    def operand_as(self, op: GOp, position: int, encoding: Distributed) -> None:
        op.set_operand(position, self.value_as(op.operands[position], encoding))

    def set_in_place(self, value: GValue, encoding: Distributed) -> None:
        self.original.setdefault(value, value.encoding)
        value.encoding = encoding

    def rewrite_op(self, op: GOp) -> None:
        name = op.name
        chosen = self.chosen
        if name == "scf.for":
            for place, result in enumerate(op.results):
                if result.is_tensor and result in chosen:
                    self.operand_as(op, place + 3, chosen[result])
                    self.set_in_place(result, chosen[result])
                    self.set_in_place(op.body.args[place + 1], chosen[result])
        elif name == "scf.while":
            for place, arg in enumerate(op.body.args):
                if arg in chosen:
                    self.operand_as(op, place, chosen[arg])
                    self.set_in_place(arg, chosen[arg])
            for place, result in enumerate(op.results):
                if result in chosen:
                    self.set_in_place(result, chosen[result])
                    self.set_in_place(op.blocks[1].args[place], chosen[result])
        elif name == "scf.if":
            for result in op.results:
                if result in chosen:
                    self.set_in_place(result, chosen[result])
        else:
            encoding = chosen[op.results[0]]
            if can_use_result_encoding(op, encoding):
                self.set_in_place(op.results[0], encoding)
            else:
                self.rewrite_in_place(op, encoding)

    def rewrite_in_place(self, op: GOp, encoding: Distributed) -> None:
        operand_encoding: Distributed | None = None
        for operand in op.operands:
            if operand in self.chosen:
                candidate = self.chosen[operand]
                if infer_dst(op, candidate) == encoding:
                    operand_encoding = candidate
                    break
        if operand_encoding is None and op.operands:
            operand_encoding = infer_src(op, encoding)
        if operand_encoding is not None:
            for position, operand in enumerate(op.operands):
                if operand.is_tensor:
                    self.operand_as(op, position, operand_encoding)
        for result in op.results:
            if result.is_tensor:
                self.set_in_place(result, encoding)

    def rewrite_yield(self, op: GOp) -> None:
        parent = op.parent
        if parent is None:
            return
        for position in range(len(op.operands)):
            if parent.name == "scf.while":
                target = parent.body.args[position]
            else:
                target = parent.results[position]
            if target.is_tensor:
                self.operand_as(op, position, target.encoding)

    def rewrite_condition(self, op: GOp) -> None:
        parent = op.parent
        if parent is None:
            return
        for position in range(1, len(op.operands)):
            target = parent.results[position - 1]
            if target.is_tensor:
                self.operand_as(op, position, target.encoding)

    def rewrite_reduce_to_scalar(self, op: GOp) -> None:
        for operand in op.operands:
            if operand in self.chosen:
                for position in range(len(op.operands)):
                    self.operand_as(op, position, self.chosen[operand])
                return
