"""The SSA graph while it is being built: like `ir`, but mutable, with what is known of each value for folding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tritonlint.kernel.ir import Type

_TYPES: dict[tuple[str, tuple[int, ...] | None], Type] = {}


def type_of(element: str, shape: tuple[int, ...] | None) -> Type:
    """The one `Type` object of these; an empty shape is a scalar. Types from here may be compared with `is`."""
    key = (element, shape or None)
    found = _TYPES.get(key)
    if found is None:
        if len(_TYPES) > 20_000:  # shapes come from the user's constants: keep the table bounded
            _TYPES.clear()
        found = _TYPES[key] = Type(element, shape or None)
    return found


class Val:
    """A value: the result of `node`, or a block argument where `node` is None.

    `const` is the Python number of a constant (of each element, for a tensor), else None.
    """

    __slots__ = ("const", "name", "node", "type")

    def __init__(self, type_: Type, node: Node | None = None, const: Any = None, name: str = "") -> None:
        self.type = type_
        self.node = node
        self.const = const
        self.name = name


class Node:
    """An operation."""

    __slots__ = ("attrs", "blocks", "line", "name", "operands", "path", "region", "results")

    def __init__(
        self, name: str, operands: tuple[Val, ...], attrs: dict[str, Any], line: int, path: str
    ) -> None:
        self.name = name
        self.operands = operands
        self.results: tuple[Val, ...] = ()
        self.attrs = attrs
        self.blocks: tuple[Region, ...] = ()
        self.line = line
        self.path = path
        self.region: Region | None = None


class Region:
    """A block being filled. `writes`: something in it writes to memory."""

    __slots__ = ("args", "ops", "parent", "writes")

    def __init__(self, parent: Region | None) -> None:
        self.parent = parent
        self.args: list[Val] = []
        self.ops: list[Node] = []
        self.writes = False


READS = frozenset({"tt.load", "tt.descriptor_load", "tt.descriptor_gather"})
"""Operations that only read memory: dropped where unused, merged where nothing wrote in between."""

WRITES = frozenset(
    {
        "tt.store", "tt.atomic_rmw", "tt.atomic_cas", "tt.atomic_load", "tt.atomic_store", "tt.atomic_poll",
        "tt.descriptor_store", "tt.descriptor_scatter", "tt.descriptor_reduce", "tt.print", "tt.assert",
        "gpu.barrier", "llvm.intr.assume", "tt.call", "tt.return", "scf.yield", "scf.condition", "cf.br",
        "tt.reduce.return", "tt.scan.return", "tt.map_elementwise.return", "ttng.tensormap_create",
        "ttng.tensormap_fenceproxy_acquire", "tt.experimental_tensormap_create", "tt.grid_dependency_wait",
        "tt.grid_dependency_launch_dependents", "ttng.async_tma_store_wait",
        "tt.experimental_tensormap_fenceproxy_acquire",
    }
)  # fmt: skip
"""Operations that stay even where nothing uses their results."""

BLOCK_OPS = frozenset({"scf.for", "scf.if", "scf.while", "cf.cond_br"})
"""Control flow: stays while something inside stays, or a result is used."""


def has_effect(node: Node) -> bool:
    """Whether the operation must stay though nothing uses it (not looking into its blocks)."""
    if node.name in WRITES:
        return True
    if node.name == "tt.load":
        return bool(node.attrs.get("volatile"))
    if node.name in ("tt.elementwise_inline_asm", "tt.extern_elementwise"):
        return not node.attrs.get("pure", True)
    return False


def walk(region: Region) -> Iterator[Node]:
    """Every operation, outer before inner."""
    for node in region.ops:
        yield node
        for block in node.blocks:
            yield from walk(block)
