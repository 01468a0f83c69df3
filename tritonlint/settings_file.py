"""Reads and checks one settings file.

Checked by hand against one small table, since a validation library would take longer to import than
linting takes. The same table writes the JSON Schema that editors use (`json_schema`), and a test holds the
shipped copy against it.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from tritonlint import __version__
from tritonlint.disk import read_regular
from tritonlint.settings import Settings, SettingsError, check_version, near

SEVERITY_VALUES = ("error", "warning", "info", "off")


@dataclass(frozen=True, slots=True)
class Key:
    """One setting: the check of its value, its JSON Schema, and what it does (Markdown)."""

    check: Callable[[_Reader, str, Any], Any]
    schema: Mapping[str, Any]
    what: str


@dataclass(frozen=True, slots=True)
class _Reader:
    """Where the values come from, to say so when one is wrong."""

    path: Path
    text: str
    table: tuple[str, ...]  # ("tool", "tritonlint"), or () in tritonlint.toml

    def fail(self, key: str, message: str, inside: tuple[str, ...] = ()) -> NoReturn:
        line = line_of(self.text, (*self.table, *key.split("."), *inside))
        raise SettingsError(message, str(self.path), line, ".".join((key, *inside)))


def _kind(value: Any) -> str:
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "text",
        list: "a list",
        dict: "a table",
    }
    return names.get(type(value), type(value).__name__)


def _strings(reader: _Reader, key: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str):  # one is as good as a list of one
        return (value,)
    if not isinstance(value, list):
        reader.fail(key, f"expected a list of text, found {_kind(value)}")
    for entry in value:
        if not isinstance(entry, str):
            reader.fail(key, f"expected a list of text, found {_kind(entry)} in it")
    return tuple(value)


def _string(reader: _Reader, key: str, value: Any) -> str:
    if not isinstance(value, str):
        reader.fail(key, f"expected text, found {_kind(value)}")
    return value


def _bool(reader: _Reader, key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        reader.fail(key, f"expected true or false, found {_kind(value)}")
    return value


def _triton(reader: _Reader, key: str, value: Any) -> str:
    if isinstance(
        value, float
    ):  # triton = 3.9 is meant as "3.9"; 3.10 cannot be told from 3.1, so ask for quotes
        reader.fail(key, f'expected text, found a number; write "{value}" in quotes')
    text = _string(reader, key, value)
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?", text):
        reader.fail(key, f'expected a release such as "3.9" or "3.9.0", found "{text}"')
    return text


def _version(reader: _Reader, key: str, value: Any) -> str:
    text = _string(reader, key, value)
    holds = check_version(text, __version__)
    if holds is None:
        reader.fail(key, f'expected versions such as ">=0.2, <1", found "{text}"')
    if not holds:
        reader.fail(key, f"this is tritonlint {__version__}, the project asks for {text}")
    return text


def _string_table(reader: _Reader, key: str, value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        reader.fail(key, f"expected a table of text, found {_kind(value)}")
    for name, entry in value.items():
        if not isinstance(entry, str):
            reader.fail(key, f"expected text, found {_kind(entry)}", (name,))
    return dict(value)


def _types(reader: _Reader, key: str, value: Any) -> dict[str, str]:
    table = _string_table(reader, key, value)
    for name, text in table.items():
        if not TYPE.fullmatch(text.strip()):
            reader.fail(
                key,
                f'expected a type such as "*fp16", "i32", "fp32" or "tensordesc<...>", found "{text}"',
                (name,),
            )
    return table


TYPE = re.compile(
    r"\*?\*?k?(fp8e4nv|fp8e5|fp8e4b8|fp8e4b15|fp8e5b16|bf16|fp16|fp32|fp64|[iu](1|8|16|32|64))|tensordesc<.*>"
)


def _list_table(reader: _Reader, key: str, value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        reader.fail(key, f"expected a table, a path pattern to a list of rules, found {_kind(value)}")
    return {
        name: _strings(reader, f"{key}.{name}" if "." not in name else key, entry)
        for name, entry in value.items()
    }


def _severity(reader: _Reader, key: str, value: Any) -> dict[str, str | dict[str, str]]:
    if not isinstance(value, dict):
        reader.fail(key, f"expected a table, rule to severity, found {_kind(value)}")
    allowed = ", ".join(SEVERITY_VALUES)
    table: dict[str, str | dict[str, str]] = {}
    for name, entry in value.items():
        if isinstance(entry, dict):
            for inner, severity in entry.items():
                if severity not in SEVERITY_VALUES:
                    reader.fail(key, f"expected one of {allowed}, found {severity!r}", (name, inner))
            table[name] = dict(entry)
        elif entry in SEVERITY_VALUES:
            table[name] = entry
        else:
            reader.fail(key, f"expected one of {allowed}, found {entry!r}", (name,))
    return table


def _profiles(reader: _Reader, key: str, value: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict):
        reader.fail(key, f"expected a table, name to the GPU's numbers, found {_kind(value)}")
    for name, entry in value.items():
        if not isinstance(entry, dict):
            reader.fail(key, f"expected a table, the GPU's numbers, found {_kind(entry)}", (name,))
    return dict(value)


def _overrides(reader: _Reader, key: str, value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        reader.fail(key, f"expected a list of tables ([[overrides]]), found {_kind(value)}")
    return tuple(_override(reader, key, entry) for entry in value)


def _override(reader: _Reader, key: str, entry: dict[str, Any]) -> dict[str, Any]:
    checked: dict[str, Any] = {}
    if not entry.get("paths"):
        reader.fail(key, "expected `paths`, the patterns of the files that it is for")
    for name, value in entry.items():
        known = name.replace("_", "-")
        if known == "paths":
            checked[known] = _strings(reader, f"{key}.{name}", value)
        elif known in OVERRIDABLE:
            checked[known] = KEYS[known].check(reader, f"{key}.{name}", value)
        else:
            hint = near(known, OVERRIDABLE) or f"; allowed are paths, {', '.join(OVERRIDABLE)}"
            reader.fail(f"{key}.{name}", f"cannot be set for single paths{hint}")
    return checked


OVERRIDABLE = ("gpus", "triton", "select", "ignore", "severity", "default-types", "require-reasons")

_LIST = {"type": "array", "items": {"type": "string"}}
_LIST_OR_ONE = {"anyOf": [{"type": "string"}, _LIST]}
_SEVERITY = {"enum": list(SEVERITY_VALUES)}

KEYS: Mapping[str, Key] = {
    "gpus": Key(
        _strings, _LIST_OR_ONE,
        "The GPUs to check for: profile names (`h100`, `rtx4090`, ...) or bare targets (`sm_90`, `gfx942`).",
    ),
    "triton": Key(
        _triton, {"type": "string", "pattern": r"^\d+\.\d+(\.\d+)?$"},
        "The Triton release to check for, as `\"3.9\"`.",
    ),
    "select": Key(
        _strings, _LIST_OR_ONE,
        "Only these rules: codes (`TL101`), families (`TL1`) or names. Empty: every rule.",
    ),
    "ignore": Key(_strings, _LIST_OR_ONE, "Not these rules: codes, families or names."),
    "severity": Key(
        _severity,
        {
            "type": "object",
            "additionalProperties": {
                "anyOf": [_SEVERITY, {"type": "object", "additionalProperties": _SEVERITY}],
            },
        },
        "Another severity for a rule (`TL101 = \"error\"`), or for a rule on one GPU "
        "(`TL101 = { t4 = \"info\", default = \"error\" }`, or a table of the GPU's name). `off` drops the finding.",
    ),
    "exclude": Key(
        _strings, _LIST_OR_ONE,
        "Paths not to read, as patterns of `.gitignore`, counted from the settings file. "
        "They hold for named paths too.",
    ),
    "per-file-ignores": Key(
        _list_table, {"type": "object", "additionalProperties": _LIST_OR_ONE},
        "For paths that match a pattern: rules to ignore there.",
    ),
    "default-types": Key(
        _types, {"type": "object", "additionalProperties": {"type": "string"}},
        "The type of an argument where nothing else tells it: a name or pattern to a type, "
        "`\"*_ptr\" = \"*bf16\"`.",
    ),
    "config-functions": Key(
        _strings, _LIST_OR_ONE,
        "Functions of your own whose result is a list of configs, and wrappers of `triton.autotune`, "
        "by name.",
    ),
    "baseline": Key(_string, {"type": "string"}, "A file of known findings, not to be reported again."),
    "facts": Key(
        _strings, _LIST_OR_ONE,
        "Files and folders with numbers that were compiled or measured: Triton's cache folder, logs of tritonparse, "
        "CSV files of Nsight Compute (`--page raw`), run logs of `tritonlint.autotune` (`.jsonl`), the JSON of "
        "`tritonlint verify`. Where one holds for a launch it "
        "takes the place of the estimate.",
    ),
    "required-version": Key(
        _version, {"type": "string"}, "The tritonlint that the project asks for, as `\">=0.2\"`."
    ),
    "require-reasons": Key(_bool, {"type": "boolean"}, "A suppression must say why."),
    "github-annotations": Key(
        _bool, {"type": "boolean"},
        "In GitHub Actions, print annotations beside the output asked for, on standard error.",
    ),
    "profiles": Key(
        _profiles, {"type": "object", "additionalProperties": {"type": "object"}},
        "GPUs of your own, name to a table: `base` (a known GPU or target) and the numbers that differ.",
    ),
    "overrides": Key(
        _overrides, {"type": "array"},
        "Other settings for some paths, a table `[[overrides]]` each: `paths` (patterns of `.gitignore`) and any of "
        "`gpus`, `triton`, `select`, `ignore`, `severity`, `default-types`, `require-reasons`. Later ones win; tables "
        "are merged, everything else is replaced.",
    ),
}  # fmt: skip


def read(path: Path) -> Settings | None:
    """The settings in one file; None for a pyproject.toml without a table of ours. Raises SettingsError."""
    own = path.name != "pyproject.toml"
    try:
        data = read_regular(path)
    except OSError as error:
        raise SettingsError(f"cannot be read: {error.strerror or error}", str(path)) from None
    if not own and b"tritonlint" not in data:
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingsError("is not UTF-8", str(path), line) from None
    document = _parse(path, text)
    table: Any = document
    prefix: tuple[str, ...] = ()
    if not own:
        tool = document.get("tool")
        if not isinstance(tool, dict) or "tritonlint" not in tool:
            return None
        table, prefix = tool["tritonlint"], ("tool", "tritonlint")
    elif isinstance(document.get("tool"), dict) and "tritonlint" in document["tool"]:
        table, prefix = document["tool"]["tritonlint"], ("tool", "tritonlint")
    reader = _Reader(path, text, prefix)
    if not isinstance(table, dict):
        raise SettingsError(
            f"expected a table, found {_kind(table)}", str(path), line_of(text, prefix), ".".join(prefix)
        )
    return _checked(reader, table)


def _parse(path: Path, text: str) -> dict[str, Any]:
    toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        document: dict[str, Any] = toml.loads(text)
        return document
    except ValueError as error:  # toml.TOMLDecodeError is one
        found = re.search(r"\(at (?:line (\d+), column \d+|end of document)\)", str(error))
        message = str(error).replace(found[0], "").strip() if found else str(error)
        line = int(found[1]) if found and found[1] else len(text.splitlines())
        raise SettingsError(f"is not TOML: {message}", str(path), line) from None


def _checked(reader: _Reader, table: Mapping[str, Any]) -> Settings:
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    # The version first: a newer file may hold keys that this tritonlint does not know.
    for name in sorted(table, key=lambda key: key.replace("_", "-") != "required-version"):
        key = name.replace("_", "-")
        known = KEYS.get(key)
        if known is None:
            hint = near(key, KEYS) or f"; the settings are {', '.join(KEYS)}"
            reader.fail(name, f"unknown setting{hint}")
        values[key.replace("-", "_")] = known.check(reader, name, table[name])
        origins[key] = f"{reader.path}:{line_of(reader.text, (*reader.table, name))}"
    return Settings(**values, path=reader.path, origins=origins)


_HEADER = re.compile(r"^\s*\[{1,2}\s*(?P<name>[^\]]+?)\s*\]{1,2}\s*(#.*)?$")
_ASSIGNMENT = re.compile(
    r"^\s*(?P<name>(?:\"[^\"]*\"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:\"[^\"]*\"|'[^']*'|[\w-]+))*)\s*="
)
_PART = re.compile(r"\"([^\"]*)\"|'([^']*)'|([\w-]+)")


def _parts(name: str) -> tuple[str, ...]:
    return tuple(next(part for part in found if part is not None) for found in
                 ((m[1], m[2], m[3]) for m in _PART.finditer(name)))  # fmt: skip


def line_of(text: str, keys: tuple[str, ...]) -> int:
    """The line (from 1) where a key of a TOML text is set, or the nearest table or key around it; 0 for none.

    The TOML reader of the standard library keeps no positions. Text in multi-line strings may mislead this
    search; then a line is off, nothing else.
    """
    best, best_length = 0, 0
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        if header:
            table = _parts(header["name"])
            here = table
        else:
            assignment = _ASSIGNMENT.match(line)
            if not assignment:
                continue
            here = table + _parts(assignment["name"])
        if here[: len(keys)] == keys:  # the key, or the first part of a table that is written in parts
            return number
        if len(here) > best_length and keys[: len(here)] == here:
            best, best_length = number, len(here)
    return best


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a tritonlint.toml, and of `[tool.tritonlint]`."""
    properties = {name: {**key.schema, "description": key.what} for name, key in KEYS.items()}
    properties["overrides"]["items"] = {
        "type": "object",
        "additionalProperties": False,
        "required": ["paths"],
        "properties": {"paths": _LIST_OR_ONE, **{name: KEYS[name].schema for name in OVERRIDABLE}},
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "tritonlint",
        "description": "Settings of tritonlint: tritonlint.toml, or [tool.tritonlint] in pyproject.toml.",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }
