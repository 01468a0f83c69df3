"""Tensor memory (sm_100): accumulators leave the loop, left operands go there, and how many columns it takes.

HoistTMEMAlloc.cpp, PromoteLHSToTMem.cpp and TensorMemoryAllocation.cpp. Every access of an accumulator is
chained to the next one by a token, which the loop carries.
"""

from __future__ import annotations

from tritonlint.compiler.conversion import same_layout
from tritonlint.compiler.encodings import Distributed, TensorMemory, TensorMemoryScales, cta_of
from tritonlint.compiler.graph import GOp, Graph, GValue, defined_inside
from tritonlint.compiler.loop_cleanup import clean_control_flow
from tritonlint.compiler.ops import constant_value, is_pure
from tritonlint.compiler.pipeline_build import TOKEN, add_carried, memory_value
from tritonlint.compiler.pipeline_loads import TCGEN05, VIEWS, viewed_memory
from tritonlint.compiler.releases import Release
from tritonlint.compiler.tmem_layouts import default_layout, memory_map
from tritonlint.compiler.to_linear import to_linear
from tritonlint.kernel import ir
from tritonlint.kernel.ir import bits_of

_ROUNDS = 32
_ROWS = 2  # tensor memory is given out in halves of 64 rows
_COLUMN_ALIGNMENT = 4
MAX_COLUMNS = 512
_SIZES = (0, 32, 64, 128, 256, MAX_COLUMNS)
_BOOL = ir.Type("i1")


def _dep(op: GOp) -> GValue | None:
    """The token that an access waits for."""
    if not op.attrs.get("has_token"):
        return None
    return op.operands[3] if op.name in TCGEN05 else op.operands[1]


def _set_dep(op: GOp, token: GValue) -> None:
    op.set_operand(3 if op.name in TCGEN05 else 1, token)


def _token(op: GOp) -> GValue | None:
    """The token that an access hands on."""
    for result in op.results:
        if result.type.element == "token":
            return result
    return None


def _true(before: GOp) -> GValue:
    op = GOp("arith.constant", (), [GValue(_BOOL)], {"value": True}, line=before.line, path=before.path)
    return op.insert_before(before).result


def _store(memory: GValue, token: GValue, value: GValue, before: GOp) -> GOp:
    condition = _true(before)
    op = GOp(
        "ttng.tmem_store",
        (memory, token, value, condition),
        [GValue(TOKEN)],
        {"has_token": True, "makes_token": True},
        line=before.line,
        path=before.path,
    )
    return op.insert_before(before)


def hoist_accumulators(graph: Graph, release: Release, *, after_pipelining: bool = False) -> None:
    """Move accumulators out of the loops of their products, and drop reads and writes that become idle."""
    if not after_pipelining:
        if release.tmem_forwards_before_hoisting:
            _forward_loads(graph)
        for mma in [op for op in graph.walk() if op.name in TCGEN05]:
            loop = mma.parent
            if loop is None or loop.name != "scf.for":
                continue
            _hoist_invariant(mma, loop)
            alloc = mma.operands[2].op
            if (
                alloc is not None
                and alloc.name == "ttng.tmem_alloc"
                and alloc.block is mma.block
                and _token(alloc) is not None
            ):
                _hoist(alloc, loop)
    for _ in range(_ROUNDS):
        changed = False
        for op in reversed(list(graph.walk())):  # the greedy driver starts at the end
            if op.block is None:
                continue
            if op.name == "ttng.tmem_store":
                changed |= _rotate_store(op) or _drop_store(op) or _store_select(op)
            elif op.name == "ttng.tmem_load":
                changed |= _rotate_load(op) or _drop_load(op) or _sink_load(op)
        if after_pipelining:
            changed |= _forward_loads(graph)
        changed |= clean_control_flow(graph)
        if not changed:
            break
    allocs = [op for op in graph.walk() if op.name == "ttng.tmem_alloc" and op.results[0].mutable]
    for alloc in allocs:
        if alloc.operands:
            _split_initial_value(alloc)
        elif after_pipelining and release.tmem_sinks_allocs:
            _sink_alloc(alloc)


