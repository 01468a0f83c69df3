"""Loop-invariant code motion, as Triton's own pass does it: loads too, where the loop writes nothing."""

from __future__ import annotations

from tritonlint.compiler.graph import GOp, Graph, GValue, defined_inside
from tritonlint.compiler.ops import is_free_of_effects, is_pure, only_reads, writes_memory
from tritonlint.kernel import ir

_MAY_TRAP = frozenset(
    {"arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.floordivsi", "arith.ceildivsi"}
)


def hoist_invariants(graph: Graph, *, loads: bool) -> bool:
    """Move what does not change out of its loop, the innermost loops first, in place; whether anything was. Without
    `loads` it is MLIR's own pass, which leaves them where they are."""
    moved = False
    for op in graph.all_ops_post():
        if op.name in ("scf.for", "scf.while"):
            moved |= _hoist(op, loads)
    return moved


def _speculatable(op: GOp) -> bool:
    """Whether running it where it would not have run does no harm."""
    if op.name in _MAY_TRAP:
        divisor = op.operands[1].op
        while divisor is not None and divisor.name == "tt.splat":
            divisor = divisor.operands[0].op
        if divisor is None or divisor.name != "arith.constant":
            return False
        number = divisor.attrs["value"]
        return isinstance(number, int) and number not in (0, -1)
    return True


def _hoist(loop: GOp, loads: bool) -> bool:
    writes: bool | None = None
    moved = False
    for block in loop.blocks:
        for op in list(block.ops):
            if op is block.ops[-1] or not _is_invariant(op, loop):
                continue
            if op.name == "tt.load":
                if not loads:
                    continue
                if writes is None:
                    writes = any(writes_memory(inner) for inner in loop.walk())
                if writes or not only_reads(op):
                    continue
                if loop.name == "scf.for":
                    _guard(op, loop)
            elif op.blocks:
                if op.name in ("scf.for", "scf.if", "scf.while", "tt.reduce", "tt.scan"):
                    if not is_free_of_effects(op) or op.name == "scf.while":
                        continue
                else:
                    continue
            elif not is_pure(op) or not _speculatable(op) or op.name == "ttg.local_alloc":
                continue
            op.move_before(loop)
            moved = True
    return moved


def _is_invariant(op: GOp, loop: GOp) -> bool:
    if any(defined_inside(operand, loop) for operand in op.operands):
        return False
    for inner in op.walk():
        for operand in inner.operands:
            if defined_inside(operand, loop) and not defined_inside(operand, op):
                return False
    return True


def _guard(load: GOp, loop: GOp) -> None:
    """A load that leaves the loop is masked by whether the loop runs at all."""
    condition = GOp(
        "arith.cmpi",
        loop.operands[:2],
        [GValue(ir.Type("i1"))],
        {"predicate": "slt"},
        line=loop.line,
        path=loop.path,
    ).insert_before(loop)
    mask = condition.result
    pointer = load.operands[0]
    if pointer.is_tensor:
        value = GValue(pointer.type.with_element("i1"), pointer.encoding)
        splat = GOp("tt.splat", [mask], [value], line=loop.line, path=loop.path)
        mask = splat.insert_before(loop).result
    if load.attrs.get("has_mask"):
        both = GOp("arith.andi", [load.operands[1], mask], [mask.like(mask.encoding)], line=loop.line)
        both.insert_before(loop)
        load.set_operand(1, both.result)
    else:
        load.set_operands([pointer, mask])
        load.attrs["has_mask"] = True
