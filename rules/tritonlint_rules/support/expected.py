"""What is meant to fail: launches and decorators that a test expects to raise."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from tritonlint.rule import Context
from tritonlint.span import Span
from tritonlint_rules.support.places import Place

_NAMES = re.compile(r"\b(raises|assertRaises(Regex)?)\s*\(")
_CALLS = ("raises", "assertRaises", "assertRaisesRegex")


def is_expected(context: Context, place: Place) -> bool:
    """Whether what stands there, or the launch that the finding is about, stands in a `with` that expects an
    exception."""
    if not context.says(_NAMES):
        return False
    blocks = _blocks(context.source)
    launch = context.plan.launch
    spans = [place.span] if place.path == context.path else []
    if launch is not None and (launch.path or context.plan.kernel.path) == context.path:
        spans.append(launch.span)
    return any(block.contains(span) for block in blocks for span in spans)


@lru_cache(maxsize=4)  # each finding of a file asks
def _blocks(source: str) -> tuple[Span, ...]:
    """The bodies of `with pytest.raises(...)`, `with self.assertRaises(...)` and the like."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(
        Span(node.body[0].lineno, 1, (node.end_lineno or node.lineno) + 1, 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.With) and any(_expects(item.context_expr) for item in node.items)
    )


def _expects(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in _CALLS
