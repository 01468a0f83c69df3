"""From bytes to findings: the whole way through, for one file.

`lint_source` is what the command line and the language server call; `lint_many.lint_paths` calls it for many
files. Nothing here raises for what stands in a file: an error of tritonlint itself becomes a FileProblem that
names the file and the rule, and the rest goes on.
"""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonlint.disk import read_regular
from tritonlint.finding import CERTAINTIES, SEVERITIES, Certainty, Finding, Severity
from tritonlint.merge import merge
from tritonlint.settings import Settings

if TYPE_CHECKING:
    from tritonlint.context import FileWork, PlanContext
    from tritonlint.disk import Stamp
    from tritonlint.registry import Registry
    from tritonlint.rule import Rule, SuppressionUse
    from tritonlint.source.comments import Suppression
    from tritonlint.source.problem import Problem
    from tritonlint.suppressions import Suppressed
    from tritonlint.targets import Targets
    from tritonlint.trace_store import TraceStore


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A file that was not linted, or not wholly. `internal`: tritonlint failed, `detail` has the trace."""

    path: str
    message: str
    internal: bool = False
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FileStats:
    """What was looked at. `relevant` is False where no byte speaks of Triton: then nothing was parsed."""

    relevant: bool = False
    kernels: int = 0
    launches: int = 0
    configs: int = 0
    seconds: float = 0.0
    facts: int = 0  # estimates that a fact took the place of
    contradicted: int = 0  # of these, where the fact says otherwise


@dataclass(frozen=True, slots=True)
class FileResult:
    """`findings` are sorted by place, all severities, at or over the certainty asked for."""

    path: str
    findings: tuple[Finding, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    stats: FileStats = field(default_factory=FileStats)
    targets: str = ""  # "a100, h100 (settings), Triton 3.9 (newest known)"
    source: str = ""  # the text that places count in, for excerpts and fixes
    looked_at: Mapping[str, Stamp] = field(default_factory=dict)  # other files that the result rests on


def relevant(path: str, data: bytes) -> bool:
    """Can a file hold anything of interest? The cheap question, asked before anything is parsed.

    A notebook or a tuned file by its name that is no JSON is of interest: what was cut off may have held anything.
    """
    if path.endswith(".json"):
        return b"num_warps" in data or (_named_tuned(path) and not _is_json(data))
    return b"triton" in data or (path.endswith(".ipynb") and bool(data.strip()) and not _is_json(data))


def _named_tuned(path: str) -> bool:
    if "device_name=" not in path:
        return False
    from tritonlint.source.tuned import is_tuned_name  # imports the reader, which most files do not need

    return is_tuned_name(path)


def _is_json(data: bytes) -> bool:
    import json

    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def lint_source(
    path: str,
    content: str | bytes | None,
    settings: Settings,
    *,
    gpus: Sequence[str] | None = None,
    triton: str | None = None,
    targets: Targets | None = None,
    certainty: Certainty = "likely",
    least: Severity = "info",
    cancelled: Callable[[], bool] | None = None,
    observe: Callable[[FileWork], None] | None = None,
    store: TraceStore | None = None,
) -> FileResult:
    """Lints one file; `content` None reads it from disk.

    `gpus` and `triton` go before the settings; `targets` (from `targets.choose`) spares choosing them again.
    What weighs less than `least` is looked for only where other findings hang on it, and may be left out.
    `cancelled` is asked between rules; once it says yes, what was found so far is given back. `observe` is
    shown the work once the rules are through, so that an editor can show estimates without asking again;
    `store` keeps traces for the next time.
    Raises SettingsError for a GPU, a release or a rule in the settings that is not known, never for the file.
    """
    start = time.perf_counter()
    if content is None:
        try:
            content = read_regular(path)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            return FileResult(path, problems=(FileProblem(path, f"cannot be read: {reason}"),))
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    if not relevant(path, data):
        return FileResult(path)

    from tritonlint.registry import registry
    from tritonlint.targets import choose

    known = registry()
    chosen = targets or choose(settings, Path(path).absolute().parent, gpus, triton)
    rules = rules_for(path, settings, known)
    if settings.facts:
        from tritonlint.fact_paths import fact_book

        fact_book(settings)  # wrong paths are the settings' fault, not the file's
    try:
        result = _lint(path, data, settings, chosen, rules, known, cancelled, observe, store, least)
    except Exception as error:
        return FileResult(path, problems=(_internal(path, error, ""),), targets=chosen.described())
    problems = (*(FileProblem("tritonlint", text, True) for text in known.problems), *result.problems)
    surest = CERTAINTIES.index(certainty)
    kept = tuple(f for f in result.findings if CERTAINTIES.index(f.certainty) >= surest)
    stats = replace(result.stats, seconds=time.perf_counter() - start)
    return replace(result, findings=kept, problems=problems, stats=stats, targets=chosen.described())


def rules_for(path: str, settings: Settings, known: Registry) -> tuple[Rule, ...]:
    """The rules that run on a file. Raises SettingsError where a setting names a rule that is not there."""
    from tritonlint.registry import UnknownRuleError
    from tritonlint.settings import SettingsError

    here: list[str] = []
    if settings.per_file_ignores:
        from tritonlint.discovery import matches

        relative = relative_to(path, settings.root)
        for pattern, names in settings.per_file_ignores.items():
            if matches((pattern,), relative):
                here.extend(names)
    named = [("select", name) for name in settings.select] + [("ignore", name) for name in settings.ignore]
    named += [("per-file-ignores", name) for name in here]
    named += [("severity", name) for name in settings.severity if not _is_gpu(name, settings)]
    for key, name in named:
        try:
            known.codes(name)
        except UnknownRuleError as error:
            raise SettingsError(str(error), settings.origins.get(key, ""), key=key) from None
    if any(not isinstance(value, str) for value in settings.severity.values()):
        from tritonlint.severities import check

        check(settings, known)
    return known.select(settings.select, [*settings.ignore, *here])


def _is_gpu(name: str, settings: Settings) -> bool:
    """A key of `severity` that names a GPU, with a table of rules."""
    from tritonlint.gpu.names import resolve

    table = settings.severity[name]
    return not isinstance(table, str) and (resolve(name) is not None or name in settings.profiles)


def relative_to(path: str, root: Path | None) -> str:
    """A path counted from a folder, with "/"; as it stands where it is not below it."""
    absolute = Path(os.path.abspath(path))
    try:
        return absolute.relative_to((root or Path.cwd()).absolute()).as_posix()
    except ValueError:
        return absolute.as_posix().lstrip("/")


def _lint(
    path: str,
    data: bytes,
    settings: Settings,
    targets: Targets,
    rules: Sequence[Rule],
    known: Registry,
    cancelled: Callable[[], bool] | None,
    observe: Callable[[FileWork], None] | None,
    store: TraceStore | None,
    least: Severity,
) -> FileResult:
    from tritonlint.context import FileWork

    if settings.severity or settings.facts:
        least = "info"  # what a rule gives may become more; facts are counted
    work = FileWork(path, data, settings, targets, store, least=least)
    result = _found(work, rules, known, cancelled)
    if work.differs:
        work.release()
        work = FileWork(work.path, work.module, settings, targets, store, apart=True, least=least)
        result = _found(work, rules, known, cancelled)
    if observe is None:
        work.release()
    elif result is not None:
        observe(work)
    return result or FileResult(path, source=work.text)


def _found(
    work: FileWork, rules: Sequence[Rule], known: Registry, cancelled: Callable[[], bool] | None
) -> FileResult | None:
    """What the rules find; None where it was cancelled."""
    problems: list[FileProblem] = []
    findings: list[Finding] = []
    if work.suppressions:
        work.least = "info"  # whether a comment ignores anything is said of notes, too
    least = SEVERITIES.index(work.least)
    rules = [rule for rule in rules if SEVERITIES.index(rule.at_most) >= least]
    for context in work.contexts():
        found = checked(context, rules, problems, cancelled)
        if found is None:
            return None
        findings += found
    wrong = (*work.problems, *work.assumption_problems)
    read = ReadFile(work.path, work.text, wrong, tuple(work.suppressions))
    result = finished(read, findings, problems, work.settings, rules, known)
    return replace(result, stats=work.stats(), looked_at=work.looked_at)


def checked(
    context: PlanContext,
    rules: Sequence[Rule],
    problems: list[FileProblem],
    cancelled: Callable[[], bool] | None,
) -> list[Finding] | None:
    """What the rules say of one plan; None where it was cancelled. What failed is added to `problems`."""
    findings: list[Finding] = []
    for rule in rules:
        if rule.check is None:
            continue
        if cancelled is not None and cancelled():
            return None
        findings += _run(rule, rule.check, context, context.path, problems, context.plan.kernel.name)
    return findings


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file as the rules about whole files see it."""

    path: str
    text: str
    problems: tuple[Problem, ...]
    suppressions: tuple[Suppression, ...]


