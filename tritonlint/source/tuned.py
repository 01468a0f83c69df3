"""Tuned configs in JSON files: which device, which types, which entries, and where each entry stands.

vLLM and SGLang ship files named like
`E=8,N=7168,device_name=NVIDIA_H100_80GB_HBM3,dtype=fp8_w8a8,block_shape=[128,128].json`, each a map from a batch size
to a config; block-scaled GEMM files are alike, with N and K. Others (AMD's by gfx name, lightllm's, mamba's) nest
differently: any object with num_warps or a block size in it is an entry.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import PurePath
from typing import Any

from tritonlint.quick import quick
from tritonlint.source.problem import Problem
from tritonlint.source.text import SourceFile
from tritonlint.span import Span

OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
_MAX_ENTRIES = 20_000
_MAX_DEPTH = 200
_TOKEN = re.compile(
    r'\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<word>true|false|null)'
    r"|(?P<mark>[{}\[\],:]))"
)
_NUMBER = re.compile(
    r'\s*"(?P<name>[^"\\]*)"\s*:\s*(?P<number>-?(?:0|[1-9]\d{0,17}))\s*(?P<mark>[,}])'
)  # most members are like this
_FIELD = re.compile(r"(?P<name>[A-Za-z_]+)=(?P<value>\[[^\]]*\]|[^,]*)(?:,|$)")
_WORDS = {"true": True, "false": False, "null": None}
_BLOCK = re.compile(r"(?i)^(block|tile)(_?size)?_?[a-z0-9]*$")


@quick
@dataclass(frozen=True, slots=True)
class Entry:
    """One config: the keys on the way to it ("4096",), its values, where its key stands and where each value does."""

    keys: tuple[str, ...]
    values: Mapping[str, Any]
    span: Span
    value_spans: Mapping[str, Span]


@dataclass(frozen=True, slots=True)
class TunedFile:
    """A file of tuned configs. `family` is "fused-moe", "block-gemm" or "" where the kernel is not known."""

    path: str
    family: str
    fields: Mapping[str, str]  # what the file's name says: E, N, K, device_name, dtype, block_shape, ...
    entries: tuple[Entry, ...]
    triton_version: str | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def device(self) -> str | None:
        """The device that the file was tuned on, as its name spells it."""
        name = self.fields.get("device_name") or self.fields.get("device")
        if name:
            return name
        found = re.search(r"(?i)(?<![a-z0-9])(gfx[0-9a-f]{3,4})(?![a-z0-9])", self.path.replace("\\", "/"))
        return found[1].lower() if found else None

    @property
    def dtype(self) -> str:
        return self.fields.get("dtype", "")

    @property
    def block_shape(self) -> tuple[int, ...] | None:
        found = re.findall(r"\d+", self.fields.get("block_shape", ""))
        return tuple(int(part) for part in found) if found else None


class _Broken(Exception):
    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def read_tuned(file: SourceFile) -> TunedFile | None:
    """The entries of a JSON file of tuned configs; None where it holds none. Never raises: a broken file is a problem."""
    if '"num_' not in file.text and not is_tuned_name(file.path):
        return None
    fields = _fields(file.path)
    reader = _JsonReader(file.text)
    try:
        document = reader.document()
    except _Broken as error:
        where = reader.places.place(error.offset)
        problem = Problem("syntax", str(error), file.path, Span(where[0], where[1], where[0], where[1]))
        return TunedFile(file.path, "", fields, (), None, (*file.problems, problem))
    if not reader.entries or _is_own_output(document):
        return None
    return TunedFile(
        file.path,
        _family(fields),
        fields,
        tuple(reader.entries[:_MAX_ENTRIES]),
        reader.version,
        file.problems,
    )


def _is_own_output(document: Any) -> bool:
    """A baseline or a report (also as SARIF) of tritonlint, or the sites of `configs`: they quote configs of others."""
    if not isinstance(document, dict):
        return False
    keys = document.keys()
    return {"tritonlint", "findings"} <= keys or {"runs", "version"} <= keys or keys == {"sites"}


def is_tuned_name(path: str) -> bool:
    """Whether the name alone says that a JSON file is one of tuned configs: it names a device."""
    return path.endswith(".json") and bool(_fields(path).get("device_name"))


def kind_of_name(path: str) -> tuple[str, ...]:
    """What files of the same kernel, types and device have in common, as far as their names say."""
    fields = _fields(path)
    return _family(fields), *(fields.get(name, "") for name in ("dtype", "block_shape", "device_name"))


def _fields(path: str) -> dict[str, str]:
    name = PurePath(path.replace("\\", "/")).name.removesuffix(".json")
    return {match["name"]: match["value"] for match in _FIELD.finditer(name)}


def _family(fields: Mapping[str, str]) -> str:
    if "device_name" not in fields:
        return ""
    if "E" in fields and "N" in fields:
        return "fused-moe"
    return "block-gemm" if "N" in fields and "K" in fields and "block_shape" in fields else ""


class _Places:
    """Offsets in a text as lines and columns."""

    def __init__(self, text: str) -> None:
        if "\r" in text:
            self._starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]
        else:
            self._starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]

    def place(self, offset: int) -> tuple[int, int]:
        """(line, column) of an offset, from 1."""
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        return Span(*self.place(start), *self.place(end))


class _JsonReader:
    """Reads JSON with the place of each object that is a config."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.places = _Places(text)
        self.at = 0
        self.entries: list[Entry] = []
        self.version: str | None = None

    def document(self) -> Any:
        value, _, _ = self._value((), None, 0)
        if self.text[self.at :].strip():
            raise _Broken("more text after the end of the JSON value", self.at)
        return value

    def _token(self) -> tuple[str, str, int, int]:
        match = _TOKEN.match(self.text, self.at)
        if match is None or match.lastgroup is None:
            offset = len(self.text) - len(self.text[self.at :].lstrip())
            raise _Broken("not JSON: a value is expected here", min(offset, len(self.text)))
        self.at = match.end()
        return match.lastgroup, match[match.lastgroup], match.start(match.lastgroup), match.end()

    def _value(self, keys: tuple[str, ...], key_start: int | None, depth: int) -> tuple[Any, int, int]:
        if depth > _MAX_DEPTH:
            raise _Broken("not read: nested too deeply", self.at)
        kind, text, start, end = self._token()
        if kind == "string":
            return _unquote(text), start, end
        if kind == "number":
            return (float(text) if re.search(r"[.eE]", text) else _integer(text, start)), start, end
        if kind == "word":
            return _WORDS[text], start, end
        if text == "{":
            return self._object(keys, start if key_start is None else key_start, depth), start, self.at
        if text == "[":
            return self._array(keys, depth), start, self.at
        raise _Broken(f"not JSON: {text!r} is not expected here", start)

    def _object(self, keys: tuple[str, ...], start: int, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        ends: dict[str, tuple[int, int]] = {}
        place = len(self.entries)
        first = True
        while True:
            member = _NUMBER.match(self.text, self.at)
            if member is not None:
                name, number, mark = member.groups()
                values[name] = int(number)
                ends[name] = member.span("number")
                self.at = member.end()
                first = False
                if mark == "}":
                    break
                continue
            kind, text, at, _ = self._token()
            if text == "}" and kind == "mark" and first:
                break
            if kind != "string":
                raise _Broken("not JSON: a key in quotes is expected here", at)
            key = _unquote(text)
            kind, mark, colon, _ = self._token()
            if mark != ":":
                raise _Broken("not JSON: a colon is expected here", colon)
            value, value_start, value_end = self._value((*keys, key), at, depth + 1)
            values[key] = value
            ends[key] = (value_start, value_end)
            if key == "triton_version" and isinstance(value, str) and not keys:
                self.version = value
            kind, mark, at, _ = self._token()
            first = False
            if mark == "}":
                break
            if mark != ",":
                raise _Broken("not JSON: a comma or a closing brace is expected here", at)
        if is_config(values):
            entry = Entry(keys, values, self.places.span(start, self.at), _Spans(self.places, ends))
            self.entries.insert(place, entry)
        return values

    def _array(self, keys: tuple[str, ...], depth: int) -> list[Any]:
        items: list[Any] = []
        if re.compile(r"\s*\]").match(self.text, self.at):
            self._token()
            return items
        while True:
            value, _, _ = self._value((*keys, str(len(items))), None, depth + 1)
            items.append(value)
            _, mark, at, _ = self._token()
            if mark == "]":
                return items
            if mark != ",":
                raise _Broken("not JSON: a comma or a closing bracket is expected here", at)


class _Spans(Mapping[str, Span]):
    """Where values stand, told when somebody asks: hardly ever."""

    def __init__(self, places: _Places, ends: Mapping[str, tuple[int, int]]) -> None:
        self._places = places
        self._ends = ends

    def __getitem__(self, key: str) -> Span:
        return self._places.span(*self._ends[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._ends)

    def __len__(self) -> int:
        return len(self._ends)


def _integer(text: str, offset: int) -> int:
    """Python itself reads no integer of more than 4,300 digits, and so no such file."""
    try:
        return int(text)
    except ValueError:
        raise _Broken(f"not read: an integer of {len(text):,} characters", offset) from None


def _unquote(text: str) -> str:
    if "\\" not in text:
        return text[1:-1]
    import json

    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        return text[1:-1]


def is_config(values: Mapping[str, Any]) -> bool:
    """An object that names block sizes or num_warps by plain numbers."""
    plain = [name for name, value in values.items() if isinstance(value, int) and not isinstance(value, bool)]
    return "num_warps" in plain or ("num_stages" in plain and any(_BLOCK.match(name) for name in plain))
