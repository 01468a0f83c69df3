"""The pipeliners of 2.1 (Pipeline.cpp) and of 2.2 and 2.3 (MatmulLoopPipeline.cpp).

They know one pattern: loads of matrices whose uses all become operands of a dot. All of them get the same
number of buffers: num_stages in 2.1; num_stages - 1 after that, one more if wgmma reads one of them from
shared memory.
"""

from __future__ import annotations

from tritonlint.compiler.encodings import DotOperand, NvmmaShared
from tritonlint.compiler.graph import GOp, GValue
from tritonlint.compiler.layout_properties import order_of
from tritonlint.compiler.pipeline_build import TOKEN, StageBuilder, memory_value, replace_views, view_before
from tritonlint.compiler.pipeline_expand import expand
from tritonlint.compiler.pipeline_levels import LevelsResult, add_dependencies
from tritonlint.compiler.pipeline_loads import (
    VIEWS,
    Axis,
    alloc_users,
    async_width_bits,
    load_mask,
    load_other,
    memory_order,
    swizzled_for_operand,
)
from tritonlint.compiler.pipeline_schedule import Schedule
from tritonlint.kernel.ir import bits_of


def _operand_of_all(value: GValue) -> DotOperand | None:
    """The dot operand encoding that all uses of a tensor end in, through shared memory if need be."""
    found: DotOperand | None = None
    for user in value.uses:
        if len(user.results) != 1:
            return None
        result = user.result
        wanted: DotOperand | None
        if result.memory:
            wanted = _operand_of_all(result)
        elif user.name in ("ttg.convert_layout", "ttg.local_load") and isinstance(
            result.encoding, DotOperand
        ):
            wanted = result.encoding
        else:
            return None
        if wanted is None or (found is not None and found != wanted):
            return None
        found = wanted
    return found


def _wgmma_alloc(load: GOp) -> GOp | None:
    """The allocation through which wgmma reads the load, if its order is that of the load."""
    if not load.result.has_one_use:
        return None
    user = next(iter(load.result.uses))
    if user.name != "ttg.local_alloc" or not isinstance(user.result.encoding, NvmmaShared):
        return None
    before, after = order_of(load.result.encoding, load.result.shape), memory_order(user.result)
    return user if before[0] == after[0] or before[1] == after[1] else None


def _single_chain(load: GOp) -> DotOperand | None:
    """2.1: the load has one use, which through shared memory ends in a conversion to a dot operand."""
    value = load.result
    while True:
        if not value.has_one_use:
            return None
        user = next(iter(value.uses))
        if len(user.results) != 1:
            return None
        result = user.result
        if result.memory:
            if not result.has_one_use or user.name not in (VIEWS | {"ttg.local_alloc", "tt.trans"}):
                return None
            value = result
            continue
        if user.name in ("ttg.convert_layout", "ttg.local_load") and isinstance(result.encoding, DotOperand):
            return result.encoding
        return None


def _wide_loads(loop: GOp, axis: Axis, reasons: dict[GOp, str]) -> list[GOp]:
    found: list[GOp] = []
    for op in loop.body.ops[:-1]:
        if op.name != "tt.load":
            continue
        if len(op.result.shape) < 2 or not op.operands[0].is_tensor:
            reasons[op] = "only loads of matrices are pipelined"
        elif async_width_bits(op, axis) < 32:
            reasons[op] = "a thread would move less than 4 bytes at once"
        else:
            found.append(op)
    return found


def _depends_on(load: GOp, others: list[GOp], loop: GOp, stages: int) -> bool:
    """Whether an operand of the load comes from another load, up to so many iterations before. As in the
    compiler, only what the last operand needs is looked at."""
    body = loop.body
    results = {other.result for other in others}
    stack = [(load.operands[-1], stages - 1)]
    seen: set[tuple[GValue, int]] = set()
    while stack:
        value, stage = stack.pop()
        if stage < 0 or value.owner_block() is not body or (value, stage) in seen:
            continue
        seen.add((value, stage))
        if value in results:
            return True
        if value.op is None:
            if value.index > 0:
                stack.append((body.terminator.operands[value.index - 1], stage - 1))
            continue
        stack.extend((operand, stage) for operand in value.op.operands)
    return False


