"""Reads the text of Triton's intermediate languages (TTIR and TTGIR of releases 3.0 to 3.9) into a graph.

With it the passes of the compiler model can be given what the real compiler has just before a pass, and be
held
against what it has after. The reader knows the printed forms that occur in kernels; it is no parser of MLIR.
"""

from __future__ import annotations

import re
from typing import Any

from tritonlint.compiler import encodings as enc
from tritonlint.compiler.graph import GBlock, GOp, Graph, GValue
from tritonlint.compiler.linear import LinearLayout, pack
from tritonlint.kernel import ir

ELEMENTS = {
    "f16": "fp16",
    "f32": "fp32",
    "f64": "fp64",
    "bf16": "bf16",
    "f8E4M3FN": "fp8e4nv",
    "f8E5M2": "fp8e5",
    "f8E4M3FNUZ": "fp8e4b8",
    "f8E5M2FNUZ": "fp8e5b16",
    "f8E4M3B11FNUZ": "fp8e4b15",
    "index": "index",
}
RENAMES = (
    ("triton_nvidia_gpu.", "ttng."),
    ("triton_gpu.", "ttg."),
    ("tt.experimental_descriptor_", "tt.descriptor_"),
    ("ttg.memdesc_subview", "ttg.memdesc_index"),
)
PREDICATES = {"f": "cmpf", "i": "cmpi"}


class Unsupported(ValueError):
    """The text holds something that the reader does not know."""


# ------------------------------------------------------------
# Attributes, encodings, types
# ------------------------------------------------------------
class Cursor:
    """A place in a text."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.at = at

    def skip(self) -> None:
        text, at = self.text, self.at
        while at < len(text) and text[at] in " \n\t":
            at += 1
        self.at = at

    def peek(self, what: str) -> bool:
        self.skip()
        return self.text.startswith(what, self.at)

    def take(self, what: str) -> bool:
        if self.peek(what):
            self.at += len(what)
            return True
        return False

    def expect(self, what: str) -> None:
        if not self.take(what):
            raise Unsupported(f"expected {what!r} at {self.text[self.at : self.at + 60]!r}")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self.skip()
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found


_WORD = re.compile(r"[A-Za-z_][\w.$-]*")
_NUMBER = re.compile(r"-?(0x[0-9A-Fa-f]+|\d+(\.\d+)?([eE][+-]?\d+)?)")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ALIAS = re.compile(r"#[A-Za-z_]\w*(\.\w+)*")


def parse_value(c: Cursor, aliases: dict[str, Any]) -> Any:
    """An attribute's value: number, string, word, array, dictionary, encoding."""
    c.skip()
    text = c.text
    char = text[c.at]
    if char == "[":
        c.at += 1
        items = []
        while not c.take("]"):
            items.append(parse_value(c, aliases))
            c.take(",")
        return items
    if char == "{":
        return parse_dict(c, aliases)
    if char == '"':
        found = c.match(_STRING)
        assert found
        return found[1]
    if char == "#":
        return parse_encoding(c, aliases)
    if c.take("array<"):
        c.match(_WORD)
        items = []
        if c.take(":"):
            while not c.peek(">"):
                items.append(parse_value(c, aliases))
                c.take(",")
        c.expect(">")
        return items
    if c.take("dense<"):
        value: Any = parse_value(c, aliases)
        c.expect(">")
        if c.take(":"):
            parse_type(c, aliases)
        return value
    if c.peek("affine_map<"):
        raise Unsupported("affine map")
    if char == "!" or c.peek("tensor<"):
        return parse_type(c, aliases)
    found = c.match(_NUMBER)
    if found:
        word = found[0]
        value = word
        if "0x" in word:
            value = _hex_float(word)
        elif "." in word or "e" in word or "E" in word:
            value = float(word)
        else:
            value = int(word)
        if c.take(":"):
            kind = parse_type(c, aliases)
            if isinstance(value, int) and kind.type.element.startswith(("fp", "bf")):
                value = float(value)
        return value
    found = c.match(_WORD)
    if found:
        word = found[0]
        if word in ("true", "false"):
            return word == "true"
        return word
    raise Unsupported(f"attribute {text[c.at : c.at + 40]!r}")


def _hex_float(word: str) -> float:
    import struct

    digits = word.split("0x")[1]
    raw = int(digits, 16)
    if len(digits) == 8:
        return float(struct.unpack("f", struct.pack("I", raw))[0])
    if len(digits) == 16:
        return float(struct.unpack("d", struct.pack("Q", raw))[0])
    if len(digits) == 4:
        sign, top = raw >> 15, raw & 0x7FFF
        infinite = {0x7C00, 0x7F80}
        value = float("inf") if top in infinite else float("nan")
        return -value if sign else value
    return float("nan")


def parse_dict(c: Cursor, aliases: dict[str, Any]) -> dict[str, Any]:
    c.expect("{")
    out: dict[str, Any] = {}
    while not c.take("}"):
        found = c.match(_STRING) or c.match(_WORD)
        if not found:
            raise Unsupported(f"dictionary at {c.text[c.at : c.at + 40]!r}")
        name = found[1] if found[0].startswith('"') else found[0]
        out[name] = parse_value(c, aliases) if c.take("=") else True
        c.take(",")
    return out


