"""Small helpers that several commands share."""

from __future__ import annotations

from collections.abc import Iterable


def split_names(values: Iterable[str]) -> tuple[str, ...]:
    """("TL101,TL2", "TL9") as ("TL101", "TL2", "TL9")."""
    return tuple(name.strip() for value in values for name in value.split(",") if name.strip())


def counted(count: int, noun: str) -> str:
    """ "1 file", "2 files", "2 fixes"."""
    plural = "es" if noun.endswith("x") else "s"
    return f"{count:,} {noun}{'' if count == 1 else plural}"