def _hoist_invariant(mma: GOp, loop: GOp) -> None:
    """Operands that do not change in the loop go to tensor memory before it."""
    for operand in list(mma.operands):
        if not defined_inside(operand, loop):
            continue
        alloc = operand.op
        if alloc is None or alloc.name != "ttng.tmem_alloc" or alloc.results[0].mutable or not alloc.operands:
            continue
        moved = [alloc]
        source = alloc.operands[0]
        while source.op is not None and defined_inside(source, loop):
            if not is_pure(source.op) or len(source.op.operands) != 1:
                break
            moved.append(source.op)
            source = source.op.operands[0]
        if not defined_inside(source, loop):
            for op in reversed(moved):
                op.move_before(loop)


def _last_token(token: GValue) -> GValue:
    """The end of a chain of accesses."""
    seen: set[GValue] = set()
    while token.uses and token not in seen:
        seen.add(token)
        following = _token(next(iter(token.uses)))
        if following is None:
            break
        token = following
    return token


def _hoist(alloc: GOp, loop: GOp) -> None:
    old = alloc.results[0]
    buffer = GValue(
        old.type, old.encoding, memory="tensor", mutable=True, alloc_shape=old.alloc_shape, name=old.name
    )
    token = GValue(TOKEN)
    fresh = GOp("ttng.tmem_alloc", (), [buffer, token], {"has_token": True}, line=alloc.line, path=alloc.path)
    fresh.insert_before(loop)
    last = _last_token(alloc.results[1])
    _, (carried,) = add_carried(loop, [token])
    yielded = loop.body.terminator
    current = carried
    if alloc.operands:
        made = _token(_store(buffer, carried, alloc.operands[0], alloc))
        assert made is not None
        current = made
    old.replace_all_uses(buffer)
    alloc.results[1].replace_all_uses(current)
    yielded.set_operand(len(yielded.operands) - 1, current if last is alloc.results[1] else last)
    alloc.erase()


def _sink_alloc(alloc: GOp) -> None:
    """An accumulator that each iteration begins anew, and that no other one reads, is taken in the loop."""
    buffer, token = alloc.results[0], _token(alloc)
    if token is None or not token.has_one_use:
        return
    loop = next(iter(token.uses))
    if loop.name != "scf.for" or any(loop not in user.ancestors() for user in buffer.uses):
        return
    place = loop.operands.index(token) - 3
    carried = loop.body.args[place + 1]
    if not carried.has_one_use or loop.results[place].uses:
        return
    mma = next(iter(carried.uses))
    if mma.name not in TCGEN05 or mma.block is not loop.body or mma.operands[2] is not buffer:
        return
    use_d, predicate = mma.operands[-2:] if mma.name == "ttng.tc_gen5_mma_scaled" else mma.operands[4:6]
    if constant_value(use_d) is not False or constant_value(predicate) is not True:
        return
    nothing = GOp("ub.poison", (), [GValue(TOKEN)], line=alloc.line, path=alloc.path).insert_before(alloc)
    loop.set_operand(place + 3, nothing.result)
    alloc.move_before(mma)
    _set_dep(mma, token)


def _arg_of(value: GValue, loop: GOp) -> int | None:
    """Which carried value of the loop this is."""
    return value.index - 1 if value.block is loop.body and value.index > 0 else None


