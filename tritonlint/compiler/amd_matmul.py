"""The pass accelerate-matmul on AMD: each dot gets the matrix instructions that its target has.

AccelerateAMDMatmul.cpp of third_party/amd. MFMA (CDNA) and WMMA (RDNA) take operands and accumulator from
registers. What no instruction fits stays a blocked dot, that is, FMA, with operands of one type.
"""

from __future__ import annotations

from dataclasses import dataclass

from tritonlint.compiler.amd_instructions import (
    Instruction,
    mfma_version,
    pick_mfma,
    pick_wmma,
    wmma_version,
)
from tritonlint.compiler.encodings import AmdMfma, AmdWmma, Blocked, Distributed, DotOperand, cta_of
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.options import Options
from tritonlint.compiler.releases import Release
from tritonlint.compiler.slices import backward_slice, forward_slice, whole_slice
from tritonlint.compiler.target import Target
from tritonlint.kernel.ir import bits_of

_DOTS = frozenset({"tt.dot", "tt.dot_scaled"})
_FP8 = frozenset({"fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16"})
_F8F6F4 = frozenset({"fp8e4nv", "fp8e5"})
_HALF = frozenset({"fp16", "bf16"})
_WMMA_TYPES = (
    ("fp16", "fp16", "fp32"), ("bf16", "bf16", "fp32"), ("i8", "i8", "i32"),
)  # fmt: skip
_WMMA_FP8 = tuple((a, b, "fp32") for a in ("fp8e4nv", "fp8e5") for b in ("fp8e4nv", "fp8e5"))


@dataclass(frozen=True, slots=True)
class _Machine:
    target: Target
    release: Release
    warps: int
    non_k: int  # matrix_instr_nonkdim; 0: chosen by size
    k_pack: int


def accelerate_matmul_amd(graph: Graph, options: Options, target: Target, release: Release) -> None:
    """Rewrite every dot, in place."""
    k_pack = int(options.extra.get("kpack", 1) or 1)
    if target.arch == "gfx950" and release.amd_wide_instructions:
        k_pack = 1
    machine = _Machine(
        target, release, graph.num_warps, int(options.extra.get("matrix_instr_nonkdim", 0) or 0), k_pack
    )
    for op in [op for op in graph.walk() if op.name == "tt.dot"]:
        if op.block is None or not isinstance(op.result.encoding, Blocked):
            continue
        if mfma_version(target.arch):
            _to_mfma(op, machine)
        elif wmma_version(target.arch) in release.amd_wmma_versions:
            _to_wmma(op, machine)
    for op in [op for op in graph.walk() if op.name == "tt.dot"]:
        if isinstance(op.result.encoding, Blocked):
            _legalize(op, target, release)


# --- chains of dots


def _same_block(op: GOp) -> set[GOp]:
    return set(op.block.ops) if op.block is not None else set()


def is_chain_head(op: GOp, operand: int, release: Release) -> bool:
    """The result becomes operand A (0) or B (1) of another dot, in the same block."""
    block = _same_block(op)
    after = forward_slice(op.result, block.__contains__)
    for other in after:
        if other.name in _DOTS and other.operands[operand].op in after:
            return True
    if not release.amd_chains_across_iterations:
        return False
    for value in [result for other in (op, *after) for result in other.results]:
        for user in value.uses:
            loop = user.parent
            if user.name != "scf.yield" or loop is None or loop.name != "scf.for":
                continue
            for position, yielded in enumerate(user.operands):
                if yielded is value and _feeds(loop.body.args[position + 1], op, operand, block):
                    return True
    return False


def _feeds(argument: GValue, op: GOp, operand: int, block: set[GOp]) -> bool:
    after = forward_slice(argument, block.__contains__)
    for other in after:
        if other.name in _DOTS and other is not op:
            source = other.operands[operand]
            if source is argument or source.op in after:
                return True
    return False


def is_chain_tail(op: GOp, release: Release) -> bool:
    """Operand A comes from another dot, in the same block."""
    block = _same_block(op)
    a = op.operands[0]
    before = backward_slice(a, block.__contains__, through_block_arguments=False) if a.op is not None else {}
    first = a.op
    if any(other.name in _DOTS for other in before if other is not first):
        return True
    if not release.amd_chains_across_iterations:
        return False
    arguments = [a] if a.op is None else [v for other in before for v in other.operands if v.op is None]
    for argument in arguments:
        home = argument.block
        loop = home.parent if home is not None else None
        if home is None or loop is None or loop.name != "scf.for" or argument.index == 0:
            continue
        source = home.terminator.operands[argument.index - 1]
        if source.op is None:
            continue
        if any(
            other.name in _DOTS
            for other in backward_slice(source, block.__contains__, through_block_arguments=False)
        ):
            return True
    return False


def _has_other_dot(op: GOp) -> bool:
    return any(
        other.name in _DOTS and other is not op for other in whole_slice(op, _same_block(op).__contains__)
    )


