"""`tritonlint matrix`: every config against every GPU."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonlint.cli.main import FAILED

if TYPE_CHECKING:
    from tritonlint.matrix import Row


@click.command(short_help="Every config against every GPU.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--gpu", "gpus", multiple=True, metavar="NAME", help="A GPU or target; repeatable.")
@click.option("--triton", metavar="VERSION", help="The Triton release.")
@click.option("--output-format", type=click.Choice(["text", "json", "markdown"]), default="text",
              show_default=True)  # fmt: skip
@click.option("--output-file", metavar="F", help="Write there instead of standard output.")
def command(
    paths: tuple[str, ...],
    gpus: tuple[str, ...],
    triton: str | None,
    output_format: str,
    output_file: str | None,
) -> int:
    """Every config against every GPU: fits or by how many bytes not, CTAs per SM, what limits them, and the
    predicted time where the sizes are known."""
    from tritonlint.discovery import discover
    from tritonlint.lint import relevant
    from tritonlint.matrix import markdown, matrix_object, rows_of
    from tritonlint.settings import Resolver
    from tritonlint.targets import choose

    resolver = Resolver()
    found = discover(paths, resolver)
    rows: list[Row] = []
    names: dict[str, None] = {}
    releases: dict[str, None] = {}
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
        targets = choose(settings, Path(path).absolute().parent, gpus, triton)
        names.update(dict.fromkeys(gpu.name for gpu in targets.gpus))
        releases[targets.triton_name] = None
        try:
            rows += rows_of(path, data, settings, targets)
        except Exception as error:
            click.echo(f"{path}: error: internal error: {type(error).__name__}: {error}", err=True)
            failed = True
    columns = list(dict.fromkeys([*names, *(name for row in rows for name in row.cells)]))
    if output_format == "json":
        text = json.dumps(matrix_object(rows, columns, list(releases)), indent=2, ensure_ascii=False) + "\n"
    elif output_format == "markdown":
        text = markdown(rows, columns, list(releases))
    else:
        from tritonlint.output.matrix_text import render

        text = render(rows, columns, list(releases), None if output_file else sys.stdout)
    if output_file is not None:
        from tritonlint.cli.files import write_text

        write_text(output_file, text)
    else:
        click.echo(text, nl=False, color=True)
    return FAILED if failed else 0
