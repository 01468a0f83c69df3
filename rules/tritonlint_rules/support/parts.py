"""What takes the shared memory, in the user's tile sizes."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from tritonlint.compiler.compiled import SharedPart
from tritonlint_rules.support.say import bytes_text

_SMALL = 64  # parts below so many bytes, as barriers, are one term
_BUFFERS = re.compile(r"(?P<count>\d+) buffers? x (?P<shape>\d+(?:x\d+)*) x (?P<size>\d+) B")


def breakdown(estimate: Any) -> str:
    """ "3 buffers x (128x64 + 64x256) x 2 B": the parts that are live where the most is needed; "" where
    unknown."""
    compiled = estimate.compiled
    if compiled is None:
        return ""
    groups: dict[tuple[int, int], list[str]] = {}
    others: list[str] = []
    small = 0
    for part in compiled.parts:
        if not part.live_at_peak:
            continue
        if part.shared_bytes < _SMALL:
            small += part.shared_bytes
            continue
        match = _BUFFERS.fullmatch(part.label)
        if match:
            groups.setdefault((int(match["count"]), int(match["size"])), []).append(match["shape"])
        else:
            others.append(
                part.label if " B" in part.label else f"{part.label} {bytes_text(part.shared_bytes)}"
            )
    pieces: list[str] = []
    for (count, size), shapes in groups.items():
        tiles = shapes[0] if len(shapes) == 1 else f"({' + '.join(shapes)})"
        pieces.append(f"{count} {'buffer' if count == 1 else 'buffers'} x {tiles} x {size} B")
    pieces += [label if count == 1 else _several(count, label) for label, count in Counter(others).items()]
    if small and pieces:
        pieces.append(f"{small} B of barriers and the like")
    return " + ".join(pieces)


def _several(count: int, label: str) -> str:
    """ "2 operands 64x128 x 2 B" of "operand 64x128 x 2 B"."""
    match = re.match(r"(?P<what>[a-z ]*[a-z])(?P<size> \d.*)?$", label)
    if match is None:
        return f"{count} x ({label})"
    noun, to, rest = match["what"].partition(" to ")  # "tile to be stored"
    return f"{count} {noun}s{to}{rest}{match['size'] or ''}"


def largest_scratch(estimate: Any) -> SharedPart | None:
    """The largest part that is not a buffer of a loop's load, or None."""
    if estimate.compiled is None:
        return None
    parts: list[SharedPart] = [
        part for part in estimate.compiled.parts if part.kind in ("conversion", "reduction", "scan", "store")
    ]
    return max(parts, key=lambda part: part.shared_bytes, default=None)


def buffer_bytes(estimate: Any) -> int:
    """Bytes of the loop's buffers and barriers, without any scratch."""
    if estimate.compiled is None:
        return 0
    total: int = sum(
        part.shared_bytes for part in estimate.compiled.parts if part.kind in ("buffer", "operand", "barrier")
    )
    return total
