"""Triton's own cache folder: a folder for each compile, with metadata (JSON), code, and the text of each stage.

The constants are not written down there; the tile shapes, the arguments and the place of the kernel are, in the text.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tritonlint.facts.cubin import Code, CodeError, read_amdgcn, read_cubin
from tritonlint.facts.record import Fact, Numbers
from tritonlint.facts.ttir import read_ttir


class TritonCache:
    """Facts of one cache folder; what belongs to a kernel is read when it is asked for."""

    def __init__(self, folder: Path) -> None:
        self._metadata: dict[str, list[Path]] = {}
        for entry in sorted(os.scandir(folder), key=lambda one: one.name):
            if not entry.is_dir():
                continue
            with suppress(OSError):
                for file in os.scandir(entry.path):
                    name = file.name
                    if name.endswith(".json") and not name.startswith("__grp__"):
                        self._metadata.setdefault(name.removesuffix(".json"), []).append(Path(file.path))

    @property
    def kernels(self) -> frozenset[str]:
        return frozenset(self._metadata)

    def facts(self, kernel: str) -> list[Fact]:
        """Oldest first. Files that are damaged are passed over."""
        found: list[tuple[float, Fact]] = []
        for path in self._metadata.get(kernel, ()):
            with suppress(OSError, ValueError, KeyError, TypeError):
                found.append((path.stat().st_mtime, _fact(path, kernel)))
        return [fact for _, fact in sorted(found, key=lambda pair: pair[0])]


def is_triton_cache(folder: Path) -> bool:
    """Does the folder look like one?"""
    with suppress(OSError):
        for entry in list(os.scandir(folder))[:200]:
            if entry.is_dir() and any(file.name.startswith("__grp__") for file in os.scandir(entry.path)):
                return True
    return False


def _fact(path: Path, kernel: str) -> Fact:
    metadata = json.loads(path.read_text(encoding="utf-8"))
    code = _code(path, kernel)
    text = None
    with suppress(OSError):
        text = read_ttir(path.with_suffix(".ttir").read_text(encoding="utf-8"))
    return Fact(
        kernel=kernel,
        numbers=numbers_of(metadata, code),
        rung="compiled",
        origin=f"Triton cache, {path}",
        arch=arch_of(metadata["target"]),
        triton=release_of(metadata.get("triton_version")),
        num_stages=metadata.get("num_stages"),
        num_ctas=metadata.get("num_ctas"),
        num_warps=metadata["num_warps"],
        arguments=text.arguments if text else None,
        shapes=text.shapes if text else None,
        line=text.line if text else None,
        file=text.file if text else None,
    )


def numbers_of(metadata: Mapping[str, Any], code: Code | None) -> Numbers:
    """What Triton's metadata of a compiled kernel, and its code where it is there, say that it needs."""
    return Numbers(
        shared_bytes=metadata["shared"],
        registers=code.registers if code else None,
        spills=code.spills if code else None,
        tensor_memory_columns=metadata.get("tmem_size"),
        warps=metadata["num_warps"],
    )


def _code(path: Path, kernel: str) -> Code | None:
    with suppress(OSError, CodeError):
        return read_cubin(path.with_suffix(".cubin").read_bytes(), kernel)
    with suppress(OSError, CodeError):
        return read_amdgcn(path.with_suffix(".amdgcn").read_text(encoding="utf-8"))
    return None


def arch_of(target: Any) -> str | None:
    """ "sm_90" or "gfx942" of Triton's target record."""
    if not isinstance(target, dict):
        return None
    arch = target.get("arch")
    return f"sm_{arch}" if isinstance(arch, int) else arch if isinstance(arch, str) else None


def release_of(version: Any) -> tuple[int, int] | None:
    """(3, 9) of "3.9.0"."""
    try:
        major, minor = str(version).split(".")[:2]
        return int(major), int(minor)
    except ValueError:
        return None
