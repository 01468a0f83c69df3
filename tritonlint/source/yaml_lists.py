"""Config lists that a project keeps in YAML, read for the setting `config-functions` (needs tritonlint[yaml])."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tritonlint.source.problem import Problem
from tritonlint.source.text import SourceFile
from tritonlint.source.tuned import Entry, TunedFile, is_config
from tritonlint.span import Span

SUFFIXES = (".yaml", ".yml")
_MAX_DEPTH = 200


class YamlMissingError(Exception):
    """PyYAML is not installed."""


def read_yaml(file: SourceFile) -> TunedFile:
    """The configs of a YAML file, with the keys on the way to each and where each stands. A broken file is a problem.

    Raises YamlMissingError. Only mappings, lists and plain values are read: a tag never makes an object.
    """
    try:
        import yaml
    except ImportError as error:
        raise YamlMissingError from error
    try:
        top = yaml.compose(file.text, Loader=yaml.SafeLoader)
        entries = tuple(_entries(top, (), 0)) if top is not None else ()
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        message = f"not YAML: {getattr(error, 'problem', None) or 'it is nested too deeply'}"
        problem = Problem("syntax", message, file.path, Span(line, column, line, column))
        return TunedFile(file.path, "", {}, (), None, (*file.problems, problem))
    return TunedFile(file.path, "", {}, entries, None, file.problems)


def _entries(node: Any, keys: tuple[str, ...], depth: int) -> Iterator[Entry]:
    if depth > _MAX_DEPTH:
        return
    if node.id == "sequence":
        for number, item in enumerate(node.value):
            yield from _entries(item, (*keys, str(number)), depth + 1)
    elif node.id == "mapping":
        values = {str(key.value): _plain(value, depth + 1) for key, value in node.value}
        if is_config(values):
            spans = {str(key.value): _span(value) for key, value in node.value}
            yield Entry(keys, values, _span(node), spans)
            return
        for key, value in node.value:
            yield from _entries(value, (*keys, str(key.value)), depth + 1)


def _plain(node: Any, depth: int) -> Any:
    import yaml

    if depth > _MAX_DEPTH:
        return None
    if node.id == "mapping":
        return {str(key.value): _plain(value, depth + 1) for key, value in node.value}
    if node.id == "sequence":
        return [_plain(item, depth + 1) for item in node.value]
    try:
        return yaml.safe_load(node.value) if node.style is None else node.value
    except yaml.YAMLError:
        return node.value


def _span(node: Any) -> Span:
    start, end = node.start_mark, node.end_mark
    return Span(start.line + 1, start.column + 1, end.line + 1, end.column + 1)