def finished(
    read: ReadFile,
    findings: Sequence[Finding],
    problems: list[FileProblem],
    settings: Settings,
    rules: Sequence[Rule],
    known: Registry,
) -> FileResult:
    """What is shown of the findings of a file's plans, and what is to be said of the file itself."""
    from tritonlint.severities import with_severities
    from tritonlint.suppressions import apply

    path = read.path
    file_rules = [(rule, rule.check_file) for rule in rules if rule.check_file is not None]
    whole = _File(read, known, problems=read.problems)
    found = list(findings)
    for rule, check_file in file_rules:
        found += _run(rule, check_file, whole, path, problems, "")
    found = with_severities(found, settings, known)
    here = [finding for finding in found if finding.path == path]
    applied = apply(here, read.suppressions, rules, known, settings.require_reasons)
    # Rules about the suppressions themselves run once it is known what these did.
    about = _File(read, known, suppressions=applied.uses)
    late = [
        finding
        for rule, check_file in file_rules
        for finding in _run(rule, check_file, about, path, problems, "")
    ]
    whole_file = [s for s in read.suppressions if s.line == 0]
    last = apply(with_severities(late, settings, known), whole_file, rules, known, settings.require_reasons)
    elsewhere = [finding for finding in found if finding.path != path]  # see other_files
    shown = sorted(merge((*applied.shown, *last.shown, *elsewhere)), key=_order)
    return FileResult(
        path,
        tuple(shown),
        tuple(problems),
        (*applied.hidden, *last.hidden),
        source=read.text,
    )


def _run(
    rule: Rule,
    check: Callable[[Any], Iterable[Finding]],
    context: Any,
    path: str,
    problems: list[FileProblem],
    kernel: str,
) -> list[Finding]:
    try:
        return list(check(context))
    except Exception as error:
        where = f"{rule.code}, kernel {kernel}" if kernel else rule.code
        problems.append(_internal(path, error, where))
        return []


def _internal(path: str, error: Exception, where: str) -> FileProblem:
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    text = f"internal error{' in ' + where if where else ''}: {type(error).__name__}: {error}{place}"
    return FileProblem(path, text, True, "".join(traceback.format_exception(error)))


def _order(finding: Finding) -> tuple[Any, ...]:
    return (finding.path, finding.span, finding.code, -SEVERITIES.index(finding.severity), finding.message)


class _File:
    """What a rule about the whole file is given (rule.FileContext)."""

    def __init__(
        self,
        read: ReadFile,
        known: Registry,
        problems: Sequence[Problem] = (),
        suppressions: Sequence[SuppressionUse] = (),
    ) -> None:
        self.path = read.path
        self.source = read.text
        self.problems = problems
        self.suppressions = suppressions
        self.rule_names = known.names
