"""What a kernel does with its parameters, read off its syntax: pointers, integers, strides.

The launch decides the types of arguments, and often it is not in the file. How a parameter is used tells what
it can only be: what is loaded from is a pointer, what is multiplied with a range is an integer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from weakref import ReferenceType, WeakKeyDictionary, ref

from tritonlint.quick import quick
from tritonlint.source.sites import KernelSource

MAX_DEPTH = 4  # of helper functions inside each other
MAX_TERMS = 64  # of one address

_THROUGH = frozenset(
    {"multiple_of", "max_contiguous", "max_constancy", "broadcast_to", "cast", "to", "expand_dims", "reshape",
     "view", "trans", "permute", "ravel"}
)  # fmt: skip
_READS = frozenset({"load", "_experimental_descriptor_load"})
_WRITES = frozenset({"store", "_experimental_descriptor_store"})
_HALF = frozenset({"float16", "bfloat16", "half"})


@quick
@dataclass(frozen=True, slots=True)
class Term:
    """One summand of an address or value: the parameters in it, whether it varies from lane to lane (a
    range), and the pointers that data in it was loaded from."""

    names: frozenset[str] = frozenset()
    lanes: bool = False
    loaded: frozenset[str] = frozenset()
    single: bool = False  # nothing but one parameter
    factors: frozenset[str] = frozenset()  # parameters that stand as a factor of the whole summand
    multiplied: frozenset[str] = frozenset()  # pointers whose data a dot multiplied to make it
    whole: bool = False  # an accumulator of int32


@dataclass(slots=True)
class Uses:
    """What was seen. `strides` are, for each pointer, the parameters that multiply a range in its
    addresses."""

    pointers: dict[str, None] = field(default_factory=dict)
    integers: set[str] = field(default_factory=set)
    floats: set[str] = field(default_factory=set)
    descriptors: set[str] = field(default_factory=set)
    # Pointers to what stands inside an address, bounds a loop, or is compared with a range.
    indices: set[str] = field(default_factory=set)
    strides: dict[str, set[str]] = field(default_factory=dict)
    unit_stride: set[str] = field(default_factory=set)  # pointers with a range that nothing multiplies
    last_strides: dict[str, str] = field(default_factory=dict)  # of block pointers: the innermost stride
    has_dot: bool = False
    half: bool = False  # names a half-precision type
    # Operands of a dot whose product is scaled by what is loaded beside it, or is cast to float32, which the product
    # of floats is already: both are what quantised operands ask for.
    quantised: set[str] = field(default_factory=set)
    operands: set[str] = field(default_factory=set)  # of any dot
    whole: set[str] = field(default_factory=set)  # operands of a dot that sums in int32: eight-bit integers


_Parameters = tuple[tuple[str, bool], ...]  # names, and whether they are constexpr


@dataclass(frozen=True, slots=True)
class _Helper:
    """What a name was found to be: another kernel, by its tree and its parameters; no tree where it is none. Trees are
    not held on to, so that those of kernels that call each other can go."""

    node: ReferenceType[ast.FunctionDef] | None
    parameters: _Parameters

    @classmethod
    def of(cls, found: object) -> _Helper:
        if not isinstance(found, KernelSource):
            return cls(None, ())
        return cls(ref(found.node), _parameters(found))


@dataclass(slots=True)
class _Asked:
    """The names that were looked up, in order: in which kernel (0 is the one that is read, then come those that were
    found), the name, and what it was."""

    names: dict[tuple[int, str], _Helper] = field(default_factory=dict)
    kernels: list[KernelSource] = field(default_factory=list)

    def lookup(self, number: int, name: str) -> tuple[KernelSource | None, int]:
        """The kernel that a name stands for, and its number."""
        found = self.kernels[number].scope.lookup(name)
        self.names.setdefault((number, name), _Helper.of(found))
        if not isinstance(found, KernelSource):
            return None, 0
        if found not in self.kernels:
            self.kernels.append(found)
        return found, self.kernels.index(found)


@dataclass(frozen=True, slots=True)
class _Kept:
    parameters: _Parameters
    names: dict[tuple[int, str], _Helper]
    uses: Uses

    def holds(self, kernel: KernelSource) -> bool:
        """Whether asking again gives the same answers."""
        if self.parameters != _parameters(kernel):
            return False
        asked = _Asked(kernels=[kernel])
        for (number, name), was in self.names.items():
            if number >= len(asked.kernels):
                return False
            asked.lookup(number, name)
            if asked.names[number, name] != was:
                return False
        return True


def _parameters(kernel: KernelSource) -> _Parameters:
    return tuple((parameter.name, parameter.constexpr) for parameter in kernel.parameters)


_kept: WeakKeyDictionary[ast.FunctionDef, _Kept] = WeakKeyDictionary()


def kernel_uses(kernel: KernelSource) -> Uses:
    """Kept for as long as the tree of the kernel is, and good for each reading of a file in which its names stand for the
    same helpers: so a keystroke elsewhere, another GPU and another tuned file cost nothing."""
    kept = _kept.get(kernel.node)
    if kept is None or not kept.holds(kernel):
        asked = _Asked(kernels=[kernel])
        kept = _kept[kernel.node] = _Kept(_parameters(kernel), asked.names, uses_of(kernel, asked))
    return kept.uses


def uses_of(kernel: KernelSource, asked: _Asked | None = None) -> Uses:
    """Never raises; a kernel that is too odd gives few uses."""
    uses = Uses()
    names: dict[str, _Value] = {
        parameter.name: (Term(frozenset((parameter.name,)), single=True),) for parameter in kernel.parameters
    }
    try:
        reader = _Reader(kernel, uses, names, 0, asked or _Asked(kernels=[kernel]), {})
        reader.body(kernel.node.body)
        reader.settle()
    except RecursionError:
        pass
    uses.integers -= set(uses.pointers)
    uses.quantised &= set(uses.pointers)
    uses.operands &= set(uses.pointers)
    uses.whole &= set(uses.pointers)
    return uses


_Value = tuple[Term, ...]
_PLAIN = Term()  # nothing that matters
_NOTHING: _Value = (_PLAIN,)
_LANES: _Value = (Term(lanes=True),)
_DATA: _Value = (Term(loaded=frozenset(("",))),)  # from no parameter
_Call = tuple[KernelSource, int, tuple[tuple[str, _Value], ...]]  # how deep, with which arguments


class _Reader:
    """`helped` has the addresses in helper functions, by what these were called with: the same call adds no uses that
    the first one has not added."""

    def __init__(
        self, kernel: KernelSource, uses: Uses, names: dict[str, _Value], depth: int, asked: _Asked,
        helped: dict[_Call, list[_Value]], number: int = 0,
    ) -> None:  # fmt: skip
        self.number = number  # of the kernel in `asked`
        self.uses = uses
        self.names = names
        self.depth = depth
        self.asked = asked
        self.helped = helped
        self.tiles = frozenset(parameter.name for parameter in kernel.parameters if parameter.constexpr)
        self.addresses: list[_Value] = []

    # --- statements

    def body(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign):
            value = self.value(node.value)
            for target in node.targets:
                self.bind(target, node.value, value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self.bind(node.target, node.value, self.value(node.value))
        elif isinstance(node, ast.AugAssign):
            added = self.value(node.value)
            if isinstance(node.target, ast.Name):
                old = self.names.get(node.target.id, ())
                if not isinstance(node.op, (ast.Add, ast.Sub)):
                    self.scaled(old, added)
                    self.names[node.target.id] = (self.product((*old, *added)),)
                elif any(term.multiplied for term in added):
                    if any(term.whole for term in old):
                        self.uses.whole.update(one for term in added for one in term.multiplied)
                    self.names[node.target.id] = (self.product((*old, *added)),)
        elif isinstance(node, ast.For):
            bounds = self.value(node.iter)
            self.integer(bounds)
            self.counts(bounds)
            if isinstance(node.target, ast.Name):
                self.names[node.target.id] = _NOTHING
            self.body(node.body)
            self.body(node.orelse)
        elif isinstance(node, (ast.If, ast.While)):
            self.value(node.test)
            self.body(node.body)
            self.body(node.orelse)
        elif isinstance(node, ast.With):
            self.body(node.body)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.value(child)

    def bind(self, target: ast.expr, node: ast.expr, value: _Value) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Tuple):
            parts = node.elts if isinstance(node, ast.Tuple) and len(node.elts) == len(target.elts) else None
            for place, element in enumerate(target.elts):
                own = self.value(parts[place]) if parts else (self.product(value),)
                self.bind(element, parts[place] if parts else node, own)

    # --- expressions

    def value(self, node: ast.expr) -> _Value:
        if isinstance(node, ast.Name):
            return self.names.get(node.id, _NOTHING)
        if isinstance(node, ast.Constant):
            return _NOTHING
        if isinstance(node, ast.BinOp):
            return self.binary(node)
        if isinstance(node, ast.Call):
            return self.call(node)
        if isinstance(node, ast.Subscript):
            return self.value(node.value)
        if isinstance(node, ast.Attribute):
            return self.attribute(node)
        if isinstance(node, ast.UnaryOp):
            return self.value(node.operand)
        if isinstance(node, ast.IfExp):
            self.value(node.test)
            return self.value(node.body) or self.value(node.orelse)
        if isinstance(node, ast.Compare):
            sides = [self.value(side) for side in (node.left, *node.comparators)]
            if any(term.lanes for side in sides for term in side):
                for side in sides:
                    self.integer(side)
            if any(term.lanes and not term.loaded for side in sides for term in side):
                for side in sides:
                    self.counts(side)
            return (self.product(tuple(term for side in sides for term in side)),)
        parts = [self.value(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        return (self.product(tuple(term for part in parts for term in part)),) if parts else _NOTHING

    def binary(self, node: ast.BinOp) -> _Value:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            return (*left, *right)[:MAX_TERMS]
        both = (*left, *right)
        if isinstance(node.op, (ast.FloorDiv, ast.Mod)):
            self.integer(both)
        elif isinstance(node.op, (ast.Mult, ast.Div)):
            self.scaled(left, right)
            data = any(term.loaded for term in both)
            for side, other in ((left, right), (right, left)):
                if any(term.loaded for term in other) or isinstance(node.op, ast.Div):
                    self.uses.floats.update(name for term in side if term.single for name in term.names)
                elif not data and any(term.lanes or term.names & self.tiles for term in other):
                    self.integer(side)
            if isinstance(node.op, ast.Mult):
                made = self.product(both)
                factors = [term for side in (left, right) if len(side) == 1 for term in side]
                names = frozenset(
                    name for term in factors for name in (term.names if term.single else term.factors)
                )
                return (replace(made, factors=names),)
        return (self.product(both),)

    def attribute(self, node: ast.Attribute) -> _Value:
        if node.attr in _HALF:
            self.uses.half = True
        base = self.value(node.value)
        if node.attr == "element_ty":
            inner = node.value
            name = inner.value if isinstance(inner, ast.Attribute) else inner
            for term in self.value(name):
                if term.single:
                    self.uses.pointers.update(dict.fromkeys(term.names))
        return base

    def call(self, node: ast.Call) -> _Value:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        arguments = [self.value(argument) for argument in node.args]
        keywords = {keyword.arg: self.value(keyword.value) for keyword in node.keywords if keyword.arg}
        method = isinstance(node.func, ast.Attribute) and not self.is_module(node.func.value)
        if name == "arange":
            return _LANES
        if name in ("zeros", "full"):
            return (Term(whole=self.is_int32(node, "dtype")),)
        if name in ("program_id", "num_programs"):
            return _NOTHING
        if name in ("argmax", "argmin"):  # a place, whatever the data is
            return _DATA
        if name in ("dot", "dot_scaled"):
            self.uses.has_dot = True
            loaded = frozenset(one for side in arguments for term in side for one in term.loaded)
            operands = frozenset(one for side in arguments[:2] for term in side for one in term.loaded if one)
            self.uses.operands.update(operands)
            sums = (*(arguments[2] if len(arguments) > 2 else ()), *keywords.get("acc", ()))
            if any(term.whole for term in sums) or self.is_int32(node, "out_dtype"):
                self.uses.whole.update(operands)
            return (Term(loaded=loaded or frozenset(("",)), multiplied=operands),)
        if name in ("make_block_ptr", "make_tensor_descriptor"):
            return self.described(node, arguments, keywords)
        if method and name in ("load", "store", "gather", "scatter", "atomic_add"):
            for term in self.value(node.func.value):  # type: ignore[attr-defined]
                if term.single:
                    self.uses.descriptors.update(term.names)
            return _DATA
        if name in _READS or name in _WRITES or name.startswith("atomic_"):
            address = arguments[0] if arguments else keywords.get("pointer", ())
            self.addresses.append(address)
            base = frozenset(one for term in address if term.single for one in term.names)
            return (Term(loaded=base or frozenset(("",)), lanes=any(term.lanes for term in address)),)
        if method and name in _THROUGH:
            for node_argument in node.args:
                self.value(node_argument)
            base_value = self.value(node.func.value)  # type: ignore[attr-defined]
            if name == "to" and any(getattr(one, "attr", "") == "float32" for one in node.args):
                self.uses.quantised.update(one for term in base_value for one in term.multiplied)
            return base_value
        if name in _THROUGH and arguments:
            return arguments[0]
        if name in ("cdiv", "range", "static_range", "minimum", "min", "max", "maximum"):
            for one in arguments:
                if name in ("cdiv", "range", "static_range"):
                    self.integer(one)
            return (self.product(tuple(term for one in arguments for term in one)),)
        return self.helper(node, name, arguments, keywords)

    def is_int32(self, node: ast.Call, keyword: str) -> bool:
        """Whether a call names `tl.int32` as its type, by keyword or last."""
        given = [one.value for one in node.keywords if one.arg == keyword] or node.args[-1:]
        return any(isinstance(one, ast.Attribute) and one.attr == "int32" for one in given)

    def is_module(self, node: ast.expr) -> bool:
        """`tl` in `tl.load`: a name that is no parameter and no local value."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id not in self.names

    def described(self, node: ast.Call, arguments: Sequence[_Value], keywords: dict[str, _Value]) -> _Value:
        """make_block_ptr(base, shape, strides, offsets, block_shape, order), make_tensor_descriptor(...)."""
        base = arguments[0] if arguments else keywords.get("base", ())
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        strides = node.args[2] if len(node.args) > 2 else given.get("strides")
        order = node.args[5] if len(node.args) > 5 else given.get("order")
        self.addresses.append((*base, Term(lanes=True)))
        pointer = next((name for term in base if term.single for name in term.names), None)
        if pointer is not None and isinstance(strides, (ast.Tuple, ast.List)) and strides.elts:
            place = len(strides.elts) - 1
            if isinstance(order, (ast.Tuple, ast.List)) and order.elts:
                first = order.elts[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, int):
                    place = first.value
            for term in self.value(strides.elts[place]) if 0 <= place < len(strides.elts) else ():
                if term.single:
                    self.uses.last_strides.setdefault(pointer, next(iter(term.names)))
        return _DATA

    def helper(
        self, node: ast.Call, name: str, arguments: Sequence[_Value], keywords: dict[str, _Value]
    ) -> _Value:
        """A call of another jit function: what it does with its parameters it does with ours."""
        everything = tuple(term for one in (*arguments, *keywords.values()) for term in one)
        callee, number = (
            self.asked.lookup(self.number, name) if isinstance(node.func, ast.Name) else (None, 0)
        )
        if callee is not None and self.depth < MAX_DEPTH:
            bound: dict[str, _Value] = {parameter.name: _NOTHING for parameter in callee.parameters}
            for parameter, argument in zip(callee.parameters, arguments, strict=False):
                bound[parameter.name] = argument
            bound.update({key: value for key, value in keywords.items() if key in bound})
            call = (callee, self.depth, tuple(bound.items()))
            if call not in self.helped:
                inner = _Reader(callee, self.uses, bound, self.depth + 1, self.asked, self.helped, number)
                inner.body(callee.node.body)
                self.helped[call] = inner.addresses
            self.addresses += self.helped[call]
        return (self.product(everything),)

    # --- conclusions

    def scaled(self, left: _Value, right: _Value) -> None:
        """A product of what a dot made and of data that comes from no dot."""
        for side, other in ((left, right), (right, left)):
            products = {one for term in side for one in term.multiplied}
            scales = any(term.loaded for term in other) and not any(term.multiplied for term in other)
            if products and scales:
                self.uses.quantised.update(products)

    def product(self, terms: _Value) -> Term:
        telling = [term for term in terms if term is not _PLAIN]
        if not telling:
            return _PLAIN
        if len(telling) == 1:
            term = telling[0]
            if not (term.single or term.factors or term.whole):
                return term
            return Term(term.names, term.lanes, term.loaded, multiplied=term.multiplied)
        return Term(
            frozenset().union(*[term.names for term in telling]),
            any(term.lanes for term in telling),
            frozenset().union(*[term.loaded for term in telling]),
            multiplied=frozenset().union(*[term.multiplied for term in telling]),
        )

    def integer(self, value: _Value) -> None:
        self.uses.integers.update(name for term in value if not term.loaded for name in term.names)

    def counts(self, value: _Value) -> None:
        """Data that bounds a loop, or that a range is compared with, is whole numbers."""
        self.uses.indices.update(name for term in value for name in term.loaded if name)

    def settle(self) -> None:
        """Which parameter of each address is the pointer: the first summand that is nothing but a parameter
        and is not used as an integer elsewhere."""
        for address in self.addresses:
            singles = [next(iter(term.names)) for term in address if term.single]
            known = [name for name in singles if name in self.uses.pointers]
            likely = [name for name in singles if name not in self.uses.integers]
            pointer = next(iter((*known, *likely, *singles)), None)
            if pointer is None:
                continue
            self.uses.pointers[pointer] = None
            for term in address:
                self.uses.indices.update(name for name in term.loaded if name)
                if term.single:
                    if pointer not in term.names:
                        self.uses.integers.update(term.names)
                    continue
                self.uses.integers.update(term.names)
                if term.lanes and term.factors:
                    self.uses.strides.setdefault(pointer, set()).update(term.factors)
                elif term.lanes:
                    self.uses.unit_stride.add(pointer)
