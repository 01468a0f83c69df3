"""Numbers as the messages write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tritonlint.source.values import Bounded, OneOf, Unknown


def bytes_text(number: int) -> str:
    return f"{number:,} B"


def kilobytes(number: int) -> str:
    """99 KB for 101,376 bytes, the way limits are written in data sheets."""
    return f"{number // 1024} KB" if number % 1024 == 0 else bytes_text(number)


def percent(fraction: float) -> str:
    return f"{round(100 * fraction)}%"


def shape_text(shape: Sequence[int]) -> str:
    return "x".join(str(size) for size in shape)


def counted(number: int, noun: str, plural: str = "") -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Iterable[str]) -> str:
    """a, b and c"""
    items = list(names)
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def config_text(config: Mapping[str, Any]) -> str:
    """What is known of a config."""
    known = {
        name: value for name, value in config.items() if not isinstance(value, (Bounded, OneOf, Unknown))
    }
    return ", ".join(f"{name}={value}" for name, value in known.items())


def milliseconds(time_ms: float) -> str:
    if time_ms < 0.001:
        return f"{time_ms * 1000:.2g} us"
    if time_ms < 1:
        return f"{time_ms * 1000:.3g} us"
    return f"{time_ms:.3g} ms"


def pronoun(number: int) -> str:
    return "it does" if number == 1 else "they do"
