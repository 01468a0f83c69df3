"""Launches: every function that launches is run with unknown arguments, and what it launches is written down."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tritonlint.source import slices
from tritonlint.source.environment import CHANGING, Environment, Frame
from tritonlint.source.guards import ANYWHERE, Path, choose, guard
from tritonlint.source.kernels import Kernel, LaunchProxy
from tritonlint.source.module import Module
from tritonlint.source.nodes import walk
from tritonlint.source.objects import (
    Class,
    Function,
    Instance,
    List,
    OutOfBudget,
    Raised,
    Tensor,
)

if TYPE_CHECKING:
    from tritonlint.source.interpreter import Arguments, Interpreter

ENTRY_STEPS = 6_000  # of one function that launches
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NOT_ARGUMENTS = frozenset({"grid", "warmup"})


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """One run of a launching call, with the values that its arguments had."""

    kernel: Kernel
    node: ast.Call
    environment: Environment
    grid: Any
    grid_node: ast.AST | None
    form: str
    arguments: Arguments
    path: Path
    function: str
    entry: str  # the function that was run from the outside to get here
    depth: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A function (or top-level statement) to run from the outside."""

    name: str
    node: ast.AST
    owner: str | None = None  # the class it stands in
    number: int = 0  # of its top-level statement
    direct: bool = True


def record(interp: Interpreter, proxy: LaunchProxy, arguments: Arguments, frame: Frame | None) -> Any:
    """A call of `kernel[grid]`, `kernel.run` or `kernel.warmup`."""
    call = arguments.node
    if interp.launches is None or call is None or frame is None:
        return None
    grid, grid_node = proxy.grid, proxy.grid_node
    if proxy.form != "subscript":
        if "grid" not in arguments.keywords:
            return None
        grid = arguments.keywords["grid"]
        grid_node = next((keyword.value for keyword in call.keywords if keyword.arg == "grid"), None)
        arguments = replace(
            arguments,
            keywords={
                name: value for name, value in arguments.keywords.items() if name not in _NOT_ARGUMENTS
            },
        )
    function = frame
    while function.function is None and function.parent is not None:
        function = function.parent
    interp.launches.append(
        Launch(
            proxy.kernel,
            call,
            frame.environment,
            _frozen(grid),
            grid_node,
            proxy.form,
            arguments,
            interp.path,
            function.name,
            interp.entry,
            interp.depth,
        )
    )
    return interp.symbol(("launched", id(call)), "what a launch returns")


def _frozen(grid: Any) -> Any:
    """A grid function with the locals that it sees now."""
    if not isinstance(grid, Function) or grid.closure is None:
        return grid
    return Function(
        grid.name, grid.node, grid.environment, _freeze(grid.closure), grid.owner, grid.bound, grid.kind
    )


def _freeze(frame: Frame) -> Frame:
    copied = Frame(frame.environment, _freeze(frame.parent) if frame.parent is not None else None, frame.name)
    copied.env = dict(frame.env)
    copied.function = frame.function
    return copied


# -- entries


@dataclass(frozen=True, slots=True, eq=False)
class _Entries:
    found: list[Entry]
    slices: dict[int, set[int]]  # of functions that were run: the statements that matter


def _entries(module: Module) -> _Entries:
    return module.once("entries", lambda module: _Entries(entries(module), {}))


def entries(module: Module) -> list[Entry]:
    """Everything of a file that launches or defines kernels locally, in the order of the file."""
    finder = _Finder(module)
    for number, statement in enumerate(module.statements):
        finder.visit(statement, None, number, True)
    found = finder.found
    names = {entry.name for entry in found if entry.name}
    if names:
        # Who calls them is run too: that is where a kernel, a block size, a grid handed down are known.
        for number, statement in enumerate(module.statements):
            _callers_in(statement, None, number, found, names, finder.lines)
            if _hands_down(statement, names, finder.lines) and not any(
                one.node is statement for one in found
            ):
                found.append(Entry("", statement, None, number, False))
        found.sort(key=lambda entry: entry.node.lineno)  # type: ignore[attr-defined]
    return found