def parse_encoding(c: Cursor, aliases: dict[str, Any]) -> Any:
    found = c.match(_ALIAS)
    assert found
    name = found[0]
    kind = name.split(".")[-1]
    if c.peek("<") and "." in name:
        c.expect("<")
        if kind == "padded_shared":
            params = _padded(c, aliases)
        elif c.peek("{"):
            params = parse_dict(c, aliases)
            while c.take(","):
                found = c.match(_WORD)
                assert found
                c.expect("=")
                params[found[0]] = parse_value(c, aliases)
        else:
            params = {}
            while not c.peek(">"):
                found = c.match(_WORD)
                if not found:
                    raise Unsupported(f"encoding at {c.text[c.at : c.at + 40]!r}")
                params[found[0]] = parse_value(c, aliases) if c.take("=") else True
                c.take(",")
        c.expect(">")
        return build_encoding(kind, params)
    if name in aliases:
        return aliases[name]
    return name  # #ttg.shared_memory and the like


def _padded(c: Cursor, aliases: dict[str, Any]) -> dict[str, Any]:
    c.expect("[")
    pads = []
    while not c.take("]"):
        interval = parse_value_plain(c)
        c.expect(":")
        c.take("+")
        pads.append((interval, parse_value_plain(c)))
        c.take(",")
    params = parse_dict(c, aliases) if c.peek("{") else {}
    params["pads"] = tuple(pads)
    return params


def parse_value_plain(c: Cursor) -> int:
    found = c.match(_NUMBER)
    assert found
    return int(found[0])


def _ints(values: Any) -> tuple[int, ...]:
    return tuple(int(v) for v in values)


def _cta(params: dict[str, Any], rank: int) -> enc.CtaLayout | None:
    if params.get("CGALayout"):
        return enc.CtaLayout(rank, tuple(_ints(b) for b in params["CGALayout"]))
    if "CTAsPerCGA" in params:
        return enc.cta_layout(
            _ints(params["CTAsPerCGA"]), _ints(params["CTASplitNum"]), _ints(params["CTAOrder"])
        )
    return None


def build_encoding(kind: str, p: dict[str, Any]) -> Any:
    """The record of a printed encoding."""
    if kind == "blocked":
        warps = _ints(p["warpsPerCTA"])
        return enc.Blocked(
            _ints(p["sizePerThread"]),
            _ints(p["threadsPerWarp"]),
            warps,
            _ints(p["order"]),
            _cta(p, len(warps)),
        )
    if kind == "slice":
        return enc.Slice(p["dim"], p["parent"])
    if kind == "dot_op":
        return enc.DotOperand(p["opIdx"], p["parent"], p.get("kWidth", 0))
    if kind == "nvidia_mma":
        warps = _ints(p["warpsPerCTA"])
        return enc.NvidiaMma(
            p["versionMajor"], warps, _ints(p["instrShape"]), p.get("versionMinor", 0), _cta(p, len(warps))
        )
    if kind == "linear":
        return _linear(p)
    if kind in ("swizzled_shared", "shared"):
        order = _ints(p["order"])
        if p.get("hasLeadingOffset"):
            # The element width is that of the memory descriptor, which reads it off later.
            width = {1: 128, 2: 64, 4: 32}.get(p["perPhase"], 0) if p["maxPhase"] > 1 else 0
            return enc.NvmmaShared(width, order[0] == 0, 0, False, _cta(p, len(order)))
        return enc.SwizzledShared(p["vec"], p["perPhase"], p["maxPhase"], order, _cta(p, len(order)))
    if kind == "nvmma_shared":
        cta = _cta(p, p.get("rank", 2))
        return enc.NvmmaShared(
            p["swizzlingByteWidth"], p["transposed"], p["elementBitWidth"], p.get("fp4Padded", False), cta
        )
    if kind == "amd_rotating_shared":
        order = _ints(p["order"])
        return enc.RotatingShared(p["vec"], p["perPhase"], p["maxPhase"], order, _cta(p, len(order)))
    if kind == "padded_shared":
        order = _ints(p.get("order", ()))
        return enc.PaddedShared(p["pads"], order)
    if kind == "shared_linear":
        offset = p["offset"]
        rank = len(offset[0])
        shape = [1] * rank
        for basis in offset:
            for d, v in enumerate(basis):
                shape[d] = max(shape[d], 2 * v)
        full = tuple(shape)
        return enc.SharedLinear(full, tuple(pack(_ints(b), full) for b in offset), p.get("alignment", 16))
    if kind == "amd_mfma":
        warps = _ints(p["warpsPerCTA"])
        version = p.get("version", p.get("versionMajor", 0))
        return enc.AmdMfma(
            version,
            warps,
            _ints(p["instrShape"]),
            p["isTransposed"],
            _ints(p.get("tilesPerWarp", ())),
            p.get("elementBitWidth", 32),
            _cta(p, len(warps)),
        )
    if kind == "amd_wmma":
        warps = _ints(p.get("warpsPerCTA", ()))
        return enc.AmdWmma(
            p["version"],
            warps,
            p.get("isTranspose", p.get("isTransposed", False)),
            _ints(p.get("instrShape", (16, 16, 16))),
            _ints(p.get("tilesPerWarp", ())),
            _cta(p, len(warps)),
        )
    if kind == "tensor_memory_encoding":
        stride = p.get("colStride", 1 if p.get("unpacked", True) else 0)
        return enc.TensorMemory(
            p["blockM"],
            p["blockN"],
            stride,
            bool(p.get("twoCTAs", False)),
            bool(p.get("fp4Padded", False)),
            p.get("CTASplitM", 1),
            p.get("CTASplitN", 1),
        )
    if kind == "tensor_memory_scales_encoding":
        return enc.TensorMemoryScales(p.get("CTASplitM", 1), p.get("CTASplitN", 1))
    return kind


