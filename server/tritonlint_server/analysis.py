"""One document's way to what the editor shows of it: the request, the answer, and the work between (in the
worker)."""

from __future__ import annotations

import io
import os
import tokenize
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonlint.finding import Certainty, Finding
from tritonlint.source.text import MAX_BYTES
from tritonlint_server.sites import Survey

if TYPE_CHECKING:
    from tritonlint.context import FileWork
    from tritonlint.settings import Resolver, Settings
    from tritonlint.targets import Targets

Signature = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """What to read and how. `content` None reads the file; `signature` stands for the state of the settings
    files around it, so that they are read again only when one of them changed."""

    path: str
    content: str | None
    signature: Signature
    gpus: tuple[str, ...] | None = None
    triton: str | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    certainty: Certainty = "likely"


@dataclass(frozen=True, slots=True)
class Analysis:
    """`findings` carry no estimates. `settings_error`: the settings cannot be used, and why; `failure`:
    tritonlint itself failed on something."""

    findings: tuple[Finding, ...] = ()
    survey: Survey = field(default_factory=Survey)
    gpus: tuple[str, ...] = ()
    triton: str = ""
    targets: str = ""
    settings_error: str = ""
    failure: str = ""
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """Which files below these folders are worth reading?"""

    path: str  # the first folder, for messages
    folders: tuple[str, ...]
    overrides: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listed:
    paths: tuple[str, ...] = ()
    settings_error: str = ""


class Analyser:
    """Keeps what several requests share: settings and targets, for as long as their signature stays."""

    def __init__(self) -> None:
        self._resolvers: dict[str, tuple[Any, Resolver]] = {}
        self._targets: dict[Any, Targets] = {}

    def run(self, request: Request, cancelled: Callable[[], bool]) -> Analysis:
        """Never raises."""
        from tritonlint.baseline import BaselineError
        from tritonlint.settings import SettingsError

        try:
            return self._run(request, cancelled)
        except (SettingsError, BaselineError) as error:
            return Analysis(settings_error=str(error))
        except Exception as error:
            return Analysis(failure=f"{type(error).__name__}: {error}")

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
                if os.path.getsize(path) <= MAX_BYTES and relevant(path, Path(path).read_bytes()):
                    paths.append(path)
            except OSError:
                continue
        return Listed(tuple(paths))

    def _run(self, request: Request, cancelled: Callable[[], bool]) -> Analysis:
        from tritonlint.lint import lint_source
        from tritonlint_server.survey import survey

        resolver = self._resolver(request)
        settings = resolver.for_path(Path(request.path))
        targets = self._choose(request, settings)
        gpus = tuple(gpu.name for gpu in targets.gpus)
        known = Analysis(gpus=gpus, triton=targets.triton_name, targets=targets.described())
        if _excluded(request.path, resolver):
            return known
        found: list[Survey] = []
        trouble: list[str] = []

        def observe(work: FileWork) -> None:
            try:
                found.append(survey(work))
            except Exception as error:  # hints are worth less than findings
                trouble.append(f"{type(error).__name__}: {error}")

        content = encoded(request.content) if request.content is not None else None
        result = lint_source(
            request.path, content, settings, targets=targets, certainty=request.certainty,
            cancelled=cancelled, observe=observe,
        )  # fmt: skip
        if cancelled():
            return Analysis(cancelled=True)
        trouble += [problem.message for problem in result.problems if problem.internal]
        new = _without_known(result.findings, settings, request.path)
        return replace(
            known,
            findings=tuple(_light(finding) for finding in new),
            survey=found[0] if found else Survey(),
            failure="; ".join(trouble),
        )

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


def _light(finding: Finding) -> Finding:
    """Without what only rules and reports need."""
    return replace(finding, estimate=None, config=None)


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
