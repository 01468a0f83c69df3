"""Printed TTIR and traces as nested lists of (operation, result types, blocks), to be held against each other.

Constants and terminators are left out; what an operation does beyond its types (predicate, axis, order, number of
operands of a load) stands behind its name. Blocks of a function's own control flow are run together.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from tritonlint.kernel import ir

Item = tuple[str, tuple[str, ...], list[list[Any]]]

_ELEMENTS = {
    "f16": "fp16", "f32": "fp32", "f64": "fp64", "f8E4M3FN": "fp8e4nv", "f8E5M2": "fp8e5",
    "f8E4M3B11FNUZ": "fp8e4b15", "f8E4M3FNUZ": "fp8e4b8", "f8E5M2FNUZ": "fp8e5b16",
}  # fmt: skip
_NAMES = {
    "ttg.barrier": "gpu.barrier",
    "tt.experimental_descriptor_load": "tt.descriptor_load",
    "tt.experimental_descriptor_store": "tt.descriptor_store",
}
_ENDS = frozenset({"scf.yield", "tt.return", "tt.reduce.return", "tt.scan.return", "scf.condition", "cf.br"})
_OPERATION = re.compile(r'^\s*(?:(%[\w:#, %\-]+?) = )?"?(\w+(?:\.\w+)*)"?')
_FLAGS = ("num_stages", "flatten", "warp_specialize", "disallow_acc")
_HINTS = ("divisibility", "contiguity", "constancy")


# --- types --------------------------------------------------------------------------------------------------------


def _split(text: str) -> list[str]:
    parts, depth, current = [], 0, ""
    for char in text:
        depth += (char in "<({") - (char in ">)}")
        if char == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += char
    return [part.strip() for part in [*parts, current] if part.strip()]


def _element(text: str) -> str:
    found = re.match(r'!tt.ptr<(.*?)(?:, (?:\d+|"constant"))?>$', text)
    return "*" + _element(found[1]) if found else _ELEMENTS.get(text, text)


def _type(text: str) -> str:
    text = text.strip()
    found = re.match(r"tensor<((?:\d+x)*)(.*)>$", text)
    return found[1] + _element(found[2]) if found else _element(text)


# --- printed text -------------------------------------------------------------------------------------------------


def _results(name: str, line: str) -> tuple[str, ...]:
    tail = line.rsplit(" : ", 1)[1] if " : " in line else ""
    if name in ("tt.make_tensor_descriptor", "tt.experimental_make_tensor_descriptor"):
        shape = re.findall(r"<(?:tensor<)?((?:\d+x)+\w+)", line)[-1]
        return ("desc:" + _type(f"tensor<{shape}>"),)
    if name == "tt.split":
        half = _type(tail.rsplit("->", 1)[1])
        return (half, half)
    if "->" in tail:
        tail = tail.rsplit("->", 1)[1].strip()
        return tuple(map(_type, _split(tail[1:-1]))) if tail.startswith("(") else (_type(tail),)
    if " to " in tail:
        return (_type(tail.rsplit(" to ", 1)[1]),)
    if name == "tt.load":
        return (_type(re.sub(r'!tt\.ptr<([^,>]*)(?:, "constant")?>', r"\1", tail, count=1)),)
    operands = list(map(_type, _split(tail)))
    if name in ("arith.cmpi", "arith.cmpf"):
        return ("".join(re.findall(r"\d+x", operands[0])) + "i1",)
    if name == "tt.unsplat":
        return (re.sub(r"^[0-9x]*x", "", operands[0]),)
    return (operands[-1] if name == "arith.select" else operands[0],) if operands else ("",)


def _detail(name: str, line: str) -> str:
    def first(pattern: str, default: str = "") -> str:
        found = re.search(pattern, line)
        return ":" + found[1] if found else default

    if name in ("arith.cmpi", "arith.cmpf"):
        return first(r"cmp[if] (\w+),")
    if name in ("tt.expand_dims", "tt.gather", "tt.reduce", "tt.scan"):
        return first(r"axis = (\d+)")
    if name == "tt.dot":
        return first(r"inputPrecision = (\w+)", ":ieee") + first(r"maxNumImpreciseAcc = (\d+)", ":0")
    if name in ("tt.load", "tt.store"):
        return ":" + str(line.split(" : ")[0].split(name)[1].split("{")[0].count("%"))
    if name == "tt.reshape":
        return ":reorder" if "allow_reorder" in line and "allow_reorder = false" not in line else ""
    if name == "tt.trans":
        return first(r"array<i32: ([^>]*)>").replace(" ", "")
    if name == "tt.get_program_id":
        return first(r"program_id (\w)")
    if name == "tt.atomic_rmw":
        return first(r"atomic_rmw (\w+)")
    if name == "tt.extern_elementwise":
        return first(r'symbol = "(\w+)"')
    if name == "scf.for":
        return "".join(sorted(":" + flag for flag in _FLAGS if flag in line))
    return "".join(":" + hint for hint in _HINTS if f"tt.{hint}" in line)


def parse(text: str) -> list[Item]:
    """The operations of the public function of a printed module."""
    stack: list[list[Any]] = []
    public: list[Item] = []
    for raw in text.split("\n"):
        line = raw.strip() if "^bb" in raw else re.sub(r" loc\(.*$", "", raw).strip()
        if not line or line.startswith(("#loc", "module", "^bb")):
            continue
        if line.startswith("tt.func"):
            body: list[Item] = []
            stack = [[], body]
            if " private " not in line:
                public = body
        elif not stack:
            continue
        elif line.startswith(("}, {", "} else {", "} do {")):
            stack.pop()
            stack.append([])
            stack[-2][-1][2].append(stack[-1])
        elif line.startswith("}"):
            if len(stack) > 1:
                stack.pop()
                _close(stack[-1], line)
        else:
            _operation(stack, line)
    return public


def _close(block: list[Any], line: str) -> None:
    """The end of an operation with blocks: its types or flags may stand there."""
    if not block:
        return
    name, types, blocks = block[-1]
    if line.startswith("})") and "->" in line:
        tail = line.split("->")[-1].strip()
        types = tuple(map(_type, _split(tail[1:-1]))) if tail.startswith("(") else (_type(tail),)
    elif name.startswith("scf.for"):
        name = "scf.for" + _detail("scf.for", line)
    block[-1] = (name, types, blocks)


def _operation(stack: list[list[Any]], line: str) -> None:
    found = _OPERATION.match(line)
    if found is None or found[2] == "arith.constant":
        return
    name = _NAMES.get(found[2], found[2])
    if name in ("scf.for", "scf.while", "scf.if"):
        several = re.search(r"-> \((.*)\)[^()]*\{$", line)
        single = re.search(r"-> (\S+) (?:do )?\{$", line)
        types = tuple(map(_type, _split(several[1]))) if several else (_type(single[1]),) if single else ()
        if name == "scf.for" and several:
            types = tuple(map(_type, _split(several[1].split(")  :")[0])))
    else:
        types = _results(found[2], line) if found[1] and not line.endswith("({") else ()
    stack[-1].append((name + _detail(name, line), types, []))
    if line.endswith("{"):
        block: list[Any] = []
        stack[-1][-1][2].append(block)
        stack.append(block)


# --- traces -------------------------------------------------------------------------------------------------------


def _typed(type_: ir.Type) -> str:
    shape = "".join(f"{size}x" for size in type_.shape or ())
    if type_.element.startswith("tensordesc"):
        return f"desc:{shape}{type_.element[11:-1]}"
    return shape + type_.element


def _named(op: ir.Op) -> str:
    name, attrs = op.name, op.attrs
    if name in ("arith.cmpi", "arith.cmpf"):
        return f"{name}:{attrs['predicate']}"
    if name in ("tt.expand_dims", "tt.gather", "tt.reduce", "tt.scan"):
        return f"{name}:{attrs['axis']}"
    if name == "tt.dot":
        return f"{name}:{attrs['input_precision']}:{attrs['max_num_imprecise_acc']}"
    if name in ("tt.load", "tt.store"):
        return f"{name}:{len(op.operands)}"
    if name == "tt.reshape":
        return f"{name}:reorder" if attrs["allow_reorder"] else name
    if name == "tt.trans":
        return f"{name}:{','.join(map(str, attrs['order']))}"
    if name == "tt.get_program_id":
        return f"{name}:{'xyz'[attrs['axis']]}"
    if name == "tt.atomic_rmw":
        return f"{name}:{attrs['rmw_op']}"
    if name == "tt.extern_elementwise":
        return f"{name}:{attrs['symbol']}"
    if name == "scf.for":
        flags = [":" + flag for flag in _FLAGS if flag in attrs or flag + "_multi_buffer" in attrs]
        return name + "".join(sorted(flags))
    return name + "".join(":" + hint for hint in _HINTS if f"tt.{hint}" in attrs)


def listed(block: ir.Block) -> list[Item]:
    """A traced block in the same form."""
    return [
        (_named(op), tuple(_typed(r.type) for r in op.results), [listed(b) for b in op.blocks])
        for op in block.ops
        if op.name != "arith.constant"
    ]


# --- comparison ---------------------------------------------------------------------------------------------------


def lines(items: list[Item], depth: int = 0, nested: bool = True) -> list[str]:
    """One line an operation, indented by its loops; without `nested`, loops do not count (for releases that move
    invariant code out of loops before this point)."""
    made: list[str] = []
    for name, types, blocks in items:
        if name in _ENDS:
            continue
        branch = name.startswith("cf.cond_br")
        made.append("  " * depth + ("cf.cond_br" if branch else f"{name} {','.join(types)}".rstrip()))
        for block in blocks:
            made.extend(lines(block, depth + (nested and not branch), nested))
    return made


def differences(real: list[Item], traced: list[Item], nested: bool = True) -> tuple[list[str], list[str]]:
    """What only the real text has, and what only the trace has."""
    wanted, got = Counter(lines(real, nested=nested)), Counter(lines(traced, nested=nested))
    return sorted((wanted - got).elements()), sorted((got - wanted).elements())
