"""Which statements of a file a plan can depend on, so that an edit elsewhere leaves it alone.

Evaluating a statement looks names up, and so reaches the statements that bind or change them; those reach others in
turn. What acts on its own (launches, kernels, and who calls them) reaches all that its launches depend on. The other way
round, a statement's plans depend on what all those reach that reach it: statements with the same of these form a group.

All of it is read off the names in the text, and errs to the side of more: a name that stands for something else (a local
variable, an attribute) links two statements that have nothing to do with each other. Once a group was read, the names
that were looked up tell more (`heads`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tritonlint.source.definitions import last_name, may_be_kernel
from tritonlint.source.environment import CHANGING, names_of
from tritonlint.source.idle import binds_only, text_without
from tritonlint.source.nodes import walk
from tritonlint.source.pieces import Piece
from tritonlint.source.reading import may_hold_kernel

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LAUNCHES = ("](", "[(", "] (", ".run(", ".warmup(", "jit", "autotune", "heuristics", "Config")


Told = tuple[int, str]  # a line and a text


@dataclass(frozen=True, slots=True)
class Part:
    """One statement of a piece, or one name that it imports: the names that it binds or changes, and its text."""

    names: frozenset[str]
    told: Told


@dataclass(frozen=True, slots=True)
class Facts:
    """What one piece of a file says of names. `head` is the text that the reading of launches depends on: of a kernel
    only what stands before its body, since host code never runs that; of a function what does something."""

    binds: frozenset[str]
    changes: frozenset[str]  # in place, from within its functions as well; local variables among them
    everywhere: bool  # binds names that it does not tell (`from x import *`)
    uses: frozenset[str]
    head_uses: frozenset[str]
    attributes: frozenset[str]
    offers: frozenset[str]  # names of functions in it, also of methods, that a call by attribute may mean
    acts: bool
    takes_comments: bool  # holds something that an `assume` comment above may be meant for
    makes: bool  # binds a name that may be a kernel by its looks: a decorated function, `name = made()`
    ours: bool  # has a comment of ours
    kernel: bool  # is a kernel whose body stands on lines of its own
    inert: bool  # only binds names, to what is imported or needs no call
    head: Told
    parts: tuple[Part, ...]


def facts_of(piece: Piece) -> Facts:
    """The facts of a piece; to be kept as long as the piece is."""
    parts: list[Part] = []
    binds: set[str] = set()
    changes: set[str] = set()
    uses: set[str] = set()
    attributes: set[str] = set()
    offers: set[str] = set()
    everywhere = acts = makes = False
    for statement in piece.statements:
        own: dict[str, bool] = {}
        own_changes: set[str] = set()
        names_of(statement, own, True)
        acts = acts or may_hold_kernel(statement)
        makes = makes or bool(getattr(statement, "decorator_list", ()))
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            offers.update(target.id for target in statement.targets if isinstance(target, ast.Name))
            makes = True
        for node in walk(statement):
            if isinstance(node, ast.Name):
                uses.add(node.id)
            elif isinstance(node, ast.Attribute):
                attributes.add(node.attr)
            elif isinstance(node, _FUNCTIONS):
                offers.add(node.name)
                acts = acts or (
                    isinstance(node, ast.FunctionDef) and bool(node.decorator_list) and may_be_kernel(node)
                )
            elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                everywhere = True
            changed = _changed(node)
            if changed is not None:
                own_changes.add(changed)
            if isinstance(node, ast.Global):
                own_changes.update(node.names)
        binds.update(own)
        changes |= own_changes
        parts += _parts(piece, statement, frozenset(own) | own_changes)
    acts = acts or any(sign in piece.text for sign in _LAUNCHES)
    # A comment of ours in the body may be meant for the kernel.
    ours = "tritonlint" in piece.text.lower()
    kernel = plain_kernel(piece) if not ours else None
    head_uses = uses
    head = piece.key
    if kernel is None and not ours:
        head = (piece.line, _doing(piece))
    if kernel is not None:
        head = (piece.line, "\n".join(piece.lines[: kernel.body[0].lineno - piece.line]))
        head_uses = {node.id for part in _head(kernel) for node in walk(part) if isinstance(node, ast.Name)}
    takes = acts or any(isinstance(one, (*_FUNCTIONS, ast.ClassDef)) for one in piece.statements)
    return Facts(
        binds=frozenset(binds),
        changes=frozenset(changes),
        everywhere=everywhere,
        uses=frozenset(uses),
        head_uses=frozenset(head_uses),
        attributes=frozenset(attributes),
        offers=frozenset(offers),
        acts=acts,
        takes_comments=takes,
        makes=makes,
        ours=ours,
        kernel=kernel is not None,
        inert=bool(piece.statements) and all(map(binds_only, piece.statements)),
        head=head,
        parts=tuple(parts),
    )


def _parts(piece: Piece, statement: ast.stmt, names: frozenset[str]) -> Iterator[Part]:
    """A statement as a part of its piece; of an import one part for each name."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        where = f"{statement.level} {statement.module}" if isinstance(statement, ast.ImportFrom) else "import"
        for alias in statement.names:
            bound = alias.asname or alias.name.partition(".")[0]
            yield Part(frozenset((bound,)), (statement.lineno, f"{where} {alias.name} {alias.asname}"))
    elif len(piece.statements) == 1:
        yield Part(names, piece.key)
    else:
        rest = piece.lines[statement.lineno - piece.line : (statement.end_lineno or 0) - piece.line + 1]
        end = statement.end_col_offset or 0
        last = rest[-1].encode("utf-8", "surrogatepass")[:end]
        yield Part(names, (statement.lineno, f"{statement.col_offset} {rest[:-1]} {last!r}"))


