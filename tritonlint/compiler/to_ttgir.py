"""From TTIR to TTGIR: every tensor gets an encoding (lib/Conversion/TritonToTritonGPU).

Most tensors start with the default blocked encoding; operations whose encoding follows from their operands
(trans, join, split, broadcast, reduce) take that, and a conversion is put wherever an operand comes in
another encoding than wanted.
"""

from __future__ import annotations

from dataclasses import replace

from tritonlint.compiler.blocked import blocked_in_cluster, default_blocked
from tritonlint.compiler.encodings import Blocked, Distributed, DotOperand, Slice
from tritonlint.compiler.graph import GOp, Graph, GValue
from tritonlint.compiler.inference import cta_insert, infer_dst
from tritonlint.compiler.layout_properties import elements_per_thread
from tritonlint.compiler.ops import has_same_encoding


def to_ttgir(graph: Graph, warps: int, lanes: int, ctas: int) -> None:
    """Give every tensor of a graph without encodings one, in place."""
    graph.num_warps = warps
    graph.threads_per_warp = lanes
    graph.num_ctas = ctas
    _Converter(graph).run()


class _Converter:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.sizes = (graph.num_warps, graph.threads_per_warp, graph.num_ctas)

    def run(self) -> None:
        for arg in self.graph.body.args:
            self.set_default(arg)
        for op in list(self.graph.walk()):
            for block in op.blocks:
                if op.name not in ("tt.reduce", "tt.scan", "tt.map_elementwise"):
                    for arg in block.args:
                        self.set_default(arg)
            self.convert(op)

    def default(self, value: GValue) -> Blocked:
        return default_blocked(value.shape, *self.sizes)

    def set_default(self, value: GValue) -> None:
        if value.is_tensor:
            value.encoding = self.default(value)

    def operand_as(self, op: GOp, position: int, encoding: Distributed) -> None:
        """Have the operand converted, unless it has the encoding."""
        value = op.operands[position]
        if value.is_tensor and value.encoding != encoding:
            self.convert_operand(op, position, encoding)

    @staticmethod
    def convert_operand(op: GOp, position: int, encoding: Distributed) -> None:
        value = op.operands[position]
        convert = GOp("ttg.convert_layout", [value], [value.like(encoding)], line=op.line, path=op.path)
        convert.insert_before(op)
        op.set_operand(position, convert.result)

    def operands_as_default(self, op: GOp) -> None:
        for position, value in enumerate(op.operands):
            if value.is_tensor:
                self.operand_as(op, position, self.default(value))

    def convert(self, op: GOp) -> None:
        name = op.name
        if not op.operands and not op.results:
            return
        if name == "tt.dot":
            self.dot(op)
        elif name == "tt.expand_dims":
            self.expand_dims(op)
        elif name == "tt.split":
            self.split(op)
        elif name == "tt.cat":
            self.cat(op)
        elif name in ("tt.trans", "tt.join", "tt.reduce", "tt.broadcast"):
            self.operands_as_default(op)
            source = op.operands[0].encoding
            encoding = source if name == "tt.broadcast" else infer_dst(op, source)
            for result in op.results:
                if result.is_tensor:
                    result.encoding = encoding
        elif name in ("tt.descriptor_gather", "tt.descriptor_scatter"):
            self.gather_scatter(op)
        else:
            self.operands_as_default(op)
            if not (has_same_encoding(op) and not op.results):
                for result in op.results:
                    self.set_default(result)

    def dot(self, op: GOp) -> None:
        result = op.results[0]
        shape = result.shape
        rank = len(shape)
        warps, lanes, ctas = self.sizes
        per_thread = result.type.elements // (warps * lanes)
        sizes = [1] * rank
        size = 4 if per_thread >= 16 else 2 if per_thread >= 4 else 1
        sizes[-1] = min(size, shape[-1])
        sizes[-2] = min(size, shape[-2])
        order = tuple(range(rank - 1, -1, -1))
        encoding = blocked_in_cluster(shape, tuple(sizes), order, warps, lanes, ctas)
        self.operands_as_default(op)
        for position in (0, 1):
            self.convert_operand(op, position, DotOperand(position, encoding, 0))
        self.convert_operand(op, 2, encoding)
        result.encoding = encoding

    def expand_dims(self, op: GOp) -> None:
        axis = op.attrs["axis"]
        self.operands_as_default(op)
        source = op.operands[0].encoding
        assert isinstance(source, Blocked)

        def insert(values: tuple[int, ...]) -> tuple[int, ...]:
            return (*values[:axis], 1, *values[axis:])

        rank = len(source.order) + 1
        parent = Blocked(
            insert(source.size_per_thread),
            insert(source.threads_per_warp),
            insert(source.warps_per_cta),
            tuple(range(rank)),
            cta_insert(source.cta_layout, axis),
        )
        self.convert_operand(op, 0, Slice(axis, parent))
        op.results[0].encoding = parent

    def split(self, op: GOp) -> None:
        self.operands_as_default(op)
        source = op.operands[0].encoding
        assert isinstance(source, Blocked)
        rank = len(source.order)
        if source.size_per_thread[-1] != 2 or source.order[0] != rank - 1:
            base = default_blocked(op.results[0].shape, *self.sizes)
            encoding = Blocked(
                (*base.size_per_thread, 2),
                (*base.threads_per_warp, 1),
                (*base.warps_per_cta, 1),
                (rank - 1, *base.order),
                cta_insert(base.cta_layout, rank - 1),
            )
            self.convert_operand(op, 0, encoding)
        for result in op.results:
            result.encoding = infer_dst(op, op.operands[0].encoding)

    def cat(self, op: GOp) -> None:
        """Each thread holds what it held of both operands, also where the default would give it less."""
        self.operands_as_default(op)
        result = op.results[0]
        base = self.default(result)
        held = sum(elements_per_thread(self.default(value), value.shape) for value in op.operands)
        more = (1 << (held - 1).bit_length()) // elements_per_thread(base, result.shape)
        sizes = list(base.size_per_thread)
        sizes[base.order[0]] *= max(1, more)
        result.encoding = replace(base, size_per_thread=tuple(sizes))

    def gather_scatter(self, op: GOp) -> None:
        """The row numbers of a TMA gather or scatter: four in each thread, copied over the warps."""
        self.operands_as_default(op)
        warps, lanes, _ = self.sizes
        parent = Blocked((1, 4), (lanes, 1), (1, warps), (1, 0))
        for position, value in enumerate(op.operands):
            if value.is_tensor and len(value.shape) == 1:
                self.convert_operand(op, position, Slice(0, parent))
        for result in op.results:
            self.set_default(result)