def _linear(p: dict[str, Any]) -> enc.Linear:
    parts = [[_ints(b) for b in p.get(name, [])] for name in ("register", "lane", "warp", "block")]
    rank = next(len(b) for part in parts for b in part)
    shape = [1] * rank
    for part in parts:
        for basis in part:
            for d, v in enumerate(basis):
                shape[d] = max(shape[d], 1 << v.bit_length())
    full = tuple(shape)
    packed = [tuple(pack(b, full) for b in part) for part in parts]
    return enc.Linear(LinearLayout(full, *packed))


class Spec:
    """A parsed type."""

    __slots__ = ("alloc_shape", "encoding", "memory", "mutable", "type")

    def __init__(self, type: ir.Type, encoding: Any = None, memory: str = "", mutable: bool = False) -> None:
        self.type = type
        self.encoding = encoding
        self.memory = memory
        self.mutable = mutable
        self.alloc_shape: tuple[int, ...] | None = None

    def value(self, name: str = "") -> GValue:
        return GValue(
            self.type,
            self.encoding,
            memory=self.memory,
            mutable=self.mutable,
            alloc_shape=self.alloc_shape,
            name=name,
        )


_DIMS = re.compile(r"((?:\d+x)*)")


def parse_type(c: Cursor, aliases: dict[str, Any]) -> Spec:
    c.skip()
    if c.take("tensor<"):
        return _shaped(c, aliases, "")
    if c.take("!ttg.memdesc<") or c.take("!tt.memdesc<") or c.take("!triton_gpu.memdesc<"):
        return _shaped(c, aliases, "shared")
    if c.peek("<"):
        c.take("<")
        return _shaped(c, aliases, "shared")
    if c.take("!tt.tensordesc<"):
        inner = parse_type(c, aliases) if c.peek("tensor<") else _shaped_inner(c, aliases)
        while c.take(","):
            inner.encoding = parse_value(c, aliases)
        c.expect(">")
        spec = Spec(ir.Type(f"tensordesc<{inner.type.element}>", inner.type.shape), inner.encoding)
        return spec
    return Spec(ir.Type(parse_element(c, aliases)))


def _shaped_inner(c: Cursor, aliases: dict[str, Any]) -> Spec:
    found = c.match(_DIMS)
    assert found
    shape = tuple(int(d) for d in found[1].split("x") if d)
    return Spec(ir.Type(parse_element(c, aliases), shape))


def _shaped(c: Cursor, aliases: dict[str, Any], memory: str) -> Spec:
    spec = _shaped_inner(c, aliases)
    spec.memory = memory
    while c.take(","):
        c.skip()
        if c.text[c.at] == "#":
            value = parse_encoding(c, aliases)
            if isinstance(value, str):
                if "tensor_memory" in value:
                    spec.memory = "tensor"
            elif spec.encoding is None:
                spec.encoding = value
        elif c.take("mutable"):
            spec.mutable = True
        else:
            found = c.match(re.compile(r"\d+(x\d+)*"))
            if not found:
                raise Unsupported(f"type at {c.text[c.at : c.at + 40]!r}")
            spec.alloc_shape = tuple(int(d) for d in found[0].split("x"))
    c.expect(">")
    encoding = spec.encoding
    if isinstance(encoding, enc.NvmmaShared) and encoding.element_bits == 0:
        spec.encoding = enc.NvmmaShared(
            encoding.swizzling_byte_width,
            encoding.transposed,
            spec.type.bits,
            encoding.fp4_padded,
            encoding.cta_layout,
        )
    return spec


def parse_element(c: Cursor, aliases: dict[str, Any]) -> str:
    c.skip()
    if c.take("!tt.ptr<"):
        inner = parse_type(c, aliases)
        if c.take(","):
            c.match(_NUMBER)
        c.expect(">")
        if inner.type.shape is not None:
            return "*tensor<" + "x".join(map(str, inner.type.shape)) + "x" + inner.type.element + ">"
        return "*" + inner.type.element
    if c.take("!tt.tensordesc<"):
        c.at -= len("!tt.tensordesc<")
        return parse_type(c, aliases).type.element
    if c.peek("!"):
        found = c.match(re.compile(r"![\w.]+(<[^<>]*>)?"))
        assert found
        return "token" if "token" in found[0] else found[0]
    found = c.match(_WORD)
    if not found:
        raise Unsupported(f"element type at {c.text[c.at : c.at + 40]!r}")
    word = found[0]
    if re.fullmatch(r"[su]?i\d+", word):
        return word.lstrip("su")
    return ELEMENTS.get(word, word)


