"""How large the evaluator's values may become. Code that doubles a list forty times takes forty steps and all memory, so
that steps alone bound nothing: what is longer than this is not made, gone through or compared."""

from __future__ import annotations

import re
from collections.abc import Iterable

MOST_ITEMS = 20_000  # of one value that are gone through, and parts of one that are within each other
MOST_LONG = 100_000  # characters of a text, items of a sum or a product of sequences
_WIDE = re.compile(r"\d{6}")  # a width or a precision in a format


def length_of_range(value: range) -> int:
    """How many items a range has, however many: `len` counts up to a machine word only."""
    steps = (value.stop - value.start + value.step + (-1 if value.step > 0 else 1)) // value.step
    return max(steps, 0)


def too_long(value: object) -> bool:
    """Is it a range, a sequence or a set that is not gone through?"""
    if isinstance(value, range):
        return length_of_range(value) > MOST_ITEMS
    return isinstance(value, (list, tuple, set, frozenset)) and len(value) > MOST_ITEMS


def too_large(value: object, most: int = MOST_ITEMS) -> bool:
    """Has it more than `most` parts, those within its parts counted each time that they are met?"""
    if not isinstance(value, (list, tuple, dict)):
        return False
    left = most
    waiting: list[Iterable[object]] = [value]
    while waiting:
        one = waiting.pop()
        left -= len(one)  # type: ignore[arg-type]
        if left < 0:
            return True
        parts = one.values() if isinstance(one, dict) else one
        waiting.extend(part for part in parts if isinstance(part, (list, tuple, dict)))
    return False


def too_wide(format_: str, values: object = ()) -> bool:
    """Would a text become too long by the widths that a format names, itself or with `*` and braces in braces?"""
    if _WIDE.search(format_):
        return True
    row = values if isinstance(values, (list, tuple)) else (values,)
    outside = ("*" in format_ or "{" in format_) and any(
        isinstance(one, int) and abs(one) > MOST_LONG for one in row
    )
    return outside and ("*" in format_ or re.search(r"\{[^{}]*\{", format_) is not None)
