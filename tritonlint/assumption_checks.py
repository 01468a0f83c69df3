"""`assume` comments that cannot mean what stands there: a GPU or a type that does not exist, a name that is nowhere."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tritonlint.gpu.profile import GpuProfile
from tritonlint.jobs import JobError, check_type
from tritonlint.settings import SettingsError, near
from tritonlint.source.comments import Assumption
from tritonlint.source.problem import Problem
from tritonlint.targets import named_gpu


def assumption_problems(
    assumptions: Iterable[Assumption],
    path: str,
    own: Mapping[str, GpuProfile],
    statements: Sequence[ast.stmt] | None,
    parameters: Iterable[str],
) -> list[Problem]:
    """One for each value that is wrong. `own` are the GPUs of the settings, `parameters` those of all kernels that the
    file launches. Names are not looked for where `statements` is None, as in a file that is half typed."""
    found: list[Problem] = []
    known: set[str] | None = None
    for one in assumptions:
        for name, value in one.values.items():
            words: Iterable[str] = ()
            if name == "gpu":
                words = _gpus(value, own)
            elif isinstance(value, str) and value.startswith("*"):
                words = _type(name, value)
            elif statements is not None:
                known = {*_names(statements), *parameters} if known is None else known
                if name.partition(".")[0] not in known:
                    words = (f"`assume {name}=...`: nothing here is called {name}{near(name, known)}",)
            found += (Problem("comment", text, path, one.value_spans.get(name, one.span)) for text in words)
    return found


def _gpus(value: object, own: Mapping[str, GpuProfile]) -> Iterator[str]:
    for name in value if isinstance(value, (list, tuple)) else [value]:
        try:
            named_gpu(str(name), own)
        except SettingsError as error:
            yield str(error)


def _type(name: str, value: str) -> Iterator[str]:
    try:
        check_type(name, value)
    except JobError as error:
        yield str(error)


def _names(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """Everything that has a name in the code."""
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                yield node.id
            elif isinstance(node, ast.arg):
                yield node.arg
            elif isinstance(node, ast.Attribute):
                yield node.attr
            elif isinstance(node, ast.keyword) and node.arg is not None:
                yield node.arg
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value  # a key of a config
            elif isinstance(node, ast.alias):
                yield (node.asname or node.name).split(".")[0]
