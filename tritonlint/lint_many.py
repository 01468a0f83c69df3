"""Lints files and folders: finds the files, lints each, puts the results together in a fixed order."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tritonlint.discovery import Discovery, Skipped, discover
from tritonlint.disk import NoFileError, TooLargeError, read_regular
from tritonlint.finding import Certainty, Finding, Severity
from tritonlint.lint import FileProblem, FileResult, relevant, rules_for
from tritonlint.lint_jobs import Job, lint_jobs
from tritonlint.other_files import said_once
from tritonlint.settings import Resolver, Settings

if TYPE_CHECKING:
    from tritonlint.result_cache import ResultCache
    from tritonlint.source.text import Cell
    from tritonlint.suppressions import Suppressed
    from tritonlint.targets import Targets

Origin = tuple[Path | None, tuple[int, ...]]  # of settings
_NAMES = 5  # of named paths that were not read, in the summary


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that a run found. `findings` are those of all files, in the order of the files."""

    findings: tuple[Finding, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    files: int = 0  # read
    relevant: int = 0  # of these, with Triton in them
    kernels: int = 0
    launches: int = 0
    configs: int = 0
    gpus: tuple[str, ...] = ()
    triton: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()  # in words with the reason, one for each settings file
    sources: Mapping[str, str] = field(default_factory=dict)  # of files with findings, for excerpts
    cells: Mapping[str, tuple[Cell, ...]] = field(default_factory=dict)  # of notebooks with findings
    facts: int = 0  # estimates that a fact took the place of
    contradicted: int = 0  # of these, where the fact says otherwise
    wrong_path: bool = False  # a named path is not there or cannot be read
    paths: tuple[str, ...] = ()  # of the files that were read
    known: tuple[Finding, ...] = ()  # what a baseline holds back
    notes: tuple[str, ...] = ()  # further lines for the summary
    seconds: float = 0.0

    @property
    def internal_errors(self) -> bool:
        return any(problem.internal for problem in self.problems)


def lint_paths(
    paths: Sequence[str],
    resolver: Resolver,
    *,
    gpus: Sequence[str] | None = None,
    triton: str | None = None,
    certainty: Certainty = "likely",
    least: Severity = "info",
    jobs: int | None = None,
    found: Discovery | None = None,
    progress: Callable[[int, int], None] | None = None,
    cache: ResultCache | None = None,
) -> Report:
    """Lints every file below `paths`. `jobs`: how many worker processes (None: as many as pay off). `cache` is asked
    first, and given what was linted. What weighs less than `least` may be left out.

    `progress` is told (files done, files in all). Raises SettingsError, nothing for what it finds on disk.
    """
    start = time.perf_counter()
    discovery = found or discover(paths, resolver)
    problems = [FileProblem(entry.path, entry.reason) for entry in discovery.problems]
    named = {os.path.normpath(path) for path in paths}
    wrong = any(os.path.normpath(entry.path) in named for entry in discovery.problems)
    skipped = list(discovery.skipped)
    chosen: dict[Origin, Targets] = {}
    read = 0
    work: list[Job] = []
    kept: dict[str, FileResult] = {}
    order: list[str] = []
    notebooks: dict[str, bytes] = {}
    checked: set[Origin] = set()
    for path in discovery.files:
        reason, data = _read(path)
        if reason:
            problems.append(FileProblem(path, reason))
            wrong = wrong or os.path.normpath(path) in named
            continue
        if data is None:
            skipped.append(Skipped(path, "larger than 16 MB"))
            continue
        read += 1
        if not relevant(path, data):
            continue
        settings = resolver.for_path(path, folder=False)
        targets = _targets(chosen, settings, path, gpus, triton)
        order.append(path)
        if path.endswith(".ipynb"):
            notebooks[path] = data
        key = ""
        if cache is not None and cache.usable and not settings.facts:
            key = cache.key(path, data, settings, targets, certainty, least)
            result = cache.get(key)
            if result is not None:
                kept[path] = replace(result, source=_text(path, data)) if result.findings else result
                continue
        if settings.origin not in checked:
            # Wrong settings end the run here, and not in a worker; what is in the cache was linted with right ones.
            from tritonlint.registry import registry

            checked.add(settings.origin)
            rules_for(path, settings, registry())
            if settings.facts:
                from tritonlint.fact_paths import fact_book

                fact_book(settings)
        work.append(Job(path, settings, targets, certainty, data, key, least))
    if progress is not None and kept:
        progress(len(kept), len(order))
    for number, (place, result) in enumerate(lint_jobs(work, jobs), 1):
        job = work[place]
        if cache is not None and job.key:
            cache.put(job.key, result)
        kept[job.path] = result
        if progress is not None:
            progress(len(order) - len(work) + number, len(order))
    done = [kept[path] for path in order]
    problems += [problem for result in done for problem in result.problems]
    said = said_once(done, discovery.files, resolver)
    return Report(
        findings=said.shown,
        problems=tuple(dict.fromkeys(problems)),  # rules that cannot be loaded are a problem of every file
        suppressed=said.hidden,
        skipped=tuple(skipped),
        files=read,
        paths=tuple(discovery.files),
        relevant=len(done),
        kernels=sum(result.stats.kernels for result in done),
        launches=sum(result.stats.launches for result in done),
        configs=sum(result.stats.configs for result in done),
        gpus=tuple(dict.fromkeys(name for targets in chosen.values() for name in targets.names)),
        triton=tuple(dict.fromkeys(targets.triton_name for targets in chosen.values())),
        targets=tuple(dict.fromkeys(targets.described() for targets in chosen.values())),
        sources={result.path: result.source for result in done if result.findings},
        cells={
            result.path: cells_of(result.path, notebooks[result.path])
            for result in done
            if result.path in notebooks and (result.findings or result.suppressed)
        },
        facts=sum(result.stats.facts for result in done),
        contradicted=sum(result.stats.contradicted for result in done),
        wrong_path=wrong,
        notes=_named_but_skipped(skipped, named),
        seconds=time.perf_counter() - start,
    )


def _named_but_skipped(skipped: Sequence[Skipped], named: Collection[str]) -> tuple[str, ...]:
    """One line for what was asked for by name and not read; hooks may name many such files."""
    asked = [f"{entry.path} ({entry.reason})" for entry in skipped if os.path.normpath(entry.path) in named]
    if not asked:
        return ()
    more = f" and {len(asked) - _NAMES} more" if len(asked) > _NAMES else ""
    return (f"Not read, though named: {', '.join(asked[:_NAMES])}{more}.",)


def _read(path: str) -> tuple[str, bytes | None]:
    """(why it cannot be read, its bytes); no bytes and no reason for a file that is too large."""
    try:
        return "", read_regular(path)
    except NoFileError:
        return "is no regular file", None
    except TooLargeError:
        return "", None
    except FileNotFoundError:
        return "a link that leads nowhere" if os.path.islink(path) else "is no longer there", None
    except (OSError, ValueError) as error:
        return f"cannot be read: {getattr(error, 'strerror', None) or error}", None


def _text(path: str, data: bytes) -> str:
    """The text that the places of findings count in."""
    from tritonlint.source.text import load

    return load(path, data).text


def cells_of(path: str, data: bytes) -> tuple[Cell, ...]:
    """The cells of a notebook; none of any other file."""
    if not path.endswith(".ipynb"):
        return ()
    from tritonlint.source.text import load

    return load(path, data).cells


def _targets(
    chosen: dict[Origin, Targets],
    settings: Settings,
    path: str,
    gpus: Sequence[str] | None,
    triton: str | None,
) -> Targets:
    """One choice for each settings file and set of overrides: what is installed or locked is looked up once."""
    if settings.origin not in chosen:
        from tritonlint.targets import choose

        chosen[settings.origin] = choose(settings, Path(path).absolute().parent, gpus, triton)
    return chosen[settings.origin]
