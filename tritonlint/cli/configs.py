"""`tritonlint configs`: what every autotune list and launch resolves to."""

from __future__ import annotations

import click

from tritonlint.cli.main import FAILED
from tritonlint.cli.reading import Reader
from tritonlint.output.json_text import json_text
from tritonlint.settings import SettingsError


@click.command(short_help="Every autotune list and launch with the values that it resolves to.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--gpu", default="h100", show_default=True, metavar="NAME", help="As conditions decide it there."
)
@click.option("--triton", metavar="VERSION", help="The Triton release.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(paths: tuple[str, ...], gpu: str, triton: str | None, output_format: str) -> int:
    """Every autotune list and launch that was found, with the values it resolves to, or why it does not."""
    from tritonlint.sites_report import sites_of, text_lines

    sites = []
    reader = Reader(paths)
    for file in reader:
        try:
            sites += sites_of(reader.read(file, file.targets([gpu], triton)))
        except SettingsError:
            raise
        except Exception as error:
            reader.internal(file.path, error)
    if output_format == "json":
        click.echo(json_text({"sites": sites}))
    else:
        click.echo("\n".join(text_lines(sites)) or "no autotune list and no launch found")
    return FAILED if reader.failed else 0