class _Finder:
    def __init__(self, module: Module) -> None:
        self.lines = module.lines.lines
        self.launches = slices.launch_ids(module)
        self.found: list[Entry] = []

    def visit(self, node: ast.stmt, owner: str | None, number: int, top: bool) -> None:
        if not self._mentions(node):
            return
        if isinstance(node, _FUNCTIONS):
            if self.worth_running(node):
                self.found.append(Entry(node.name, node, owner, number))
            return
        if isinstance(node, ast.ClassDef):
            for child in node.body:
                self.visit(child, node.name, number, False)
            return
        if top and any(id(inner) in self.launches for inner in slices.own_nodes([node])):
            self.found.append(Entry("", node, None, number))
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.stmt):
                self.visit(part, owner, number, False)
            elif isinstance(part, ast.ExceptHandler):
                for inner in part.body:
                    self.visit(inner, owner, number, False)

    def _mentions(self, node: ast.stmt) -> bool:
        """A look at the text, which is far cheaper than a walk through the tree."""
        text = "\n".join(self.lines[node.lineno - 1 : node.end_lineno])
        return "jit" in text or any(mark in text for mark in slices.MARKS)

    def worth_running(self, node: ast.AST) -> bool:
        """Whether a function launches, or holds a function that does or that is a kernel."""
        if _is_kernel(node):
            return False
        for inner in walk(node):
            if id(inner) in self.launches:
                return True
            if inner is not node and isinstance(inner, _FUNCTIONS) and _is_kernel(inner):
                return True
        return False


def _callers_in(
    node: ast.stmt, owner: str | None, number: int, found: list[Entry], names: set[str], lines: list[str]
) -> None:
    if isinstance(node, ast.ClassDef):
        for child in node.body:
            _callers_in(child, node.name, number, found, names, lines)
    elif isinstance(node, (ast.If, ast.Try)):
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.stmt):
                _callers_in(part, owner, number, found, names, lines)
    elif isinstance(node, _FUNCTIONS) and not any(entry.node is node for entry in found):
        text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        called = [name for name in names if f"{name}(" in text]
        if called and not _is_kernel(node) and slices.called_names_in(node) & set(called):
            found.append(Entry(node.name, node, owner, number, False))


def _hands_down(statement: ast.stmt, names: set[str], lines: list[str]) -> bool:
    """Whether a top-level statement (often `if __name__ == "__main__":`) calls one of these functions with arguments."""
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return False
    text = lines[statement.lineno - 1 : statement.end_lineno]
    if not any(f"{name}(" in line for line in text for name in names):
        return False
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in names
        and bool(node.args or node.keywords)
        for node in slices.own_nodes([statement])
    )


def _bound_in(statement: ast.If) -> set[str]:
    """The names that the branches of a condition bind."""
    found: set[str] = set()
    for part in (*statement.body, *statement.orelse):
        if isinstance(part, ast.If):
            found |= _bound_in(part)
        elif isinstance(part, (*_FUNCTIONS, ast.ClassDef)):
            found.add(part.name)
        elif isinstance(part, ast.Assign):
            found |= {target.id for target in part.targets if isinstance(target, ast.Name)}
    return found


def _is_kernel(node: ast.AST) -> bool:
    from tritonlint.source.definitions import last_name

    return any(last_name(decorator) == "jit" for decorator in getattr(node, "decorator_list", []))


def launching_names(found: list[Entry]) -> frozenset[str]:
    return frozenset(entry.name for entry in found if entry.name)


