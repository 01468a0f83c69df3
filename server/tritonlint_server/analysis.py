"""One document's way to what the editor shows of it: the request, the answer, and the work between (in the
worker)."""

from __future__ import annotations

import contextlib
import io
import os
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonlint.disk import MAX_BYTES, read_regular
from tritonlint.finding import Finding, Related
from tritonlint_server.analysis_record import Analysis, Listed, Listing, Request
from tritonlint_server.quiet_edits import carried_over
from tritonlint_server.sites import moved_survey
from tritonlint_server.survey import seen, survey

if TYPE_CHECKING:
    from tritonlint.context import FileWork, PlanContext
    from tritonlint.incremental import EditedFile, Linted
    from tritonlint.settings import Resolver, Settings
    from tritonlint.targets import Targets
    from tritonlint.trace_store import TraceStore

MAX_KEPT = 100  # files whose last analysis is remembered
MAX_EDITED = 12  # files of which plans and findings are kept from edit to edit


class Analyser:
    """Keeps what several requests share: settings and targets, for as long as their signature stays."""

    def __init__(self) -> None:
        self._resolvers: dict[str, tuple[Any, Resolver]] = {}
        self._targets: dict[Any, Targets] = {}
        self._last: dict[str, tuple[Request, Analysis]] = {}
        self._store: TraceStore | None = None
        self._edited: dict[str, tuple[Any, EditedFile]] = {}

    def run(self, request: Request, cancelled: Callable[[], bool]) -> Analysis:
        """Never raises."""
        from tritonlint.baseline import BaselineError
        from tritonlint.settings import SettingsError

        try:
            analysis = self._carried_over(request)
            if analysis is None:
                analysis = self._run(request, cancelled)
        except (SettingsError, BaselineError) as error:
            return Analysis(settings_error=str(error))
        except Exception as error:
            return Analysis(failure=f"{type(error).__name__}: {error}")
        if request.content is not None and not analysis.cancelled:
            if len(self._last) > MAX_KEPT:
                self._last.clear()
            self._last[request.path] = (request, analysis)
        return analysis

    def _carried_over(self, request: Request) -> Analysis | None:
        """The last analysis of the file, where nothing but its comments and blank lines changed since."""
        kept = self._last.get(request.path)
        if kept is None or request.content is None or request.path.endswith((".ipynb", ".json")):
            return None
        last, analysis = kept
        if last.content is None or replace(last, content=request.content) != request:
            return None
        if len(request.content) * 4 > MAX_BYTES:
            return None  # with so many bytes it may be a file that is not read
        return carried_over(request.path, last.content, request.content, analysis)

    def listing(self, listing: Listing) -> Listed:
        """The files that the command line would read in those folders, and that speak of Triton. Never
        raises."""
        from tritonlint.discovery import discover
        from tritonlint.lint import relevant
        from tritonlint.settings import Resolver, SettingsError

        paths: list[str] = []
        try:
            found = discover(listing.folders, Resolver(_settings_fields(listing.overrides)))
        except SettingsError as error:
            return Listed(settings_error=str(error))
        for path in found.files:
            try:
                if relevant(path, read_regular(path)):
                    paths.append(path)
            except OSError:
                continue
        return Listed(tuple(paths))

    def _run(self, request: Request, cancelled: Callable[[], bool]) -> Analysis:
        resolver = self._resolver(request)
        settings = resolver.for_path(Path(request.path))
        targets = self._choose(request, settings)
        known = Analysis(gpus=targets.names, triton=targets.triton_name, targets=targets.described())
        if _excluded(request.path, resolver):
            return known
        linted = self._linted(request, settings, targets, cancelled)
        if linted is None or cancelled():
            return Analysis(cancelled=True)
        result = linted.result
        trouble = [one for one in linted.observed if isinstance(one, str)]
        trouble += [problem.message for problem in result.problems if problem.internal]
        new = _without_known(result.findings, settings, request.path)
        shown = survey(one for one in linted.observed if not isinstance(one, str))
        return replace(
            known,
            findings=tuple(_light(finding) for finding in at_home(new, request.path)),
            survey=moved_survey(shown, linted.lines),
            failure="; ".join(trouble),
        )

    def _linted(
        self, request: Request, settings: Settings, targets: Targets, cancelled: Callable[[], bool]
    ) -> Linted | None:
        """None where it was cancelled."""
        from tritonlint.incremental import EditedFile, Linted
        from tritonlint.lint import lint_source
        from tritonlint.source.pieces import NotInPiecesError

        content = encoded(request.content) if request.content is not None else None
        if content is not None and request.path.endswith((".py", ".pyi")):
            mark = (settings, targets, request.certainty)
            kept = self._edited.pop(request.path, None)
            if kept is None or kept[0] != mark:
                file = EditedFile(
                    request.path, settings, targets, request.certainty, _observed, self._traces()
                )
                kept = (mark, file)
            self._edited[request.path] = kept  # the newest last
            while len(self._edited) > MAX_EDITED:
                del self._edited[next(iter(self._edited))]
            with contextlib.suppress(NotInPiecesError):
                return kept[1].lint(content, cancelled)
        found: list[Any] = []

        def observe(work: FileWork) -> None:
            found.extend(_observed(context) for context in work.contexts())

        result = lint_source(
            request.path, content, settings, targets=targets, certainty=request.certainty,
            cancelled=cancelled, observe=observe, store=self._traces(),
        )  # fmt: skip
        return Linted(result, tuple(found))

    def _traces(self) -> TraceStore:
        from tritonlint.trace_store import TraceStore

        if self._store is None:
            self._store = TraceStore()
        return self._store

    def _resolver(self, request: Request) -> Resolver:
        """The settings of a folder, read again when a file that they come from changed."""
        from tritonlint.settings import Resolver

        folder = os.path.dirname(request.path)
        mark = (request.signature, repr(sorted(request.overrides.items())))
        kept = self._resolvers.get(folder)
        if kept is None or kept[0] != mark:
            kept = (mark, Resolver(_settings_fields(request.overrides)))
            self._resolvers[folder] = kept
        return kept[1]

    def _choose(self, request: Request, settings: Settings) -> Targets:
        from tritonlint.targets import choose

        folder = os.path.dirname(request.path)
        mark = (
            folder,
            request.signature,
            repr(sorted(request.overrides.items())),
            request.gpus,
            request.triton,
            settings.applied,
        )
        if mark not in self._targets:
            if len(self._targets) > 200:
                self._targets.clear()
            self._targets[mark] = choose(settings, Path(folder), request.gpus, request.triton)
        return self._targets[mark]


