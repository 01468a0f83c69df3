"""`tritonlint check`: lint files and folders."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from tritonlint.cli.main import FAILED, CommandError
from tritonlint.cli.options import counted, split_names
from tritonlint.finding import SEVERITIES, Certainty, Severity
from tritonlint.settings import Resolver

if TYPE_CHECKING:
    from tritonlint.lint_many import Report

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
    stdin_filename: str | None
    jobs: int | None
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
@click.option("--stdin-filename", metavar="F", help="The name of what `-` reads from standard input.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="How many processes work.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule.")
@click.option("--show-settings", is_flag=True, help="Print the settings with their origins, and stop.")
@click.option("--show-files", is_flag=True, help="Print the files that would be read, and stop.")
@click.option("--config", metavar="F", help="Take the settings from this file.")
@click.option("--isolated", is_flag=True, help="Take no settings file.")
def command(
    select: tuple[str, ...],
    ignore: tuple[str, ...],
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
    overrides = {"select": split_names(select) or None, "ignore": split_names(ignore) or None}
    resolver = Resolver(overrides, Path(config) if config else None, isolated)
    if not options.paths:
        raise CommandError("no path given; try `tritonlint .` or `tritonlint check --help`")
    if "-" in options.paths and len(options.paths) > 1:
        raise CommandError("`-` cannot be combined with other paths")
    if show_settings:
        return _show_settings(options, resolver)
    if show_files:
        return _show_files(options, resolver)
    _check_targets(options, resolver)
    report = _visible(_lint(options, resolver), options.severity)
    if options.diff:
        return _diff(report, options)
    if options.fix or options.unsafe_fixes:
        if options.paths == ("-",):
            return _fix_stdin(report, options)
        report = _fix(report, options, resolver)
    _write(report, options)
    return _status(report, options.fail_on)


def _diff(report: Report, options: Options) -> int:
    from tritonlint.cli.fixing import changes, diff_lines

    found = changes(report, options.unsafe_fixes)
    for change in found:
        click.echo("\n".join(diff_lines(change)))
    _write_problems(report)
    return max(_status(report, "never"), int(bool(found)))


def _fix(report: Report, options: Options, resolver: Resolver) -> Report:
    from tritonlint.cli.fixing import fix_files

    done = fix_files(
        report, options.unsafe_fixes, lambda: _visible(_lint(options, resolver), options.severity)
    )
    if done.fixes:
        click.echo(f"{counted(done.fixes, 'fix')} applied in {counted(done.files, 'file')}.", err=True)
    return done.report


def _fix_stdin(report: Report, options: Options) -> int:
    """The mended text to standard output, what is left to standard error."""
    from tritonlint.cli.fixing import changes
    from tritonlint.output.render import render
    from tritonlint.output.style import Style

    found = changes(report, options.unsafe_fixes)
    click.echo(found[0].new if found else next(iter(report.sources.values()), ""), nl=False)
    click.echo(render(report, "concise", Style()), nl=False, err=True)
    _write_problems(report)
    return _status(report, options.fail_on)


def _check_targets(options: Options, resolver: Resolver) -> None:
    """A GPU or a release that is not known is an error, whether or not there is anything to check."""
    if not options.gpus and not options.triton:
        return
    from tritonlint.gpu.names import resolve

    if options.triton or any(resolve(name) is None for name in options.gpus):
        from tritonlint.targets import named_gpu, named_release, own_profiles

        first = options.stdin_filename or "." if options.paths[0] == "-" else options.paths[0]
        own = own_profiles(resolver.for_path(Path(first)))
        for name in options.gpus:
            named_gpu(name, own)
        if options.triton:
            named_release(options.triton)


def _lint(options: Options, resolver: Resolver) -> Report:
    from tritonlint.lint_many import Report, lint_paths

    if options.paths != ("-",):
        return lint_paths(
            options.paths,
            resolver,
            gpus=options.gpus,
            triton=options.triton,
            certainty=options.certainty,
            jobs=options.jobs,
        )
    from tritonlint.lint import lint_source
    from tritonlint.targets import choose

    name = options.stdin_filename or "stdin.py"
    settings = resolver.for_path(Path(name))
    data = sys.stdin.buffer.read()
    targets = choose(settings, Path(name).absolute().parent, options.gpus, options.triton)
    result = lint_source(name, data, settings, targets=targets, certainty=options.certainty)
    return Report(
        findings=result.findings,
        problems=result.problems,
        suppressed=result.suppressed,
        files=1,
        relevant=int(result.stats.relevant),
        kernels=result.stats.kernels,
        launches=result.stats.launches,
        configs=result.stats.configs,
        gpus=tuple(gpu.name for gpu in targets.gpus),
        triton=(targets.triton_name,),
        targets=(targets.described(),),
        sources={name: result.source or data.decode("utf-8", "surrogateescape")},
    )


def _visible(report: Report, severity: Severity) -> Report:
    least = SEVERITIES.index(severity)
    shown = tuple(f for f in report.findings if SEVERITIES.index(f.severity) >= least)
    return replace(report, findings=shown)


def _status(report: Report, fail_on: Literal["error", "warning", "info", "never"]) -> int:
    if report.wrong_path or report.internal_errors:
        return FAILED
    if fail_on == "never":
        return 0
    least = SEVERITIES.index(fail_on)
    return int(any(SEVERITIES.index(finding.severity) >= least for finding in report.findings))


def _write(report: Report, options: Options) -> None:
    from tritonlint.output.render import render
    from tritonlint.output.style import Style, style_for

    to_file = options.output_file is not None
    style = Style(False) if to_file else style_for(sys.stdout)
    text = render(report, options.output_format, style, options.statistics)
    _write_problems(report)
    if options.output_file is not None:
        from tritonlint.cli.files import write_text

        write_text(options.output_file, text)
    else:
        click.echo(text, nl=False, color=style.colour)


def _write_problems(report: Report) -> None:
    from tritonlint.output.style import style_for
    from tritonlint.output.summary import problem_lines

    style = style_for(sys.stderr)
    for line in problem_lines(report, style):
        click.echo(line, err=True, color=style.colour)


def _show_settings(options: Options, resolver: Resolver) -> int:
    from tritonlint.settings import shown

    path = options.stdin_filename or "." if options.paths[0] == "-" else options.paths[0]
    settings = resolver.for_path(Path(path))
    click.echo(f"Settings for {path} ({settings.path or 'no settings file'})")
    for key, value, origin in shown(settings):
        click.echo(f"  {key} = {_toml(value)}  # {origin}")
    from tritonlint.targets import choose

    start = Path(path).absolute()
    targets = choose(settings, start if start.is_dir() else start.parent, options.gpus, options.triton)
    click.echo(f"Checked for {targets.described()}")
    return 0


def _toml(value: Any) -> str:
    if value is None:
        return '""'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, Sequence):
        return "[" + ", ".join(_toml(entry) for entry in value) + "]"
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f'"{key}" = {_toml(entry)}' for key, entry in value.items()) + " }"
            if value
            else "{}"
        )
    return str(value)


def _show_files(options: Options, resolver: Resolver) -> int:
    from tritonlint.discovery import discover

    found = discover(options.paths, resolver)
    for path in found.files:
        click.echo(path)
    for entry in (*found.skipped, *found.problems):
        click.echo(f"{entry.path}: {entry.reason}", err=True)
    return FAILED if found.problems else 0
