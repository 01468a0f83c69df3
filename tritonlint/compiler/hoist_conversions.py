"""Moves the conversions that remain: above extensions and broadcasts, into the branches of conditionals, and
those of tensor-core operands up to their loads.

The hoistConvert part of lib/Dialect/TritonGPU/Transforms/RemoveLayoutConversions.cpp.
"""

from __future__ import annotations

from tritonlint.compiler.encodings import AmdMfma, AmdWmma, Distributed, DotOperand, NvidiaMma
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.inference import infer_src
from tritonlint.compiler.ops import DOTS, VIEWS, is_elementwise, is_pure
from tritonlint.compiler.releases import Release
from tritonlint.compiler.rematerialize import Rematerialization, Slice, Use, convert_cost
from tritonlint.compiler.to_linear import to_linear

_EXTENSIONS = frozenset({"arith.extsi", "arith.extui", "arith.extf", "tt.broadcast", "tt.expand_dims"})
_LOADS = frozenset({"tt.load", "tt.descriptor_load", "tt.descriptor_gather"})


def hoist_conversions(graph: Graph, release: Release, disable_splitting: bool = False) -> None:
    """Move conversions to where less data passes through them."""
    pass_ = Rematerialization(graph, release)
    pass_.run_over_converts(lambda convert: _above_extension(pass_, convert, disable_splitting))
    if disable_splitting:
        return
    if release.hoists_into_conditionals and any(map(_is_if, graph.all_ops())):
        branches = Rematerialization(graph, release)
        branches.run_over_converts(lambda convert: _into_conditionals(branches, convert))
    if release.operand_hoisting == "stepwise":
        return
    users = [op for op in graph.all_ops() if _is_operand_user(op, release)]
    if users:
        operands = Rematerialization(graph, release)
        operands.run_over_converts(lambda convert: _dot_operand(operands, convert, users))


def _is_extension(op: GOp) -> bool:
    if op.name in _EXTENSIONS:
        return True
    return op.name == "tt.fp_to_fp" and op.operands[0].type.bits < op.results[0].type.bits


def _insert_convert(value: GValue, encoding: Distributed, like: GOp, before: GOp) -> GValue:
    new = GOp("ttg.convert_layout", [value], [value.like(encoding)], line=like.line, path=like.path)
    new.insert_before(before)
    return new.result


def _above_extension(pass_: Rematerialization, convert: GOp, disable_splitting: bool) -> bool:
    target = convert.results[0].encoding
    if isinstance(target, DotOperand):
        return False
    slice_ = Slice()
    if not pass_.rematerializable_slice((convert, 0), target, slice_, _is_extension):
        return False
    extension: GOp | None = None
    for value in list(slice_.values):
        op = value.op
        if op is None or not _is_extension(op):
            continue
        source = infer_src(op, slice_.layout[value])
        if source is None:
            return False
        if pass_.rematerializable_slice((op, 0), source, slice_):
            continue
        if extension is not None:
            return False
        extension = op
    if extension is None:
        return False
    encoding = slice_.layout[extension.results[0]]
    source = infer_src(extension, encoding)
    if source is None:
        return False
    if pass_.release.hoisting_is_weighed:
        cost = convert_cost(extension.operands[0], source, pass_.release)
        if not pass_.is_beneficial(convert, slice_, cost, disable_splitting):
            return False
    old = extension.results[0]
    new_source = extension.operands[0]
    if not (
        pass_.release.leaves_out_trivial_converts
        and extension.name == "tt.broadcast"
        and to_linear(new_source.encoding, new_source.shape) == to_linear(source, new_source.shape)
    ):
        new_source = _insert_convert(new_source, source, convert, extension)
    copy = extension.clone().insert_before(extension)
    copy.set_operand(0, new_source)
    copy.results[0].encoding = encoding
    del slice_.values[old]
    pass_.rewrite_slice(slice_, convert, {old: copy.results[0]})
    return True


def _is_if(op: GOp) -> bool:
    return op.name == "scf.if"


