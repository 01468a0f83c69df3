"""`tritonlint check`: the options. What is done with them is in `checking`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

from tritonlint.cli.main import CommandError
from tritonlint.cli.options import split_names
from tritonlint.finding import Certainty, Severity
from tritonlint.settings import Resolver

FORMATS = ("concise", "full", "json", "sarif", "github", "gitlab", "junit")


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, as given."""

    paths: tuple[str, ...]
    gpus: tuple[str, ...]
    triton: str | None
    severity: Severity
    certainty: Certainty
    fail_on: Literal["error", "warning", "info", "never"]
    output_format: str
    output_file: str | None
    fix: bool
    unsafe_fixes: bool
    diff: bool
    baseline: str | None
    write_baseline: str | None
    since: str | None
    stdin_filename: str | None
    jobs: int | None
    no_cache: bool
    statistics: bool


@click.command(short_help="Report what does not fit, compile, agree or is slow.")
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option(
    "--gpu", "gpus", multiple=True, metavar="NAME", help="Check for this GPU or target; repeatable."
)
@click.option("--triton", metavar="VERSION", help="Check for this Triton release, such as 3.9.")
@click.option("--select", multiple=True, metavar="CODE,..", help="Only these rules, families or names.")
@click.option("--ignore", multiple=True, metavar="CODE,..", help="Not these rules, families or names.")
@click.option("--severity", type=click.Choice(["error", "warning", "info"]), default="warning",
              show_default=True, help="Report this severity and worse.")  # fmt: skip
@click.option("--certainty", type=click.Choice(["proven", "likely", "possible"]), default="likely",
              show_default=True, help="Report what is known at least that surely.")  # fmt: skip
@click.option("--fail-on", type=click.Choice(["error", "warning", "info", "never"]), default="warning",
              show_default=True, help="Exit with 1 for this severity and worse.")  # fmt: skip
@click.option("--output-format", type=click.Choice(FORMATS), default="full", show_default=True)
@click.option("--output-file", metavar="F", help="Write there instead of standard output.")
@click.option("--fix", is_flag=True, help="Apply the fixes that change neither results nor tile shapes.")
@click.option("--unsafe-fixes", is_flag=True, help="Apply every fix.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing.")
@click.option("--baseline", metavar="F", help="A file of known findings, not to be reported again.")
@click.option(
    "--write-baseline", metavar="F", help="Write all findings into a new baseline, and report none."
)
@click.option(
    "--facts",
    multiple=True,
    metavar="F",
    help="Numbers that were compiled or measured; see the setting `facts`.",
)
@click.option("--since", metavar="GITREF", help="Only what was not there at this commit or branch.")
@click.option("--stdin-filename", metavar="F", help="The name of what `-` reads from standard input.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="How many processes work.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write results of earlier runs.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule.")
@click.option("--watch", is_flag=True, help="Lint again whenever a file changes (needs tritonlint[watch]).")
@click.option("--show-settings", is_flag=True, help="Print the settings with their origins, and stop.")
@click.option("--show-files", is_flag=True, help="Print the files that would be read, and stop.")
@click.option("--config", metavar="F", help="Take the settings from this file.")
@click.option("--isolated", is_flag=True, help="Take no settings file.")
def command(
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    facts: tuple[str, ...],
    watch: bool,
    show_settings: bool,
    show_files: bool,
    config: str | None,
    isolated: bool,
    **given: Any,
) -> int:
    """Report what does not fit, does not compile, disagrees with its kernel, or is slow.

    A PATH is a file, a folder, or - for standard input. Exit status: 0 nothing at or over --fail-on, 1
    something, 2 the arguments, the settings or a path are wrong.
    """
    options = Options(**given)
    overrides = {
        "select": split_names(select) or None,
        "ignore": split_names(ignore) or None,
        "facts": tuple(str(Path(path).expanduser().absolute()) for path in facts) or None,
    }
    resolver = Resolver(overrides, Path(config) if config else None, isolated)
    _agree(options, watch)
    if show_settings or show_files:
        from tritonlint.cli import showing

        return showing.settings(options, resolver) if show_settings else showing.files(options, resolver)
    from tritonlint.cli import checking

    if watch:
        from tritonlint.cli.watching import watch as keep_watching

        return keep_watching(
            options.paths, lambda: checking.run(options, Resolver(overrides, resolver.file, isolated))
        )
    return checking.run(options, resolver)


def _agree(options: Options, watch: bool) -> None:
    """Options that exclude each other."""
    if not options.paths:
        raise CommandError("no path given; try `tritonlint .` or `tritonlint check --help`")
    stdin = "-" in options.paths
    if stdin and len(options.paths) > 1:
        raise CommandError("`-` cannot be combined with other paths")
    if options.baseline and options.write_baseline:
        raise CommandError("--baseline and --write-baseline exclude each other")
    if options.write_baseline and (options.since or options.fix or options.unsafe_fixes or options.diff):
        raise CommandError("--write-baseline records a whole run: not with --since, --fix or --diff")
    if stdin and (options.since or options.write_baseline or watch):
        raise CommandError("standard input has no history: not with --since, --write-baseline or --watch")
