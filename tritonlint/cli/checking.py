"""What `check` does: lint, mend, compare with what is known, say."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from tritonlint.cli.main import FAILED, CommandError
from tritonlint.cli.options import counted
from tritonlint.cli.progress import Progress
from tritonlint.finding import SEVERITIES, Finding, Severity
from tritonlint.lint_many import Report, cells_of, lint_paths
from tritonlint.output.cells import in_cells
from tritonlint.settings import Resolver, Settings

if TYPE_CHECKING:
    from tritonlint.cli.check import Options


def run(options: Options, resolver: Resolver) -> int:
    """One whole run; the exit status."""
    check_targets(options, resolver)
    check_rules(resolver)
    data = sys.stdin.buffer.read() if options.paths == ("-",) else None
    report = _visible(_lint(options, resolver, data), options.severity)
    if options.diff:
        return _diff(report, options)
    if options.fix or options.unsafe_fixes:
        if data is not None:
            if (options.stdin_filename or "").endswith(".ipynb"):
                raise CommandError("--fix does not write notebooks")
            return _fix_stdin(report, options, data)
        report = _fix(report, options, resolver)
    if options.since:
        report = _since(report, options, resolver)
    if options.write_baseline:
        return _write_baseline(report, options.write_baseline)
    report = in_cells(_baseline(report, options, resolver))
    _write(report, options)
    _annotate(report, options, resolver)
    return status(report, options.fail_on)


def status(report: Report, fail_on: Literal["error", "warning", "info", "never"]) -> int:
    """INTERFACE: 0, 1 or 2."""
    if report.wrong_path or report.internal_errors:
        return FAILED
    if fail_on == "never":
        return 0
    least = SEVERITIES.index(fail_on)
    return int(any(SEVERITIES.index(finding.severity) >= least for finding in report.findings))


def check_targets(options: Options, resolver: Resolver) -> None:
    """A GPU or a release that is not known is an error, whether or not there is anything to check."""
    if not options.gpus and not options.triton:
        return
    from tritonlint.gpu.names import resolve

    if options.triton or any(resolve(name) is None for name in options.gpus):
        from tritonlint.targets import named_gpu, named_release, own_profiles

        first = (options.stdin_filename or ".") if options.paths[0] == "-" else options.paths[0]
        own = own_profiles(resolver.for_path(Path(first)))
        for name in options.gpus:
            named_gpu(name, own)
        if options.triton:
            named_release(options.triton)


def check_rules(resolver: Resolver) -> None:
    """The same for rules that the command line names."""
    named = resolver.overrides
    if named.get("select") or named.get("ignore"):
        from tritonlint.lint import rules_for
        from tritonlint.registry import registry
        from tritonlint.settings import Settings, with_overrides

        rules_for("", with_overrides(Settings(), named), registry())


# --- linting


def _lint(options: Options, resolver: Resolver, stdin: bytes | None = None) -> Report:
    if stdin is not None:
        return _lint_stdin(options, resolver, stdin)
    from tritonlint.result_cache import ResultCache, cache_folder

    folder = None if options.no_cache else cache_folder()
    with ResultCache(folder) as cache, Progress("Linting") as progress:
        return lint_paths(
            options.paths,
            resolver,
            gpus=options.gpus,
            triton=options.triton,
            certainty=options.certainty,
            least=options.severity,
            jobs=options.jobs,
            progress=progress.tell,
            cache=cache,
        )


def _lint_stdin(options: Options, resolver: Resolver, data: bytes) -> Report:
    from tritonlint.lint import lint_source
    from tritonlint.other_files import said_once
    from tritonlint.targets import choose

    name = options.stdin_filename or "stdin.py"
    settings = resolver.for_path(Path(name))
    targets = choose(settings, Path(name).absolute().parent, options.gpus, options.triton)
    result = lint_source(
        name, data, settings, targets=targets, certainty=options.certainty, least=options.severity
    )
    said = said_once([result], [name], resolver)
    return Report(
        findings=said.shown,
        problems=result.problems,
        suppressed=said.hidden,
        files=1,
        relevant=int(result.stats.relevant),
        kernels=result.stats.kernels,
        launches=result.stats.launches,
        configs=result.stats.configs,
        gpus=targets.names,
        triton=(targets.triton_name,),
        targets=(targets.described(),),
        sources={name: result.source or data.decode("utf-8", "surrogateescape")},
        paths=(name,),
        cells={name: cells_of(name, data)},
    )


def _visible(report: Report, severity: Severity) -> Report:
    least = SEVERITIES.index(severity)
    shown = tuple(f for f in report.findings if SEVERITIES.index(f.severity) >= least)
    return replace(report, findings=shown)


# --- mending


def _diff(report: Report, options: Options) -> int:
    from tritonlint.cli.fixing import changes, diff_lines

    found = changes(report, options.unsafe_fixes)
    for change in found:
        click.echo("\n".join(diff_lines(change)))
    _write_problems(report)
    return max(status(report, "never"), int(bool(found)))


def _fix(report: Report, options: Options, resolver: Resolver) -> Report:
    from tritonlint.cli.fixing import fix_files

    def again() -> Report:
        return _visible(_lint(options, resolver), options.severity)

    done = fix_files(report, options.unsafe_fixes, again)
    if done.fixes:
        click.echo(f"{counted(done.fixes, 'fix')} applied in {counted(done.files, 'file')}.", err=True)
    return done.report


def _fix_stdin(report: Report, options: Options, data: bytes) -> int:
    """The mended text to standard output, in its own encoding and line ends; what is left to standard error."""
    from tritonlint.cli.fixing import changes
    from tritonlint.output.render import render
    from tritonlint.output.style import Style
    from tritonlint.source.text import load

    name = options.stdin_filename or "stdin.py"
    read = load(name, data)
    found = changes(report, options.unsafe_fixes) if not read.problems else []
    click.echo(found[0].new.encode(read.encoding) if found else data, nl=False)
    click.echo(render(in_cells(report), "concise", Style()), nl=False, err=True)
    _write_problems(report)
    return status(report, options.fail_on)


# --- comparing


def _since(report: Report, options: Options, resolver: Resolver) -> Report:
    from tritonlint import since

    def lint(paths: Sequence[str], mapped: Resolver) -> Sequence[Finding]:
        old = lint_paths(
            paths,
            mapped,
            gpus=options.gpus,
            triton=options.triton,
            certainty=options.certainty,
            least=options.severity,
            jobs=options.jobs,
        )
        return _visible(old, options.severity).findings

    reference = options.since or ""
    try:
        with tempfile.TemporaryDirectory(prefix="tritonlint-") as folder:
            before, old, top = since.old_findings(options.paths, reference, Path(folder), resolver, lint)
            found = since.brought(report.findings, before, old, top)
    except since.SinceError as error:
        raise CommandError(str(error)) from None
    return replace(report, findings=tuple(found), notes=(*report.notes, *since.summary(found, reference)))


def _write_baseline(report: Report, path: str) -> int:
    from tritonlint import baseline
    from tritonlint.cli.files import write_report

    _write_problems(report)
    if report.wrong_path or report.problems:
        raise CommandError(f"{path} is not written: the run is not complete")
    write_report(path, baseline.text_of(baseline.of_findings(report.findings, Path(path))))
    click.echo(f"{counted(len(report.findings), 'finding')} written to {path}.", err=True)
    return 0


def _baseline(report: Report, options: Options, resolver: Resolver) -> Report:
    """Takes out what is known. A complete run takes stale entries out of the file, but never in CI."""
    import os

    from tritonlint import baseline
    from tritonlint.cli.files import write_text

    path = _baseline_path(options, resolver)
    if path is None:
        return report
    try:
        known = baseline.load(path)
    except baseline.BaselineError as error:
        raise CommandError(str(error)) from None
    compared = baseline.compare(known, report.findings, report.paths)
    notes = list(report.notes)
    if compared.known:
        notes.append(f"{counted(len(compared.known), 'finding')} known from {path}.")
    origins = resolver.for_path(path).origins
    narrowed = any(
        (options.since, options.gpus, options.triton, options.paths == ("-",), options.severity != "warning",
         options.certainty != "likely", resolver.file is not None or resolver.isolated,
         origins.get("select") == "command line", origins.get("ignore") == "command line")
    )  # fmt: skip
    if compared.stale and not report.problems and not narrowed:
        names = [entry.described() for entry in list(compared.stale)[:5]]
        more = f" and {len(compared.stale) - 5} more" if len(compared.stale) > 5 else ""
        count = sum(compared.stale.values())
        notes.append(f"No longer there, of {path}: {'; '.join(names)}{more}.")
        if not os.environ.get("CI"):
            write_text(str(path), baseline.text_of(baseline.without(known, compared.stale)))
            notes.append(f"{counted(count, 'stale finding')} taken out of {path}.")
    return replace(report, findings=compared.new, known=compared.known, notes=tuple(notes))


def _baseline_path(options: Options, resolver: Resolver) -> Path | None:
    if options.baseline is not None:
        return Path(options.baseline)
    settings = _settings(options, resolver)
    if settings.baseline is None:
        return None
    return (settings.root or Path.cwd()) / settings.baseline


def _settings(options: Options, resolver: Resolver) -> Settings:
    """Those of the first path."""
    first = (options.stdin_filename or "stdin.py") if options.paths[0] == "-" else options.paths[0]
    return resolver.for_path(Path(first))


# --- saying


def _write(report: Report, options: Options) -> None:
    from tritonlint.output.render import render
    from tritonlint.output.style import Style, style_for

    to_file = options.output_file is not None
    style = Style(False) if to_file else style_for(sys.stdout)
    text = render(report, options.output_format, style, options.statistics)
    _write_problems(report)
    if options.output_file is not None:
        from tritonlint.cli.files import write_report

        write_report(options.output_file, text)
    else:
        click.echo(text, nl=False, color=style.colour)


def _annotate(report: Report, options: Options, resolver: Resolver) -> None:
    """Annotations where a workflow of GitHub runs this and the settings ask for them. The runner reads them
    from standard error as well, so that standard output stays what was asked for."""
    import os

    if os.environ.get("GITHUB_ACTIONS") != "true" or options.output_format == "github":
        return
    if _settings(options, resolver).github_annotations:
        from tritonlint.output.github import render

        click.echo(render(report), nl=False, err=True)


def _write_problems(report: Report) -> None:
    from tritonlint.output.style import style_for
    from tritonlint.output.summary import problem_lines

    style = style_for(sys.stderr)
    for line in problem_lines(report, style):
        click.echo(line, err=True, color=style.colour)