def _into_conditionals(pass_: Rematerialization, convert: GOp) -> bool:
    slice_ = Slice()
    if not pass_.rematerializable_slice((convert, 0), convert.results[0].encoding, slice_, _is_if):
        return False
    above: list[tuple[GValue, Use]] = []
    terminals: list[GValue] = []
    seen: set[GValue] = set()
    while True:
        value = next((v for v in slice_.values if v not in seen), None)
        if value is None:
            break
        seen.add(value)
        op = value.op
        if op is None or op.name != "scf.if":
            continue
        encoding = slice_.layout[value]
        trial = slice_.copy()
        uses = [(block.terminator, value.index) for block in op.blocks]
        done = [pass_.rematerializable_slice(use, encoding, trial, _is_if) for use in uses]
        if all(done):
            slice_.take(trial)
        elif not any(done) or op.parent is None or op.parent.name != "scf.for":
            terminals.append(value)
        else:
            slice_.take(trial)
            above.append((value, uses[done.index(False)]))
    if not above:
        return False
    mapping: dict[GValue, GValue] = {}
    for value in terminals:
        op = value.op
        assert op is not None
        new = GOp(
            "ttg.convert_layout",
            [value],
            [value.like(slice_.layout[value])],
            line=convert.line,
            path=convert.path,
        )
        new.insert_after(op)
        mapping[value] = new.result
        slice_.values.pop(value, None)
    for result, (terminator, position) in above:
        value = terminator.operands[position]
        mapping[value] = _insert_convert(value, slice_.layout[result], convert, terminator)
        slice_.values.pop(value, None)
    pass_.rewrite_slice(slice_, convert, mapping)
    return True


def _post_dominates(later: GOp, earlier: GOp) -> bool:
    """Whether every way on from `earlier` passes `later`."""
    assert later.block is not None
    place = earlier.ancestor_in(later.block)
    return place is not None and place is not later and place.is_before_in_block(later)


def _moves_no_data(op: GOp) -> bool:
    if op.name in ("tt.broadcast", "ttg.fp4_to_fp", "ttg.convert_layout") or op.name in VIEWS:
        return True
    return is_elementwise(op) and is_pure(op)


def _dot_operand(pass_: Rematerialization, convert: GOp, users: list[GOp]) -> bool:
    parent = convert.parent
    if parent is None:
        return False
    target = convert.results[0].encoding
    if not any(_post_dominates(op, convert) and op.is_inside(parent) for op in users):
        return False
    slice_ = Slice()
    if not pass_.backward_slice(
        (convert, 0), target, slice_, lambda op: not _moves_no_data(op), of_operand=True
    ):
        return False
    inner = Slice()
    inner.layout, inner.existing = slice_.layout, slice_.existing
    loads: list[GOp] = []
    for value in slice_.values:
        op = value.op
        if op is None:
            return False
        if op.name == "tt.load" or (op.name in _LOADS and pass_.release.operand_hoisting == "all"):
            loads.append(op)
        elif op.name == "arith.constant" or _moves_no_data(op):
            inner.values[value] = None
        else:
            return False
    if not inner.values and not (
        pass_.release.hoisting_takes_existing and slice_.existing.get((convert.operands[0], target))
    ):
        return False
    mapping: dict[GValue, GValue] = {}
    for op in loads:
        result = op.results[0]
        new = GOp(
            "ttg.convert_layout",
            [result],
            [result.like(slice_.layout[result])],
            line=convert.line,
            path=convert.path,
        )
        new.insert_after(op)
        mapping[result] = new.result
    pass_.rewrite_slice(inner, convert, mapping)
    return True


def _is_operand_user(op: GOp, release: Release) -> bool:
    """A dot whose A is in registers in a tensor core's encoding."""
    if op.name not in DOTS:
        return False
    encoding = op.operands[0].encoding
    kinds = (NvidiaMma,) if release.operand_hoisting == "nvidia" else (NvidiaMma, AmdMfma, AmdWmma)
    return isinstance(encoding, DotOperand) and isinstance(encoding.parent, kinds)
