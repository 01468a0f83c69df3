"""`tritonlint schema`: the JSON Schemas of the settings and of a report."""

from __future__ import annotations

from pathlib import Path

import click

SCHEMAS = Path(__file__).resolve().parents[1] / "schema"


@click.command(short_help="The JSON Schema of the settings or of a report.")
@click.argument("name", type=click.Choice(["settings", "report"]))
def command(name: str) -> int:
    """Prints the JSON Schema of the settings file, or of the output of `check --output-format json`."""
    click.echo((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"), nl=False)
    return 0
