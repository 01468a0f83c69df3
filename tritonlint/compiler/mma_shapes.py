"""Which tensor core a dot runs on, with what instruction shape, and how its warps are laid out.

supportMMA (lib/Analysis/Utility.cpp), mmaVersionToInstrShape (Transforms/Utility.cpp) and warpsPerTile
(Transforms/AccelerateMatmul.cpp).
"""

from __future__ import annotations

from tritonlint.compiler.encodings import NvidiaMma, cta_of, shape_per_cta
from tritonlint.compiler.graph import GOp, GValue
from tritonlint.compiler.releases import Release
from tritonlint.compiler.slices import forward_slice, whole_slice

Shape = tuple[int, ...]

_FP8 = frozenset({"fp8e4nv", "fp8e5"})
_FP8_ANY = _FP8 | {"fp8e4b8", "fp8e5b16"}
_INT8_N = (224, 208, 192, 176, 160, 144, 128, 112, 96, 80, 64, 48, 32, 24, 16, 8)


def shape_of_cta(value: GValue) -> Shape:
    """The part of a tensor that one CTA of the cluster holds."""
    return shape_per_cta(value.shape, cta_of(value.encoding))


def _is_integer(element: str) -> bool:
    return element.startswith("i")


def supports_mma(op: GOp, version: int, warps: int, release: Release) -> str:
    """Why tensor cores of this version cannot do the dot; empty if they can."""
    a, b, result = op.operands[0], op.operands[1], op.results[0]
    a_type, b_type = a.type.element, b.type.element
    both_float = a_type == "fp32" and b_type == "fp32"
    if (
        both_float
        and op.attrs.get("input_precision") != "tf32"
        and not (version == 5 and release.tcgen05_takes_widened)
    ):
        return "fp32 operands with input precision " + str(op.attrs.get("input_precision"))
    shape = shape_of_cta(result)
    rank = len(shape)
    k = a.shape[-1]
    if version == 5:
        if "i" in (a_type[0], b_type[0], result.type.element[0]) and not (
            release.tcgen05_int8 and a_type == b_type == "i8" and result.type.element == "i32"
        ):
            return "integer operands"
        if rank != 2:
            return "batched"
        if warps not in (4, 8):
            return f"{warps} warps (needs 4 or 8)"
        if release.tcgen05_min_k and k < 256 // a.type.bits:
            return f"K of {k} (needs {256 // a.type.bits})"
        if shape[0] % 64 or shape[1] % release.tcgen05_n_multiple:
            return f"a tile of {shape[0]}x{shape[1]} (needs multiples of 64x{release.tcgen05_n_multiple})"
        return "fp64 operands" if "fp64" in (a_type, b_type, result.type.element) else ""
    if version == 3:
        if release.wgmma_min_k and k < 256 // a.type.bits:
            return f"K of {k} (needs {256 // a.type.bits})"
        if rank == 3:
            return "batched"
        if warps % 4:
            return f"{warps} warps (needs a multiple of 4)"
        if shape[0] % 64 or shape[1] % release.wgmma_n_multiple:
            return f"a tile of {shape[0]}x{shape[1]} (needs multiples of 64x{release.wgmma_n_multiple})"
        if a_type not in _FP8 and a_type not in ("i8", "fp16", "bf16", "fp32"):
            return f"operands of type {a_type}"
        if (
            a_type in _FP8
            and result.type.element == "fp32"
            and int(op.attrs.get("max_num_imprecise_acc", 0)) < 32
        ):
            return "fp8 operands with full fp32 accumulation"
    if both_float:
        return "" if version >= 2 else "fp32 operands"
    for element in (a_type, b_type):
        if element in _FP8_ANY or element in ("fp16", "bf16"):
            continue
        if element in ("fp32", "fp64", "i8") and version >= 2:
            continue
        return f"operands of type {element}"
    return ""


