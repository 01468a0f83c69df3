"""Registers and spills from the code that Triton keeps: NVIDIA's cubin, AMD's assembly.

A cubin is an ELF file. Its section .nv.info holds attributes, each with a format byte, an attribute byte and a 16-bit
size (or value); those of format 4 are followed by that many bytes. Register count and frame size are pairs of a symbol
and a number (what `cuobjdump --dump-resource-usage` prints as REG and STACK).
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

_EIATTR_FRAME_SIZE = 0x11
_EIATTR_REGCOUNT = 0x2F
_SIZED = 0x04  # EIFMT_SVAL
_WORD = 4


class CodeError(ValueError):
    """Bytes that are no cubin, or one without the attributes."""


@dataclass(frozen=True, slots=True)
class Code:
    """`spills`: 4-byte words of local memory (NVIDIA), spilled vector registers (AMD)."""

    registers: int
    spills: int


def read_cubin(data: bytes, kernel: str | None = None) -> Code:
    """The entry function's registers and spills; `kernel` picks one where there are several. Raises CodeError."""
    try:
        sections = _sections(data)
        info = next((body for name, body in sections if name == ".nv.info"), None)
        symbols = _symbols(sections)
        if info is None:
            raise CodeError("a cubin without .nv.info")
        registers = _numbers(info, _EIATTR_REGCOUNT)
        frames = _numbers(info, _EIATTR_FRAME_SIZE)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise CodeError(f"no cubin: {error}") from None
    entries = {name.removeprefix(".text.") for name, _ in sections if name.startswith(".text.")}
    names = {symbol: symbols.get(symbol, "") for symbol in registers}
    chosen = [s for s, name in names.items() if name == kernel] or [
        s for s, name in names.items() if name in entries
    ]
    if not chosen:
        raise CodeError("a cubin without a register count")
    symbol = max(chosen, key=lambda one: registers[one])
    return Code(registers[symbol], frames.get(symbol, 0) // _WORD)


def _sections(data: bytes) -> list[tuple[str, bytes]]:
    if data[:5] != b"\x7fELF\x02":
        raise CodeError("no 64-bit ELF file")
    (offset,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, offset + index * size) for index in range(count)]
    names = headers[names_index]
    table = data[names[4] : names[4] + names[5]]
    found: list[tuple[str, bytes]] = []
    for name, kind, _, _, start, length in headers:
        text = table[name : table.index(b"\0", name)].decode()
        found.append((text, b"" if kind == 8 else data[start : start + length]))
    return found


def _symbols(sections: list[tuple[str, bytes]]) -> dict[int, str]:
    table = next((body for name, body in sections if name == ".symtab"), b"")
    texts = next((body for name, body in sections if name == ".strtab"), b"")
    found: dict[int, str] = {}
    for index in range(len(table) // 24):
        (name,) = struct.unpack_from("<I", table, index * 24)
        found[index] = texts[name : texts.index(b"\0", name)].decode()
    return found


def _numbers(info: bytes, wanted: int) -> dict[int, int]:
    """Symbol to number of one attribute."""
    found: dict[int, int] = {}
    at = 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form != _SIZED:
            continue
        if attribute == wanted and size == 8:
            symbol, value = struct.unpack_from("<II", info, at)
            found[symbol] = value
        at += size
    return found


_AMD = {
    "vgpr": re.compile(r"\.vgpr_count:\s+(\d+)"),
    "spill": re.compile(r"\.vgpr_spill_count:\s+(\d+)"),
}


def read_amdgcn(text: str) -> Code:
    """The same from the metadata of AMD's assembly: all vector registers of a lane. Raises CodeError."""
    registers, spills = (pattern.search(text) for pattern in _AMD.values())
    if registers is None or spills is None:
        raise CodeError("assembly without .vgpr_count")
    return Code(int(registers[1]), int(spills[1]))