def _follows_dot(op: GOp) -> bool:
    """Any operand comes from another dot (the oldest releases)."""
    block = _same_block(op)
    return any(
        other.name == "tt.dot"
        for operand in op.operands
        for other in backward_slice(operand, block.__contains__, through_block_arguments=False)
    )


def _warps(op: GOp, machine: _Machine, m: int, n: int) -> tuple[int, ...]:
    """How the warps share the tile of the result."""
    shape, warps, release = op.result.shape, machine.warps, machine.release
    if len(shape) == 3:
        return (warps, 1, 1)
    if release.amd_chain == "any":
        if _has_other_dot(op):
            return (warps, 1)
    elif is_chain_head(op, 0, release):
        return (warps, 1)
    elif is_chain_tail(op, release):
        rows = min(warps, -(-shape[0] // m))
        return (rows, warps // rows)
    along = [1, 1]
    while along[0] * along[1] < warps:
        if shape[0] // (m * 2) // along[0] >= shape[1] // n // along[1] and along[0] < shape[0] // m:
            along[0] *= 2
        else:
            along[1] *= 2
    return (along[1], along[0]) if along[1] * n > shape[1] else (along[0], along[1])


# --- MFMA


def _mfma_tile(op: GOp, machine: _Machine) -> tuple[int, int]:
    if machine.non_k:
        return machine.non_k, machine.non_k
    rows, columns = op.result.shape[-2:]
    least = min(rows, columns)
    if least >= 32:
        is_double = "fp64" in (op.operands[0].type.element, op.operands[1].type.element)
        return (16, 16) if is_double else (32, 32)
    if least >= 16:
        return 16, 16
    if rows >= 64:
        return 64, 4
    return (4, 64) if columns >= 64 else (0, 0)


def _to_mfma(op: GOp, machine: _Machine) -> None:
    version = mfma_version(machine.target.arch)
    release = machine.release
    a, b = op.operands[0], op.operands[1]
    k = a.shape[-1]
    m, n = _mfma_tile(op, machine)
    tf32 = version == 3 and release.amd_xf32 and op.attrs.get("input_precision") == "tf32"
    scaled = version == 4 and {a.type.element, b.type.element} <= _F8F6F4 and release.amd_wide_instructions
    found: Instruction | None = None
    for with_scale in (True, False) if scaled else (False,):
        found = pick_mfma(version, m, n, k, a.type.element, b.type.element, scaled=with_scale, tf32=tf32)
        if found is not None and k % found.k == 0:
            scaled = with_scale
            break
        found = None
    if found is None:
        types = f"{a.type.element} x {b.type.element}"
        rows, columns = op.result.shape[-2:]
        op.attrs["why"] = f"no matrix instruction for {types}, a tile of {rows}x{columns}, K of {k}"
        return
    tail = is_chain_tail(op, release) if release.amd_chain != "any" else _follows_dot(op)
    half = found.a_type in _HALF
    warps = _warps(op, machine, found.m, found.n)
    if release.amd_transposed == "chained":
        transposed = _has_other_dot(op)
    elif release.amd_transposed == "not_fp8":
        transposed = tail or found.a_type not in _FP8 or is_chain_head(op, 0, release)
    else:
        transposed = release.amd_transposed == "always" or (found.m, found.n) != (4, 64)
    tiles = (1,) * len(op.result.shape)
    shape = op.result.shape
    if version == 4 and half and found.m == found.n == 16 and len(shape) == 2 and release.amd_tiles_per_warp:
        if is_chain_head(op, 0, release) and shape[0] >= 32 * warps[0] and shape[1] == 16 and warps[1] == 1:
            transposed, tiles = True, (2, 1)
        elif is_chain_head(op, 1, release) and shape[0] == 16 and shape[1] >= 32 * warps[1] and warps[0] == 1:
            transposed, tiles = False, (1, 2)
    element = op.result.type.element
    accumulator = "i32" if element.startswith("i") else "fp64" if element == "fp64" else "fp32"
    encoding = AmdMfma(
        version,
        warps,
        (found.m, found.n, found.k),
        transposed,
        tiles,
        bits_of(accumulator),
        cta_of(op.result.encoding),
    )
    width = found.per_lane
    if not tail and (found.m == found.n or not release.amd_wide_instructions):
        width *= machine.k_pack
    if half and tail and release.amd_chain != "any":
        width = 4
    if half and release.amd_transposed_operands and _is_transposed(b):
        if is_chain_head(op, 0, release):
            width = 4
        elif tail:
            width = 8
    if scaled:
        width //= 2
    _replace(op, encoding, width, found.a_type, found.b_type, accumulator, scaled)


def _is_transposed(value: GValue) -> bool:
    return any(op.name == "tt.trans" for op in backward_slice(value, through_block_arguments=False))


# --- WMMA


def _wmma_types(op: GOp, version: int) -> tuple[str, str, str] | None:
    """Types of operands and accumulator to which those of the dot widen at the least cost."""
    types = (op.operands[0].type.element, op.operands[1].type.element, op.result.type.element)
    known: tuple[tuple[str, str, str], ...] = _WMMA_TYPES
    if version >= 2:
        known += _WMMA_FP8
    if version == 3:
        known += (("fp32", "fp32", "fp32"),)
    best, least = None, 1 << 20
    for candidate in known:
        cost = 0
        for have, want, count in zip(types, candidate, (1, 1, 2), strict=True):
            if have == want:
                continue
            is_integer = have.startswith("i")
            if is_integer != want.startswith("i") or bits_of(have) > bits_of(want):
                cost = least
                break
            cost += count
        if cost < least:
            best, least = candidate, cost
    return best


def _to_wmma(op: GOp, machine: _Machine) -> None:
    version = wmma_version(machine.target.arch)
    types = _wmma_types(op, version)
    k = op.operands[0].shape[-1]
    found = pick_wmma(version, k, types[0], types[1]) if types is not None else None
    shape = op.result.shape
    # An instruction deeper than the dot is filled up with zeros.
    fits = found is not None and shape[-2] % 16 == 0 and shape[-1] % 16 == 0
    if types is None or found is None or not fits:
        op.attrs["why"] = (
            f"no matrix instruction for {op.operands[0].type.element} x {op.operands[1].type.element}"
        )
        return
    encoding = AmdWmma(
        version,
        _warps(op, machine, 16, 16),
        machine.release.amd_wmma_transposed,
        (16, 16, found.k),
        (1,) * len(shape),
        cta_of(op.result.encoding),
    )
    width = found.per_lane
    if version == 3:
        width = 2 if types[0] == "fp32" else 8
    _replace(op, encoding, width, types[0], types[1], types[2], False)


# --- rewriting


def _replace(
    op: GOp, encoding: Distributed, width: int, a_type: str, b_type: str, accumulator: str, scaled: bool
) -> None:
    result = op.result
    c = _converted(op.operands[2], encoding, accumulator, op)
    a = _converted(op.operands[0], DotOperand(0, encoding, width), a_type, op)
    b = _converted(op.operands[1], DotOperand(1, encoding, width), b_type, op)
    new = GValue(result.type.with_element(accumulator), encoding, name=result.name)
    dot = GOp(
        "tt.dot_scaled" if scaled else "tt.dot", [a, b, c], [new], dict(op.attrs), line=op.line, path=op.path
    )
    dot.insert_before(op)
    back = _converted(new, result.encoding, result.type.element, op)
    op.replace_with([back])


def _converted(value: GValue, encoding: Distributed, element: str, before: GOp) -> GValue:
    convert = GOp(
        "ttg.convert_layout", [value], [value.like(encoding)], line=before.line, path=before.path
    ).insert_before(before)
    return _cast(convert.result, element, before)


def _cast(value: GValue, element: str, before: GOp) -> GValue:
    have = value.type.element
    if have == element:
        return value
    if have.startswith("i") and element.startswith("i"):
        name = "arith.trunci" if bits_of(have) > bits_of(element) else "arith.extui"
    elif (have, element) == ("fp16", "fp32"):
        name = "arith.extf"
    elif (have, element) == ("fp32", "fp16"):
        name = "arith.truncf"
    elif have.startswith("i"):
        name = "arith.sitofp"
    elif element.startswith("i"):
        name = "arith.fptosi"
    else:
        name = "tt.fp_to_fp"
    result = GValue(value.type.with_element(element), value.encoding, name=value.name)
    return GOp(name, [value], [result], line=before.line, path=before.path).insert_before(before).result


def _legalize(op: GOp, target: Target, release: Release) -> None:
    """A dot without matrix instructions gets operands of one type, unless it has those of a dot product
    instruction that the release knows."""
    a, b, c = (value.type.element for value in op.operands[:3])
    even = op.operands[0].shape[-1] % 2 == 0 and release.amd_dot_products
    if (a, b, c) == ("fp16", "fp16", "fp32") and even:
        return
    if (a, b, c) == ("bf16", "bf16", "fp32") and even and target.arch == "gfx950":
        return
    if (a, b, c) == ("i8", "i8", "i32") or (a == b == c and a in ("fp16", "fp32", "fp64")):
        return
    common = "fp16" if max(bits_of(a), bits_of(b), bits_of(c)) <= 16 else "fp32"
    if common == "fp16" and ("bf16" in (a, b, c) or "i16" in (a, b, c)):
        common = "fp32"
    if "fp64" in (a, b, c):
        return
    result = op.result
    operands = [_cast(value, common, op) for value in op.operands[:3]]
    new = GValue(result.type.with_element(common), result.encoding, name=result.name)
    GOp("tt.dot", operands, [new], dict(op.attrs), line=op.line, path=op.path).insert_before(op)
    op.replace_with([_cast(new, result.type.element, op)])
