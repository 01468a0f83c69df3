"""What Triton's own text of a kernel (TTIR) tells of where it comes from: arguments, tile shapes, file and line."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ELEMENTS = {
    "f16": "fp16", "f32": "fp32", "f64": "fp64", "f8E4M3FN": "fp8e4nv", "f8E5M2": "fp8e5",
    "f8E4M3B11FNUZ": "fp8e4b15", "f8E4M3FNUZ": "fp8e4b8", "f8E5M2FNUZ": "fp8e5b16",
}  # fmt: skip
_HEAD = re.compile(r"tt\.func public @\"?(?P<name>[\w.$]+)\"?\((?P<arguments>.*)\) attributes")
_ARGUMENT = re.compile(
    r"%(?P<name>\w+): (?P<type>[^{}]*?)(?P<attributes> \{[^{}]*\})?"
    r"(?: loc\((?P<loc>[^()]*(?:\([^()]*\))?[^()]*)\))?(?:, (?=%)|$)"
)
_ALIAS = re.compile(r"^#(?P<alias>loc\d*) = loc\((?P<value>.*)\)$", re.M)
_PLACE = re.compile(r'"(?P<file>[^"]+)":(?P<line>\d+):\d+')
_TILE = re.compile(r"tensor<(\d+(?:x\d+)*)x[^\d]")


@dataclass(frozen=True, slots=True)
class Text:
    """`arguments`: run-time arguments in order, (name or "", type, divisible by 16). `shapes` of the tensors that
    occur, as "128x64": not every value is printed with its element type."""

    kernel: str
    arguments: tuple[tuple[str, str, bool], ...]
    shapes: frozenset[str]
    file: str | None
    line: int | None


def read_ttir(text: str) -> Text | None:
    """None where there is no public function."""
    head = _HEAD.search(text)
    if head is None:
        return None
    aliases = {match["alias"]: match["value"] for match in _ALIAS.finditer(text)}
    arguments = []
    for match in _ARGUMENT.finditer(head["arguments"]):
        told = re.match(r'"([^"]+)"(?!:)', aliases.get((match["loc"] or "").lstrip("#"), match["loc"] or ""))
        name = told[1] if told else "" if re.fullmatch(r"arg\d+", match["name"]) else match["name"]
        divisible = "tt.divisibility = 16" in (match["attributes"] or "")
        arguments.append((name, element(match["type"].strip()), divisible))
    place = _PLACE.search(aliases.get("loc", ""))
    shapes = frozenset(match[1] for match in _TILE.finditer(text))
    return Text(
        head["name"],
        tuple(arguments),
        shapes,
        place["file"] if place else None,
        int(place["line"]) if place else None,
    )


def element(text: str) -> str:
    """A type as in a launch signature: "!tt.ptr<f16>" is "*fp16"."""
    pointer = re.fullmatch(r"!tt\.ptr<(.*?)(?:, (?:\d+|\"constant\"))?>", text)
    if pointer:
        return "*" + element(pointer[1])
    descriptor = re.fullmatch(r"!tt\.tensordesc<(?:tensor<)?((?:\d+x)+)([^<>]*)>?>", text)
    if descriptor:
        sizes = descriptor[1].rstrip("x").replace("x", ",")
        return f"tensordesc<{element(descriptor[2])}[{sizes}]>"
    return _ELEMENTS.get(text, text)
