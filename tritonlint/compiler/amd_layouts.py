"""Small layout passes of AMD around the pipeliner: results are stored in the layout of the matrix
instruction, conversions of operands leave loops, others wait until memory is free.

OptimizeEpilogue.cpp, HoistLayoutConversions.cpp and SinkLayoutConversions.cpp of third_party/amd.
"""

from __future__ import annotations

from tritonlint.compiler.accelerate_matmul import insert_convert
from tritonlint.compiler.encodings import AmdMfma, AmdWmma, Blocked, DotOperand
from tritonlint.compiler.graph import GOp, Graph, defined_inside

_ONE_OPERAND = frozenset({
    "arith.extf", "arith.extsi", "arith.extui", "arith.fptosi", "arith.fptoui", "arith.negf",
    "arith.sitofp", "arith.truncf", "arith.trunci", "arith.uitofp", "math.absf", "math.absi", "math.atan",
    "math.ceil", "math.cos", "math.sin", "math.ctlz", "math.cttz", "math.ctpop", "math.erf", "math.exp",
    "math.exp2", "math.expm1", "math.floor", "math.log", "math.log10", "math.log1p", "math.log2",
    "math.sqrt", "math.rsqrt", "math.tanh", "tt.int_to_ptr", "tt.ptr_to_int", "tt.bitcast", "tt.fp_to_fp",
})  # fmt: skip


def optimize_epilogue(graph: Graph) -> None:
    """Store results of matrix instructions as they lie in registers, in place."""
    for op in [op for op in graph.walk() if op.name == "tt.store"]:
        _store_directly(op)


def _store_directly(store: GOp) -> None:
    pointer, value = store.operands[:2]
    if not (
        pointer.is_tensor and isinstance(pointer.encoding, Blocked) and isinstance(value.encoding, Blocked)
    ):
        return
    chain: list[GOp] = []
    while True:
        op = value.op
        if op is None:
            return
        if op.name == "ttg.convert_layout":
            break
        if not op.results[0].has_one_use or len(op.operands) != 1 or not _is_elementwise(op):
            return
        chain.append(op)
        value = op.operands[0]
    convert = value.op
    assert convert is not None
    source = convert.operands[0]
    if not isinstance(source.encoding, (AmdMfma, AmdWmma)) or not value.has_one_use:
        return
    new = source
    for op in reversed(chain):
        op.set_operand(0, new)
        new = op.results[0]
        new.encoding = source.encoding
    if not chain:
        store.set_operand(1, new)
    for position in (0, *range(2, len(store.operands))):
        store.set_operand(position, insert_convert(store.operands[position], source.encoding, store))
    if not value.uses:
        convert.erase()


def _is_elementwise(op: GOp) -> bool:
    return op.name in _ONE_OPERAND or (op.name == "tt.extern_elementwise" and bool(op.attrs.get("pure")))


def hoist_operand_conversions(graph: Graph) -> None:
    """Conversions to operands leave the loop in which their source is not made, in place."""
    for op in [op for op in graph.walk() if op.name == "ttg.convert_layout"]:
        if not isinstance(op.results[0].encoding, DotOperand):
            continue
        source = op.operands[0]
        loop = next((around for around in op.ancestors() if around.name == "scf.for"), None)
        if source.op is not None and loop is not None and not defined_inside(source, loop):
            op.move_after(source.op)


def sink_conversions(graph: Graph) -> None:
    """Conversions wait behind deallocations that stand before their first use, in place."""
    for op in [op for op in graph.walk() if op.name == "ttg.convert_layout"]:
        block = op.block
        assert block is not None
        if not any(other.name == "ttg.local_dealloc" for other in block.ops):
            continue
        users = [user.ancestor_in(block) for user in op.results[0].uses]
        places = [block.ops.index(user) for user in users if user is not None]
        start = block.ops.index(op)
        end = min(places, default=len(block.ops))
        frees = [other for other in block.ops[start:end] if other.name == "ttg.local_dealloc"]
        if frees:
            op.move_after(frees[-1])


def hint_dots(graph: Graph) -> None:
    """A hint for the scheduler behind each dot of a loop, in place (insert_instruction_sched_hints). Its effects are not
    declared, so it counts as one that writes."""
    for loop in [op for op in graph.walk() if op.name == "scf.for"]:
        for dot in loop.body.ops[:-1]:
            if dot.name == "tt.dot":
                GOp("amdg.instruction_sched_hint", (), line=dot.line, path=dot.path).insert_after(dot)
