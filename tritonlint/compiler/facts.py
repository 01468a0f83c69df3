"""What is told of a compiled kernel: its shared memory by part, its dots, its loads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tritonlint.compiler.compiled import DotFact, LoadFact, SharedPart, TensorCores
from tritonlint.compiler.encodings import AmdMfma, AmdWmma, NvidiaMma
from tritonlint.compiler.graph import GOp, Graph
from tritonlint.compiler.liveness import Held
from tritonlint.compiler.pipeline import LoadChoice
from tritonlint.compiler.pipeline_loads import TCGEN05, Axis, load_mask
from tritonlint.kernel import ir
from tritonlint.kernel.ir import bits_of

_RANK = ("none", "mma_v1", "mma_v2", "wgmma", "tcgen05", "mfma", "wmma")
_DOTS = frozenset({"tt.dot", "tt.dot_scaled"})
_LOADS = frozenset({"tt.load", "tt.descriptor_load", "tt.descriptor_gather"})
_VECTOR_BITS = 128
_KINDS: dict[str, tuple[Literal["conversion", "reduction", "scan", "other"], str]] = {
    "ttg.convert_layout": ("conversion", "layout conversion"),
    "tt.reduce": ("reduction", "reduction"),
    "tt.scan": ("scan", "scan"),
    "tt.histogram": ("other", "histogram"),
    "tt.gather": ("other", "gather"),
    "tt.atomic_rmw": ("other", "atomic"),
    "tt.atomic_cas": ("other", "atomic"),
}
_ROLES: dict[str, tuple[Literal["buffer", "operand", "barrier", "store"], str]] = {
    "buffer": ("buffer", "buffers"),
    "operand": ("operand", "operand"),
    "barrier": ("barrier", "barriers"),
    "store": ("store", "tile to be stored"),
}


def _tile(shape: Sequence[int], element: str) -> str:
    bits = bits_of(element)
    size = f"{bits // 8} B" if bits % 8 == 0 else f"{bits} bit"
    return f"{'x'.join(map(str, shape)) or '1'} x {size}"


def _part(held: Held, live: bool) -> SharedPart:
    op = held.op
    size = held.buffer.size
    if held.is_scratch:
        value = op.operands[0] if op.operands else None
        kind, name = _KINDS.get(op.name, ("other", "descriptor"))
        tile = f" {_tile(value.shape, value.type.element)}" if value is not None and value.shape else ""
        return SharedPart(f"{name}{tile}", size, op.line, kind, live)
    value = op.result
    role, name = _ROLES.get(op.attrs.get("role", "operand"), _ROLES["operand"])
    shape = value.shape
    buffers = op.attrs.get("buffers")
    if buffers is not None:
        label = f"{buffers} {name if buffers != 1 else name[:-1]} x {_tile(shape[1:], value.type.element)}"
    else:
        label = f"{name} {_tile(shape, value.type.element)}"
    return SharedPart(label, size, op.line, role, live)


def shared_parts(memory: Sequence[Held]) -> tuple[SharedPart, ...]:
    """One part for each buffer; `live_at_peak` where it stands in memory when most bytes are live."""
    peak = _peak_position(memory)
    parts = [
        _part(held, held.buffer.start <= peak < held.buffer.end) for held in memory if held.buffer.size > 0
    ]
    return tuple(parts)


def _peak_position(memory: Sequence[Held]) -> int:
    """A position at which the most bytes are live."""
    changes: defaultdict[int, int] = defaultdict(int)
    for held in memory:
        changes[held.buffer.start] += held.buffer.size
        changes[held.buffer.end] -= held.buffer.size
    now = most = best = 0
    for position in sorted(changes):
        now += changes[position]
        if now > most:
            most, best = now, position
    return best


# --- dots


@dataclass(frozen=True, slots=True)
class DotChoice:
    """What the compiler took for a dot of the graph."""

    tensor_cores: TensorCores
    instruction: tuple[int, int, int] | None = None
    why: str = ""


DotChoices = dict[tuple[int, str], list[DotChoice]]


def dot_choices(graph: Graph) -> DotChoices:
    """By (line, path) what executes each dot, once tensor cores are chosen."""
    found: DotChoices = defaultdict(list)
    for op in graph.walk():
        choice = _choice(op)
        if choice is not None:
            found[op.line, op.path].append(choice)
    return dict(found)


def _choice(op: GOp) -> DotChoice | None:
    why = str(op.attrs.get("why", ""))
    if op.name in TCGEN05:
        return DotChoice("tcgen05", None, why)
    if op.name not in _DOTS and op.name != "ttng.warp_group_dot":
        return None
    encoding = op.result.encoding
    if isinstance(encoding, NvidiaMma):
        bits = op.operands[0].type.bits
        n = encoding.instr_shape[1] if len(encoding.instr_shape) > 1 else 8
        if encoding.version == 3:
            return DotChoice("wgmma", (64, n, 256 // bits), why)
        return DotChoice("mma_v1" if encoding.version == 1 else "mma_v2", (16, 8, 256 // bits), why)
    if isinstance(encoding, AmdMfma):
        return DotChoice("mfma", _three(encoding.instr_shape), why)
    if isinstance(encoding, AmdWmma):
        return DotChoice("wmma", _three(encoding.instr_shape), why)
    return DotChoice("none", None, why)


def _three(shape: Sequence[int]) -> tuple[int, int, int] | None:
    return (shape[0], shape[1], shape[2]) if len(shape) == 3 else None


def dot_facts(function: ir.Function, choices: DotChoices) -> tuple[DotFact, ...]:
    """The dots of a trace with what executes them. Of several products that one dot was split into, the
    least one counts."""
    facts = []
    for op, in_loop in _walk(function.body, False):
        if op.name not in _DOTS:
            continue
        scaled = op.name == "tt.dot_scaled"
        a, b = op.operands[0].type, op.operands[1].type
        shape = op.results[0].type.shape or (0, 0)
        k = (a.shape or (0, 0))[-1]
        if scaled and op.attrs.get("a_type") == "e2m1" and op.attrs.get("lhs_k_pack", True):
            k *= 2
        taken = choices.get((op.line, op.path), [])
        choice = min(taken, key=lambda c: _RANK.index(c.tensor_cores), default=DotChoice("none"))
        facts.append(
            DotFact(
                line=op.line,
                m=shape[-2],
                n=shape[-1],
                k=k,
                batch=shape[0] if len(shape) == 3 else 1,
                a_type=str(op.attrs.get("a_type", a.element)) if scaled else a.element,
                b_type=str(op.attrs.get("b_type", b.element)) if scaled else b.element,
                accumulator=op.results[0].type.element,
                tensor_cores=choice.tensor_cores,
                in_loop=in_loop,
                why=choice.why,
                instruction=choice.instruction,
            )
        )
    return tuple(facts)


def best_tensor_cores(dots: Sequence[DotFact]) -> TensorCores:
    """The newest kind that any dot uses."""
    best: TensorCores = "none"
    for dot in dots:
        if _RANK.index(dot.tensor_cores) > _RANK.index(best):
            best = dot.tensor_cores
    return best


# --- loads


def load_widths(graph: Graph, axis: Axis) -> dict[tuple[int, str], int]:
    """By (line, path) how many elements a thread of a load moves at once; the narrowest load of a line
    counts."""
    found: dict[tuple[int, str], int] = {}
    for op in graph.walk():
        if op.name != "tt.load" or not op.result.is_tensor:
            continue
        width = axis.contiguity(op.operands[0])
        mask = load_mask(op)
        if mask is not None:
            width = min(width, axis.mask_alignment(mask))
        width = max(1, min(width, _VECTOR_BITS // max(1, op.result.type.bits)))
        key = (op.line, op.path)
        found[key] = min(width, found.get(key, width))
    return found


def load_facts(
    function: ir.Function, choices: Sequence[LoadChoice], widths: dict[tuple[int, str], int]
) -> tuple[LoadFact, ...]:
    """The loads of a trace with their buffers. A load that the compiler dropped has none."""
    by_line: defaultdict[tuple[int, str, tuple[int, ...]], list[LoadChoice]] = defaultdict(list)
    for choice in choices:
        by_line[choice.line, choice.path, choice.shape].append(choice)
    facts = []
    for op, in_loop in _walk(function.body, False):
        if op.name not in _LOADS:
            continue
        type_ = op.results[0].type
        shape = type_.shape or ()
        waiting = by_line.get((op.line, op.path, shape), [])
        taken = waiting.pop(0) if len(waiting) > 1 else waiting[0] if waiting else None
        facts.append(
            LoadFact(
                line=op.line,
                shape=shape,
                element=type_.element,
                buffers=taken.buffers if taken else 0,
                in_loop=in_loop,
                vector=widths.get((op.line, op.path), 1),
                why_not=(taken.why_not if taken else "") if in_loop else "",
            )
        )
    return tuple(facts)


def _walk(block: ir.Block, in_loop: bool) -> list[tuple[ir.Op, bool]]:
    """The operations of a block and of those inside, with whether a loop is around."""
    found: list[tuple[ir.Op, bool]] = []
    stack = [(op, in_loop) for op in reversed(block.ops)]
    while stack:
        op, inside = stack.pop()
        found.append((op, inside))
        around = inside or op.name in ("scf.for", "scf.while")
        for inner in reversed(op.blocks):
            stack.extend((child, around) for child in reversed(inner.ops))
    return found