def mma_versions(capability: int, op: GOp, release: Release) -> tuple[int, ...]:
    """The versions to try on a target, the best first."""
    if capability < 75:
        return (1,)
    if capability < 90:
        return (2,)
    if capability < 100:
        return (3, 2) if release.wgmma else (2,)
    if capability < 120:
        int8 = op.operands[0].type.element == op.operands[1].type.element == "i8"
        if int8 and not (release.tcgen05_int8 and capability == 100):
            return (2,)
        return (5, 2)
    return (2,)


def pick_mma(capability: int, op: GOp, warps: int, release: Release) -> tuple[int, str]:
    """The version that a dot gets (0: none), and what stopped the best one."""
    reason = ""
    for version in mma_versions(capability, op, release):
        why_not = supports_mma(op, version, warps, release)
        if not why_not:
            return version, reason
        reason = reason or why_not
    return 0, reason


def instruction_shape(version: int, shape: Shape, element: str, bits: int, warps: int) -> Shape:
    """The shape of one instruction: (16, 8) for mma.sync, (16, N, K) for wgmma, (M, N, K) for tcgen05."""
    if version == 2:
        return (1,) * (len(shape) - 2) + (8 if element == "fp64" else 16, 8)
    k = 256 // bits
    if version == 5:
        return (128 if shape[0] >= 128 else 64, min(256, shape[1]), k)
    candidates = _INT8_N if element == "i8" else tuple(range(256, 0, -8))
    warps_n = max(warps // max(shape[0] // 16, 1), 1)
    largest = max(shape[1] // warps_n, 8)
    for n in candidates:
        if shape[1] % n == 0 and n <= largest:
            return (16, n, k)
    return (16, 8, k)


def _ceil(value: int, by: int) -> int:
    return -(-value // by)


def balanced_warps(shape: Shape, warps: int, release: Release) -> Shape:
    """Warps of mma.sync where no other dot is chained (getMmaV2WarpsPerCTA)."""
    if len(shape) == 3:
        return (warps, 1, 1)
    across = [1, 1]
    if release.mma_v2_balanced_warps:
        repeats = [_ceil(shape[0], 16), _ceil(shape[1], 8)]
        while across[0] * across[1] < warps:
            if repeats[0] >= repeats[1]:
                across[0] *= 2
                if repeats[0] != 1:
                    repeats[0] //= 2
            else:
                across[1] *= 2
                repeats[1] //= 2
        return tuple(across)
    while across[0] * across[1] < warps:
        m_first = shape[0] // 16 // across[0] >= shape[1] // 16 // across[1]
        if m_first and across[0] < shape[0] // 16:
            across[0] *= 2
        else:
            across[1] *= 2
    return tuple(across)


def warps_of_mma_v2(op: GOp, shape: Shape, warps: int, release: Release) -> Shape:
    """As an already assigned chained dot has them; all along one dimension if one is chained; else
    balanced."""
    rank = len(shape)
    if rank == 3:
        return balanced_warps(shape, warps, release)
    block = op.block
    chained = False
    for other in whole_slice(op, lambda o: o.block is block and o.name != "tt.trans"):
        if other is op or other.name not in ("tt.dot", "tt.dot_scaled"):
            continue
        result = other.results[0]
        if len(result.shape) != rank:
            continue
        if isinstance(result.encoding, NvidiaMma):
            return result.encoding.warps_per_cta
        chained = True
    if chained:
        return (warps, 1) if shape[0] >= shape[1] else (1, warps)
    return balanced_warps(shape, warps, release)


_DOT_LIKE = frozenset(
    {"tt.dot", "tt.dot_scaled", "ttng.warp_group_dot", "ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled"}
)


def warps_of_wgmma(op: GOp, shape: Shape, warps: int, instruction: Shape) -> Shape:
    """All along M if another dot hangs on the result; else M first, as long as it has room."""
    if any(other.name in _DOT_LIKE for other in forward_slice(op.results[0])):
        return (warps, 1)
    across = [4, 1]
    while across[0] * across[1] < warps:
        if shape[0] > 16 * across[0]:
            across[0] *= 2
        else:
            across[1] *= 2
    return tuple(across)
