"""Imports the user's file as the module that it is, or runs a notebook's cells, and finds a kernel in it."""

from __future__ import annotations

import ast
import codeop
import importlib
import importlib.util
import os
import sys
import types
from typing import Any


class KernelNotFound(Exception):
    """The module has no such kernel, in words for the user."""


class NotImported(Exception):
    """No way to import a file worked. `errors` holds what each of them raised, as a user's own import would first."""

    def __init__(self, errors: list[BaseException]) -> None:
        super().__init__(str(errors[0]))
        self.errors = tuple(errors)


def import_file(path: str) -> types.ModuleType:
    """The module of a file. A package's own `__init__` runs first, as in every import; where that fails (it may need
    more than the kernels do) the file is imported below empty packages, and where it asks for a package by the name of
    a folder above it (`import vendored` in package/vendored/ops/), from there. Raises NotImported."""
    path = os.path.abspath(path)
    root, parents, stem = _place(path)
    errors: list[BaseException] = []
    for way in (_whole, _below_empty_packages, _from_above):
        before = set(sys.modules)
        try:
            return way(path, root, parents, stem, errors)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            if not isinstance(error, _NotThisWay):
                errors.append(error)
            for name in set(sys.modules) - before:
                if not parents or name.split(".")[0] == parents[0]:
                    sys.modules.pop(name, None)
    raise NotImported(errors)


class _NotThisWay(Exception):
    """There is nothing to try."""


def _whole(
    path: str, root: str, parents: list[str], stem: str, errors: list[BaseException]
) -> types.ModuleType:
    if root not in sys.path:
        sys.path.insert(0, root)
    if parents:
        importlib.import_module(".".join(parents))
    return _load(".".join((*parents, stem)), path)


def _below_empty_packages(
    path: str, root: str, parents: list[str], stem: str, errors: list[BaseException]
) -> types.ModuleType:
    if not parents:
        raise _NotThisWay
    _put_empty_packages(root, parents)
    return _load(".".join((*parents, stem)), path)


def _put_empty_packages(root: str, parents: list[str]) -> None:
    folder = root
    for depth, name in enumerate(parents, 1):
        folder = os.path.join(folder, name)
        package = types.ModuleType(".".join(parents[:depth]))
        package.__path__ = [folder]
        sys.modules[package.__name__] = package


def _from_above(
    path: str, root: str, parents: list[str], stem: str, errors: list[BaseException]
) -> types.ModuleType:
    wanted = {str(getattr(error, "name", None) or "").split(".")[0] for error in errors} - {""}
    folder = os.path.dirname(path)
    names: list[str] = []
    while wanted and folder != os.path.dirname(folder):
        folder, name = os.path.split(folder)
        names.insert(0, name)
        if name in wanted:
            sys.path.insert(0, folder)
            _put_empty_packages(root, parents[: max(0, len(parents) - len(names))])
            importlib.import_module(".".join(names))
            return _load(".".join((*names, stem)), path)
    raise _NotThisWay


def run_cells(path: str, text: str, folder: str) -> tuple[types.ModuleType, str]:
    """A module of a notebook's cells, and what the first statement that failed says, if one does. The others run all
    the same: most notebooks launch what they define, which cannot work here. The text is laid down in the folder, since
    Triton reads the source of a kernel from its file."""
    place = os.path.join(folder, os.path.basename(path))
    with open(place, "w", encoding="utf-8") as file:
        file.write(text)
    sys.path.insert(0, os.path.dirname(path))
    stem = os.path.basename(path).rsplit(".", 1)[0]
    module = types.ModuleType(f"{stem}__verified")
    module.__file__ = place
    sys.modules[module.__name__] = module
    compiler = codeop.Compile()  # keeps what `from __future__` asks for
    failed = ""
    for statement in ast.parse(text).body:
        try:
            code = compiler(ast.Module([statement], []), place, "exec")  # type: ignore[arg-type]
            exec(code, vars(module))
        except BaseException as error:
            said = " ".join(str(error).split())[:300]
            failed = failed or f"{type(error).__name__}: {said} (line {statement.lineno})"
    return module, failed


def _place(path: str) -> tuple[str, list[str], str]:
    """(folder to import from, names of the packages, name of the module)."""
    folder, file = os.path.split(path)
    stem = file.rsplit(".", 1)[0]
    parents: list[str] = []
    while os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.basename(folder).isidentifier():
        folder, name = os.path.split(folder)
        parents.insert(0, name)
    if stem == "__init__" and parents:
        stem = parents.pop()
    return folder, parents, stem


def _load(name: str, path: str) -> types.ModuleType:
    """The module of that file under that name, or beside it where the name is another module's."""
    there = sys.modules.get(name)
    if there is not None:
        if os.path.realpath(getattr(there, "__file__", None) or "") == os.path.realpath(path):
            return there
        name = f"{name}__verified"
    package = os.path.basename(path) == "__init__.py"
    folders = [os.path.dirname(path)] if package else None
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=folders)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def kernel_of(module: types.ModuleType, name: str, first_line: int, last_line: int) -> Any:
    """The jit function of that name whose definition starts between these lines (decorators included).

    Raises KernelNotFound.
    """
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    seen = jit_function(found)
    if seen is not None and first_line <= _line(seen) <= last_line:
        return seen
    for value in list(vars(module).values()):
        other = jit_function(value)
        if other is not None and _named(other) == name and first_line <= _line(other) <= last_line:
            return other
    if seen is not None:
        raise KernelNotFound(f"{name} is another definition once the module is imported (line {_line(seen)})")
    if found is None:
        raise KernelNotFound(
            f"the module has no {name} once it is imported: it is defined in a function or a branch"
        )
    raise KernelNotFound(f"{name} is a {type(found).__name__} once the module is imported, no jit function")


def jit_function(value: Any) -> Any:
    """The jit function inside autotuners, heuristics and wrappers of a project's own; None where there is none."""
    for _ in range(12):
        if hasattr(value, "arg_names") and hasattr(value, "create_binder"):
            return value
        inner = getattr(value, "fn", None) or getattr(value, "__wrapped__", None)
        if inner is None or inner is value:
            return None
        value = inner
    return None


def _line(function: Any) -> int:
    return int(function.fn.__code__.co_firstlineno)


def _named(function: Any) -> str:
    return str(function.fn.__name__)