def _rotate_store(store: GOp) -> bool:
    """A store of a carried value at the start of an iteration becomes one before the loop and one at the
    end."""
    dep = _dep(store)
    loop = store.parent
    if dep is None or loop is None or loop.name != "scf.for":
        return False
    memory, _, value, condition = store.operands[:4]
    if _varies(condition, loop) or defined_inside(memory, loop):
        return False
    place, token_place = _arg_of(value, loop), _arg_of(dep, loop)
    if place is None or token_place is None or not value.has_one_use:
        return False
    first = _store(memory, loop.operands[token_place + 3], loop.operands[place + 3], loop)
    loop.set_operand(token_place + 3, first.result)
    terminator = loop.body.terminator
    store.result.replace_all_uses(loop.body.args[token_place + 1])
    if store.operands[3].op is not None and store.operands[3].op.block is loop.body:
        store.operands[3].op.move_before(loop)
    store.move_before(terminator)
    _set_dep(store, terminator.operands[token_place])
    terminator.set_operand(token_place, store.result)
    store.set_operand(2, terminator.operands[place])
    _load_after(loop, memory, token_place, place, value)
    terminator.set_operand(place, loop.body.args[place + 1])
    return True


def _varies(condition: GValue, loop: GOp) -> bool:
    return defined_inside(condition, loop) and constant_value(condition) is None


def _load_after(loop: GOp, memory: GValue, token_place: int, place: int, value: GValue) -> None:
    """Let the users of a loop's result read the accumulator instead."""
    result = loop.results[place]
    if not result.uses:
        return
    loaded = GValue(value.type, value.encoding, name=value.name)
    load = GOp(
        "ttng.tmem_load",
        (memory, loop.results[token_place]),
        [loaded, GValue(TOKEN)],
        {"has_token": True, "makes_token": True},
        line=loop.line,
        path=loop.path,
    )
    load.insert_after(loop)
    result.replace_all_uses(loaded)


def _drop_store(store: GOp) -> bool:
    """Writing back what was just read does nothing."""
    dep = _dep(store)
    load = dep.op if dep is not None else None
    if load is None or load.name != "ttng.tmem_load":
        return False
    if load.results[0] is not store.operands[2] or load.operands[0] is not store.operands[0]:
        return False
    token = _token(load)
    assert token is not None
    store.replace_with([token])
    return True


def _store_select(store: GOp) -> bool:
    """Writing either the old or a new value is a conditional write."""
    dep = _dep(store)
    if dep is None:
        return False
    select = store.operands[2].op
    if select is None or select.name != "arith.select" or select.operands[0].is_tensor:
        return False

    def is_old(value: GValue) -> bool:
        load = value.op
        return (
            load is not None
            and load.name == "ttng.tmem_load"
            and load.operands[0] is store.operands[0]
            and _token(load) is dep
        )

    old_true, old_false = is_old(select.operands[1]), is_old(select.operands[2])
    if old_true == old_false:
        return False
    condition = select.operands[0]
    if old_true:
        one = _true(store)
        negated = GOp("arith.xori", (condition, one), [GValue(_BOOL)], line=store.line, path=store.path)
        condition = negated.insert_before(store).result
    store.set_operand(2, select.operands[2] if old_true else select.operands[1])
    store.set_operand(3, condition)
    return True


def _rotate_load(load: GOp) -> bool:
    """A load whose value only goes to the next iteration moves there."""
    dep = _dep(load)
    loop = load.parent
    if dep is None or loop is None or loop.name != "scf.for" or defined_inside(load.operands[0], loop):
        return False
    value, token = load.results[0], _token(load)
    terminator = loop.body.terminator
    if token is None or not value.has_one_use or next(iter(value.uses)) is not terminator:
        return False
    if terminator not in token.uses:
        return False
    token_place = next(i for i, operand in enumerate(terminator.operands) if operand is token)
    place = next(i for i, operand in enumerate(terminator.operands) if operand is value)
    start = loop.operands[token_place + 3].op
    if start is None or start.name != "ttng.tmem_alloc" or start.operands:
        return False
    memory = load.operands[0]
    first = _store(memory, loop.operands[token_place + 3], loop.operands[place + 3], loop)
    loop.set_operand(token_place + 3, first.result)
    terminator.set_operand(token_place, dep)
    arg, token_arg = loop.body.args[place + 1], loop.body.args[token_place + 1]
    first_op = loop.body.ops[0]
    if first_op is not load:
        load.move_before(first_op)
    _set_dep(load, token_arg)
    token_arg.replace_uses_if(token, lambda user: user is not load)
    arg.replace_all_uses(value)
    _load_after(loop, memory, token_place, place, value)
    terminator.set_operand(place, arg)
    return True