class Runner:
    """Runs entries and keeps what they launched."""

    def __init__(self, interp: Interpreter, assumed: Any) -> None:
        self.interp = interp
        self.assumed = assumed  # the `def` of a host function -> values of its names
        self.launch_ids = slices.launch_ids(interp.module)
        of_module = _entries(interp.module)
        self.found = of_module.found
        self.names = launching_names(self.found)
        self.over_budget: list[Entry] = []
        self._slices = of_module.slices

    def release(self) -> None:
        """Lets go of what it holds; see `FileWork.release`."""
        self.assumed = None

    def run(self, entry: Entry) -> list[Launch]:
        """What one entry launches. Never raises."""
        interp = self.interp
        launches: list[Launch] = []
        interp.launches = launches
        interp.entry = entry.name
        interp.steps = ENTRY_STEPS
        interp.path = ANYWHERE
        interp.slicer = self._slice
        interp.ran.clear()
        try:
            if entry.name:
                self._function(entry, launches)
            else:
                self._statement(entry)
        except Raised:
            pass
        except (OutOfBudget, RecursionError):
            if entry.name or entry.direct:  # what only hands values down launches nothing that others do not
                self.over_budget.append(entry)
        finally:
            interp.launches = None
            interp.slicer = None
            interp.path = ANYWHERE
            interp.depth = 0
        return launches

    def _slice(self, node: Any) -> set[int] | None:
        """The statements of a function that matter, for functions of the linted file that launch."""
        key = id(node)
        if key not in self._slices:
            self._slices[key] = slices.relevant(node.body, self.names, self.launch_ids)
        return self._slices[key]

    def _statement(self, entry: Entry) -> None:
        main = self.interp.main
        frame = Frame(main)
        main.now, before = entry.number, main.now
        try:
            self.interp.execute([entry.node], frame)  # type: ignore[list-item]
        finally:
            main.now = before

    def _function(self, entry: Entry, launches: list[Launch]) -> None:
        interp = self.interp
        if not interp.permissive and self._is_of_another_branch(entry):
            return
        owner = interp.main.lookup(entry.owner) if entry.owner else None
        node = entry.node
        assert isinstance(node, _FUNCTIONS)
        function = Function(node.name, node, interp.main, None, owner if isinstance(owner, Class) else None)
        static = any(getattr(one, "id", "") == "staticmethod" for one in node.decorator_list)
        if entry.owner and not static:
            function.bound = self._instance(owner, node)
        frame = self._call(function, launches)
        self._inner(frame, launches, 0)

    def _is_of_another_branch(self, entry: Entry) -> bool:
        """Whether the condition around a definition is decided for another one of the same name, and the definition uses
        what the branches bind: its kernel or its constants are then those of the other branch."""
        statement = self.interp.module.statements[entry.number]
        if entry.owner or not isinstance(statement, ast.If):
            return False
        bound = self.interp.main.lookup(entry.name)
        if not isinstance(bound, Function) or bound.node is entry.node:
            return False
        if not any(node is bound.node for node in walk(statement)):
            return False
        used = {node.id for node in walk(entry.node) if isinstance(node, ast.Name)}
        return not used.isdisjoint(_bound_in(statement))

    def _instance(self, owner: Any, node: ast.AST) -> Any:
        interp = self.interp
        if not isinstance(owner, Class):
            return interp.symbol(("self", id(node)), "self is not known")
        if any(getattr(one, "id", "") == "classmethod" for one in getattr(node, "decorator_list", [])):
            return owner
        return interp.once(("instance", id(owner)), lambda: self._made_instance(owner, node))

    def _made_instance(self, owner: Class, node: ast.AST) -> Instance:
        interp = self.interp
        instance = Instance(owner)
        init = owner.find("__init__")
        changed = _changed_attributes(owner)
        if isinstance(init, Function) and getattr(node, "name", "") != "__init__":
            saved, interp.launches = interp.launches, None
            steps, interp.steps = interp.steps, min(interp.steps, 4000)
            before = interp.steps
            slicer, interp.slicer = interp.slicer, None
            try:
                bound = Function(init.name, init.node, init.environment, init.closure, init.owner, instance)
                self._run(bound, unknown_arguments(interp, bound))
            except (Raised, OutOfBudget, RecursionError):
                pass
            finally:
                interp.launches = saved
                interp.slicer = slicer
                interp.steps = steps - (before - max(interp.steps, 0))
                interp.path = ANYWHERE
        # None is what an attribute is before something else sets it.
        for name in {*changed, *(name for name, value in instance.attributes.items() if value is None)}:
            # What another method changes is not what `__init__` left.
            if not isinstance(instance.attributes.get(name), Kernel):
                reason = f"self.{name} changes between calls"
                instance.attributes[name] = interp.symbol(("changed", id(owner), name), reason)
        return instance

    def _call(self, function: Function, launches: list[Launch]) -> Frame:
        arguments = unknown_arguments(self.interp, function)
        names = self.assumed(function.node)
        for name, value in names.items():
            if name in arguments:
                arguments[name] = value
        return self._run(function, arguments, names)

    def _run(
        self, function: Function, arguments: dict[str, Any], assumed: dict[str, Any] | None = None
    ) -> Frame:
        interp = self.interp
        frame = Frame(function.environment, function.closure, function.name)
        frame.function = function
        frame.env.update(arguments)
        frame.assumed = assumed or {}
        if interp.slicer is not None:
            frame.relevant = self._slice(function.node)
            frame.lenient = True
        interp.ran.add(id(function.node))
        interp.depth += 1
        try:
            interp.execute(function.node.body, frame)  # type: ignore[arg-type]
        except Raised:
            pass
        finally:
            interp.depth -= 1
        return frame

    def _inner(self, frame: Frame, launches: list[Launch], depth: int) -> None:
        """Functions that a function made and did not call: they are run too, with what they see of it."""
        if depth > 3:
            return
        for value in list(frame.env.values()):
            if (
                isinstance(value, Function)
                and isinstance(value.node, _FUNCTIONS)
                and value.environment is self.interp.main
                and id(value.node) not in self.interp.ran
                and value.closure is not None
                and _Finder(self.interp.module).worth_running(value.node)
            ):
                self.interp.path = ANYWHERE
                inner = self._call(value, launches)
                self._inner(inner, launches, depth + 1)


