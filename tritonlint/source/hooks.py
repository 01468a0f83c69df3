"""Functions of the user's own that give configs, named in the setting `config-functions`.

An entry is a name, or `name:file.json`. A bare name says that a decorator of that name tunes, and that a call of it
gives configs which only a run knows. With a file, a call gives the configs that the file holds: JSON or YAML in which
every object with num_warps (or with num_stages and a block size) is a config; its further values are the kernel's own,
also those one level down (`META: {BLOCK_M: 64}`, `kwargs: {...}`). Where the call's first argument is a key of the file,
those below that key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonlint.source.kernels import OPTIONS, ConfigValue
from tritonlint.source.objects import Dict, List, Origin
from tritonlint.source.text import load
from tritonlint.source.tuned import TunedFile, read_tuned
from tritonlint.source.yaml_lists import SUFFIXES as YAML_SUFFIXES
from tritonlint.source.yaml_lists import YamlMissingError, read_yaml

if TYPE_CHECKING:
    from tritonlint.source.interpreter import Arguments, Interpreter


@dataclass(slots=True)
class Hooks:
    """`files` maps a function's last name to its file, None where there is none."""

    files: dict[str, str | None] = field(default_factory=dict)
    _read: dict[str, TunedFile | None] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        return name in self.files

    def result(self, interp: Interpreter, name: str, arguments: Arguments) -> Any:
        """What a call of a named function gives."""
        path = self.files[name]
        if path is None:
            return interp.symbol(("hook", name), f"{name}() gives configs that only a run knows")
        if path not in self._read:
            try:
                self._read[path] = _read(path)
            except YamlMissingError:
                return interp.symbol(("hook", name), f"{path} is YAML, and tritonlint[yaml] is not installed")
        tuned = self._read[path]
        if tuned is None or not tuned.entries:
            return interp.symbol(("hook", name), f"{path} holds no configs")
        wanted = arguments.positional[0] if arguments.positional else None
        entries = [entry for entry in tuned.entries if entry.keys[:1] == (wanted,)] or list(tuned.entries)
        found = List()
        for entry in entries:
            kwargs = Dict(_own(entry.values))
            options = {key: value for key, value in entry.values.items() if key in OPTIONS}
            places = {key: Origin(tuned.path, span) for key, span in entry.value_spans.items()}
            found.append(ConfigValue(kwargs, options, Origin(tuned.path, entry.span), places))
        return found


def _read(path: str) -> TunedFile | None:
    if path.endswith(YAML_SUFFIXES):
        return read_yaml(load(path))
    return read_tuned(load(path))


def _own(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a config gives the kernel: its values but the options, and those of the objects in it."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            found.update(value)
        elif key not in OPTIONS:
            found[key] = value
    return found


def hooks_from(names: tuple[str, ...], root: str | Path = ".") -> Hooks:
    """The setting's entries; files count from `root`, the folder of the settings file."""
    files: dict[str, str | None] = {}
    for entry in names:
        name, _, path = entry.partition(":")
        files[name.strip().rpartition(".")[2]] = str(Path(root) / path.strip()) if path.strip() else None
    return Hooks(files)
