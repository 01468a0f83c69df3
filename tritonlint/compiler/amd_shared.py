"""The shared encodings from which the matrix instructions of AMD read their operands.

composeSharedLayoutForOperand of the MFMA and WMMA encodings, and the padded layouts of gfx950, for direct
copies to LDS, and of gfx1250 (third_party/amd/lib/TritonAMDGPUTransforms/Utility.cpp).
"""

from __future__ import annotations

from dataclasses import replace

from tritonlint.compiler.encodings import (
    AmdMfma,
    AmdWmma,
    DotOperand,
    Linear,
    PaddedShared,
    Shared,
    SwizzledShared,
    cta_of,
    shape_per_cta,
)
from tritonlint.compiler.graph import GOp, GValue
from tritonlint.compiler.linear import log2
from tritonlint.compiler.ops import DOTS
from tritonlint.compiler.pipeline_loads import Axis, Shape, async_width_bits, memory_order
from tritonlint.compiler.releases import Release
from tritonlint.compiler.target import Target
from tritonlint.compiler.to_linear import to_linear
from tritonlint.kernel.ir import bits_of


def swizzled_for_matrix(operand: DotOperand, shape: Shape, order: Shape, bits: int) -> SwizzledShared:
    """The swizzled encoding of an operand; the plain one for an operand without a matrix instruction."""
    parent = operand.parent
    cta = cta_of(operand)
    k_dim = len(shape) - 1 if operand.op_idx == 0 else len(shape) - 2
    k_contiguous = order[0] == k_dim
    plain = SwizzledShared(1, 1, 1, order, cta)
    if operand.op_idx > 1:
        return plain  # scales
    if isinstance(parent, AmdMfma):
        wide = parent.version == 4
        if not k_contiguous and not (wide and bits in (8, 16)):
            return plain
        vector, rows, banks = max(operand.k_width, 1), 16, 64 if wide else 32
    elif isinstance(parent, AmdWmma):
        if not k_contiguous:
            return plain
        vector = max(min(operand.k_width * bits, 128) // bits, 1)
        rows, banks = parent.instr_shape[0], 32
    else:
        return plain
    inner = shape[order[0]]
    per_phase = max(1, banks * 32 // bits // inner)
    phases = max(min(rows // per_phase, inner // vector), 1)
    if isinstance(parent, AmdMfma) and parent.instr_shape[0] == 4:
        phases = 4
    return SwizzledShared(vector, per_phase, phases, order, cta)


def padded_for_copy(
    operand: DotOperand, shape: Shape, order: Shape, bits: int, lanes: int
) -> PaddedShared | None:
    """gfx950: the padded layout of an operand that is copied straight to LDS; None where it is swizzled."""
    parent = operand.parent
    size = max(bits // 8, 1)
    if not isinstance(parent, AmdMfma) or len(shape) != 2 or size not in (1, 2):
        return None
    k_dim = 1 if operand.op_idx == 0 else 0
    k_contiguous = order[0] == k_dim
    rows = parent.instr_shape[operand.op_idx]
    depth, width = shape[k_dim], shape[1 - k_dim]
    if rows not in (16, 32) or operand.k_width not in (4, 8, 16):
        return None
    k_bytes = operand.k_width * size
    vector = 16 // size
    inner, outer = (depth, width) if k_contiguous else (width, depth)
    reads_128 = k_contiguous and k_bytes == 16
    reads_transposed = not k_contiguous and k_bytes >= 8
    bank_row = (64 if reads_128 or reads_transposed else 32) * 4 // size
    if reads_128:
        padding = operand.k_width * 2 if rows == 16 else operand.k_width
    elif reads_transposed:
        padding = 16 if rows == 16 else 32
    else:
        padding = 8 // size
    contiguous_lanes = inner // vector
    wrap = min(inner, bank_row) // padding
    if wrap == 0 or contiguous_lanes == 0:
        return None
    needed = lanes // contiguous_lanes * wrap
    conflicts = 1 if outer >= needed else log2(needed // outer) + 1
    if (reads_128 and conflicts > 1) or conflicts > 2:
        return None
    if conflicts > 1 and wrap // (1 << (conflicts - 1)) == 0:
        return None
    return PaddedShared(((lanes * vector, padding),), order, cta_of(operand))


def padded_for_wmma(operand: DotOperand, shape: Shape, order: Shape, bits: int) -> PaddedShared | None:
    """gfx1250: the padded layout of an operand (composePaddedLayoutWMMA); None where it is swizzled.

    A row is followed by as many elements as two lane groups read at once of a transposed operand, else as
    one load reads; rows that do not span all banks share one padding.
    """
    inner = shape_per_cta(shape, cta_of(operand))[order[0]]
    padding = 128 // bits
    if order[0] != 1 - operand.op_idx:
        padding = 2 * _TRANSPOSED_READ_BITS[bits] // bits if bits in _TRANSPOSED_READ_BITS else padding
    elif bits >= 32:
        padding = min(operand.k_width, padding)
    if not 0 < padding < inner:
        return None
    interval = min(max(inner, _BANK_ROW_BITS // bits), _WIDEST_INTERVAL_BITS // bits)
    return PaddedShared(((interval, padding),), order, cta_of(operand))


_TRANSPOSED_READ_BITS = {16: 128, 8: 64}
"""gfx1250: bits that a lane reads with ds_load_tr16_b128 and ds_load_tr8_b64, by the bits of an element."""

_BANK_ROW_BITS = 64 * 32
_WIDEST_INTERVAL_BITS = 256 * 32


def operand_encoding_amd(
    load: GOp, axis: Axis, target: Target, release: Release, use_copies: bool
) -> Shared | None:
    """The shared encoding of a load whose users all read dot operands; None where it stays in registers."""
    result = load.result
    found: list[Shared] = []
    for user in result.uses:
        if len(user.results) != 1:
            return None
        target_value = user.result
        if target_value.memory:
            found.append(target_value.encoding)
            continue
        if user.name not in ("ttg.convert_layout", "ttg.local_load"):
            return None
        if isinstance(target_value.encoding, DotOperand):
            found.append(_wanted(load, target_value, axis, target, release, use_copies))
        elif not release.amd_linear_operands:
            return None
        elif isinstance(target_value.encoding, Linear):
            operand = _operand_of_later_dot(target_value, release)
            if operand is None and not release.amd_widest_vector:
                return None
            if operand is not None:
                if (
                    not release.amd_widest_vector
                ):  # up to 3.5 it is read from the layout in which the tile is loaded
                    operand = replace(operand, k_width=_consecutive_rows(target_value))
                bits = bits_of(result.type.element)
                found.append(swizzled_for_matrix(operand, result.shape, memory_order(result), bits))
    if not found:
        return None
    best = found[0]
    for other in found[1:]:
        if not release.amd_widest_vector:
            if other != best:
                return None
            continue
        if not isinstance(other, SwizzledShared) or not isinstance(best, SwizzledShared):
            return None
        if replace(other, vec=best.vec) != best:
            return None
        if other.vec > best.vec:
            best = other
    return best


def _operand_of_later_dot(value: GValue, release: Release) -> DotOperand | None:
    """Which operand of a matrix instruction a tensor becomes, through operations of one use each: packed or
    transposed operands are still in a layout of their own when they are loaded."""
    block = value.op.block if value.op is not None else None
    while value.has_one_use:
        user = next(iter(value.uses))
        if len(user.results) != 1 or user.block is not block:
            return None
        if user.name in DOTS:
            parent = user.result.encoding
            kind = {AmdMfma: "mfma", AmdWmma: "wmma"}.get(type(parent))
            if kind not in release.amd_linear_operands:
                return None
            position = user.operands.index(value)
            return DotOperand(position, parent, _consecutive_rows(value))
        value = user.result
    return None


def _consecutive_rows(value: GValue) -> int:
    """Elements along dimension 0 that follow each other in a thread's registers."""
    count = 0
    for basis in to_linear(value.encoding, value.shape).register:
        if basis != 1 << count or basis >= value.shape[0]:
            break
        count += 1
    return 1 << count


def _wanted(
    load: GOp, operand: GValue, axis: Axis, target: Target, release: Release, use_copies: bool
) -> Shared:
    result = load.result
    order = memory_order(result)
    if len(order) == 3:
        order = (*(dim for dim in order if dim != 0), 0)
    bits = bits_of(result.type.element)
    encoding = operand.encoding
    assert isinstance(encoding, DotOperand)
    if use_copies and target.arch == "gfx950" and release.amd_padded_copies:
        enough = result.type.elements * bits >= 32 * target.warp_size
        if enough and async_width_bits(load, axis) >= 32:
            padded = padded_for_copy(encoding, result.shape, order, bits, target.warp_size)
            if padded is not None:
                return padded
    if target.arch == "gfx1250" and release.amd_padded_copies and not result.type.is_pointer:
        padded = padded_for_wmma(encoding, result.shape, order, bits)
        if padded is not None:
            return padded
    return swizzled_for_matrix(encoding, result.shape, order, bits)