def _changed_attributes(owner: Class) -> set[str]:
    """Attributes of self that methods besides `__init__` assign or change in place."""
    found: set[str] = set()
    for method in owner.node.body:
        if not isinstance(method, _FUNCTIONS) or method.name == "__init__" or not method.args.args:
            continue
        me = method.args.args[0].arg
        for node in walk(method):
            target: ast.AST | None = None
            if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(
                node.ctx, (ast.Store, ast.Del)
            ):
                target = node
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in CHANGING
            ):
                target = node.func.value
            while isinstance(target, ast.Subscript):
                target = target.value
            if (
                isinstance(target, ast.Attribute)
                and isinstance(target.value, ast.Name)
                and target.value.id == me
            ):
                found.add(target.attr)
    return found


def unknown_arguments(interp: Interpreter, function: Function) -> dict[str, Any]:
    """The parameters of a function that is called from anywhere: unknown, or (all together) their defaults."""
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    values: dict[str, Any] = {}
    if function.bound is not None and positional:
        values[positional[0].arg] = function.bound
        skipped = positional[0].arg
    else:
        skipped = ""
    defaults: list[ast.expr | None] = [*([None] * (len(positional) - len(spec.defaults))), *spec.defaults]
    given = ("defaults", id(function.node))
    for item in guard(given, True).held.items():
        interp.described[item] = f"{function.name}() is called with the defaults of its parameters"
    for argument, default in zip(
        [*positional, *spec.kwonlyargs], [*defaults, *spec.kw_defaults], strict=False
    ):
        if argument.arg == skipped:
            continue
        unknown = _unknown(interp, function, argument, default)
        values[argument.arg] = unknown
        plain = _plain_default(default)
        if plain is not None:
            values[argument.arg] = choose([(guard(given, True), plain), (guard(given, False), unknown)])
    if spec.vararg is not None:
        values[spec.vararg.arg] = interp.symbol(
            ("param", id(spec.vararg)), f"*{spec.vararg.arg} comes from the caller"
        )
    if spec.kwarg is not None:
        values[spec.kwarg.arg] = interp.symbol(
            ("param", id(spec.kwarg)), f"**{spec.kwarg.arg} comes from the caller"
        )
    return values


def _plain_default(default: ast.expr | None) -> Any:
    """A number, a text, or several of them, as the default of a parameter; None for anything else."""
    if isinstance(default, (ast.Tuple, ast.List)):
        parts = [_plain_default(part) for part in default.elts]
        if not parts or any(part is None for part in parts):
            return None
        return tuple(parts) if isinstance(default, ast.Tuple) else List(parts)
    if isinstance(default, ast.Constant) and isinstance(default.value, (int, str, float)):
        return default.value
    return None


def _unknown(interp: Interpreter, function: Function, argument: ast.arg, default: ast.expr | None) -> Any:
    key = ("param", id(function.node), argument.arg)
    reason = f"{argument.arg} comes from the caller"
    annotation = ast.unparse(argument.annotation) if argument.annotation is not None else ""
    annotation = annotation.strip("'\"")
    if annotation in ("torch.Tensor", "Tensor") and not (
        isinstance(default, ast.Constant) and default.value is None
    ):
        dtype = interp.symbol(
            (1, "dtype", key), f"the dtype of {argument.arg} comes from the caller", kind="dtype"
        )
        return Tensor(key, dtype)
    kinds = {"int": "int", "bool": "bool", "float": "float", "str": "str", "torch.dtype": "dtype"}
    kind = kinds.get(annotation, "")
    if not kind and isinstance(default, ast.Constant) and default.value is not None:
        kind = {bool: "bool", int: "int", float: "float", str: "str"}.get(type(default.value), "")
    if kind == "bool":
        return interp.symbol(key, reason, low=0, high=1, kind="bool")
    return interp.symbol(key, reason, kind=kind)
