"""Which of a kernel's sizes cut its work into pieces, and which are a whole dimension of the data."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# What only says how large a tile is.
_SHAPES = frozenset(
    ("arange", "zeros", "full", "zeros_like", "reshape", "view", "broadcast_to", "make_block_ptr",
     "make_tensor_descriptor", "next_power_of_2", "constexpr", "static_assert", "static_print")
)  # fmt: skip


def cutting(kernel: ast.FunctionDef) -> frozenset[str]:
    """The names that the kernel counts pieces or steps in: factors and summands (`pid * BLOCK`, `ptr += BLOCK * stride`),
    bounds of loops, arguments of other functions. One that stands in shapes alone is as large as the data is: with less
    of it the kernel would leave data out."""
    return frozenset(name for node in ast.walk(kernel) for name in _counted(node))


def _counted(node: ast.AST) -> Iterator[str]:
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.AugAssign):
        parts = [node.value]
    elif isinstance(node, ast.Assign):
        parts = [node.value]  # under another name
    elif isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in _SHAPES:
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            parts = [
                part
                for one in given
                for part in (one.elts if isinstance(one, ast.Tuple | ast.List) else [one])
            ]
    return (part.id for part in parts if isinstance(part, ast.Name))
