"""Logs of tritonparse: lines of JSON, an event each. The events of kind "compilation" hold what Triton decided."""

from __future__ import annotations

import ast
import gzip
import io
import json
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from tritonlint.facts.cubin import CodeError, read_amdgcn, read_cubin
from tritonlint.facts.record import Fact
from tritonlint.facts.triton_cache import arch_of, numbers_of, release_of
from tritonlint.facts.ttir import Text, read_ttir

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"  # how such files begin


def read_tritonparse(path: Path) -> Iterator[Fact]:
    """The facts of a file, oldest first. Raises OSError, ValueError; lines that are no such event are passed over."""
    with open(path, "rb") as file:
        for line in _text_of(file):
            if '"compilation"' not in line:
                continue
            with suppress(ValueError, KeyError, TypeError, AttributeError):
                event = json.loads(line)
                if event.get("event_type") == "compilation":
                    yield _fact(event["payload"], path)


def _text_of(file: IO[bytes]) -> IO[str]:
    """Whatever their names end in, logs may be packed, each line by itself (.bin.ndjson) and all again."""
    stream: Any = file
    while (head := stream.peek(4)[:4])[:2] == _GZIP:
        stream = gzip.GzipFile(fileobj=stream, mode="rb")
    if head == _ZSTD:
        raise ValueError("packed with zstd: unpack it first (`zstd -d`)")
    return io.TextIOWrapper(stream, encoding="utf-8", errors="replace")


def _fact(payload: Mapping[str, Any], path: Path) -> Fact:
    metadata = payload["metadata"]
    kernel = metadata["name"]
    code = None
    texts = payload.get("file_content") or {}
    place = (payload.get("file_path") or {}).get(f"{kernel}.cubin")
    with suppress(OSError, CodeError):
        if place:  # NVIDIA's code itself is not in the log
            code = read_cubin(Path(place).read_bytes(), kernel)
        elif f"{kernel}.amdgcn" in texts:
            code = read_amdgcn(texts[f"{kernel}.amdgcn"])
    text = read_ttir(texts.get(f"{kernel}.ttir") or "")
    source = payload.get("python_source") or {}
    return Fact(
        kernel=kernel,
        numbers=numbers_of(metadata, code),
        rung="compiled",
        origin=f"tritonparse, {path}",
        arch=arch_of(metadata["target"]),
        triton=release_of(metadata.get("triton_version")),
        num_warps=metadata["num_warps"],
        num_stages=metadata.get("num_stages"),
        num_ctas=metadata.get("num_ctas"),
        constants=_constants(metadata.get("src_constants"), source.get("code")),
        arguments=text.arguments if text else None,
        shapes=text.shapes if text else None,
        line=source.get("start_line") or (text.line if text else None),
        file=source.get("file_path") or _file(text),
    )


def _file(text: Text | None) -> str | None:
    return text.file if text else None


def _constants(by_index: Any, code: Any) -> dict[str, Any] | None:
    """{"(12,)": 16} as {"BLOCK_M": 16}, with the names of the source that stands beside it."""
    if not isinstance(by_index, dict) or not isinstance(code, str):
        return None
    with suppress(SyntaxError, ValueError, IndexError):
        tree = ast.parse(textwrap.dedent(code))
        function = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
        arguments = function.args
        names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        return {
            names[int(key.strip("(), "))]: value for key, value in by_index.items() if key.count(",") == 1
        }
    return None
