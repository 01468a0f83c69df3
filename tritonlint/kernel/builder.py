"""Builds the graph of one function, folded as Triton's own clean-up passes leave it.

Triton's front end emits plain operations and then runs canonicalization and "reorder broadcast" (an elementwise
operation on splats or broadcasts is done before the splat or broadcast). Doing both while building gives the same
operations in one go.
"""

from __future__ import annotations

import math
from typing import Any

from tritonlint.kernel.folding import COMMUTATIVE, FOLDS
from tritonlint.kernel.graph import WRITES, Node, Region, Val, type_of, walk
from tritonlint.kernel.ir import Type

_ELEMENTWISE_PREFIXES = ("arith.", "math.")
_ELEMENTWISE = frozenset(
    {
        "tt.addptr", "tt.bitcast", "tt.fp_to_fp", "tt.int_to_ptr", "tt.ptr_to_int", "tt.clampf", "tt.precise_sqrt",
        "tt.precise_divf", "tt.mulhiui", "tt.extern_elementwise", "tt.elementwise_inline_asm",
    }
)  # fmt: skip
_is_elementwise: dict[str, bool] = {}


def is_elementwise(name: str) -> bool:
    """Whether MLIR gives the operation its trait Elementwise."""
    found = _is_elementwise.get(name)
    if found is None:
        found = _is_elementwise[name] = name in _ELEMENTWISE or name.startswith(_ELEMENTWISE_PREFIXES)
    return found


def is_splat(value: Val) -> bool:
    """A tensor whose elements are all one scalar."""
    return value.const is not None or (value.node is not None and value.node.name == "tt.splat")