# ------------------------------------------------------------
# Operations
# ------------------------------------------------------------
_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_RESULTS = re.compile(r"^((?:%[\w$.-]+(?::\d+)?)(?:, %[\w$.-]+(?::\d+)?)*) = ")
_NAME = re.compile(r'"?([a-z_]+(?:\.[A-Za-z_0-9]+)+)"?')
_PREDICATE = re.compile(
    r"(slt|sle|sgt|sge|ult|ule|ugt|uge|eq|ne|oeq|ogt|oge|olt|ole|one|ord|ueq|une|uno|false|true),"
)


class Reader:
    def __init__(self, text: str) -> None:
        self.aliases: dict[str, Any] = {}
        self.locations: dict[str, tuple[str, int]] = {}
        self.raw_locations: dict[str, str] = {}
        self.lines = text.split("\n")
        for line in self.lines:
            if line.startswith("#"):
                name, _, rest = line.partition(" = ")
                if rest.startswith("loc("):
                    self.raw_locations[name] = rest
                elif rest:
                    self.aliases[name] = parse_value(Cursor(rest), self.aliases)
        self.at = 0
        self.values: dict[str, GValue] = {}

    # -- locations
    def location(self, text: str, depth: int = 0) -> tuple[str, int]:
        found = re.search(r'"([^"]*)":(\d+):\d+', text)
        if found:
            return found[1], int(found[2])
        for name in re.findall(r"#loc\d*", text):
            if name not in self.locations and depth < 20:
                self.locations[name] = self.location(self.raw_locations.get(name, ""), depth + 1)
            place = self.locations.get(name, ("", 0))
            if place[1]:
                return place
        return "", 0

    def split_location(self, line: str) -> tuple[str, str]:
        """The line without its trailing location, and the location."""
        at = line.rfind(" loc(")
        while at >= 0:
            depth = 0
            for end in range(at + 4, len(line)):
                if line[end] == "(":
                    depth += 1
                elif line[end] == ")":
                    depth -= 1
                    if depth == 0:
                        break
            if end == len(line) - 1 or line[end + 1 :].strip() in (":", "{", "({", "):"):
                return (line[:at] + line[end + 1 :]).rstrip(), line[at + 1 : end + 1]
            return line, ""
        return line, ""

    # -- modules
    def module(self) -> dict[str, Graph]:
        functions: dict[str, Graph] = {}
        attrs: dict[str, Any] = {}
        for i, line in enumerate(self.lines):
            stripped = line.strip()
            if stripped.startswith("module") and "attributes" in stripped:
                c = Cursor(stripped, stripped.index("attributes") + 10)
                attrs = parse_dict(c, self.aliases)
            if stripped.startswith("tt.func") and "{" in stripped:
                self.at = i
                graph = self.function()
                functions[graph.func.attrs["name"]] = graph
        for graph in functions.values():
            graph.attrs = attrs
            for key, name in (
                ("num-warps", "num_warps"),
                ("num-ctas", "num_ctas"),
                ("threads-per-warp", "threads_per_warp"),
            ):
                for prefix in ("ttg.", "triton_gpu."):
                    if prefix + key in attrs:
                        setattr(graph, name, attrs[prefix + key])
            graph.callees = functions
        return functions

    def function(self) -> Graph:
        header = self.lines[self.at].strip()
        self.at += 1
        found = re.search(r"@(\"[^\"]*\"|[\w$.]+)\(", header)
        assert found
        self.values = {}
        c = Cursor(header, found.end())
        args: list[GValue] = []
        divisibility: dict[int, int] = {}
        while not c.take(")"):
            name = c.match(_VALUE)
            if not name:
                raise Unsupported("function header")
            c.expect(":")
            spec = parse_type(c, self.aliases)
            value = spec.value(name[0][1:])
            if c.peek("{"):
                attrs = parse_dict(c, self.aliases)
                if attrs.get("tt.divisibility", 1) != 1:
                    divisibility[len(args)] = attrs["tt.divisibility"]
            if c.take("loc("):
                depth = 1
                while depth:
                    depth += {"(": 1, ")": -1}.get(c.text[c.at], 0)
                    c.at += 1
            c.take(",")
            self.values[name[0]] = value
            args.append(value)
        func = GOp(
            "tt.func",
            attrs={"name": found[1].strip('"'), "noinline": "noinline = true" in header},
        )
        graph = Graph(func)
        graph.divisibility = divisibility
        blocks = self.region(args)
        func.blocks = [linear_blocks(blocks)]
        func.blocks[0].parent = func
        return graph

    # -- regions
    def region(self, args: list[GValue]) -> list[tuple[str, GBlock]]:
        """Blocks up to the closing brace, whose line is left for the caller."""
        block = GBlock(args)
        blocks = [("^entry", block)]
        fresh = not args
        while True:
            line = self.lines[self.at].strip()
            if line.startswith("}"):
                return blocks
            if not line or line.startswith("//"):
                self.at += 1
                continue
            if line.startswith("^"):
                self.at += 1
                line = re.sub(r"\s*// .*$", "", line)
                found = re.match(r"\^\w+", line)
                assert found
                new_args: list[GValue] = []
                if "(" in line:
                    c = Cursor(line, line.index("(") + 1)
                    while not c.take(")"):
                        name = c.match(_VALUE)
                        assert name
                        c.expect(":")
                        value = parse_type(c, self.aliases).value(name[0][1:])
                        if c.take("loc("):
                            depth = 1
                            while depth:
                                depth += {"(": 1, ")": -1}.get(c.text[c.at], 0)
                                c.at += 1
                        c.take(",")
                        self.values[name[0]] = value
                        new_args.append(value)
                if fresh and not block.ops and not block.args and len(blocks) == 1:
                    for value in new_args:
                        block.add_arg(value)
                    blocks[0] = (found[0], block)
                    fresh = False
                else:
                    block = GBlock(new_args)
                    blocks.append((found[0], block))
                continue
            self.operation(block)

    def one_block(self, op: GOp, args: list[GValue]) -> None:
        blocks = self.region(args)
        block = linear_blocks(blocks)
        block.parent = op
        op.blocks.append(block)

    # -- one operation
    def operation(self, block: GBlock) -> None:
        raw = self.lines[self.at].strip()
        self.at += 1
        line, where = self.split_location(raw)
        names: list[tuple[str, int]] = []
        found = _RESULTS.match(line)
        if found:
            for part in found[1].split(", "):
                name, _, count = part.partition(":")
                names.append((name, int(count) if count else 0))
            line = line[found.end() :]
        head = _NAME.match(line)
        if not head:
            raise Unsupported(line[:100])
        name = head[1]
        for old, new in RENAMES:
            name = name.replace(old, new)
        rest = line[head.end() :]
        if name == "scf.for":
            op = self.for_loop(rest)
        elif name == "scf.if":
            op = self.if_else(rest)
        elif name == "scf.while":
            op = self.while_loop(rest)
        elif name == "ttg.warp_specialize":
            raise Unsupported(name)
        elif rest.rstrip().endswith("({"):
            op = self.generic_with_region(name, rest)
        else:
            op = self.plain(name, rest)
        if where:
            op.path, op.line = self.location(where)
        results = op.results
        at = 0
        for result_name, count in names:
            if count:
                for k in range(count):
                    self.values[f"{result_name}#{k}"] = results[at]
                    at += 1
            else:
                self.values[result_name] = results[at]
                results[at].name = result_name[1:]
                at += 1
        op.append_to(block)

    def close(self) -> tuple[str, str]:
        line, where = self.split_location(self.lines[self.at].strip())
        self.at += 1
        return line, where

    def attach(self, op: GOp, specs: list[Spec]) -> None:
        for spec in specs:
            op.add_result(spec.value())

    def types(self, text: str) -> list[Spec]:
        c = Cursor(text)
        out: list[Spec] = []
        closed = c.take("(")
        while True:
            c.skip()
            if c.at >= len(text) or c.peek(")") or c.peek("{"):
                break
            out.append(parse_type(c, self.aliases))
            if not c.take(","):
                break
        if closed:
            c.take(")")
        return out

    def for_loop(self, rest: str) -> GOp:
        found = re.match(r"\s*(unsigned )?(%[\w$.-]+) = (\S+) to (\S+) step (\S+)", rest)
        if not found:
            raise Unsupported("scf.for" + rest[:80])
        operands = [self.values[found[k]] for k in (3, 4, 5)]
        c = Cursor(rest, found.end())
        arg_names: list[str] = []
        specs: list[Spec] = []
        if c.take("iter_args("):
            while not c.take(")"):
                name = c.match(_VALUE)
                assert name
                c.expect("=")
                init = c.match(_VALUE)
                assert init
                arg_names.append(name[0])
                operands.append(self.values[init[0]])
                c.take(",")
            c.expect("->")
            c.expect("(")
            while not c.take(")"):
                specs.append(parse_type(c, self.aliases))
                c.take(",")
        element = "i32"
        if c.take(":"):
            element = parse_element(c, self.aliases)
        op = GOp("scf.for", operands)
        args = [GValue(ir.Type(element), name=found[2][1:])]
        self.values[found[2]] = args[0]
        for name_, spec in zip(arg_names, specs, strict=True):
            value = spec.value(name_[1:])
            self.values[name_] = value
            args.append(value)
        self.attach(op, specs)
        self.one_block(op, args)
        line, where = self.close()
        if "{" in line:
            attrs = parse_dict(Cursor(line, line.index("{")), self.aliases)
            op.attrs.update({k.removeprefix("tt."): v for k, v in attrs.items()})
        op.path, op.line = self.location(where)
        if not op.body.ops or op.body.ops[-1].name != "scf.yield":
            GOp("scf.yield").append_to(op.body)
        return op

    def if_else(self, rest: str) -> GOp:
        condition = _VALUE.search(rest)
        assert condition
        specs = self.types(rest.split("->", 1)[1].rsplit("{", 1)[0]) if "->" in rest else []
        op = GOp("scf.if", [self.values[condition[0]]])
        self.attach(op, specs)
        self.one_block(op, [])
        line, where = self.close()
        if "else" in line:
            self.one_block(op, [])
            line, where = self.close()
        else:
            op.add_block()
        for block in op.blocks[:1] + [b for b in op.blocks[1:] if b.ops]:
            if not block.ops or block.ops[-1].name != "scf.yield":
                GOp("scf.yield").append_to(block)
        if "{" in line:
            op.attrs.update(parse_dict(Cursor(line, line.index("{")), self.aliases))
        op.path, op.line = self.location(where)
        return op

    def while_loop(self, rest: str) -> GOp:
        c = Cursor(rest)
        operands: list[GValue] = []
        names: list[str] = []
        if c.take("("):
            while not c.take(")"):
                name = c.match(_VALUE)
                assert name
                c.expect("=")
                init = c.match(_VALUE)
                assert init
                names.append(name[0])
                operands.append(self.values[init[0]])
                c.take(",")
        c.expect(":")
        signature = rest[c.at :].rsplit("{", 1)[0]
        left, right = signature.split("->", 1)
        before = self.types(left.strip())
        op = GOp("scf.while", operands)
        self.attach(op, self.types(right.strip()))
        args = []
        for name_, spec in zip(names, before, strict=True):
            value = spec.value(name_[1:])
            self.values[name_] = value
            args.append(value)
        self.one_block(op, args)
        self.close()
        self.one_block(op, [])
        line, where = self.close()
        if "attributes" in line:
            op.attrs.update(parse_dict(Cursor(line, line.index("attributes") + 10), self.aliases))
        if not op.blocks[1].ops or op.blocks[1].ops[-1].name != "scf.yield":
            GOp("scf.yield").append_to(op.blocks[1])
        op.path, op.line = self.location(where)
        return op

    def generic_with_region(self, name: str, rest: str) -> GOp:
        operands = [self.values[v] for v in _VALUE.findall(rest.split("<{")[0])]
        attrs: dict[str, Any] = {}
        if "<{" in rest:
            attrs = parse_dict(Cursor(rest, rest.index("<{") + 1), self.aliases)
        op = GOp(name, operands, attrs=attrs)
        self.one_block(op, [])
        line, _ = self.close()
        while line.startswith("}, {"):
            self.one_block(op, [])
            line, _ = self.close()
        after = line[line.index(")") + 1 :]
        if "{" in after.split("->")[0].split(":")[0]:
            op.attrs.update(parse_dict(Cursor(after, after.index("{")), self.aliases))
        self.attach(op, self.types(after.rsplit("->", 1)[1].strip()))
        return op

    # -- everything else
    def plain(self, name: str, rest: str) -> GOp:
        attrs: dict[str, Any] = {}
        if name == "arith.constant":
            return self.constant(rest)
        body, signature = split_signature(rest)
        for text in braces(body):
            attrs.update(parse_dict(Cursor(text), self.aliases))
        bare = re.sub(r"<?\{[^{}]*\}>?", " ", body)
        operands = [self.values[v] for v in _VALUE.findall(bare) if v in self.values]
        attrs = {k.removeprefix("tt."): v for k, v in attrs.items()}
        op = GOp(name, operands, attrs=attrs)
        if name in ("arith.cmpi", "arith.cmpf"):
            found = _PREDICATE.search(bare)
            assert found
            attrs["predicate"] = found[1]
        elif name in ("tt.get_program_id", "tt.get_num_programs"):
            found = re.match(r"\s*([xyz])", bare)
            attrs["axis"] = "xyz".index(found[1]) if found else attrs.get("axis", 0)
        elif name in ("tt.load", "tt.store", "tt.masked_load", "ttg.async_copy_global_to_local"):
            self.memory_attrs(op, bare)
        elif name == "tt.dot":
            found = re.search(r"inputPrecision = (\w+)", bare)
            attrs["input_precision"] = found[1] if found else "ieee"
            if "maxNumImpreciseAcc" in attrs:
                attrs["max_num_imprecise_acc"] = attrs.pop("maxNumImpreciseAcc")
        elif name == "tt.atomic_rmw":
            words = re.findall(r"[a-z_]\w*", bare.split("%")[0])
            if words:
                attrs["rmw_op"] = words[0]
                attrs["sem"] = words[1] if len(words) > 1 else "acq_rel"
        elif name == "tt.atomic_cas":
            words = re.findall(r"[a-z_]\w*", bare.split("%")[0])
            attrs["sem"] = words[0] if words else "acq_rel"
        elif name == "cf.cond_br" or name == "cf.br":
            attrs["successors"] = re.findall(r"\^\w+", body)
            if re.search(r"\^\w+\(", body):
                attrs["has_block_args"] = True
        elif name == "ttg.memdesc_subslice":
            found = re.search(r"\[([-\d, ]*)\]", bare)
            attrs["offsets"] = tuple(int(x) for x in found[1].split(",")) if found and found[1] else ()
        elif name == "tt.call":
            found = re.search(r"@(\"[^\"]*\"|[\w$.]+)", body)
            attrs["callee"] = found[1].strip('"') if found else ""
        elif name == "tt.dot_scaled":
            self.dot_scaled(op, bare, signature)
        elif name in ("tt.descriptor_store", "tt.descriptor_reduce", "tt.descriptor_scatter"):
            # Printed last, second in the graph: descriptor, value, indices.
            op.set_operands([op.operands[0], op.operands[-1], *op.operands[1:-1]])
        elif name == "tt.reshape":
            attrs["allow_reorder"] = "allow_reorder" in bare or bool(attrs.get("allow_reorder"))
        elif name == "tt.elementwise_inline_asm":
            attrs["pure"] = bool(attrs.get("pure"))
        elif name.startswith(("ttng.tmem_", "ttng.tc_gen5_mma")):
            attrs["has_token"] = bool(re.search(r"\[%", bare)) or "token" in signature.rsplit("->", 1)[-1]
            attrs["makes_token"] = attrs["has_token"] or "[]" in bare
            if name == "ttng.tmem_store":
                # Printed value first; the memory descriptor is first in the graph.
                place = 3 if attrs["has_token"] else 2
                value, *memory = op.operands[:place]
                op.set_operands([*memory, value, *op.operands[place:]])
        self.attach(op, self.result_types(name, op, signature))
        return op

    def memory_attrs(self, op: GOp, bare: str) -> None:
        # Pointer, then (store: value), then mask, then other.
        base = {"tt.load": 1, "tt.store": 2}.get(op.name, 2)
        extra = len(op.operands) - base
        op.attrs["has_mask"] = extra >= 1
        if op.name != "tt.store":
            op.attrs["has_other"] = extra >= 2
        for key in ("cacheModifier", "evictionPolicy"):
            found = re.search(key + r" = (\w+)", bare)
            if found:
                op.attrs["cache" if key == "cacheModifier" else "evict"] = found[1]
        if op.attrs.pop("isVolatile", False) or "isVolatile = true" in bare:
            op.attrs["volatile"] = True

    def dot_scaled(self, op: GOp, bare: str, signature: str) -> None:
        found = re.search(r"lhs = (\w+) rhs = (\w+)", bare)
        if found:
            op.attrs["a_type"], op.attrs["b_type"] = found[1], found[2]
        found = re.search(r"%\S+ scale (%\S+), %\S+ scale (%[^\s,]+)", bare)
        op.attrs["has_a_scale"] = bool(re.search(r"^\s*%[^\s,]+ scale", bare))
        op.attrs["has_b_scale"] = bool(re.search(r", %[^\s,]+ scale", bare))
        op.attrs["fast_math"] = op.attrs.pop("fastMath", False) or "fastMath = true" in bare
        # Printed order a [scale] b [scale] c; the operation's own order is a, b, c, a_scale, b_scale.
        values = list(op.operands)
        a = values.pop(0)
        a_scale = values.pop(0) if op.attrs["has_a_scale"] else None
        b = values.pop(0)
        b_scale = values.pop(0) if op.attrs["has_b_scale"] else None
        op.set_operands([v for v in (a, b, values[0], a_scale, b_scale) if v is not None])

    def constant(self, rest: str) -> GOp:
        c = Cursor(rest)
        attrs: dict[str, Any] = {}
        if c.peek("{"):
            attrs = parse_dict(c, self.aliases)
        if c.peek("dense<") or c.peek("dense_resource"):
            c.expect("dense<")
            attrs["value"] = parse_value(c, self.aliases)
            c.expect(">")
            c.expect(":")
            spec = parse_type(c, self.aliases)
            if isinstance(attrs["value"], int) and spec.type.element.startswith(("fp", "bf")):
                attrs["value"] = float(attrs["value"])
        elif c.take("true"):
            attrs["value"], spec = True, Spec(ir.Type("i1"))
        elif c.take("false"):
            attrs["value"], spec = False, Spec(ir.Type("i1"))
        else:
            found = c.match(_NUMBER)
            if not found:
                raise Unsupported(f"constant {rest[:60]}")
            word = found[0]
            c.expect(":")
            spec = parse_type(c, self.aliases)
            if "0x" in word:
                attrs["value"] = _hex_float(word)
            else:
                attrs["value"] = float(word) if any(x in word for x in ".eE") else int(word)
        op = GOp("arith.constant", attrs=attrs)
        op.add_result(spec.value())
        return op

    def result_types(self, name: str, op: GOp, signature: str) -> list[Spec]:
        if name.endswith((".return", ".yield")) or name in NO_RESULTS:
            return []
        signature = signature.strip()
        if name == "tt.make_tensor_descriptor":
            text = signature.removeprefix("!tt.tensordesc")
            if text.startswith("<") and ", <" in text:
                text = text.split(", ", 1)[1]
            return [parse_type(Cursor("!tt.tensordesc" + text.removeprefix("!tt.tensordesc")), self.aliases)]
        if "->" in signature:
            after = signature.rsplit("->", 1)[1].strip()
            specs = self.types(after)
            if name == "tt.split" and len(specs) == 1:
                specs = specs * 2
            if name == "ttng.tmem_load" and op.attrs.get("makes_token"):
                specs.append(Spec(ir.Type("token")))
            if name == "ttng.tmem_store":
                return [Spec(ir.Type("token"))] if op.attrs.get("makes_token") else []
            if name in ("ttg.local_store", "ttng.async_tma_copy_local_to_global"):
                return []
            if name == "ttg.async_copy_global_to_local":
                return [Spec(ir.Type("token"))]
            return specs
        if name in ("ttg.async_wait", "ttg.async_commit_group"):
            return [Spec(ir.Type("token"))]
        if name in ("ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled"):
            return [Spec(ir.Type("token"))] if op.attrs.get("makes_token") else []
        specs = self.types(signature)
        if name in ("arith.cmpi", "arith.cmpf"):
            first = specs[0]
            return [Spec(first.type.with_element("i1"), first.encoding)]
        if name == "arith.select":
            return [specs[-1]]
        if name == "tt.load":
            first = specs[0]
            element = first.type.element
            if element.startswith("*tensor<"):
                found = re.fullmatch(r"\*tensor<((?:\d+x)*)(.+)>", element)
                assert found
                return [Spec(ir.Type(found[2], tuple(int(d) for d in found[1].split("x") if d)))]
            return [Spec(first.type.with_element(element[1:]), first.encoding)]
        if name == "tt.addptr" or name in ("tt.advance", "ttg.warp_group_dot_wait"):
            return [specs[0]]
        if name == "ttng.warp_group_dot_wait":
            return specs
        if name in ("arith.addui_extended", "arith.mului_extended", "arith.mulsi_extended"):
            return specs if len(specs) > 1 else [specs[0], specs[0]]
        if " to " in signature:
            return self.types(signature.split(" to ", 1)[1])
        return specs[:1]


