"""Which statements of a host function matter for its launches.

A function that launches a kernel also checks, logs and converts; only what feeds a launch (its kernel, grid and
arguments, and the conditions around it) is evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from tritonlint.source.module import Module
from tritonlint.source.nodes import children, walk

_USES = "_tritonlint_uses"
_LAUNCH_METHODS = frozenset({"run", "warmup"})
MARKS = ("](", "[(", "] (", ".run(", ".warmup(")  # one of these is in the text of each launch
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def launch_ids(module: Module) -> frozenset[int]:
    """Ids of the calls that look like launches: `anything[grid](...)`, `anything.run(..., grid=...)`, `.warmup(...)`."""
    return module.once("launches", _launch_ids)


def _launch_ids(module: Module) -> frozenset[int]:
    # A look at the text comes first; it is far cheaper than a walk through the tree.
    lines = module.lines.lines
    found: set[int] = set()
    names: set[str] | None = None
    for statement in module.statements:
        text = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
        if not any(mark in text for mark in MARKS):
            continue
        if names is None:
            names = _decorated(module)
        found.update(id(node) for node in walk(statement) if _is_launch(node, names))
    return frozenset(found)


def _decorated(module: Module) -> set[str]:
    """Names of module-level functions that may be kernels, and names made by calling a decorator."""
    found: set[str] = set()
    for statement in module.statements:
        if isinstance(statement, ast.FunctionDef) and statement.decorator_list:
            found.add(statement.name)
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            found.update(target.id for target in statement.targets if isinstance(target, ast.Name))
    return found


def _is_launch(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Subscript):
        # `launch = kernel[grid]`, called later.
        return isinstance(node.value, ast.Name) and node.value.id in names and isinstance(node.ctx, ast.Load)
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in _LAUNCH_METHODS:
        return any(keyword.arg == "grid" for keyword in node.keywords)
    if not isinstance(node.func, ast.Subscript):
        return False
    # `handlers[name](x)` has the same form. A launch is told by its grid or by its kernel.
    base, grid = node.func.value, node.func.slice
    name = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
    if isinstance(base, (ast.Call, ast.Subscript)):
        name = ast.unparse(base)
    if name in names or "kernel" in name.lower() or isinstance(grid, (ast.Lambda, ast.List)):
        return True
    if isinstance(grid, ast.Tuple):
        root = name.partition("[")[0].partition(".")[0]
        a_type = root[:1].isupper() and root != root.upper()  # Dict[str, int](...)
        return not a_type and root not in ("dict", "tuple")
    return (
        "grid" in ast.unparse(grid).lower()
        if isinstance(grid, (ast.Name, ast.Attribute, ast.Call))
        else False
    )


def own_nodes(body: Iterable[ast.AST]) -> Iterable[ast.AST]:
    """All nodes, without those of inner functions and classes."""
    stack = list(body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
            stack.extend(children(node))


def called_names(node: ast.AST) -> set[str]:
    """Last names of what is called in a node: `self.f(x)` gives "f"."""
    found: set[str] = set()
    for inner in own_nodes([node]):
        if isinstance(inner, ast.Call):
            if isinstance(inner.func, ast.Name):
                found.add(inner.func.id)
            elif isinstance(inner.func, ast.Attribute):
                found.add(inner.func.attr)
    return found


def called_names_in(function: ast.AST) -> set[str]:
    """The same for a whole function, inner ones included."""
    found: set[str] = set()
    for inner in walk(function):
        if isinstance(inner, ast.Call):
            if isinstance(inner.func, ast.Name):
                found.add(inner.func.id)
            elif isinstance(inner.func, ast.Attribute):
                found.add(inner.func.attr)
    return found


def relevant(body: Sequence[ast.stmt], launching: frozenset[str], launches: frozenset[int]) -> set[int]:
    """Ids of the statements to evaluate. `launching` holds the names of functions that launch, `launches` the ids of
    launching calls."""
    simple: list[ast.stmt] = []
    parents: dict[int, ast.stmt] = {}
    _collect(body, simple, parents, None)
    wanted: set[int] = set()
    names: set[str] = set()
    uses: dict[int, tuple[set[str], set[str]]] = {}
    for statement in simple:
        uses[id(statement)] = _uses(statement)
    inner = {
        statement.name
        for statement in simple
        if isinstance(statement, _FUNCTIONS) and any(id(node) in launches for node in walk(statement))
    }
    for statement in simple:
        if isinstance(statement, ast.Assign) and any(id(node) in launches for node in walk(statement.value)):
            inner |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
    launching = launching | inner
    work: list[ast.stmt] = [
        statement
        for statement in simple
        if getattr(statement, "name", None) in inner
        or (
            not isinstance(statement, (*_FUNCTIONS, ast.ClassDef))
            and (
                any(id(node) in launches for node in own_nodes([statement]))
                or called_names(statement) & launching
            )
        )
    ]
    changed = True
    while changed:
        changed = False
        for statement in work:
            if id(statement) in wanted:
                continue
            wanted.add(id(statement))
            names |= uses[id(statement)][1]
            changed = True
            parent = parents.get(id(statement))
            while parent is not None:
                if id(parent) not in wanted:
                    wanted.add(id(parent))
                    names |= _head_names(parent)
                parent = parents.get(id(parent))
        work = [
            statement
            for statement in simple
            if id(statement) not in wanted and uses[id(statement)][0] & names
        ]
    return wanted


def _collect(
    body: Sequence[ast.stmt], simple: list[ast.stmt], parents: dict[int, ast.stmt], parent: ast.stmt | None
) -> None:
    for statement in body:
        if parent is not None:
            parents[id(statement)] = parent
        inner = _bodies(statement)
        if inner and not isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            for one in inner:
                _collect(one, simple, parents, statement)
        else:
            simple.append(statement)


def _bodies(statement: ast.stmt) -> list[list[ast.stmt]]:
    found = [
        getattr(statement, name) for name in ("body", "orelse", "finalbody") if getattr(statement, name, None)
    ]
    found.extend(handler.body for handler in getattr(statement, "handlers", []))
    found.extend(case.body for case in getattr(statement, "cases", []))
    return found


def _uses(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """(names that the statement binds or changes, names that it reads); kept at the statement."""
    kept: tuple[set[str], set[str]] | None = getattr(statement, _USES, None)
    if kept is None:
        kept = _uses_of(statement)
        setattr(statement, _USES, kept)
    return kept


def _uses_of(statement: ast.stmt) -> tuple[set[str], set[str]]:
    stored: set[str] = set()
    loaded: set[str] = set()
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
        stored.add(statement.name)
    for node in walk(statement):
        if isinstance(node, ast.Name):
            (loaded if isinstance(node.ctx, ast.Load) else stored).add(node.id)
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            base: ast.AST = node
            while isinstance(base, (ast.Subscript, ast.Attribute)):
                base = base.value
            if isinstance(base, ast.Name):
                stored.add(base.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            root: ast.AST = node.func.value
            if isinstance(root, ast.Name) and node.func.attr in CHANGING:
                stored.add(root.id)
        elif isinstance(node, ast.alias):
            stored.add((node.asname or node.name).split(".")[0])
    if isinstance(statement, ast.AugAssign):
        loaded |= stored
    return stored, loaded


CHANGING = frozenset(
    {"append", "extend", "insert", "update", "setdefault", "pop", "remove", "add", "sort", "clear"}
)


def _head_names(statement: ast.stmt) -> set[str]:
    """Names that the head of a compound statement reads."""
    heads: list[ast.AST] = []
    for name in ("test", "iter", "subject"):
        part = getattr(statement, name, None)
        if part is not None:
            heads.append(part)
    heads.extend(getattr(statement, "items", []))
    return {node.id for head in heads for node in walk(head) if isinstance(node, ast.Name)}