def encoded(text: str) -> str | bytes:
    """An editor's text as the bytes of its file where a coding comment names another encoding, since the
    linter decodes as Python does; else the text."""
    head = text[:512].encode("utf-8", "surrogatepass")
    if b"coding" not in head:
        return text
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(head).readline)
        return text.encode(encoding)
    except (SyntaxError, LookupError, UnicodeError):
        return text


def _observed(context: PlanContext) -> Any:
    """What hints show of a plan; an error of ours as text, since hints are worth less than findings."""
    try:
        return seen(context)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _light(finding: Finding) -> Finding:
    """Without what only rules and reports need."""
    return replace(finding, estimate=None, config=None)


def at_home(findings: Iterable[Finding], path: str) -> Iterator[Finding]:
    """Findings that stand in another file (the list of an imported kernel) at what they are related to in this one,
    without their fixes; those that have no such place are left to the other file."""
    for finding in findings:
        if finding.path == path:
            yield finding
            continue
        here = next((one for one in finding.related if one.path == path), None)
        if here is not None:
            there = Related(finding.path, finding.span, finding.message, finding.cell)
            others = tuple(one for one in finding.related if one is not here)
            message = f"{os.path.basename(finding.path)}:{finding.span.line}: {finding.message}"
            yield replace(
                finding, path=path, span=here.span, cell=here.cell, message=message, fixes=(), related=(there, *others)
            )  # fmt: skip


def _settings_fields(overrides: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in overrides.items() if value}


def _excluded(path: str, resolver: Resolver) -> bool:
    """Would the command line pass over the file?"""
    from tritonlint.discovery import discover

    if not os.path.lexists(path):
        return False
    found = discover((path,), resolver)
    return not found.files and bool(found.skipped)


def _without_known(findings: tuple[Finding, ...], settings: Settings, path: str) -> tuple[Finding, ...]:
    """Less what the project's baseline knows. Raises BaselineError."""
    if settings.baseline is None:
        return findings
    from tritonlint import baseline

    known = baseline.load((settings.root or Path.cwd()) / settings.baseline)
    return baseline.compare(known, findings, (path,)).new
