"""Waits for asynchronous copies after pipelining: those that nothing separates become one.

`combineRedundantWaitOps` in lib/Dialect/TritonGPU/Transforms/Pipeliner. A wait says that it writes memory, so how many
there are decides what later passes may move past them.
"""

from __future__ import annotations

from tritonlint.compiler.graph import GOp, Graph, GValue

_WAIT = "ttg.async_wait"
_STOPS = frozenset({"ttg.async_commit_group", "scf.for", "scf.if", "scf.while"})


def combine_waits(graph: Graph) -> None:
    """Merge each wait with the later ones of its block, up to the next commit or branch, in place."""
    merged: set[GOp] = set()
    for wait in [op for op in graph.walk_post() if op.name == _WAIT]:
        if wait in merged:
            continue
        group = _together(wait)
        if len(group) == 1:
            continue
        merged.update(group)
        tokens = tuple([token for one in group for token in one.operands])
        number = min([int(one.attrs["num"]) for one in group])
        made = GOp(_WAIT, tokens, [GValue(wait.result.type)], {"num": number}, line=wait.line, path=wait.path)
        made.insert_before(wait)
        for one in group:
            one.replace_with([made.result])


def _together(wait: GOp) -> list[GOp]:
    block = wait.block
    assert block is not None
    group = [wait]
    for op in block.ops[block.ops.index(wait) + 1 :]:
        if op.name in _STOPS:
            break
        if op.name == _WAIT:
            group.append(op)
    return group
