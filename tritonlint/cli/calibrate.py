"""`tritonlint calibrate`: where the model is off, by mechanism."""

from __future__ import annotations

import os
import sys

import click

from tritonlint.cli.main import FAILED, CommandError
from tritonlint.output.json_text import json_text


@click.command(short_help="Where the estimates are off, by mechanism.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--facts", multiple=True, metavar="F", help="Compare with these; without, the installed Triton compiles."
)
@click.option("--gpu", "gpus", multiple=True, metavar="NAME", help="A GPU or target; repeatable.")
@click.option("--triton", metavar="VERSION", help="The release, where facts are of several.")
@click.option(
    "--python", metavar="F", help="The Python whose Triton compiles (default: the one that runs this)."
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="How many compile at the same time.")
@click.option("--per-kernel", type=click.IntRange(min=1), metavar="N", help="At most N configs of a kernel.")
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="At most N configs for each GPU.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--output-file", metavar="F", help="Write there instead of standard output.")
def command(
    paths: tuple[str, ...],
    facts: tuple[str, ...],
    gpus: tuple[str, ...],
    triton: str | None,
    python: str | None,
    jobs: int | None,
    per_kernel: int | None,
    sample: int | None,
    output_format: str,
    output_file: str | None,
) -> int:
    """Where the estimates differ from what was compiled or measured, by the mechanism that would explain it.

    Facts are what `check --facts` takes. Without them every launch is compiled as `verify` does, and files are
    imported in processes of their own. Exit status: 0 no claim is contradicted; 1 one is; 2 the arguments, the settings
    or a path are wrong, or there is no Triton.
    """
    from tritonlint.cli.progress import Progress
    from tritonlint.facts.reading import FactsError, read_facts
    from tritonlint.output.calibration_text import calibration_object, lines
    from tritonlint.result_cache import cache_folder
    from tritonlint.settings import Resolver
    from tritonlint.verify.calibrate import from_compiler, from_facts
    from tritonlint.verify.calibration import mechanisms
    from tritonlint.verify.engine import Engine, Interpreter, NoTriton
    from tritonlint.verify.run import Wanted
    from tritonlint.verify.store import Store

    wanted = Wanted(paths, gpus, per_kernel=per_kernel, sample=sample)
    try:
        if facts:
            found = from_facts(wanted, Resolver(), read_facts(facts), triton)
        else:
            store = Store(cache_folder())
            engine = Engine(Interpreter(python or sys.executable), jobs or os.cpu_count() or 1)
            try:
                with engine, Progress("Compiling", enough=2) as bar:
                    found = from_compiler(wanted, Resolver(), engine, store, bar.tell)
            finally:
                store.close()
    except FactsError as error:
        raise CommandError(str(error)) from None
    except NoTriton as error:
        raise CommandError(f"{error}; --facts needs none") from None
    if output_format == "json":
        text = json_text(calibration_object(found)) + "\n"
    else:
        text = "\n".join(lines(found)) + "\n"
    if output_file is not None:
        from tritonlint.cli.files import write_report

        write_report(output_file, text)
    else:
        click.echo(text, nl=False)
    if found.problems:
        return FAILED
    return int(any(one.claimed for one in mechanisms(found.compared)))
