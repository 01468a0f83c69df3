"""Completion: rule codes and GPU names in comments and settings, meta-parameters in a config.

Worked out from the text alone: what is being typed does not parse, and nobody waits for an analysis here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lsprotocol import types as lsp

from tritonlint.settings import FILES

TRIGGERS = ["[", ",", "=", '"', "'", ":", " "]
_MAX_BACK = 60  # lines that are searched upwards for the call that is being typed
_MAX_DOWN = 400  # lines that are searched downwards for the kernel

_COMMENT = re.compile(r"#\s*tritonlint\s*:\s*(?P<body>[^#]*)$", re.IGNORECASE)
_IN_RULES = re.compile(r"ignore(?:-next-line|-file)?\s*\[(?P<before>[^\]]*)$", re.IGNORECASE)
_IN_GPU = re.compile(r"(?:^|[\s,\[(])gpu\s*=\s*\[?[\w\s,\"'-]*$")
_IN_ASSUME = re.compile(r"assume\s+(?:.*,\s*)?\w*$", re.IGNORECASE)
_SETTING = re.compile(r"^\s*(?P<key>[\w-]+)\s*=(?!=)")
_DEF = re.compile(r"^\s*(?:async\s+)?def\s+\w+\s*\(")
_CONSTEXPR = re.compile(r"(\w+)\s*:\s*(?:[\w.]+\.)?constexpr\b")
_CONFIG = re.compile(r"(?:^|[^\w])Config\s*\($")
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "pre_hook")
_DIRECTIVES = (
    ("ignore[]", "hide a rule on this line"),
    ("ignore-next-line[]", "hide a rule on the next line"),
    ("ignore-file[]", "hide a rule in this file"),
    ("assume ", "values and types to take for granted: NAME=VALUE, ..."),
)


@dataclass(frozen=True, slots=True)
class Proposal:
    label: str
    kind: lsp.CompletionItemKind
    detail: str = ""
    text: str = ""  # what is inserted, where it differs from the label


def complete(path: str, lines: Sequence[str], line: int, column: int) -> list[lsp.CompletionItem]:
    """The proposals at a place (from 0, code points)."""
    if not 0 <= line < len(lines):
        return []
    before = lines[line][:column]
    if os.path.basename(path) in FILES:
        proposals = list(_in_settings(path, lines, line, before))
    else:
        comment = _COMMENT.search(before)
        if comment is not None:
            proposals = list(_in_comment(comment["body"], lines, line))
        else:
            proposals = list(_in_config(lines, line, before))
    return [
        lsp.CompletionItem(
            label=one.label,
            kind=one.kind,
            detail=one.detail or None,
            insert_text=one.text or None,
            sort_text=f"{number:04}",
        )
        for number, one in enumerate(proposals)
    ]


def _in_comment(body: str, lines: Sequence[str], line: int) -> Iterable[Proposal]:
    rules = _IN_RULES.search(body)
    if rules is not None:
        return _rules()
    if re.match(r"assume\b", body, re.IGNORECASE):
        if _IN_GPU.search(body):
            return _gpus()
        if _IN_ASSUME.match(body):
            names = _kernel_names(lines, line)
            return [Proposal(f"{name}=", lsp.CompletionItemKind.Variable) for name in ("gpu", *names)]
        return []
    if re.fullmatch(r"[\w-]*", body):
        return [Proposal(name, lsp.CompletionItemKind.Keyword, what) for name, what in _DIRECTIVES]
    return []


def _in_settings(path: str, lines: Sequence[str], line: int, before: str) -> Iterable[Proposal]:
    if os.path.basename(path) == "pyproject.toml" and not _table(lines, line).startswith("tool.tritonlint"):
        return []
    key = _setting(lines, line, before)
    if key == "gpus":
        return _gpus()
    if key in ("select", "ignore", "per-file-ignores"):
        return _rules()
    if key == "triton":
        return _releases()
    if key is None and re.fullmatch(r"\s*[\w-]*", before):
        from tritonlint.settings_file import KEYS

        return [
            Proposal(name, lsp.CompletionItemKind.Property, entry.what, f"{name} = ")
            for name, entry in KEYS.items()
        ]
    return []


def _in_config(lines: Sequence[str], line: int, before: str) -> Iterable[Proposal]:
    """Keys of the dict of a Config, or its own arguments."""
    place = _enclosing_config(lines, line, before)
    if place == "dict":
        quoted = bool(re.search(r"[{,]\s*[\"']\w*$", before))
        if not quoted and not re.search(r"[{,]\s*$", before):
            return []
        names = _meta_parameters(lines, line)
        return [
            Proposal(name, lsp.CompletionItemKind.Field, "meta-parameter", name if quoted else f'"{name}": ')
            for name in names
        ]
    if place == "call" and re.search(r"[(,]\s*\w*$", before):
        return [Proposal(f"{name}=", lsp.CompletionItemKind.Property, "launch option") for name in _OPTIONS]
    return []


def _enclosing_config(lines: Sequence[str], line: int, before: str) -> str:
    """ "dict" in the first argument of a `Config(...)` call, "call" beside it, "" elsewhere. Brackets in
    strings mislead it; then nothing is proposed, or something that is not used."""
    depth: list[str] = []
    inside = ""
    for number in range(line, max(line - _MAX_BACK, -1), -1):
        text = before if number == line else lines[number]
        for at in range(len(text) - 1, -1, -1):
            char = text[at]
            if char in ")]}":
                depth.append(char)
            elif char in "([{":
                if depth:
                    depth.pop()
                    continue
                if char == "{" and not inside:
                    inside = "dict"
                elif char == "(" and _CONFIG.search(text[: at + 1]):
                    return inside or "call"
                else:
                    return ""
    return ""


def _meta_parameters(lines: Sequence[str], line: int) -> list[str]:
    """The constexpr parameters of the kernel below (or, for a list that stands alone, of any kernel of the
    file)."""
    below = _constexpr(lines, line, min(line + _MAX_DOWN, len(lines)), first=True)
    return below or _constexpr(lines, 0, len(lines), first=False)


def _kernel_names(lines: Sequence[str], line: int) -> list[str]:
    """All parameters of the kernel below."""
    header = _header(lines, line, min(line + _MAX_DOWN, len(lines)))
    return list(dict.fromkeys(re.findall(r"(?:[(,]|^)\s*(\w+)\s*(?=[:,=)\n]|$)", header)))


def _constexpr(lines: Sequence[str], start: int, end: int, first: bool) -> list[str]:
    found: dict[str, None] = {}
    at = start
    while at < end:
        header = _header(lines, at, end)
        if not header:
            break
        at += 1
        while at < end and not _DEF.match(lines[at - 1]):
            at += 1
        found.update(dict.fromkeys(_CONSTEXPR.findall(header)))
        if first and found:
            break
    return list(found)


def _header(lines: Sequence[str], start: int, end: int) -> str:
    """The parameter list of the first `def` from a line on."""
    for number in range(start, end):
        if _DEF.match(lines[number]):
            text = ""
            for part in lines[number : number + 80]:
                text += part.partition("#")[0].rstrip() + "\n"
                if re.search(r"\)\s*(->.*)?:\s*$", text):
                    break
            return text[text.index("(") :]
    return ""


def _setting(lines: Sequence[str], line: int, before: str) -> str | None:
    """The setting whose value is being typed: on this line, or above it while a bracket is open."""
    own = _SETTING.match(before)
    if own is not None:
        return own["key"].replace("_", "-")
    for number in range(line - 1, max(line - _MAX_BACK, -1), -1):
        text = lines[number]
        if text.lstrip().startswith("[") and "=" not in text and not text.rstrip().endswith(","):
            return None
        found = _SETTING.match(text)
        if found is not None:
            rest = "".join(lines[number:line]) + before
            return found["key"].replace("_", "-") if rest.count("[") > rest.count("]") else None
    return None


def _table(lines: Sequence[str], line: int) -> str:
    for number in range(line, -1, -1):
        header = re.match(r"^\s*\[+([^\]]+)\]", lines[number])
        if header and "=" not in lines[number]:
            return header[1].strip()
    return ""


@lru_cache(maxsize=1)
def _rules() -> list[Proposal]:
    from tritonlint.registry import registry

    return [Proposal(rule.code, lsp.CompletionItemKind.EnumMember, rule.name) for rule in registry().rules]


@lru_cache(maxsize=1)
def _gpus() -> list[Proposal]:
    from tritonlint.gpu.names import PROFILES, TARGETS

    names = [Proposal(name, lsp.CompletionItemKind.EnumMember, "GPU") for name in PROFILES]
    return names + [Proposal(name, lsp.CompletionItemKind.EnumMember, "target") for name in TARGETS]


@lru_cache(maxsize=1)
def _releases() -> list[Proposal]:
    from tritonlint.compiler.releases import releases

    found = [row.version for row in reversed(releases())]
    return [
        Proposal(f"{major}.{minor}", lsp.CompletionItemKind.EnumMember, "Triton release")
        for major, minor in found
    ]
