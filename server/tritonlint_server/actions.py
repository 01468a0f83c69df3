"""Code actions: fixes, all safe fixes, another GPU, and last of all a comment that hides a finding."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lsprotocol import types as lsp

from tritonlint.cli.fixing import choose
from tritonlint.finding import Edit, Finding
from tritonlint.span import Span
from tritonlint_server.analysis_record import Analysis
from tritonlint_server.commands import CHOOSE_TARGET, COMMON, SET_TARGET
from tritonlint_server.diagnostics import SOURCE
from tritonlint_server.documents import Document, Unit
from tritonlint_server.places import Places, contains
from tritonlint_server.positions import body

FIX_ALL = lsp.CodeActionKind.SourceFixAll.value + ".tritonlint"
FIX_ALL_NOTEBOOK = "notebook." + FIX_ALL
KINDS = [lsp.CodeActionKind.QuickFix.value, FIX_ALL, FIX_ALL_NOTEBOOK]
REASON = "reason"

_IGNORE = re.compile(r"#\s*tritonlint\s*:\s*ignore\s*\[([^\]]*)\]", re.IGNORECASE)


class Actions:
    """The actions for one document of a unit. `versioned`: the client takes edits with a version."""

    def __init__(
        self, unit: Unit, document: Document, analysis: Analysis, places: Places, versioned: bool
    ) -> None:
        self._unit = unit
        self._document = document
        self._analysis = analysis
        self._places = places
        self._versioned = versioned

    def all(self, params: lsp.CodeActionParams, suppress: bool) -> list[lsp.CodeAction]:
        """What the client asks for, best first."""
        only = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
        found: list[lsp.CodeAction] = []
        near = self._near(params.range)
        if _wanted(lsp.CodeActionKind.QuickFix.value, only):
            for finding in near:
                found += self._fixes(finding, params.context.diagnostics)
            if near and not only:
                found += self._fix_all(lsp.CodeActionKind.QuickFix.value, least=2)
        if only:
            found += [action for kind in (FIX_ALL, FIX_ALL_NOTEBOOK) if _wanted(kind, only)
                      for action in self._fix_all(kind, least=1)]  # fmt: skip
        if not only and (near or self._at_site(params.range)):
            found += self._targets()
        if suppress and _wanted(lsp.CodeActionKind.QuickFix.value, only):
            for code, findings in _by_code(near).items():
                action = self._suppress(code, findings[0])
                found += [action] if action is not None else []
        return found

    def _near(self, range_: lsp.Range) -> list[Finding]:
        """The findings that touch a range."""
        found: list[Finding] = []
        for finding in self._analysis.findings:
            document, own = self._places.in_unit(self._unit, finding.span)
            if document is self._document and _touch(own, range_):
                found.append(finding)
        return found

    def _at_site(self, range_: lsp.Range) -> bool:
        place = self._places.joined(self._unit, self._document.uri, range_.start)
        return place is not None and any(contains(site.span, place) for site in self._analysis.survey.sites)

    # --- fixes

    def _fixes(self, finding: Finding, given: Sequence[lsp.Diagnostic]) -> Iterable[lsp.CodeAction]:
        for number, fix in enumerate(finding.fixes):
            if not fix.edits:
                continue
            title = fix.title if fix.safe else f"{fix.title} (may change results or tile shapes)"
            yield lsp.CodeAction(
                title=f"{title} ({finding.code})",
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=self._matching(finding, given),
                is_preferred=True if fix.safe and number == 0 else None,
                edit=self._edit(fix.edits),
            )

    def _fix_all(self, kind: str, least: int) -> list[lsp.CodeAction]:
        chosen = choose(self._analysis.findings, unsafe=False)
        if len(chosen) < least:
            return []
        edit = self._edit(tuple(edit for fix in chosen for edit in fix.edits))
        title = f"Apply all safe fixes of tritonlint ({len(chosen)})"
        return [lsp.CodeAction(title=title, kind=kind, edit=edit)]

    def _edit(self, edits: Iterable[Edit]) -> lsp.WorkspaceEdit:
        """The edits of each document that they touch, in the order of the text."""
        texts: dict[str, list[lsp.TextEdit]] = {}
        for edit in sorted(edits, key=lambda one: one.span):
            document, range_ = self._places.in_unit(self._unit, edit.span)
            texts.setdefault(document.uri, []).append(lsp.TextEdit(range_, edit.text))
        if not self._versioned:
            return lsp.WorkspaceEdit(changes=texts)
        versions = {document.uri: document.version for document in self._unit.documents}
        return lsp.WorkspaceEdit(
            document_changes=[
                lsp.TextDocumentEdit(
                    lsp.OptionalVersionedTextDocumentIdentifier(uri, versions[uri]), list(own)
                )
                for uri, own in texts.items()
            ]
        )

    def _matching(self, finding: Finding, given: Sequence[lsp.Diagnostic]) -> list[lsp.Diagnostic] | None:
        """Those of the client's diagnostics that are this finding."""
        _, range_ = self._places.in_unit(self._unit, finding.span)
        own = [one for one in given if one.source == SOURCE and one.code == finding.code]
        return [one for one in own if one.range == range_] or None

    # --- targets

    def _targets(self) -> Iterable[lsp.CodeAction]:
        for gpu in [name for name in COMMON if name not in self._analysis.gpus][:3]:
            title = f"Show on GPU {gpu}"
            yield lsp.CodeAction(title=title, command=lsp.Command(title, SET_TARGET, arguments=[gpu]))
        title = "Show on another GPU ..."
        yield lsp.CodeAction(title=title, command=lsp.Command(title, CHOOSE_TARGET))

    # --- suppressions

    def _suppress(self, code: str, finding: Finding) -> lsp.CodeAction | None:
        """A comment at the end of the line where the finding starts, with a reason to be written. It names no
        diagnostic: clients put actions that do before all others, and this one is to be the last."""
        edit = suppression(self._document, self._unit, code, finding.span)
        if edit is None:
            return None
        kind = lsp.CodeActionKind.QuickFix
        return lsp.CodeAction(title=f"Ignore {code} on this line", kind=kind, edit=self._edit((edit,)))


