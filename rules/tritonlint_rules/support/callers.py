"""The function that launches: where the values that it passes come from."""

from __future__ import annotations

import ast
from functools import lru_cache


@lru_cache(maxsize=8)
def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def enclosing(source: str, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The innermost function around a line."""
    tree = _tree(source)
    found: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inside = node.lineno <= line <= (node.end_lineno or node.lineno)
            if inside and (found is None or node.lineno >= found.lineno):
                found = node
    return found


def call_at(source: str, line: int, column: int) -> ast.Call | None:
    """The call that starts at a place (from 1)."""
    tree = _tree(source)
    best: ast.Call | None = None
    for node in ast.walk(tree) if tree is not None else ():
        if (
            isinstance(node, ast.Call)
            and node.lineno == line
            and node.col_offset + 1 == column
            and isinstance(node.func, (ast.Subscript, ast.Attribute, ast.Name))
            and (
                best is None
                or (node.end_lineno or 0, node.end_col_offset or 0)
                > (best.end_lineno or 0, best.end_col_offset or 0)
            )
        ):
            best = node
    return best


def assigned(function: ast.AST, name: str, before: int) -> ast.expr | None:
    """What the one plain assignment of a name in a function gives it; None where there is none or more than
    one. A name that is unpacked from a tuple gives the tuple's source as `source[i]`."""
    found: list[ast.expr] = []
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign) or node.lineno > before:
            continue
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id == name:
                found.append(node.value)
            elif isinstance(target, (ast.Tuple, ast.List)):
                for place, item in enumerate(target.elts):
                    if isinstance(item, ast.Name) and item.id == name:
                        found.append(_part(node.value, place, len(target.elts)))
    return found[0] if len(found) == 1 else None


def _part(value: ast.expr, place: int, count: int) -> ast.expr:
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == count:
        return value.elts[place]
    index = ast.Constant(place - count if place == count - 1 else place)
    return ast.Subscript(value=value, slice=index, ctx=ast.Load())


def expanded(function: ast.AST, node: ast.expr, before: int, depth: int = 4) -> ast.expr:
    """The expression with names replaced by what they were assigned."""

    class Expand(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.AST:
            value = assigned(function, name.id, before)
            if value is None or depth == 0:
                return name
            return expanded(function, value, before, depth - 1)

    import copy

    result = Expand().visit(copy.deepcopy(node))
    assert isinstance(result, ast.expr)
    return result


def returned(source: str, function: ast.AST, name: str) -> ast.expr | None:
    """What a function of one return gives, defined in the function or at the top of the file."""
    tree = _tree(source)
    for scope in (function, tree):
        for node in ast.iter_child_nodes(scope) if scope is not None else ():
            if isinstance(node, ast.FunctionDef) and node.name == name:
                given = [one.value for one in ast.walk(node) if isinstance(one, ast.Return)]
                return given[0] if len(given) == 1 else None
    return None


def plain_number(source: str, function: ast.AST | None, node: ast.expr, before: int) -> int | None:
    """A number as written, or a name that is bound to one once, in the function or at the top of the file."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) and not isinstance(node.value, bool) else None
    if not isinstance(node, ast.Name):
        return None
    tree = _tree(source)
    if function is not None:
        arguments = getattr(function, "args", None)
        if arguments is not None and any(
            one.arg == node.id for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        ):
            return None
        bound = [
            one
            for one in ast.walk(function)
            if isinstance(one, ast.Name) and one.id == node.id and isinstance(one.ctx, ast.Store)
        ]
        if bound:
            value = assigned(function, node.id, before) if len(bound) == 1 else None
            return plain_number(source, None, value, before) if isinstance(value, ast.Constant) else None
    found = [
        statement.value
        for statement in (tree.body if tree is not None else ())
        if isinstance(statement, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == node.id for target in statement.targets)
    ]
    return (
        plain_number(source, None, found[0], before)
        if len(found) == 1 and isinstance(found[0], ast.Constant)
        else None
    )


def several_kernels(source: str, call: ast.Call, kernel: str) -> bool:
    """Whether the launched name is bound more than once in its function: which kernel it is may then go
    with other values that are not known here."""
    target = call.func.value if isinstance(call.func, (ast.Subscript, ast.Attribute)) else call.func
    if not isinstance(target, ast.Name) or target.id == kernel:
        return not isinstance(target, (ast.Name, ast.Attribute))
    function = enclosing(source, call.lineno)
    if function is None:
        return False
    bound = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == target.id and isinstance(node.ctx, ast.Store)
    ]
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return len(bound) > 1 or any(argument.arg == target.id for argument in given)


def argument(call: ast.Call, names: list[str], name: str) -> ast.expr | None:
    """The expression that a call passes for a parameter."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    place = names.index(name) if name in names else -1
    plain = not any(isinstance(item, ast.Starred) for item in call.args[: place + 1])
    return call.args[place] if plain and 0 <= place < len(call.args) else None
