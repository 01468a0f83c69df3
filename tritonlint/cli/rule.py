"""`tritonlint rule`: what a rule looks for, why, and what would be better."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from tritonlint.cli.main import CommandError
from tritonlint.output.json_text import json_text

if TYPE_CHECKING:
    from tritonlint.rule import Rule


@click.command(short_help="Explain a rule.")
@click.argument("name", required=False, metavar="[CODE|NAME]")
@click.option("--output-format", type=click.Choice(["text", "json", "markdown"]), default="text",
              show_default=True)  # fmt: skip
def command(name: str | None, output_format: str) -> int:
    """What a rule looks for, why, an example, the better form, and when it does not apply.

    Without a name: every rule, in one line each.
    """
    from tritonlint.registry import registry
    from tritonlint.rule_text import markdown, rule_object

    known = registry()
    for problem in known.problems:
        click.echo(f"error: {problem}", err=True)
    if name is None:
        rules = known.rules
    else:
        rule = known.find(name)
        if rule is None:
            raise CommandError(_unknown(name, known.rules))
        rules = (rule,)
    if output_format == "json":
        objects = [rule_object(rule) for rule in rules]
        text = json_text(objects[0] if name else objects)
    elif output_format == "markdown":
        text = "\n\n".join(markdown(rule) for rule in rules)
    elif name is None:
        text = "\n".join(_table(rules))
    else:
        from tritonlint.output.style import style_for

        text = "\n".join(plain(markdown(rules[0]).splitlines(), style_for(sys.stdout)))
    click.echo(text)
    return 0


def _unknown(name: str, rules: tuple[Rule, ...]) -> str:
    """What to say of a name that is no rule's: the rules of a family, else those with near names."""
    from tritonlint.settings import near

    prefix = name.strip().upper()
    family = [rule.code for rule in rules if rule.code.startswith(prefix)]
    if family and len(prefix) > 2:
        return f"{prefix} is no single rule; it stands for {', '.join(family)}"
    hint = near(name, [*(rule.code for rule in rules), *(rule.name for rule in rules)])
    return f"unknown rule {name!r}" + (hint or "; `tritonlint rule` lists the known ones")


def plain(lines: list[str], style: Any) -> list[str]:
    """Markdown for a terminal: headings in bold, code indented, fences gone, long lines broken."""
    import textwrap

    shown: list[str] = []
    code = False
    for line in lines:
        if line.startswith("```"):
            code = not code
        elif code:
            shown.append(f"    {line}")
        elif line.startswith("#"):
            shown.append(style.paint(line.lstrip("# "), "bold"))
        else:
            shown += textwrap.wrap(line.replace("`", ""), 100, break_long_words=False) or [""]
    return shown


def _table(rules: tuple[Rule, ...]) -> list[str]:
    width = max((len(rule.name) for rule in rules), default=0)
    return [
        f"{rule.code}  {rule.name:<{width}}  {rule.severity:<7}  {rule.what.split('. ')[0].rstrip('.')}"
        for rule in rules
    ]