def _doing(piece: Piece) -> str:
    """The text of a piece, of a function without what does nothing."""
    if len(piece.statements) == 1:
        node = piece.statements[0]
        if isinstance(node, _FUNCTIONS) and all(last_name(one) != "jit" for one in node.decorator_list):
            return text_without(node, piece.lines, piece.line)
    return piece.text


def plain_kernel(piece: Piece) -> ast.FunctionDef | None:
    """The kernel that is the only statement of a piece, where its body stands on lines of its own."""
    if len(piece.statements) != 1:
        return None
    node = piece.statements[0]
    if not isinstance(node, ast.FunctionDef) or all(last_name(one) != "jit" for one in node.decorator_list):
        return None
    above = [
        node.lineno,
        *(
            child.end_lineno or 0
            for part in _head(node)
            for child in walk(part)
            if isinstance(child, (ast.expr, ast.arg))
        ),
    ]
    return node if node.body[0].lineno > max(above) else None


def _head(kernel: ast.FunctionDef) -> list[ast.AST]:
    return [*kernel.decorator_list, kernel.args, *([kernel.returns] if kernel.returns is not None else [])]


def _changed(node: ast.AST) -> str | None:
    """The name of what a node changes in place."""
    target: ast.AST | None = None
    if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, (ast.Store, ast.Del)):
        target = node
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
        target = node.func.value
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


@dataclass(frozen=True, slots=True)
class Group:
    """`members` are the pieces whose plans hang on the same pieces, `runs` those whose functions are to be run for them:
    those that reach the members, and those that change module-level values in place."""

    members: frozenset[int]
    runs: frozenset[int]


class Reach:
    """The pieces of one file by number, and what they reach."""

    def __init__(self, facts: Sequence[Facts], together: Iterable[range] = ()) -> None:
        """`together`: pieces that depend on each other for another reason than names."""
        self.facts = facts
        self._binders: dict[str, set[int]] = {}
        self._offering: dict[str, set[int]] = {}
        self._linked: dict[int, set[int]] = {}
        for number, one in enumerate(facts):
            for name in one.binds:
                self._binders.setdefault(name, set()).add(number)
            if one.acts:
                for name in one.offers:
                    self._offering.setdefault(name, set()).add(number)
        changing: set[int] = set()
        for number, one in enumerate(facts):
            for name in one.changes & self._binders.keys():
                changing.add(number)
                self._binders[name].add(number)
        stars = {number for number, one in enumerate(facts) if one.everywhere}
        for group in together:
            for number in group:
                self._linked.setdefault(number, set()).update(group)
        self._stars = stars
        self.acting = self._acting()
        self._changing = self.acting & changing
        self._closures: dict[int, frozenset[int]] = {}
        self._next: dict[tuple[int, bool], frozenset[int]] = {}

    def beside(self, number: int, head: bool = True) -> frozenset[int]:
        """What a piece names, itself among it; with `head` of a kernel only what its head names."""
        if (number, head) not in self._next:
            one = self.facts[number]
            found = {number, *self._stars, *self._linked.get(number, ())}
            names = one.head_uses if head else one.uses
            for name in names:
                found |= self._binders.get(name, set())
                found |= self._offering.get(name, set())
            for name in one.attributes:
                found |= self._offering.get(name, set())
            self._next[number, head] = frozenset(found)
        return self._next[number, head]

    def closure(self, numbers: Iterable[int], head: bool = True) -> frozenset[int]:
        """All that these pieces reach."""
        found = set(numbers)
        stack = list(found)
        while stack:
            for other in self.beside(stack.pop(), head) - found:
                found.add(other)
                stack.append(other)
        return frozenset(found)

    def _acting(self) -> frozenset[int]:
        """The pieces that launch or hold kernels, and those that use what these offer."""
        offered = {name for one in self.facts if one.acts for name in (*one.offers, *one.binds)}
        return frozenset(
            number
            for number, one in enumerate(self.facts)
            if one.acts or one.uses & offered or one.attributes & offered
        )

    def groups(self) -> Mapping[frozenset[int], Group]:
        """The acting pieces by what their plans depend on, which is all that is reached by what reaches them."""
        reached_by: dict[int, list[int]] = {}
        for number in sorted(self.acting):
            for other in self._closure(number) & self.acting:
                reached_by.setdefault(other, []).append(number)
        members: dict[frozenset[int], set[int]] = {}
        runs: dict[frozenset[int], set[int]] = {}
        unions: dict[tuple[int, ...], frozenset[int]] = {}
        for number, by in reached_by.items():
            mark = tuple(by)
            if mark not in unions:
                unions[mark] = frozenset().union(*(self._closure(one) for one in by))
            members.setdefault(unions[mark], set()).add(number)
            runs.setdefault(unions[mark], set(self._changing)).update(by)
        return {union: Group(frozenset(members[union]), frozenset(runs[union])) for union in members}

    def heads(self, union: frozenset[int], names: frozenset[str]) -> tuple[Told, ...]:
        """What the plans of a group hang on in the text, where these are all the names that were looked up for them:
        the statements that bind or change one, and the pieces of which the name alone does not tell."""
        found: list[Told] = []
        for number in sorted(union):
            one = self.facts[number]
            acts = number in self.acting and not one.inert
            if acts or one.makes or one.ours or one.everywhere or number in self._linked:
                found.append(one.head)
            else:
                found += [part.told for part in one.parts if not names.isdisjoint(part.names)]
        return tuple(found)

    def _closure(self, number: int) -> frozenset[int]:
        if number not in self._closures:
            self._closures[number] = self.closure([number])
        return self._closures[number]
