"""What a statement's plans depend on is read off its names."""

from __future__ import annotations

import pytest

from tritonlint.source.pieces import pieces_of
from tritonlint.source.reach import Reach, facts_of

SOURCE = """\
import triton
import triton.language as tl

SIZES = [1]

@triton.jit
def helper(x):
    return x

@triton.jit
def kernel(x, BLOCK: tl.constexpr):
    y = helper(x)

@triton.jit
def other(x):
    pass

def launch(x):
    kernel[(1,)](x, BLOCK=SIZES[0])

def outer(x):
    launch(x)

def apart(x):
    other[(1,)](x)

def fill():
    SIZES.append(2)
"""


def named(source: str = SOURCE) -> tuple[Reach, list[str]]:
    pieces = pieces_of(source).pieces
    names = [piece.text.strip().split("\n")[-2:][0].strip() for piece in pieces]
    names = [
        next((word for word in ("SIZES = [1]", "def helper", "def kernel", "def other", "def launch", "def outer",
                                "def apart", "def fill") if word in piece.text), names[number])
        for number, piece in enumerate(pieces)
    ]  # fmt: skip
    return Reach([facts_of(piece) for piece in pieces]), names


def union_of(name: str) -> set[str]:
    reach, names = named()
    number = names.index(name)
    union = next(union for union, group in reach.groups().items() if number in group.members)
    return {names[one] for one in union}


def test_a_launch_depends_on_who_calls_its_function_and_on_what_these_name() -> None:
    found = union_of("def launch")
    assert {"def launch", "def outer", "def kernel", "SIZES = [1]"} <= found
    assert not {"def apart", "def other"} & found


def test_who_changes_a_list_counts_where_it_is_used() -> None:
    assert "def fill" in union_of("def launch")
    assert "def fill" not in union_of("def apart")


def test_the_reading_of_launches_does_not_look_into_kernels() -> None:
    reach, names = named()
    kernel, helper = names.index("def kernel"), names.index("def helper")
    assert helper not in reach.closure([kernel])
    assert helper in reach.closure([kernel], head=False)


def test_the_head_of_a_kernel_stays_while_its_body_changes() -> None:
    old, new = (
        next(facts_of(piece) for piece in pieces_of(source).pieces if "def kernel" in piece.text)
        for source in (SOURCE, SOURCE.replace("y = helper(x)", "y = helper(x + 1)"))
    )
    assert old.head == new.head


def test_the_functions_to_run_are_those_that_reach_the_kernel() -> None:
    reach, names = named()
    kernel = names.index("def kernel")
    group = next(one for one in reach.groups().values() if kernel in one.members)
    assert {names[one] for one in group.runs} == {"def kernel", "def launch", "def outer"}


def test_a_group_hangs_on_what_binds_or_changes_the_names_that_were_looked_up() -> None:
    reach, names = named()
    union = frozenset(range(len(names)))
    quiet = {
        head
        for name, head in zip(names, (one.head for one in reach.facts), strict=True)
        if name == "def fill"
    }
    assert quiet.isdisjoint(reach.heads(union, frozenset({"launch"})))
    assert quiet <= set(reach.heads(union, frozenset({"SIZES"})))


FUNCTION = """
def host(a, b):
    import os{0}
    n = a.numel(){1}
    if b:
        run(a, n){2}
{3}    return n
"""
WITHOUT_EFFECT = {
    "a semicolon": (";", "", "", ""),
    "a name": ("; x", "", "", ""),
    "a value that nobody uses": ("", "; y = n + 1", "", ""),
    "two of them": ("", "", "; y = n; z = n.shape[0]", ""),
    "a comment behind code": ("", "  # so many", "", ""),
}
WITH_EFFECT = {
    "a call": ("", "; x = f(a)", "", ""),
    "a value of a name that is used": ("", "; n = 3", "", ""),
    "a value used by another": ("", "; y = 3; f(y)", "", ""),
    "a line above code": ("", "", "", "    y = 3\n"),
    "a name for all the code": ("; global y", "; y = 3", "", ""),
    "who asks for all names": ("; y = 3", "", "; f(locals())", ""),
}


def heads_of(*typed: str) -> object:
    (piece,) = pieces_of(FUNCTION.format(*typed)).pieces
    return facts_of(piece).head


@pytest.mark.parametrize("what", WITHOUT_EFFECT)
def test_code_that_does_nothing_is_no_part_of_what_others_see(what: str) -> None:
    assert heads_of(*WITHOUT_EFFECT[what]) == heads_of("", "", "", "")


@pytest.mark.parametrize("what", WITH_EFFECT)
def test_code_that_does_something_is(what: str) -> None:
    assert heads_of(*WITH_EFFECT[what]) != heads_of("", "", "", "")


def test_of_imports_only_the_names_that_were_looked_up_count() -> None:
    """Another name typed into an import, and a value beside it, leave the plans alone."""

    def heads(text: str) -> object:
        found = Reach([facts_of(piece) for piece in pieces_of(text).pieces])
        return found.heads(frozenset(range(len(found.facts))), frozenset({"triton", "cdiv"}))

    before = heads("import triton, os\nfrom triton import cdiv, jit\n")
    assert heads("import triton, os.path\nfrom triton import cdiv, jit, autot\n") == before
    assert heads("import triton, os; x = 1\nfrom triton import cdiv, jit\n") == before
    assert heads("import triton, os\nfrom triton import cdiv as div, jit as cdiv\n") != before
    assert heads("import triton, os; cdiv = 1\nfrom triton import cdiv, jit\n") != before
