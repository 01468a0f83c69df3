"""Triton's pass "combine": a sum with a dot becomes the dot's accumulator, and a few more."""

from __future__ import annotations

from tritonlint.kernel.builder import Builder
from tritonlint.kernel.cleanup import Uses, final, replace
from tritonlint.kernel.graph import Node, Region, Val, type_of

_DOTS = ("tt.dot", "tt.dot_scaled")


def combine(root: Region, builder: Builder, release: tuple[int, int]) -> None:
    """Rewrite the graph in place."""
    uses = Uses()
    uses.count(root)
    users: dict[Val, list[Node]] = {}
    _collect(root, users)
    _Combine(builder, uses, users, release).region(root)
    if uses.instead:
        replace(root, uses.instead)


def _collect(region: Region, users: dict[Val, list[Node]]) -> None:
    for node in region.ops:
        if node.name in ("tt.reshape", "tt.reduce", "tt.histogram"):
            pass
        for operand in node.operands:
            users.setdefault(operand, []).append(node)
        for block in node.blocks:
            _collect(block, users)


class _Combine:
    def __init__(
        self, builder: Builder, uses: Uses, users: dict[Val, list[Node]], release: tuple[int, int]
    ) -> None:
        self.b = builder
        self.uses = uses
        self.users = users
        self.release = release

    def region(self, region: Region) -> None:
        moved: dict[Node, Node] = {}  # the addition -> the dot that takes its place
        made: dict[Node, list[Node]] = {}
        for node in region.ops:
            name = node.name
            if name in ("arith.addf", "arith.addi"):
                dot = self.dot_of(node)
                if dot is not None:
                    moved[node] = dot
            elif name == "tt.reduce":
                new = self.product_of(node)
                if new:
                    made[node] = new
            elif name == "tt.reshape":
                self.relax(node)
                self.rank_reduced(node)
            elif name == "arith.select":
                self.masked_load(node)
            for block in node.blocks:
                self.region(block)
        if moved or made:
            # A dot that takes in one sum after another ends where the last one stood.
            last = {dot: addition for addition, dot in moved.items()}
            ops: list[Node] = []
            for node in region.ops:
                if node in last:
                    continue
                if node in moved:
                    if last[moved[node]] is node:
                        ops.append(moved[node])
                elif node in made:
                    ops.extend(made[node])
                else:
                    ops.append(node)
            region.ops = ops

    def value(self, value: Val) -> Val:
        return final(value, self.uses.instead)

    def dot_of(self, add: Node) -> Node | None:
        """The dot whose accumulator (zero so far) the other summand becomes."""
        for place in (1, 0):
            operand = self.value(add.operands[place])
            dot = operand.node
            if dot is None or dot.name not in _DOTS:
                continue
            if dot.name == "tt.dot_scaled" and (add.name == "arith.addi" or self.release < (3, 5)):
                return None
            if self.uses.counts.get(operand, 0) != 1 or dot.region is not add.region:
                return None
            if self.value(dot.operands[2]).const != 0:
                return None
            if add.name == "arith.addf" and dot.attrs.get("max_num_imprecise_acc"):
                return None
            other = self.value(add.operands[1 - place])
            dot.operands = (*dot.operands[:2], other, *dot.operands[3:])
            result = add.results[0]
            self.uses.instead[result] = dot.results[0]
            self.uses.counts[dot.results[0]] = self.uses.counts.get(result, 0)
            return dot
        return None

    def product_of(self, reduce: Node) -> list[Node]:
        """sum(x[:, :, None] * y[None, :, :], 1) as dot(x, y)."""
        source = self.value(reduce.operands[0])
        shape = source.type.shape
        if shape is None or len(shape) != 3 or reduce.attrs["axis"] != 1 or len(reduce.operands) != 1:
            return []
        body = reduce.blocks[0].ops
        if len(body) != 2 or body[0].name != "arith.addf" or source.type.bits > 32:
            return []
        product = source.node
        if product is None or product.name != "arith.mulf":
            return []
        sides = [self.value(v).node for v in product.operands]
        if any(n is None or n.name != "tt.broadcast" for n in sides):
            return []
        x, y = (self.value(n.operands[0]) for n in sides if n is not None)
        if x.type.shape != (shape[0], shape[1], 1) or y.type.shape != (1, shape[1], shape[2]):
            return []
        if shape[2] < 16 or shape[0] < 16 or shape[0] == 1 or shape[2] == 1:
            return []
        made: list[Node] = []
        operands = []
        for value, wanted in ((x, (shape[0], shape[1])), (y, (shape[1], shape[2]))):
            node = self.new(
                "tt.reshape", (value,), value.type.element, wanted, {"allow_reorder": False}, reduce
            )
            made.append(node)
            operands.append(node.results[0])
        accumulator = self.b.constant(0.0, type_of(x.type.element, (shape[0], shape[2])))
        attrs = {"input_precision": "ieee", "max_num_imprecise_acc": 0}
        dot = self.new(
            "tt.dot", (*operands, accumulator), x.type.element, (shape[0], shape[2]), attrs, reduce
        )
        made.append(dot)
        self.uses.instead[reduce.results[0]] = dot.results[0]
        return made

    def new(
        self,
        name: str,
        operands: tuple[Val, ...],
        element: str,
        shape: tuple[int, ...],
        attrs: dict[str, object],
        like: Node,
    ) -> Node:
        node = Node(name, operands, attrs, like.line, like.path)
        node.region = like.region
        node.results = (Val(type_of(element, shape), node),)
        return node

    def relax(self, reshape: Node) -> None:
        """A one-dimensional reshape that only feeds reductions may reorder."""
        shape = reshape.results[0].type.shape
        if reshape.attrs["allow_reorder"] or shape is None or len(shape) != 1 or self.release < (3, 0):
            return
        users = self.users.get(reshape.results[0], [])
        if all(u.name in ("tt.reduce", "tt.histogram") for u in users):
            reshape.attrs = {**reshape.attrs, "allow_reorder": True}

    def rank_reduced(self, reshape: Node) -> None:
        """A descriptor load whose leading dimensions of one are dropped at once gives the smaller block."""
        value = self.value(reshape.operands[0])
        load = value.node
        if (
            load is None
            or load.name != "tt.descriptor_load"
            or self.uses.counts.get(value, 0) != 1
            or self.release < (3, 4)
        ):
            return
        have, want = value.type.shape or (), reshape.results[0].type.shape or ()
        lost = len(have) - len(want)
        if lost <= 0 or any(size != 1 for size in have[:lost]) or have[lost:] != want:
            return
        value.type = reshape.results[0].type
        self.uses.instead[reshape.results[0]] = value

    def masked_load(self, select: Node) -> None:
        """select(c, load(p, splat c, ...), other) as a load with that other."""
        condition, chosen, other = (self.value(v) for v in select.operands)
        load = chosen.node
        if load is None or load.name != "tt.load" or not load.attrs["has_mask"]:
            return
        mask = self.value(load.operands[1]).node
        if mask is None or mask.name != "tt.splat" or self.value(mask.operands[0]) is not condition:
            return
        select.name = "tt.load"
        select.operands = (load.operands[0], load.operands[1], other)
        select.attrs = {**load.attrs, "has_other": True}
