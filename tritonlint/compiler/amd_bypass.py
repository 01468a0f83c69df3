"""Loads on AMD that skip LDS: bypassLDS of third_party/amd's ScheduleLoops.cpp, from 3.6 on.

An operand that was arranged in memory for the matrix instruction is only transposed or reshaped between its load and
the dot. If the layout that the dot wants is, seen from the load, as wide for each thread as the load's own and no warp
repeats another's elements, the tile is loaded in that layout and stays in registers.
"""

from __future__ import annotations

from collections.abc import Iterable

from tritonlint.compiler.encodings import Blocked, Distributed
from tritonlint.compiler.graph import GOp
from tritonlint.compiler.inference import infer_src
from tritonlint.compiler.layout_properties import contig_per_thread_of
from tritonlint.compiler.ops import DOTS
from tritonlint.compiler.pipeline_loads import LOADS
from tritonlint.compiler.pipeline_schedule import forward_slice
from tritonlint.compiler.to_linear import to_linear

_VIEWS = frozenset({"tt.reshape", "tt.trans", "ttg.convert_layout"})


def bypass_memory(loop: GOp, loads: Iterable[GOp]) -> set[GOp]:
    """Load what may skip LDS in the layout that its dot wants, in place; these loads."""
    found: set[GOp] = set()
    for load in loads:
        if load.name != "tt.load" or not load.result.is_tensor:
            continue
        dot = _first_dot(loop, load)
        encoding = _wanted(load, dot) if dot is not None else None
        if encoding is not None:
            _load_as(load, encoding)
            found.add(load)
    return found


def _first_dot(loop: GOp, load: GOp) -> GOp | None:
    """The first dot of the loop that reads the load, not by way of another load or as what it adds to."""
    for dot in loop.body.ops:
        if dot.name not in DOTS:
            continue
        seen: set[GOp] = set()
        stack = [value.op for place, value in enumerate(dot.operands) if place != 2]
        while stack:
            op = stack.pop()
            if op is load:
                return dot
            if op is None or op.block is not loop.body or op in seen or op.name in LOADS:
                continue
            seen.add(op)
            stack += [value.op for value in op.operands]
    return None


def _wanted(load: GOp, dot: GOp) -> Distributed | None:
    """The layout in which the load would hand its tile on without any exchange; None where it may not skip LDS."""
    after = forward_slice([load])
    made = [value.op for value in dot.operands if value.op is not None and value.op in after]
    if len(made) != 1:
        return None
    op: GOp | None = made[0]
    encoding: Distributed = made[0].result.encoding
    turned = False
    while op is not load:
        if op is None or op.name not in _VIEWS:
            return None
        if op.name != "ttg.convert_layout":
            source = infer_src(op, encoding)
            if source is None:
                return None
            encoding, turned = source, True
        op = op.operands[0].op
    return encoding if turned and _is_coalesced(load, encoding) else None


def _is_coalesced(load: GOp, encoding: Distributed) -> bool:
    result = load.result
    own = result.encoding
    if not isinstance(own, Blocked):
        return False
    fastest = own.order[0]
    if contig_per_thread_of(encoding, result.shape)[fastest] < own.size_per_thread[fastest]:
        return False
    return all(to_linear(encoding, result.shape).warp)


def _load_as(load: GOp, encoding: Distributed) -> None:
    result, own = load.result, load.result.encoding
    for place, value in enumerate(load.operands):
        if value.is_tensor:
            converted = GOp(
                "ttg.convert_layout", [value], [value.like(encoding)], line=load.line, path=load.path
            )
            load.set_operand(place, converted.insert_before(load).result)
    back = GOp("ttg.convert_layout", [result], [result.like(own)], line=load.line, path=load.path)
    result.encoding = encoding
    back.insert_after(load)
    result.replace_uses_if(back.result, lambda user: user is not back)
