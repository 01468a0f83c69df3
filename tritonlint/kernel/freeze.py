"""From the graph to the frozen records of `ir`."""

from __future__ import annotations

from typing import Any

from tritonlint.kernel import ir
from tritonlint.kernel.graph import Node, Region, Val

_INTERNAL = frozenset({"combine"})


class Freezer:
    """Makes the records; every value is made once."""

    __slots__ = ("constants", "values")

    def __init__(self) -> None:
        self.values: dict[Val, ir.Value] = {}
        self.constants: dict[Val, ir.Op] = {}

    def value(self, v: Val) -> ir.Value:
        found = self.values.get(v)
        if found is None:
            found = self.values[v] = ir.Value(v.type, v.name)
            if v.const is not None and v.node is not None:
                self.constants[v] = ir.Op(
                    "arith.constant", (), (found,), v.node.attrs, (), v.node.line, v.node.path
                )
        return found

    def op(self, node: Node) -> ir.Op:
        value = self.value
        attrs: dict[str, Any] = node.attrs
        if "combine" in attrs:
            attrs = {k: v for k, v in attrs.items() if k not in _INTERNAL}
        operands = tuple([value(v) for v in node.operands])
        results = tuple([value(v) for v in node.results])
        if node.name == "tt.call":
            attrs = {**attrs, "callee": self.callee(node)}
            return ir.Op(node.name, operands, results, attrs, (), node.line, node.path)
        blocks = tuple([self.block(b) for b in node.blocks]) if node.blocks else ()
        return ir.Op(node.name, operands, results, attrs, blocks, node.line, node.path)

    def block(self, region: Region) -> ir.Block:
        args = tuple([self.value(v) for v in region.args])
        return ir.Block(args, tuple([self.op(n) for n in region.ops]))

    def entry(self, region: Region) -> ir.Block:
        """The body of a function: its constants stand first."""
        block = self.block(region)
        return ir.Block(block.args, (*self.constants.values(), *block.ops))

    def callee(self, node: Node) -> ir.Function:
        inner = Freezer()
        body = inner.entry(node.blocks[0])
        arguments = tuple([ir.Argument(v.name, v) for v in body.args])
        return ir.Function(str(node.attrs["callee"]), arguments, body, noinline=True)
