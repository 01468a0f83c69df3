"""Numbers and names as they are shown beside code: short, with their units."""

from __future__ import annotations

from tritonlint_server.sites import ConfigList, Row

# What `limiter` says, as it fits into a hint.
_SHORT = {
    "shared memory": "smem",
    "registers": "registers",
    "threads": "threads",
    "blocks": "CTA slots",
    "tensor memory": "tmem",
}


def kilobytes(count: int) -> str:
    """ "96 KB"; bytes below one KB, a tenth where it is no whole number."""
    if count < 1024:
        return f"{count} B"
    size = count / 1024
    return f"{size:.0f} KB" if size == int(size) else f"{size:.1f} KB"


def limiter(row: Row) -> str:
    return _SHORT.get(row.limiter or "", row.limiter or "")


def shared(row: Row) -> str:
    """The bytes, marked where they are estimated."""
    return kilobytes(row.shared_bytes) if row.shared_exact else f"~{kilobytes(row.shared_bytes)}"


def hint(row: Row) -> str:
    """ "96 KB · 1 CTA/SM · smem", or why it does not run, or that nothing is known."""
    if row.unknown:
        return "not known"
    if not row.fits:
        return "does not fit: " + (row.why_not[0].partition(":")[0] if row.why_not else shared(row))
    ctas = f"{row.ctas_per_sm} CTA{'s' if row.ctas_per_sm != 1 else ''}/SM"
    return " · ".join(part for part in (shared(row), ctas, limiter(row)) if part)


def waves(row: Row) -> str:
    """ "3 full + 26%"; "" where the grid is not known."""
    if row.full_waves is None:
        return ""
    if row.last_wave in (0, 1):
        return f"{row.full_waves} full"
    return f"{row.full_waves} full + {row.last_wave:.0%}"


def milliseconds(value: float) -> str:
    if value >= 1:
        return f"{value:.2f} ms"
    return f"{value * 1000:.3g} us"


def count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def lens(listed: ConfigList, duplicates: int) -> str:
    """ "14 configs: 3 do not fit rtx4090, 1 duplicate"."""
    said: list[str] = []
    for gpu, known in listed.known.items():
        refused = known - listed.fitting[gpu]
        if refused:
            said.append(f"{refused} {'does' if refused == 1 else 'do'} not fit {gpu}")
    if not said and listed.known and all(listed.known.values()):
        said.append(f"all fit {', '.join(listed.known)}")
    if duplicates:
        said.append(count(duplicates, "duplicate"))
    if not listed.resolved:
        said.append("not all are known")
    return count(listed.count, "config") + (f": {', '.join(said)}" if said else "")
