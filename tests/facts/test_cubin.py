"""The reader of cubins on bytes made by hand; tests/oracle/test_verify.py has it beside cuobjdump."""

from __future__ import annotations

import struct

import pytest

from tritonlint.facts.cubin import Code, CodeError, read_amdgcn, read_cubin


def attribute(kind: int, symbol: int, value: int) -> bytes:
    return struct.pack("<BBHII", 4, kind, 8, symbol, value)


def elf(sections: dict[str, bytes]) -> bytes:
    """A 64-bit ELF file of these sections, with the names at its end."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in (*sections, ".shstrtab"))
    bodies = [b"", *sections.values(), names]
    places, at = [], 64
    for body in bodies:
        places.append(at)
        at += len(body)
    headers = b""
    for index, body in enumerate(bodies):
        label = ["", *sections, ".shstrtab"][index]
        offset = names.index(label.encode() + b"\0") if label else 0
        headers += struct.pack("<IIQQQQ", offset, 1, 0, 0, places[index], len(body)).ljust(64, b"\0")
    head = b"\x7fELF\x02\x01\x01".ljust(40, b"\0") + struct.pack("<Q", at)
    head = head.ljust(58, b"\0") + struct.pack("<HHH", 64, len(bodies), len(bodies) - 1)
    return head + b"".join(bodies) + headers


def symbols(*names: str) -> dict[str, bytes]:
    text, table = b"\0", b""
    for name in names:
        table += struct.pack("<I", len(text)).ljust(24, b"\0")
        text += name.encode() + b"\0"
    return {".symtab": table, ".strtab": text}


def test_registers_and_frame_of_the_entry() -> None:
    info = struct.pack("<BBH", 3, 0x36, 4)  # a value in place of a size: nothing follows
    info += attribute(0x2F, 1, 168) + attribute(0x11, 1, 24) + attribute(0x2F, 0, 255)
    data = elf({".nv.info": info, ".text.gemm": b"code", **symbols("helper", "gemm")})
    assert read_cubin(data) == Code(168, 6)
    assert read_cubin(data, "gemm") == Code(168, 6)


@pytest.mark.parametrize(
    "data", [b"", b"\x7fELF\x02", b"text", elf({".text.gemm": b""}), elf({".nv.info": b""})]
)
def test_bytes_that_are_no_cubin(data: bytes) -> None:
    with pytest.raises(CodeError):
        read_cubin(data)


def test_amd_metadata() -> None:
    text = "    .vgpr_count:     180\n    .vgpr_spill_count: 48\n    .agpr_count: 64\n"
    assert read_amdgcn(text) == Code(180, 48)
    with pytest.raises(CodeError):
        read_amdgcn("; nothing of it")
