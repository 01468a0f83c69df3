"""Reads the data file of one GPU.

    title = "NVIDIA H100 SXM5 80 GB"
    base = "sm_90"                   # another file, whose facts hold unless they are given here

    [[facts]]
    source = "where all numbers of this block come from, in words"
    multiprocessors = 132
    flops = { fp16 = 989.4e12 }

A number may be given once per file; `flops` is merged key by key.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tritonlint.gpu.names import TARGETS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

_FOLDER = Path(__file__).parent
_HEAD = ("title", "vendor", "arch")
_FAMILIES = ("nvidia", "cdna", "rdna")  # what several architectures share


def path_of(stem: str) -> Path:
    """The file of a profile, of a target or of a family ("nvidia")."""
    folder = "architectures" if stem in TARGETS or stem in _FAMILIES else "profiles"
    return _FOLDER / folder / f"{stem}.toml"


def load_facts(stem: str) -> tuple[dict[str, Any], dict[str, str]]:
    """(field -> value, field -> source) of one file and of those it is based on."""
    table = tomllib.loads(path_of(stem).read_text(encoding="utf-8"))
    base = table.get("base")
    values, sources = load_facts(base) if base else ({}, {})
    values.update({key: table[key] for key in _HEAD if key in table})
    own: set[str] = set()
    for block in table.get("facts", ()):
        source = block["source"]
        for field, value in block.items():
            if field == "source":
                continue
            if field == "flops":
                values["flops"] = {**values.get("flops", {}), **value}
                fields = [f"flops.{key}" for key in value]
            else:
                values[field] = value
                fields = [field]
            for name in fields:
                if name in own:
                    raise ValueError(f"{path_of(stem).name}: {name} is given twice")
                own.add(name)
                sources[name] = source
    return values, sources