NO_RESULTS = {
    "tt.store", "tt.assert", "tt.print", "tt.descriptor_store", "tt.descriptor_reduce",
    "tt.descriptor_scatter",
    "cf.br", "cf.cond_br", "scf.condition", "ttg.local_store", "ttg.local_dealloc", "gpu.barrier",
    "ttg.barrier",
    "ttng.wait_barrier", "ttng.init_barrier", "ttng.inval_barrier", "ttng.barrier_expect",
    "ttng.arrive_barrier",
    "ttng.fence_async_shared", "ttng.async_tma_copy_global_to_local", "ttng.async_tma_copy_local_to_global",
    "ttng.async_tma_store_wait", "ttng.async_tma_gather", "ttng.async_tma_scatter", "ttng.tensormap_create",
    "ttng.tensormap_fenceproxy_acquire", "ttng.tc_gen5_commit", "ttng.tmem_copy",
    "llvm.intr.assume", "tt.experimental_tensormap_fenceproxy_acquire", "tt.experimental_tensormap_create",
    "ttng.async_tma_reduce", "rocdl.sched.barrier", "amdg.instruction_sched_hint",
    "ttg.async_copy_local_to_global",
    "amdgpu.buffer_store", "amdg.buffer_store",
}  # fmt: skip


def split_signature(text: str) -> tuple[str, str]:
    """The part before the types, and the types: split at the first ` : ` outside of brackets."""
    depth = 0
    for i, char in enumerate(text):
        if char in "([{<":
            depth += 1
        elif char in ")]}" or (char == ">" and text[i - 1] != "-"):
            depth -= 1
        elif char == ":" and depth == 0 and text[i - 1] == " ":
            return text[:i], text[i + 1 :]
    return text, ""


