"""What the syntax of a function says without running it. Answers are kept on the node, so each is found once."""

from __future__ import annotations

import ast
from typing import Any

from tritonlint.source.nodes import walk

_ASSIGNED = "_tritonlint_assigned"
_RETURNS = "_tritonlint_returns"
_TEXT = "_tritonlint_text"


def assigned_names(statements: list[ast.stmt], owner: ast.AST) -> frozenset[str]:
    """The names that the statements, a body of `owner`, may bind."""
    found: frozenset[str] | None = getattr(owner, _ASSIGNED, None)
    if found is None:
        names: set[str] = set()
        for statement in statements:
            for node in walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    names.add(node.id)
                elif isinstance(node, ast.NamedExpr) and isinstance(node.target, ast.Name):
                    names.add(node.target.id)
        found = frozenset(names)
        setattr(owner, _ASSIGNED, found)
    return found


def contains_return(node: ast.AST) -> bool:
    """Whether a `return` statement stands somewhere in the node."""
    found: bool | None = getattr(node, _RETURNS, None)
    if found is None:
        found = any(isinstance(child, ast.Return) for child in walk(node))
        setattr(node, _RETURNS, found)
    return found


def targets_of(statement: ast.stmt) -> list[str]:
    """The names that one statement itself binds (not the statements inside it)."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = list(statement.targets)
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
        targets = [statement.target]
    return [
        n.id for t in targets for n in walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]


def text_of(node: ast.AST) -> str:
    """The source of a node, near enough for a message. Kept at the node, since a kernel is traced for many configs."""
    kept: str | None = getattr(node, _TEXT, None)
    if kept is None:
        kept = _text_of(node)
        setattr(node, _TEXT, kept)
    return kept


def _text_of(node: ast.AST) -> str:
    if isinstance(node, ast.If):
        return f"if {text_of(node.test)}:"
    if isinstance(node, ast.For):
        return f"for {text_of(node.target)} in {text_of(node.iter)}:"
    if isinstance(node, ast.While):
        return f"while {text_of(node.test)}:"
    if isinstance(node, ast.With):
        return "with " + ", ".join(text_of(item.context_expr) for item in node.items) + ":"
    try:
        return ast.unparse(node)
    except Exception:  # a node built by hand, or nested too deeply
        return type(node).__name__


def line_of(node: Any) -> int:
    return getattr(node, "lineno", 0)
