"""How the tiles of tensor descriptors lie in shared memory: one encoding a descriptor, from all that use it.

lib/Dialect/TritonGPU/Transforms/DescriptorMemoryLayouts.cpp. The encoding is set on the descriptor values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tritonlint.compiler.accelerate_matmul import nvmma_shared
from tritonlint.compiler.encodings import CtaLayout, NvmmaShared, cta_of
from tritonlint.compiler.graph import GOp, Graph, GValue

Shape = tuple[int, ...]

_LOADS = frozenset({"tt.descriptor_load", "tt.descriptor_gather"})
_STORES = frozenset({"tt.descriptor_store", "tt.descriptor_reduce", "tt.descriptor_scatter"})


@dataclass(frozen=True, slots=True)
class _Wish:
    """What the uses of a descriptor ask for."""

    encoding: NvmmaShared | None = None
    cta: CtaLayout | None = None
    has_cta: bool = False
    shape: Shape = ()
    default: bool = False

    def combine(self, other: _Wish, rank: int) -> _Wish:
        if self.default or other.default:
            return _Wish(default=True)
        if not self.shape or self.shape == other.shape:
            shape = other.shape
        elif not other.shape:
            shape = self.shape
        else:
            shape = tuple(min(a, b) for a, b in zip(self.shape, other.shape, strict=True))
        cta, has_cta = self.cta, self.has_cta
        if other.has_cta:
            if has_cta and cta != other.cta:
                cta = _cta_along_last(rank, max(c.ctas for c in (cta, other.cta) if c is not None))
            else:
                cta, has_cta = other.cta, True
        encodings = {e for e in (self.encoding, other.encoding) if e is not None}
        if len(encodings) == 2:
            return _Wish(None, cta, has_cta, shape, True)
        return _Wish(encodings.pop() if encodings else None, cta, has_cta, shape)


def _cta_along_last(rank: int, ctas: int) -> CtaLayout | None:
    if ctas <= 1:
        return None
    bases = tuple((0,) * (rank - 1) + (1 << bit,) for bit in range(ctas.bit_length() - 1))
    return CtaLayout(rank, bases)


def is_descriptor(value: GValue) -> bool:
    return value.type.element.startswith("tensordesc")


def assign_descriptor_layouts(graph: Graph) -> None:
    """Give every descriptor value of the graph its shared encoding, in place."""
    groups = _Groups()
    wishes: dict[GValue, list[_Wish]] = {}
    for value in graph.body.args:
        if is_descriptor(value):
            groups.add(value)
    for op in graph.walk():
        for value in (*op.operands, *op.results, *(arg for block in op.blocks for arg in block.args)):
            if is_descriptor(value):
                groups.add(value)
        groups.tie(op)
        if op.name in _LOADS or op.name in _STORES:
            wishes.setdefault(op.operands[0], []).append(_wish_of(op))
        elif op.name in ("tt.call", "tt.return", "ttng.reinterpret_tensor_descriptor"):
            for value in (*op.operands, *op.results):
                if is_descriptor(value):
                    wishes.setdefault(value, []).append(_Wish(default=True))
    together: dict[GValue, _Wish] = {}
    for value, list_ in wishes.items():
        root = groups.root(value)
        for wish in list_:
            together[root] = together.get(root, _Wish()).combine(wish, len(value.shape))
    for value in groups.members():
        wish = together.get(groups.root(value), _Wish())
        value.encoding = _encoding(value, wish, graph.num_ctas)


def _wish_of(op: GOp) -> _Wish:
    rank = len(op.operands[0].shape)
    if op.name in _LOADS:
        tile = op.results[0]
        encoding = _wanted_by_users(op)
        cta = encoding.cta_layout if encoding is not None else cta_of(tile.encoding)
        return _Wish(encoding, cta, True, (1,) * (rank - len(tile.shape)) + tile.shape)
    tile = next(value for value in op.operands[1:] if value.is_tensor)
    if op.name == "tt.descriptor_scatter":
        tile = next(value for value in op.operands[1:] if len(value.shape) == 2)
    return _Wish(None, cta_of(tile.encoding), True, (1,) * (rank - len(tile.shape)) + tile.shape)


def _wanted_by_users(op: GOp) -> NvmmaShared | None:
    for user in reversed(list(op.results[0].uses)):
        memory: GValue | None = None
        if user.name == "ttg.local_alloc":
            memory = user.results[0]
        elif user.name == "ttg.local_store":
            memory = user.operands[1]
        if memory is not None and isinstance(memory.encoding, NvmmaShared) and not memory.encoding.transposed:
            return memory.encoding
    return None


def _for_rank(cta: CtaLayout | None, rank: int) -> CtaLayout | None:
    """The cluster split for another rank: leading dimensions are dropped, or added with one part."""
    if cta is None or cta.rank == rank:
        return cta
    if cta.rank > rank:
        return CtaLayout(rank, tuple(basis[cta.rank - rank :] for basis in cta.bases))
    return CtaLayout(rank, tuple((0,) * (rank - cta.rank) + basis for basis in cta.bases))


def _encoding(value: GValue, wish: _Wish, num_ctas: int) -> NvmmaShared:
    rank = len(value.shape)
    if wish.encoding is not None and not wish.default:
        return replace(wish.encoding, cta_layout=_for_rank(wish.encoding.cta_layout, rank))
    from tritonlint.kernel.ir import bits_of

    element = value.type.element[len("tensordesc<") : -1]
    order = tuple(range(rank - 1, -1, -1))
    if wish.default or not wish.has_cta:
        cta = _cta_along_last(rank, num_ctas)
    else:
        cta = _for_rank(wish.cta, rank)
    shape = value.shape if wish.default or not wish.shape else wish.shape
    return nvmma_shared(shape, order, bits_of(element), cta)


class _Groups:
    """Descriptor values that are the same one, carried through loops and conditionals."""

    def __init__(self) -> None:
        self._parent: dict[GValue, GValue] = {}

    def add(self, value: GValue) -> None:
        self._parent.setdefault(value, value)

    def members(self) -> list[GValue]:
        return list(self._parent)

    def root(self, value: GValue) -> GValue:
        self.add(value)
        while self._parent[value] is not value:
            value = self._parent[value]
        return value

    def join(self, values: list[GValue]) -> None:
        found = [value for value in values if is_descriptor(value)]
        for value in found[1:]:
            self._parent[self.root(value)] = self.root(found[0])

    def tie(self, op: GOp) -> None:
        if op.name == "scf.for":
            for place, result in enumerate(op.results):
                yielded = op.body.terminator.operands[place]
                self.join([result, op.operands[place + 3], op.body.args[place + 1], yielded])
        elif op.name == "scf.if":
            for place, result in enumerate(op.results):
                self.join([result, *(block.terminator.operands[place] for block in op.blocks)])
        elif op.name == "scf.while":
            for place, arg in enumerate(op.body.args):
                self.join([arg, op.operands[place], op.blocks[1].terminator.operands[place]])
            for place, result in enumerate(op.results):
                passed = op.body.terminator.operands[place + 1]
                self.join([result, op.blocks[1].args[place], passed])