def pipeline_dot_chain(loop: GOp, stages: int, axis: Axis, *, all_stages: bool) -> LevelsResult:
    """Pipeline one loop in place; `all_stages` is the rule of 2.1."""
    reasons: dict[GOp, str] = {}
    result = LevelsResult(None, {}, reasons)
    wide = _wide_loads(loop, axis, reasons)
    chosen: dict[GOp, DotOperand | None] = {}
    for load in wide:
        if all_stages:
            operand = None if _depends_on(load, wide, loop, stages) else _single_chain(load)
            if operand is not None:
                chosen[load] = operand
                continue
        elif _wgmma_alloc(load) is not None:
            chosen[load] = None
            continue
        else:
            operand = _operand_of_all(load.result)
            if operand is not None:
                chosen[load] = operand
                continue
        reasons[load] = "its only use is not a dot operand"
    if not chosen:
        return result
    has_wgmma = any(operand is None for operand in chosen.values())
    buffers = stages if all_stages or has_wgmma else stages - 1
    result.buffers = dict.fromkeys(chosen, buffers)
    copies: list[GOp] = []
    extracts: list[GOp] = []
    schedule = Schedule()
    for load, operand in chosen.items():
        _copy(load, operand, loop, buffers, schedule, copies, extracts)
    GOp("ttg.async_wait", (), [GValue(TOKEN)], {"num": 0}, line=loop.line).insert_after(loop)
    result.loop = expand(loop, _order(loop, stages, copies, [] if has_wgmma else extracts))
    return result


def _copy(
    load: GOp,
    operand: DotOperand | None,
    loop: GOp,
    buffers: int,
    schedule: Schedule,
    copies: list[GOp],
    extracts: list[GOp],
) -> None:
    tile = load.result
    encoding: object
    if operand is None:
        encoding = next(iter(tile.uses)).result.encoding
    else:
        order = order_of(tile.encoding, tile.shape)
        encoding = swizzled_for_operand(operand, tile.shape, order, None, bits_of(tile.type.element))
    ring = memory_value((buffers, *tile.shape), tile.type.element, encoding)
    attrs = {"buffers": buffers, "role": "buffer"}
    GOp("ttg.local_alloc", (), [ring], attrs, line=load.line, path=load.path).insert_before(loop)
    builder = StageBuilder(schedule, None)
    view = view_before(builder, load, ring, "insert")
    mask, other = load_mask(load), load_other(load)
    operands = [load.operands[0], view, *(value for value in (mask, other) if value is not None)]
    copy = builder.before(
        load,
        "ttg.async_copy_global_to_local",
        operands,
        results=[GValue(TOKEN)],
        attrs={"has_mask": mask is not None, "has_other": other is not None},
    )
    commit = builder.before(load, "ttg.async_commit_group", (copy.result,), results=[GValue(TOKEN)])
    if not copies:
        extracts.append(builder.before(load, "ttg.async_wait", (), results=[GValue(TOKEN)], attrs={"num": 0}))
    copies += (copy, commit)
    extract = view_before(builder, load, ring, "extract")
    assert extract.op is not None
    extracts.append(extract.op)
    for user in alloc_users(tile):
        replace_views(user.result, extract, None)
        user.erase()
    if tile.uses:
        loaded = GValue(tile.type, tile.encoding, name=tile.name)
        tile.replace_all_uses(builder.before(load, "ttg.local_load", (extract,), results=[loaded]).result)
    load.erase()


def _order(loop: GOp, stages: int, copies: list[GOp], extracts: list[GOp]) -> list[tuple[GOp, int]]:
    """The last stage first, then what prepares the next copies, the copies, and the views for the next
    iteration."""
    body = loop.body
    early: set[GOp] = set()
    for op in copies:
        add_dependencies(op, early, through_args=False)
    carried: list[GOp] = []
    for op in list(early):
        for value in op.operands:
            if value.block is body and value.index > 0:
                producer = body.terminator.operands[value.index - 1].op
                if producer is not None and producer not in early:
                    carried.append(producer)
    for op in carried:
        if op.name == "tt.load":
            add_dependencies(op, early, through_args=True)
    second: set[GOp] = set()
    for op in carried:
        if op.name != "tt.load":
            add_dependencies(op, second, through_args=True, without=early)
    views: set[GOp] = set()
    for op in extracts:
        add_dependencies(op, views, through_args=True, without=early)
    ops = body.ops[:-1]
    order = [(op, stages - 1) for op in ops if op not in early and op not in second and op not in views]
    order += [(op, 1) for op in ops if op in second]
    order += [(op, 0) for op in ops if op in early]
    order += [(op, stages - 2) for op in ops if op in views]
    return list(dict(order).items())
