"""`tritonlint matrix`: every config against every GPU."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from tritonlint.cli.main import FAILED, CommandError
from tritonlint.cli.progress import Progress
from tritonlint.cli.reading import Reader
from tritonlint.output.json_text import json_text

if TYPE_CHECKING:
    from tritonlint.matrix import Row

FORMATS = ("text", "json", "markdown", "html")
SHARES = 1000  # in which progress is told


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
        from tritonlint.cli.files import write_report

        write_report(output_file, text)
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
    from tritonlint.matrix import rows_of

    rows: list[Row] = []
    names: dict[str, None] = {}
    releases: dict[str, None] = {}
    reader = Reader(paths)
    wanted = triton or (None,)
    with Progress("Estimating", SHARES) as progress:
        for file in reader:
            for place, release in enumerate(wanted):
                targets = file.targets(gpus, release)
                names.update(dict.fromkeys(targets.names))
                releases[targets.triton_name] = None
                before = file.number + place / len(wanted)

                def tell(share: float, before: float = before, total: int = file.total) -> None:
                    progress.tell(int(SHARES * (before + share / len(wanted)) / total), SHARES)

                try:
                    rows += rows_of(reader.read(file, targets), tell)
                except Exception as error:
                    reader.internal(file.path, error)
    columns = list(dict.fromkeys([*names, *(name for row in rows for name in row.cells)]))
    return rows, columns, list(releases), reader.failed


def _text(
    rows: Sequence[Row], columns: Sequence[str], releases: Sequence[str], output_format: str, to_file: bool
) -> str:
    from tritonlint.matrix import markdown, matrix_object

    if output_format == "json":
        return json_text(matrix_object(rows, columns, releases)) + "\n"
    if output_format == "markdown":
        return markdown(rows, columns, releases)
    if output_format == "html":
        from tritonlint.output.page.render import render as render_page

        return render_page(rows, columns, releases)
    from tritonlint.output.matrix_text import render

    return render(rows, columns, releases, None if to_file else sys.stdout)
