"""Where imported modules are, as files. They are read as text; nothing is ever imported."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from pathlib import Path

from tritonlint.disk import Stamp, stamp
from tritonlint.source.imported import read_imported
from tritonlint.source.module import Module
from tritonlint.source.text import load

# Packages that the evaluator knows by itself, or that are too far from kernels to be worth reading.
_NEVER_READ = frozenset(
    {
        "triton",
        "torch",
        "numpy",
        "jax",
        "jaxlib",
        "scipy",
        "pandas",
        "packaging",
        "transformers",
        "einops",
        "pytest",
    }
) | frozenset(sys.stdlib_module_names)
_MAX_IMPORT_BYTES = 2 * 1024 * 1024
_MAX_LEVELS = 10  # folders upwards that are searched


class Project:
    """Finds modules next to one linted file: in its package, and in the folders above it (a source root, a folder of
    installed packages). `looked_at` are the files that were asked for on the way, as they were then."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.looked_at: dict[str, Stamp] = {}
        self._found: dict[str, str | None] = {}
        self._roots: list[Path] | None = None

    @property
    def roots(self) -> list[Path]:
        """Folders from which absolute imports may start: first the one that holds the top package, then the folders
        above the file, nearest first (a vendored copy may put its own folder on the search path)."""
        if self._roots is None:
            try:
                folder = Path(os.path.abspath(self.path)).parent
            except (OSError, ValueError):
                return []
            chain = [folder, *folder.parents][:_MAX_LEVELS]
            top = next((place for place in chain if not self.is_file(str(place / "__init__.py"))), folder)
            self._roots = [top, *(place for place in chain if place != top)]
        return self._roots

    def locate(self, dotted: str) -> str | None:
        """The file of an absolute module name; None where it is not among the roots."""
        if dotted not in self._found:
            self._found[dotted] = self._search(dotted)
        return self._found[dotted]

    def _search(self, dotted: str) -> str | None:
        parts = dotted.split(".")
        if not parts[0] or parts[0] in _NEVER_READ:
            return None
        for root in self.roots:
            found = self._module_file(root, parts)
            if found is not None:
                return found
        return None

    def relative(self, path: str, level: int, dotted: str) -> str | None:
        """The file of `from ..dotted import` in the file at `path`."""
        try:
            folder = Path(os.path.abspath(path)).parent
        except (OSError, ValueError):
            return None
        for _ in range(level - 1):
            folder = folder.parent
        if not dotted:
            init = str(folder / "__init__.py")
            return init if self.is_file(init) else None
        return self._module_file(folder, dotted.split("."))

    def submodule(self, path: str, name: str) -> str | None:
        """The file of the module `name` in the package whose `__init__.py` is at `path`."""
        folder = Path(path).parent
        return self._module_file(folder, [name]) if Path(path).name == "__init__.py" else None

    def read(self, path: str) -> Module | None:
        """The parsed module of a file; None where it cannot be read."""
        found = stamp(path)
        self.looked_at.setdefault(path, found)
        if found is None or found[1] > _MAX_IMPORT_BYTES:
            return None
        return _parse(path, *found)

    def is_file(self, path: str) -> bool:
        if path not in self.looked_at:
            self.looked_at[path] = stamp(path)
        return self.looked_at[path] is not None

    def _module_file(self, root: Path, parts: list[str]) -> str | None:
        folder = root.joinpath(*parts)
        init = str(folder / "__init__.py")
        if self.is_file(init):
            return init
        single = str(folder) + ".py"
        return single if self.is_file(single) else None


@lru_cache(maxsize=64)
def _parse(path: str, modified: int, size: int) -> Module:
    """Parsed once for as long as the file on disk stays the same (hence the two last arguments)."""
    return read_imported(load(path))