class Builder:
    """Appends operations to the current region. `line` and `path` go on each operation."""

    __slots__ = (
        "combining", "constants", "count", "limit", "line", "made", "path", "region", "release", "unmoved",
    )  # fmt: skip

    def __init__(self, release: tuple[int, int] = (3, 9), limit: int = 200_000) -> None:
        self.release = release
        self.combining = True  # additions to one pointer become one
        self.region = Region(None)
        self.constants: dict[Any, Val] = {}
        self.line = 0
        self.path = ""
        # Pointers whose addition was done before a splat or broadcast -> operands of the addition as it was asked for.
        self.unmoved: dict[Val, tuple[Val, ...]] = {}
        self.count = 0
        self.limit = limit
        self.made: list[Node] = []

    def take_apart(self) -> None:
        """Once all is frozen: the parts refer to each other in circles, which a collection would have to find. To be
        called when the builder is of no more use."""
        for node in (*self.made, *walk(self.region)):
            node.results = ()
            node.region = None
        for node in self.made:
            node.blocks = ()
        self.made.clear()

    # --- constants ---------------------------------------------------------------------------------------------

    def constant(self, value: Any, type_: Type) -> Val:
        """A number, or a tensor of which every element is that number."""
        element = type_.element
        if element[0] == "i":
            value = _wrap(int(value), element)
            key: Any = (type_.element, type_.shape, value)
        else:
            value = float(value)
            key = (type_.element, type_.shape, repr(value))
        found = self.constants.get(key)
        if found is None:
            node = Node("arith.constant", (), {"value": value}, self.line, self.path)
            found = Val(type_, node, value)
            node.results = (found,)
            self.made.append(node)
            self.constants[key] = found
        return found

    def scalar_of(self, value: Val) -> Val:
        """The scalar that a splat repeats."""
        if value.const is not None:
            return self.constant(value.const, type_of(value.type.element, None))
        assert value.node is not None
        return value.node.operands[0]

    # --- operations ---------------------------------------------------------------------------------------------

    def emit(
        self,
        name: str,
        operands: tuple[Val, ...],
        types: tuple[Type, ...],
        attrs: dict[str, Any] | None = None,
    ) -> Node:
        """Append an operation as it is."""
        self.count += 1
        node = Node(name, operands, attrs if attrs is not None else {}, self.line, self.path)
        region = self.region
        node.region = region
        if types:
            node.results = tuple([Val(t, node) for t in types])
        region.ops.append(node)
        self.made.append(node)
        if name in WRITES:
            region.writes = True
        return node

    def op(
        self, name: str, operands: tuple[Val, ...], type_: Type, attrs: dict[str, Any] | None = None
    ) -> Val:
        """A pure operation with one result, or what it folds to."""
        if name in COMMUTATIVE and operands[0].const is not None and operands[1].const is None:
            operands = (operands[1], operands[0])
        fold = FOLDS.get(name)
        if fold is not None:
            folded = fold(self, operands, type_, attrs)
            if folded is not None:
                return folded
        if (
            type_.shape is not None
            and is_elementwise(name)
            and (name != "tt.fp_to_fp" or self.release >= (3, 3))
        ):
            moved = self._before_broadcast(name, operands, type_, attrs)
            if moved is not None:
                if name == "tt.addptr":
                    self.unmoved[moved] = operands
                return moved
        return self.emit(name, operands, (type_,), attrs).results[0]

    def _before_broadcast(
        self, name: str, operands: tuple[Val, ...], type_: Type, attrs: dict[str, Any] | None
    ) -> Val | None:
        """f(splat a, splat b) as splat f(a, b); f(broadcast a, splat b) as broadcast f(a, splat b)."""
        source: tuple[int, ...] | None = None
        for operand in operands:
            node = operand.node
            if node is None:
                return None
            if node.name == "tt.broadcast":
                shape = node.operands[0].type.shape
                if source is None:
                    source = shape
                elif source != shape:
                    return None
            elif operand.const is None and node.name != "tt.splat":
                return None
            if operand.type.shape is None:
                return None  # the scalar condition of a select
        if name == "tt.elementwise_inline_asm" and not (attrs or {}).get("pure", True):
            return None
        if source is None:
            if not operands:
                return None
            inner = self.op(
                name, tuple([self.scalar_of(v) for v in operands]), type_of(type_.element, None), attrs
            )
            return self.splat(inner, type_.shape or ())
        smaller = []
        for operand in operands:
            node = operand.node
            assert node is not None
            if node.name == "tt.broadcast":
                smaller.append(node.operands[0])
            elif operand.const is not None:
                smaller.append(self.constant(operand.const, type_of(operand.type.element, source)))
            else:
                smaller.append(self.splat(node.operands[0], source))
        inner = self.op(name, tuple(smaller), type_of(type_.element, source), attrs)
        return self.broadcast(inner, type_.shape or ())

    # --- shapes ------------------------------------------------------------------------------------------------

    def splat(self, value: Val, shape: tuple[int, ...]) -> Val:
        if not shape:
            return value
        type_ = type_of(value.type.element, shape)
        if value.const is not None:
            return self.constant(value.const, type_)
        return self.emit("tt.splat", (value,), (type_,)).results[0]

    def broadcast(self, value: Val, shape: tuple[int, ...]) -> Val:
        type_ = type_of(value.type.element, shape)
        if value.type is type_ or value.type == type_:
            return value
        if value.const is not None:
            return self.constant(value.const, type_)
        node = value.node
        if node is not None:
            if node.name == "tt.splat":
                return self.splat(node.operands[0], shape)
            if node.name == "tt.broadcast":
                value = node.operands[0]
        return self.emit("tt.broadcast", (value,), (type_,)).results[0]

    def expand_dims(self, value: Val, axis: int) -> Val:
        old = value.type.shape or ()
        shape = (*old[:axis], 1, *old[axis:])
        type_ = type_of(value.type.element, shape)
        if value.const is not None:
            return self.constant(value.const, type_)
        node = value.node
        if node is not None:
            if node.name == "tt.splat":
                return self.splat(node.operands[0], shape)
            if node.name == "tt.broadcast":
                return self.broadcast(self.expand_dims(node.operands[0], axis), shape)
        return self.emit("tt.expand_dims", (value,), (type_,), {"axis": axis}).results[0]

    def reshape(self, value: Val, shape: tuple[int, ...], allow_reorder: bool) -> Val:
        type_ = type_of(value.type.element, shape)
        if value.const is not None:
            return self.constant(value.const, type_)
        if value.type == type_ and (not allow_reorder or self.release < (3, 3)):
            return value
        node = value.node
        if node is not None:
            if node.name == "tt.splat":
                return self.splat(node.operands[0], shape)
            if (
                node.name == "tt.expand_dims"
                and not allow_reorder
                and self.release >= (3, 9)
                and node.operands[0].type == type_
            ):
                return node.operands[0]
            if node.name == "tt.reshape":
                return self.reshape(
                    node.operands[0], shape, allow_reorder or bool(node.attrs["allow_reorder"])
                )
        return self.emit("tt.reshape", (value,), (type_,), {"allow_reorder": allow_reorder}).results[0]

    def trans(self, value: Val, order: tuple[int, ...]) -> Val:
        old = value.type.shape or ()
        shape = tuple([old[i] for i in order])
        type_ = type_of(value.type.element, shape)
        if order == tuple(range(len(order))):
            return value
        if value.const is not None:
            return self.constant(value.const, type_)
        node = value.node
        if node is not None and node.name == "tt.trans":
            inner = node.attrs["order"]
            return self.trans(node.operands[0], tuple([inner[i] for i in order]))
        return self.emit("tt.trans", (value,), (type_,), {"order": order}).results[0]

    # --- regions -----------------------------------------------------------------------------------------------

    def enter(self) -> Region:
        """Open a nested region; what is appended goes there until `leave`."""
        self.region = Region(self.region)
        return self.region

    def leave(self) -> Region:
        closed = self.region
        assert closed.parent is not None
        self.region = closed.parent
        return closed

    def close(self, node: Node) -> None:
        """Note in the current region what the blocks of an operation do to memory."""
        if any(block.writes for block in node.blocks):
            self.region.writes = True

    def poison(self, type_: Type) -> Val:
        """A value of which nothing is known but its type."""
        return self.emit("ub.poison", (), (type_,)).results[0]


def _wrap(value: int, element: str) -> int:
    """The two's complement reading of an integer, as MLIR keeps one: signless, printed signed; i1 as 0 or 1."""
    bits = int(element[1:]) if element[1:].isdigit() else 64
    if bits == 1:
        return value & 1
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def is_finite(value: float) -> bool:
    return math.isfinite(value)
