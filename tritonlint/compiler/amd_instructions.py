"""The matrix instructions of AMD: which tile and depth each has for which operand types.

MfmaGroup.cpp and WmmaGroup.cpp of third_party/amd. MFMA versions are those of CDNA (2: gfx90a, 3: gfx942, 4:
gfx950), WMMA versions those of RDNA (1: gfx11, 2: gfx12, 3: gfx1250).
"""

from __future__ import annotations

from dataclasses import dataclass

_NATIVE_FP8 = {3: frozenset({"fp8e4b8", "fp8e5b16"}), 4: frozenset({"fp8e4nv", "fp8e5"})}
_OCP_FP8 = frozenset({"fp8e4nv", "fp8e5"})
SCALED = "f8f6f4"  # the instructions that take scales, and fp8, fp6 and fp4 in any mix


@dataclass(frozen=True, slots=True)
class Instruction:
    """Tile m x n, depth k, elements of each operand that a lane holds, and the operand types after
    emulation."""

    m: int
    n: int
    k: int
    per_lane: int
    a_type: str
    b_type: str


def mfma_version(arch: str) -> int:
    """0 where there is none."""
    return {"gfx908": 1, "gfx90a": 2, "gfx940": 3, "gfx941": 3, "gfx942": 3, "gfx950": 4}.get(arch, 0)


def wmma_version(arch: str) -> int:
    """0 where there is none."""
    if arch.startswith("gfx125"):
        return 3
    if arch.startswith(("gfx12", "gfx117")):
        return 2
    return 1 if arch.startswith("gfx11") else 0


def _mfma_depths(version: int, m: int, n: int, a: str, b: str) -> tuple[tuple[int, int], ...]:
    """(k, elements per lane) of the instructions, the deepest first; () if there is none."""
    square = (m, n) in ((32, 32), (16, 16))
    narrow = (m, n) in ((4, 64), (64, 4))
    if not square and not narrow:
        return ()
    lanes = 64 // m if square else 16  # lanes along k
    if a == b == SCALED and square and version == 4:
        return ((2048 // m, 32),)
    pair = {a, b}
    if pair <= _NATIVE_FP8.get(version, frozenset()) and square:
        return ((8 * lanes, 8),)
    if a != b:
        return ()
    per_lane: tuple[int, ...] = ()
    if a == "fp64":
        per_lane = (1,) if m == 16 and version >= 2 else ()
    elif a == "fp32":
        per_lane = (1,)
    elif a == "tf32":
        per_lane = (2,) if version == 3 and square else ()
    elif a == "fp16":
        per_lane = (8, 4) if version == 4 and square else (4,)
    elif a == "bf16":
        if version == 4 and square:
            per_lane = (8, 4)
        elif version == 2 and square:
            per_lane = (4, 2)
        else:
            per_lane = (2,) if version == 1 else (4,)
    elif a == "i8":
        per_lane = {4: (16, 8), 3: (8,)}.get(version, (4,)) if square else (4,)
    return tuple((count * lanes, count) for count in per_lane)


def pick_mfma(
    version: int, m: int, n: int, k: int, a: str, b: str, *, scaled: bool = False, tf32: bool = False
) -> Instruction | None:
    """The instruction for a tile, an inner dimension k of the dot and operand types; None if there is
    none."""
    key_a, key_b = a, b
    if scaled:
        key_a = key_b = SCALED
    elif tf32 and a == b == "fp32":
        key_a = key_b = "tf32"
    elif version <= 3 and {a, b} <= _OCP_FP8:
        a = b = key_a = key_b = "fp16"
    depths = _mfma_depths(version, m, n, key_a, key_b)
    for depth, per_lane in depths[:-1]:
        if k >= depth:
            return Instruction(m, n, depth, per_lane, a, b)
    return Instruction(m, n, *depths[-1], a, b) if depths else None


def pick_wmma(version: int, k: int, a: str, b: str) -> Instruction | None:
    """The 16 x 16 instruction for operand types; None if there is none."""
    both = {a, b}
    depths: tuple[tuple[int, int], ...] = ()
    if version == 3:
        if both == {"fp32"}:
            depths = ((4, 2),)
        elif both in ({"fp16"}, {"bf16"}):
            depths = ((32, 16),)
        elif both <= _OCP_FP8:
            depths = ((128, 64), (64, 32))
        elif both == {"i8"}:
            depths = ((64, 32),)
    elif both in ({"fp16"}, {"bf16"}, {"i8"}) or (version == 2 and both <= _OCP_FP8):
        depths = ((16, 16 if version == 1 else 8),)
    for depth, per_lane in depths[:-1]:
        if k >= depth:
            return Instruction(16, 16, depth, per_lane, a, b)
    return Instruction(16, 16, *depths[-1], a, b) if depths else None
