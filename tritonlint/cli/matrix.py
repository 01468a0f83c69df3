"""`tritonlint matrix`: every config against every GPU."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonlint.cli.main import FAILED, CommandError
from tritonlint.cli.progress import Progress

if TYPE_CHECKING:
    from tritonlint.matrix import Row

FORMATS = ("text", "json", "markdown", "html")
PROGRESS_FILES = 4  # a file takes longer here than in `check`


@click.command(short_help="Every config against every GPU.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--gpu", "gpus", multiple=True, metavar="NAME", help="A GPU or target; repeatable.")
@click.option("--triton", multiple=True, metavar="VERSION", help="The Triton release; repeatable.")
@click.option("--output-format", type=click.Choice(FORMATS), default="text", show_default=True,
              help="html is one page that works offline (needs tritonlint[html]).")  # fmt: skip
@click.option("--output-file", metavar="F", help="Write there instead of standard output.")
def command(
    paths: tuple[str, ...],
    gpus: tuple[str, ...],
    triton: tuple[str, ...],
    output_format: str,
    output_file: str | None,
) -> int:
    """Every config against every GPU: fits or by how many bytes not, CTAs per SM, what limits them, and the
    predicted time where the sizes are known."""
    if output_format == "html":
        _check_html()
    rows, columns, releases, failed = _rows(paths, gpus, triton)
    if failed and not rows:  # an empty matrix would say that there is nothing to find
        return FAILED
    text = _text(rows, columns, releases, output_format, to_file=output_file is not None)
    if output_file is not None:
        from tritonlint.cli.files import write_text

        write_text(output_file, text)
    else:
        click.echo(text, nl=False, color=True)
    return FAILED if failed else 0


def _check_html() -> None:
    """Before any work, so that nobody waits for a page that cannot be made."""
    from tritonlint.output.page.render import missing

    name = missing()
    if name is not None:
        raise CommandError(f"--output-format html needs {name}: install tritonlint[html]")


def _rows(
    paths: Sequence[str], gpus: Sequence[str], triton: Sequence[str]
) -> tuple[list[Row], list[str], list[str], bool]:
    """(the rows, the GPUs, the releases, whether something could not be read)."""
    from tritonlint.discovery import discover
    from tritonlint.lint import relevant
    from tritonlint.matrix import rows_of
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
    with Progress("Estimating", PROGRESS_FILES) as progress:
        for done, path in enumerate(found.files):
            progress.tell(done, len(found.files))
            try:
                data = Path(path).read_bytes()
            except OSError as error:
                click.echo(f"{path}: error: cannot be read: {error.strerror or error}", err=True)
                failed = True
                continue
            if not relevant(path, data):
                continue
            settings = resolver.for_path(Path(path))
            for release in triton or (None,):
                targets = choose(settings, Path(path).absolute().parent, gpus, release)
                names.update(dict.fromkeys(gpu.name for gpu in targets.gpus))
                releases[targets.triton_name] = None
                try:
                    rows += rows_of(path, data, settings, targets)
                except Exception as error:
                    click.echo(f"{path}: error: internal error: {type(error).__name__}: {error}", err=True)
                    failed = True
    columns = list(dict.fromkeys([*names, *(name for row in rows for name in row.cells)]))
    return rows, columns, list(releases), failed


def _text(
    rows: Sequence[Row], columns: Sequence[str], releases: Sequence[str], output_format: str, to_file: bool
) -> str:
    from tritonlint.matrix import markdown, matrix_object

    if output_format == "json":
        return json.dumps(matrix_object(rows, columns, releases), indent=2, ensure_ascii=False) + "\n"
    if output_format == "markdown":
        return markdown(rows, columns, releases)
    if output_format == "html":
        from tritonlint.output.page.render import render as render_page

        return render_page(rows, columns, releases)
    from tritonlint.output.matrix_text import render

    return render(rows, columns, releases, None if to_file else sys.stdout)