def _drop_load(load: GOp) -> bool:
    dep, token = _dep(load), _token(load)
    if dep is None or load.results[0].uses or token is None:
        return False
    token.replace_all_uses(dep)
    load.erase()
    return True


def _sink_load(load: GOp) -> bool:
    """In a loop, a load moves down to its first user, into a branch if all users are there."""
    dep, token = _dep(load), _token(load)
    if dep is None or token is None or not any(op.name == "scf.for" for op in load.ancestors()):
        return False
    target = _common_user(load)
    block = load.block
    if target is None or block is None or target is load:
        return False
    home = target.ancestor_in(block)
    if home is None or target.name == "scf.yield":
        return False
    # Nothing that comes after it in the chain may stand before the new place.
    for user in token.uses:
        outer = user.ancestor_in(block)
        if outer is None or (outer is not home and outer.is_before_in_block(home)):
            return False
        if outer is home and (user.block is not target.block or user.is_before_in_block(target)):
            return False
    at = block.ops.index(load) + 1
    while at < len(block.ops) and block.ops[at].name == "ttng.tmem_load":
        at += 1
    if block.ops[at] is target:
        return False
    if target.block is not block:
        return _sink_into_branch(load, target, dep, token)
    load.move_before(target)
    return True


def _common_user(load: GOp) -> GOp | None:
    """The operation before which the load must stand: the first user, or what holds all users."""
    users = list(load.results[0].uses)
    if not users:
        return None
    block = load.block
    assert block is not None
    while True:
        homes = [user.ancestor_in(block) for user in users]
        if any(home is None for home in homes):
            return None
        places = {home for home in homes if home is not None}
        if len(places) == 1:
            home = next(iter(places))
            if home.name == "scf.if" and home not in users:
                inner = {
                    branch for branch in home.blocks for user in users if user.ancestor_in(branch) is not None
                }
                if len(inner) == 1:
                    block = next(iter(inner))
                    continue
            return home
        return min(places, key=block.ops.index)


def _sink_into_branch(load: GOp, target: GOp, dep: GValue, token: GValue) -> bool:
    """Move the load into a branch; the token then comes out of the conditional."""
    branch = target.block
    if branch is None or branch.parent is None or branch.parent.name != "scf.if":
        return False
    guard = branch.parent
    if guard.block is not load.block:
        return False
    outside = [user for user in token.uses if not user.is_inside(guard)]
    load.move_before(target)
    if outside:
        if not guard.blocks[1].ops:
            GOp("scf.yield").append_to(guard.blocks[1])
        last = _last_token_in(token, branch)
        for block in guard.blocks:
            block.terminator.add_operand(last if block is branch else dep)
        result = guard.add_result(GValue(TOKEN))
        token.replace_uses_if(result, lambda user: not user.is_inside(guard))
    return True


def _last_token_in(token: GValue, branch: object) -> GValue:
    while True:
        following = [_token(user) for user in token.uses if user.block is branch and user.name != "scf.yield"]
        if not following or following[0] is None:
            return token
        token = following[0]


def _forward_loads(graph: Graph) -> bool:
    """A new accumulator that starts as what was just read from another one is that other one."""
    changed = False
    for alloc in [op for op in graph.walk() if op.name == "ttng.tmem_alloc"]:
        if not alloc.operands or _token(alloc) is None:
            continue
        value = alloc.operands[0]
        path: list[GOp] = []  # from the alloc back to the read
        while value.op is not None and value.op.name == "ttg.convert_layout" and value.has_one_use:
            path.append(value.op)
            value = value.op.operands[0]
        load = value.op
        if load is None or load.name != "ttng.tmem_load":
            continue
        dep, token = _dep(load), _token(load)
        if dep is None or (token is not None and token.uses) or not value.has_one_use or not dep.has_one_use:
            continue
        memory = load.operands[0]
        one, other = alloc.results[0], memory
        if (one.type, one.encoding, one.mutable) != (other.type, other.encoding, other.mutable):
            continue
        alloc.replace_with([memory, dep])
        for dead in (*path, load):  # at once: the chain of tokens is followed next
            dead.erase()
        changed = True
    return changed


