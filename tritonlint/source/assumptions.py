"""Which `assume` comment holds for which definition, config list or launch."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from tritonlint.source.definitions import last_name
from tritonlint.source.module import Module
from tritonlint.source.nodes import walk
from tritonlint.source.slices import launch_ids

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Assumptions:
    """The comments of one file, each handed to the node that it holds for."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.file: dict[str, Any] = {}
        self._of: dict[int, dict[str, Any]] = {}
        comments = module.comments.assumptions
        for comment in comments:
            if comment.scope == "file":
                self.file.update(comment.values)
        if any(comment.scope != "file" for comment in comments):
            self._attach()

    def of(self, node: ast.AST) -> Mapping[str, Any]:
        """What the comments at a definition, a statement or a call say."""
        return self._of.get(id(node), {})

    def _attach(self) -> None:
        self._launches = launch_ids(self.module)
        places: list[tuple[int, int, ast.AST]] = []  # first line, last line of the head, node
        for statement in self.module.statements:
            self._places(statement, places)
        places.sort(key=lambda place: (place[0], -place[1]))
        for comment in self.module.comments.assumptions:
            if comment.scope == "next":
                node = next((node for first, _, node in places if first > comment.span.line), None)
                # Between decorators, a comment belongs to the definition that they decorate.
                inside = [node for first, last, node in places if first < comment.span.line <= last]
                decorated = [one for one in inside if isinstance(one, _DEFINITIONS)]
                if decorated and node is not None and node.lineno == decorated[-1].body[0].lineno:  # type: ignore[attr-defined]
                    decorated = []  # at the top of a body, right above a launch
                target = decorated[-1] if decorated else node
                targets = [target] if target is not None else []
            elif comment.scope == "line":
                line = comment.span.line
                targets = [node for first, last, node in places if first <= line <= last]
            else:
                continue
            for one in targets:
                self._of.setdefault(id(one), {}).update(comment.values)

    def _places(self, node: ast.AST, places: list[tuple[int, int, ast.AST]]) -> None:
        if isinstance(node, _DEFINITIONS):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            body = node.body[0].lineno - 1 if node.body else node.lineno
            places.append((first, max(body, node.lineno), node))
        elif id(node) in self._launches:
            places.append((node.lineno, node.end_lineno or node.lineno, node))  # type: ignore[attr-defined]
        elif isinstance(node, ast.Assign) and _holds_config(node.value):
            places.append((node.lineno, node.end_lineno or node.lineno, node))
        for child in ast.iter_child_nodes(node):
            self._places(child, places)


def _holds_config(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Call) and last_name(inner) == "Config" for inner in walk(node))
