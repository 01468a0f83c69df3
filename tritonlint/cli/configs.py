"""`tritonlint configs`: what every autotune list and launch resolves to."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tritonlint.cli.main import FAILED
from tritonlint.settings import Resolver


@click.command(short_help="Every autotune list and launch with the values that it resolves to.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--gpu", default="h100", show_default=True, metavar="NAME", help="As conditions decide it there."
)
@click.option("--triton", metavar="VERSION", help="The Triton release.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(paths: tuple[str, ...], gpu: str, triton: str | None, output_format: str) -> int:
    """Every autotune list and launch that was found, with the values it resolves to, or why it does not."""
    from tritonlint.discovery import discover
    from tritonlint.lint import relevant
    from tritonlint.sites_report import site_objects, text_lines
    from tritonlint.targets import choose

    resolver = Resolver()
    found = discover(paths, resolver)
    sites = []
    failed = bool(found.problems)
    for entry in found.problems:
        click.echo(f"{entry.path}: error: {entry.reason}", err=True)
    for path in found.files:
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            click.echo(f"{path}: error: cannot be read: {error.strerror or error}", err=True)
            failed = True
            continue
        if not relevant(path, data):
            continue
        settings = resolver.for_path(Path(path))
        targets = choose(settings, Path(path).absolute().parent, [gpu], triton)
        try:
            sites += site_objects(path, data, settings, targets)
        except Exception as error:
            click.echo(f"{path}: error: internal error: {type(error).__name__}: {error}", err=True)
            failed = True
    if output_format == "json":
        click.echo(json.dumps({"sites": sites}, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(text_lines(sites)) or "no autotune list and no launch found")
    return FAILED if failed else 0
