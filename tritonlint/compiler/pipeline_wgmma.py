"""Products on wgmma in a loop run asynchronously: WGMMAPipeline.cpp (3.4 and newer).

A wait names what the products before it read, so that memory lives until the products are done. Where a
product's result is only added to in the next iteration, it is waited for behind the loop, together with the
operands of products that stand before the loop; and if its left operand is in registers it is cut in pieces
along K, so that one piece can run while the next one is made.
"""

from __future__ import annotations

from tritonlint.compiler.encodings import NvidiaMma
from tritonlint.compiler.graph import GBlock, GOp, Graph, GValue, defined_inside
from tritonlint.compiler.inference import infer_dst
from tritonlint.compiler.pipeline_latency import num_stages_of
from tritonlint.compiler.releases import Release
from tritonlint.compiler.to_linear import to_linear

_DOT = "ttng.warp_group_dot"
_WAIT = "ttng.warp_group_dot_wait"
_VIEWS_OF_OPERANDS = frozenset(
    {"ttg.convert_layout", "ttg.memdesc_trans", "ttg.memdesc_reshape", "ttg.memdesc_subslice"}
)


def launch_async(graph: Graph, release: Release, num_stages: int) -> None:
    """Give the products of all loops their waits, in place."""
    if not any(op.name == _DOT for op in graph.all_ops()):
        return
    for loop in [op for op in graph.walk_post() if op.name == "scf.for"]:
        if num_stages_of(loop, num_stages) >= 1:
            _launch(loop, release)


def _launch(loop: GOp, release: Release) -> None:
    dots: dict[GOp, int] = {}
    for dot in [op for op in loop.body.ops if op.name == _DOT]:
        place = _carried_at(dot, loop)
        if place is not None:
            dots[dot] = place
        else:
            _thread(_wait_after(dot, 0), [dot.result])
    if not dots:
        return
    if all(wait.attrs["pendings"] for wait in _waits(loop)):
        dots = {piece: place for dot, place in dots.items() for piece in _pieces(dot, release)}
    _wait_in_loop(loop, dots)
    # Pieces of one product end in one carried value.
    _thread(_wait_after(loop, 0), [loop.results[place] for place in dots.values()])


def _waits(loop: GOp) -> list[GOp]:
    return [op for op in loop.body.ops if op.name == _WAIT]


def _wait_after(op: GOp, pendings: int) -> GOp:
    return GOp(_WAIT, (), (), {"pendings": pendings}, line=op.line, path=op.path).insert_after(op)


def _is_nothing(op: GOp) -> bool:
    """Views of tensors, and conversions that move nothing."""
    if op.name in ("tt.reshape", "tt.trans"):
        return True
    if op.name != "ttg.convert_layout":
        return False
    source, result = op.operands[0], op.results[0]
    return to_linear(source.encoding, source.shape) == to_linear(result.encoding, result.shape)


def _is_buffered(value: GValue, loop: GOp) -> bool:
    """Whether an operand of a product is still there in the next iteration: it is in registers, comes from
    outside, or is one of several buffers."""
    if value.memory != "shared":
        return True
    seen: set[GValue] = set()
    while defined_inside(value, loop):
        op = value.op
        if op is not None:
            if op.name not in _VIEWS_OF_OPERANDS:
                return op.name == "ttg.memdesc_index"
            value = op.operands[0]
            continue
        if value.block is not loop.body or value.index == 0 or value in seen:
            return True
        seen.add(value)
        value = loop.body.terminator.operands[value.index - 1]
    return True


def _carried_at(dot: GOp, loop: GOp) -> int | None:
    """Position among the carried values in which the result goes on, if it needs no wait right behind it."""
    if not all(_is_buffered(operand, loop) for operand in dot.operands[:2]):
        return None
    place: int | None = None
    queue = [(user, position) for user, position in _uses(dot.result)]
    while queue:
        user, position = queue.pop()
        parent = user.parent
        if parent is loop:
            if _is_nothing(user):
                queue.extend(_uses(user.result))
            elif user.name == "scf.yield" and place is None:
                place = position
            else:
                return None
        elif parent is not None and parent.name == "scf.if":
            if user.name == "scf.yield":
                queue.extend(_uses(parent.results[position]))
        else:
            return None
    if place is None or dot.operands[2].type.element != "fp32":
        return None
    carried = loop.body.args[place + 1]
    if all(_is_added_to(user, position) for user, position in _uses(carried)):
        return place
    first = next((wait for wait in _waits(loop) if not wait.attrs["pendings"]), None)
    if first is None:
        return None
    for user, _ in _uses(carried):
        outer = user.ancestor_in(loop.body)
        if outer is None or outer is first or not first.is_before_in_block(outer):
            return None
    _thread(first, [carried])
    return place


def _uses(value: GValue) -> list[tuple[GOp, int]]:
    return [
        (user, position)
        for user in value.uses
        for position, operand in enumerate(user.operands)
        if operand is value
    ]


def _is_added_to(user: GOp, position: int) -> bool:
    """Whether a use only hands the value on as the accumulator of a product."""
    if user.name == _DOT:
        return position == 2
    return _is_nothing(user) and all(_is_added_to(other, at) for other, at in _uses(user.result))


def _wait_in_loop(loop: GOp, dots: dict[GOp, int]) -> None:
    """Waits for the products of the iteration before."""
    if any(not wait.attrs["pendings"] for wait in _waits(loop)):
        return
    for dot in dots:
        _wait_before_uses(dot)
    for dot in dots:
        if _rewrites_registers(dot, loop):
            _thread(_wait_after(dot, len(dots) - 1), [dot.result])
    last = next(reversed(dots))
    if not _rewrites_registers(last, loop):
        _thread(_wait_after(last, len(dots)), [dot.result for dot in dots])


