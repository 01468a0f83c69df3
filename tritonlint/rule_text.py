"""The page of a rule, as the terminal, the documentation, hover and SARIF print it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritonlint.rule import Rule

_FIX = {"no": "no fix", "safe": "fixed by `--fix`", "unsafe": "fixed by `--unsafe-fixes`"}


def markdown(rule: Rule) -> str:
    """The whole page in Markdown."""
    sections = (
        ("What it looks for", rule.what),
        ("Why", rule.why),
        ("Example", rule.example),
        ("Better", rule.better),
        ("When it does not apply", rule.when_not),
        ("Where the numbers come from", rule.source),
    )
    parts = [f"# {rule.code} {rule.name}", f"Default severity: `{rule.severity}`, {_FIX[rule.fixable]}."]
    parts += [f"## {title}\n\n{text}" for title, text in sections if text]
    return "\n\n".join(parts)


def rule_object(rule: Rule) -> dict[str, Any]:
    """A rule as JSON; the texts are Markdown."""
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity,
        "fixable": rule.fixable,
        "what": rule.what,
        "why": rule.why,
        "example": rule.example,
        "better": rule.better,
        "when_not": rule.when_not,
        "source": rule.source,
    }