def _split_initial_value(alloc: GOp) -> None:
    value = alloc.operands[0]
    block = alloc.block
    assert block is not None
    following = block.ops[alloc.index_in_block() + 1]
    token = _token(alloc)
    if token is None:
        return
    store = _store(alloc.results[0], token, value, following)
    token.replace_uses_if(store.result, lambda user: user is not store)
    alloc.set_operands(())


def promote_left_operands(graph: Graph, release: Release) -> None:
    """The left operand of a product goes through tensor memory where it is computed rather than loaded."""
    for mma in [op for op in graph.walk() if op.name in TCGEN05]:
        alloc = mma.operands[0].op
        if (
            alloc is None
            or alloc.name != "ttg.local_alloc"
            or alloc.block is not mma.block
            or not alloc.operands
        ):
            continue
        source, memory = alloc.operands[0], mma.operands[2]
        bits = bits_of(source.type.element)
        accumulator = memory.encoding
        if bits not in release.tmem_operand_bits or not isinstance(accumulator, TensorMemory):
            continue
        if getattr(alloc.result.encoding, "fp4_padded", False):
            continue
        cta = cta_of(source.encoding)
        encoding = TensorMemory(
            accumulator.block_m,
            source.shape[1],
            1,
            accumulator.two_ctas,
            False,
            accumulator.cta_split_m,
            accumulator.cta_split_n,
        )
        layout = default_layout(source.shape, encoding, bits, graph.num_warps, cta)
        if layout is None:
            continue
        value = source
        if not _fits(source, layout, release):
            if _comes_from_load(source):
                continue
            convert = GOp(
                "ttg.convert_layout", (source,), [source.like(layout)], line=alloc.line, path=alloc.path
            )
            value = convert.insert_after(alloc).result
        buffer = memory_value(source.shape, source.type.element, encoding, mutable=False, memory="tensor")
        point = alloc if value is source else value.op
        assert point is not None
        fresh = GOp("ttng.tmem_alloc", (value,), [buffer], {}, line=alloc.line, path=alloc.path)
        fresh.insert_after(point)
        mma.set_operand(0, buffer)
        if not alloc.result.uses:
            alloc.erase()


def _fits(value: GValue, layout: Distributed, release: Release) -> bool:
    """Whether a value can be written to tensor memory as it is. In which order its registers hold the elements of a
    thread does not count, where the release looks at that."""
    if same_layout(value.encoding, layout, value.shape):
        return True
    have, wanted = to_linear(value.encoding, value.shape), to_linear(layout, value.shape)
    return release.tmem_registers_in_any_order and (
        (have.lane, have.warp, have.block) == (wanted.lane, wanted.warp, wanted.block)
        and sorted(have.register) == sorted(wanted.register)
    )


def _comes_from_load(value: GValue) -> bool:
    """The value is a load or an argument, conversions and transposes aside."""
    while value.op is not None:
        op = value.op
        if op.name in ("ttg.convert_layout", "tt.trans") or op.name in VIEWS:
            value = op.operands[0]
            continue
        if op.name == "ttg.local_alloc" and op.operands:
            value = op.operands[0]
            continue
        return op.name in ("tt.load", "tt.descriptor_load", "tt.descriptor_gather", "ttg.local_load")
    return True