def braces(text: str) -> list[str]:
    """The top-level {...} groups of a text."""
    out = []
    depth, start = 0, 0
    for i, char in enumerate(text):
        if char == "{":
            if depth == 0:
                start = i
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                out.append(text[start : i + 1])
    return out


def linear_blocks(blocks: list[tuple[str, GBlock]]) -> GBlock:
    """One block out of several, where branches only leave the program early or go straight on.

    A branch to a block that returns becomes cf.early_return, after a conditional with what that block does.
    """
    first = blocks[0][1]
    if len(blocks) == 1:
        return first
    by_name = dict(blocks)
    leaving = {name for name, block in blocks[1:] if block.ops[-1].name == "tt.return" and not block.args}
    if len(blocks) > 2 and blocks[-1][0] in leaving:
        leaving.discard(blocks[-1][0])
    seen = {blocks[0][0]}
    while first.ops[-1].name != "tt.return":
        last = first.ops[-1]
        targets = last.attrs.get("successors", [])
        if last.attrs.get("has_block_args") or not targets:
            raise Unsupported("branch with values")
        target = targets[0]
        if last.name == "cf.cond_br":
            gone = [t for t in targets if t in leaving]
            going = [t for t in targets if t not in leaving]
            if len(gone) != 1 or len(going) != 1:
                raise Unsupported("branch")
            target = going[0]
            condition = last.operands[0]
            done = [op for op in by_name[gone[0]].ops if op.name != "tt.return"]
            if done:
                conditional = GOp("scf.if", [condition])
                inner = conditional.add_block()
                conditional.add_block()
                for op in done:
                    op.detach()
                    op.append_to(inner)
                GOp("scf.yield").append_to(inner)
                conditional.append_to(first)
            GOp("cf.early_return", [condition]).append_to(first)
        last.erase()
        if target in seen:
            raise Unsupported("loop of blocks")
        seen.add(target)
        for op in list(by_name[target].ops):
            op.detach()
            op.append_to(first)
    return first


def parse_module(text: str) -> Graph:
    """The (first public) function of a module."""
    functions = Reader(text).module()
    for graph in functions.values():
        if not graph.func.attrs["noinline"]:
            return graph
    return next(iter(functions.values()))
