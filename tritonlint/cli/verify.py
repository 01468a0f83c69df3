"""`tritonlint verify`: the same numbers from the real compiler."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonlint.cli.main import FAILED, CommandError
from tritonlint.output.json_text import json_text

if TYPE_CHECKING:
    from tritonlint.verify.run import Report


@click.command(short_help="The same numbers from the real compiler; no GPU needed.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--gpu", "gpus", multiple=True, metavar="NAME", help="A GPU or target; repeatable.")
@click.option(
    "--type", "types", multiple=True, metavar="NAME=TYPE", help="The type of arguments that nothing tells."
)
@click.option(
    "--set", "sets", multiple=True, metavar="NAME=VALUE", help="A constant of which nothing tells the value."
)
@click.option(
    "--python", metavar="F", help="The Python whose Triton compiles (default: the one that runs this)."
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="How many compile at the same time.")
@click.option("--per-kernel", type=click.IntRange(min=1), metavar="N", help="At most N configs of a kernel.")
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="At most N configs for each GPU.")
@click.option("--time-limit", type=click.FloatRange(min=1), default=120.0, show_default=True, metavar="S",
              help="Seconds for one import, and for one compile.")  # fmt: skip
@click.option("--memory-limit", type=click.IntRange(min=1), default=8192, show_default=True, metavar="MB",
              help="For one compile.")  # fmt: skip
@click.option("--no-cache", is_flag=True, help="Compile everything again.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--output-file", metavar="F", help="Write there instead of standard output.")
def command(
    paths: tuple[str, ...],
    gpus: tuple[str, ...],
    types: tuple[str, ...],
    sets: tuple[str, ...],
    python: str | None,
    jobs: int | None,
    per_kernel: int | None,
    sample: int | None,
    time_limit: float,
    memory_limit: int,
    no_cache: bool,
    output_format: str,
    output_file: str | None,
) -> int:
    """The same numbers from the real compiler: every launch and config of which all values are known is compiled with
    the installed Triton, and compared with its estimate.

    The files are imported, in processes of their own, with a stand-in for the GPU. Exit status: 0 all as estimated or
    missed by an estimate that claims nothing; 1 a claim is contradicted or something was not compiled; 2 the arguments,
    the settings or a path are wrong, or there is no Triton.
    """
    if os.name != "posix" or not hasattr(os, "fork"):
        raise CommandError("verify needs an operating system with fork, such as Linux")
    from tritonlint.cli.estimate import pair
    from tritonlint.cli.progress import Progress
    from tritonlint.jobs import JobError, check_type, constant
    from tritonlint.result_cache import cache_folder
    from tritonlint.settings import Resolver
    from tritonlint.source.comments import parse_value
    from tritonlint.targets import named_gpu, own_profiles
    from tritonlint.verify.engine import Engine, Interpreter, Limits
    from tritonlint.verify.run import Wanted, verify
    from tritonlint.verify.store import Store

    try:
        given = {name: check_type(name, text) for name, text in (pair(text, "--type") for text in types)}
    except JobError as error:
        raise CommandError(str(error)) from None
    constants = {name: constant(parse_value(text)) for name, text in (pair(text, "--set") for text in sets)}
    resolver = Resolver()
    for name in gpus:
        named_gpu(name, own_profiles(resolver.for_path(Path(paths[0]))))
    limits = Limits(time_limit, time_limit, memory_limit << 20)
    store = Store(None if no_cache else cache_folder())
    engine = Engine(Interpreter(python or sys.executable), jobs or os.cpu_count() or 1, limits)
    try:
        with engine, Progress("Compiling", enough=2) as bar:
            report = verify(
                Wanted(paths, gpus, given, constants, per_kernel, sample), resolver, engine, store, bar.tell
            )
    finally:
        store.close()
    _write(report, output_format, output_file)
    if report.problems or report.no_triton:
        return FAILED
    counts = report.counts()
    return int(bool(counts["wrong"] or counts["failed"]))


def _write(report: Report, output_format: str, output_file: str | None) -> None:
    if output_format == "json":
        from tritonlint.verify.report import report_object

        text = json_text(report_object(report)) + "\n"
    else:
        from tritonlint.output.verify_text import render

        text = render(report, None if output_file else sys.stdout)
    if output_file is not None:
        from tritonlint.cli.files import write_report

        write_report(output_file, text)
    else:
        click.echo(text, nl=False, color=True)
    if report.no_triton:
        click.echo(f"error: {report.no_triton}", err=True)