def columns_of(value: GValue) -> tuple[int, int]:
    """Halves of the rows (1 or 2) and columns of 32 bits that an allocation takes."""
    shape = value.shape
    encoding = value.encoding
    buffers = 1
    if len(shape) == 3:
        buffers, shape = shape[0], shape[1:]
    bits = bits_of(value.type.element)
    if isinstance(encoding, TensorMemoryScales):
        # 32 rows of scales stand in one column of 4 bytes, repeated for each group of warps.
        rows, depth = max(shape[0], 128 if shape[0] > 64 else shape[0]), shape[1]
        return _ROWS, -(-max(rows, 32) // 32) * max(1, -(-depth * bits // 32)) * buffers
    if not isinstance(encoding, TensorMemory):
        return _ROWS, 0
    part = (shape[0] // encoding.cta_split_m, shape[1] // encoding.cta_split_n)
    rows_map, columns_map = memory_map(part, encoding)
    columns = -(-(1 << len(columns_map)) * bits // 32)
    halves = 1 if rows_map[4] == (0, 0) else 2
    return halves, columns * buffers


def tensor_memory_columns(graph: Graph) -> int:
    """Columns of tensor memory that the kernel asks for: 0, or a power of two from 32 on."""
    from tritonlint.compiler.liveness import Numbering

    allocs = [op for op in graph.walk() if op.name == "ttng.tmem_alloc"]
    if not allocs:
        return 0
    numbering = Numbering(graph)
    rows_joined = _joined_rows(graph)
    fixed: dict[int, int] = {}
    used: set[tuple[int, int]] = set()
    ends: list[tuple[int, list[tuple[int, int]]]] = []
    total = 0
    for alloc in allocs:
        start, end = _live(alloc.results[0], numbering)
        for gone in [entry for entry in ends if entry[0] <= start]:
            used.difference_update(gone[1])
            ends.remove(gone)
        halves, columns = columns_of(alloc.results[0])
        group = rows_joined.get(alloc)
        wanted = fixed.get(group) if group is not None else None
        place = _first_fit(used, halves, columns, wanted)
        if group is not None:
            fixed.setdefault(group, place[0])
        taken = [(place[0] + row, place[1] + column) for row in range(halves) for column in range(columns)]
        used.update(taken)
        ends.append((end, taken))
        total = max(total, place[1] + columns)
    return next((size for size in _SIZES if total <= size), total)


def _first_fit(used: set[tuple[int, int]], halves: int, columns: int, wanted: int | None) -> tuple[int, int]:
    start = 0
    while True:
        for row in range(_ROWS - halves + 1):
            if wanted is not None and row != wanted:
                continue
            if not any(
                (row + half, start + column) in used for column in range(columns) for half in range(halves)
            ):
                return row, start
        start += _COLUMN_ALIGNMENT


def _live(value: GValue, numbering: object) -> tuple[int, int]:
    """The interval of an allocation and of its views."""
    from tritonlint.compiler.liveness import Numbering

    assert isinstance(numbering, Numbering)
    start, end = numbering.interval(value)
    stack = [user for user in value.uses if user.name in VIEWS]
    while stack:
        view = stack.pop().results[0]
        first, last = numbering.interval(view)
        start, end = min(start, first), max(end, last)
        stack.extend(user for user in view.uses if user.name in VIEWS)
    return start, end


def _joined_rows(graph: Graph) -> dict[GOp, int]:
    """Groups of allocations that must stand in the same rows: a left operand of 64 rows and its result."""
    groups: dict[GOp, int] = {}
    for mma in graph.walk():
        if mma.name not in TCGEN05 or mma.operands[0].memory != "tensor":
            continue
        left, result = _root(mma.operands[0]), _root(mma.operands[2])
        if left is None or result is None or columns_of(left.results[0])[0] != 1:
            continue
        number = groups.get(left, groups.get(result, len(groups)))
        groups[left] = groups[result] = number
    return groups


def _root(value: GValue) -> GOp | None:
    alloc = viewed_memory(value).op
    return alloc if alloc is not None and alloc.name == "ttng.tmem_alloc" else None