def _wait_before_uses(dot: GOp) -> None:
    """In each block that uses the result otherwise than as an accumulator, a wait before the first such
    use."""
    blocks: dict[GBlock, list[tuple[GOp, int]]] = {}
    for user, position in _uses(dot.result):
        if user.name != "scf.yield" and user.block is not None:
            blocks.setdefault(user.block, []).append((user, position))
    for block, uses in blocks.items():
        others = [user for user, position in uses if not (user.name == _DOT and position == 2)]
        if not others:
            continue
        first = min(others, key=block.ops.index)
        wait = GOp(_WAIT, (), (), {"pendings": 0}, line=dot.line, path=dot.path).insert_before(first)
        _thread(wait, [dot.result])


def _rewrites_registers(dot: GOp, loop: GOp) -> bool:
    """Whether the left operand is made anew in registers in each iteration, by something else than a
    product."""
    left = dot.operands[0]
    if left.memory == "shared" or not defined_inside(left, loop):
        return False
    if left.op is not None and left.op.name == "ttg.convert_layout":
        return not isinstance(left.op.operands[0].encoding, NvidiaMma)
    return True


def _thread(wait: GOp, values: list[GValue]) -> None:
    """Let the wait stand between the values and their later users, and hold the memory that the products
    behind the values read."""
    block = wait.block
    assert block is not None
    held = dict.fromkeys([*wait.operands, *values])
    for value in values:
        for dot in _products_behind(value, block):
            held.update(dict.fromkeys(operand for operand in dot.operands if operand.memory == "shared"))
    known = set(wait.operands)
    for value in held:
        if value in known:
            continue
        wait.add_operand(value)
        passed = wait.add_result(value.copy())
        if value.memory == "shared":
            continue
        for user in value.users():
            outer = user.ancestor_in(block)
            if user is wait or outer is None or outer is wait or not wait.is_before_in_block(outer):
                continue
            for position, operand in enumerate(user.operands):
                if operand is value:
                    user.set_operand(position, passed)


def _products_behind(value: GValue, block: GBlock) -> list[GOp]:
    """The nearest products that a value depends on through operations of one block."""
    found: list[GOp] = []
    seen: set[GOp] = set()
    stack = [value]
    while stack:
        op = stack.pop().op
        if op is None or op in seen:
            continue
        seen.add(op)
        if op.name == _DOT:
            found.append(op)
        elif op.block is block:
            stack.extend(op.operands)
    return found


def _pieces(dot: GOp, release: Release) -> list[GOp]:
    """The product cut along K where its left operand is in registers."""
    left, right = dot.operands[:2]
    encoding = dot.result.encoding
    if left.memory == "shared" or not isinstance(encoding, NvidiaMma):
        return [dot]
    size, step = left.shape[-1], encoding.instr_shape[2]
    if size <= step:
        return [dot]
    count = 2 if release.wgmma_in_two_pieces else size // step
    width = size // count
    lefts = _split_left(dot, left, count, width)
    accumulator = dot.operands[2]
    made: list[GOp] = []
    for index, part in enumerate(lefts):
        shape = (*right.shape[:-2], width, right.shape[-1])
        view = GValue(
            right.type.with_shape(shape),
            right.encoding,
            memory=right.memory,
            mutable=False,
            alloc_shape=right.alloc_shape,
        )
        _before(dot, "ttg.memdesc_subslice", right, result=view, attrs={"offset": index * width})
        result = dot.result.like(encoding)
        made.append(
            GOp(_DOT, (part, view, accumulator), [result], dict(dot.attrs), line=dot.line, path=dot.path)
        )
        made[-1].insert_before(dot)
        accumulator = result
    dot.replace_with([accumulator])
    return made


def _split_left(dot: GOp, left: GValue, count: int, width: int) -> list[GValue]:
    """The left operand in pieces of `width` columns: K becomes dimensions of two, which go to the end and are
    split off one after the other."""
    rank = len(left.shape)
    halvings = count.bit_length() - 1
    shape = (*left.shape[:-1], *([2] * halvings), width)
    parts = [_shaped(dot, "tt.reshape", left, shape, {"allow_reorder": False})]
    order = (*range(rank - 1), rank - 1 + halvings, *reversed(range(rank - 1, rank - 1 + halvings)))
    turned = tuple(shape[dim] for dim in order)
    parts = [_shaped(dot, "tt.trans", parts[0], turned, {"order": order})]
    for _ in range(halvings):
        parts = [half for part in parts for half in _halves(dot, part)]
    return [
        _before(dot, "ttg.convert_layout", part, result=part.like(left.encoding)).result for part in parts
    ]


def _shaped(
    point: GOp, name: str, source: GValue, shape: tuple[int, ...], attrs: dict[str, object]
) -> GValue:
    result = GValue(source.type.with_shape(shape))
    op = _before(point, name, source, result=result, attrs=attrs)
    result.encoding = infer_dst(op, source.encoding)
    return result


def _halves(point: GOp, source: GValue) -> tuple[GValue, GValue]:
    halves = (
        GValue(source.type.with_shape(source.shape[:-1])),
        GValue(source.type.with_shape(source.shape[:-1])),
    )
    op = GOp("tt.split", (source,), halves, line=point.line, path=point.path).insert_before(point)
    for half in halves:
        half.encoding = infer_dst(op, source.encoding)
    return halves


def _before(
    point: GOp, name: str, *operands: GValue, result: GValue, attrs: dict[str, object] | None = None
) -> GOp:
    return GOp(name, operands, [result], attrs, line=point.line, path=point.path).insert_before(point)