def suppression(document: Document, unit: Unit, code: str, span: Span) -> Edit | None:
    """The edit that hides a rule where a finding starts; None where a comment cannot stand there: in a
    string, or before a line that a backslash continues."""
    _, number = unit.at(span.line)
    line = body(document.buffer.line(number))
    match = _IGNORE.search(line)
    if match is not None:
        names = f"{match[1].rstrip()}, {code}" if match[1].strip() else code
        return Edit(Span(span.line, match.start(1) + 1, span.line, match.end(1) + 1), names)
    if line.rstrip().endswith("\\") or _ends_in_string(document, number):
        return None
    end = len(line.rstrip())
    comment = f"  # tritonlint: ignore[{code}] {REASON}"
    return Edit(Span(span.line, end + 1, span.line, len(line) + 1), comment)


def _ends_in_string(document: Document, number: int) -> bool:
    """Is the end of a line inside of a string over several lines? Counted by the quotes before it: where
    that is wrong, the action is missing, or its comment does nothing."""
    text = "".join(document.buffer.lines[: number + 1])
    return any(text.count(quotes) % 2 for quotes in ('"""', "'''"))


def _by_code(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.code, []).append(finding)
    return found


def _wanted(kind: str, only: Sequence[str]) -> bool:
    return not only or any(kind == one or kind.startswith(one + ".") for one in only)


def _touch(one: lsp.Range, other: lsp.Range) -> bool:
    return _place(one.start) <= _place(other.end) and _place(other.start) <= _place(one.end)


def _place(position: lsp.Position) -> tuple[int, int]:
    return position.line, position.character
