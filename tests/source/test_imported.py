"""Modules that are imported keep the trees that were asked for; every tree is the one of the whole text."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tritonlint.source.environment import bindings_of
from tritonlint.source.imported import read_imported
from tritonlint.source.module import Module, parse_file
from tritonlint.source.text import SourceFile, load

SHARED = '''\
import os, sys; LIMIT = 4
TEXT = """
def not_a_function():
    return 1
"""


@one
@two(
    3,
)
def decorated(x):
    """A docstring
that comes back to the margin."""

    return x


class Big:
    A = 1

    def method(self):
        return "ä", self.A
def near(): return (
    1,
    2,
    3); AFTER = near()
async def last():
    # ends without a line end
    if True:
        return {
            "a": 1,
        }'''


def module_of(text: str) -> Module:
    return parse_file(SourceFile("shared.py", text), always=True)


def imported(text: str) -> Module:
    return read_imported(SourceFile("shared.py", text))


def dumped(module: Module) -> list[str]:
    return [ast.dump(statement, include_attributes=True) for statement in module.statements]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_statements_are_those_of_the_whole_text(end: str) -> None:
    text = SHARED.replace("\n", end)
    whole, kept = module_of(text), imported(text)
    assert not whole.problems and len(kept.statements) == len(whole.statements)
    assert bindings_of(kept).index == bindings_of(whole).index
    assert dumped(kept) == dumped(whole)


def test_every_module_of_the_package_reads_the_same() -> None:
    for path in sorted(Path(read_imported.__code__.co_filename).parent.glob("*.py")):
        whole, kept = parse_file(load(str(path)), always=True), read_imported(load(str(path)))
        found, wanted = bindings_of(kept), bindings_of(whole)
        assert (found.index, found.stars) == (wanted.index, wanted.stars)
        assert kept.comments == whole.comments
        assert dumped(kept) == dumped(whole)


def test_a_tree_stays_once_it_was_made() -> None:
    kept = imported(SHARED)
    names = [getattr(statement, "name", "") for statement in kept.statements]
    place = names.index("decorated")
    assert kept.statements[place] is kept.statements[place]
    assert kept.statements[place:][0] is kept.statements[place]


def test_what_does_not_parse_costs_its_own_statement() -> None:
    for text in (SHARED + "\n)\n", SHARED + "\nx = (\n"):
        broken = imported(text)
        names = [statement.name for statement in broken.statements if isinstance(statement, ast.ClassDef)]
        assert names == ["Big"]
        assert "near" in bindings_of(broken).index


@pytest.mark.parametrize(
    "text",
    [
        'def f():\n    # """ in a comment\n    return 1\n\ndef g():\n    return 2\n',
        'def f():\n    return """\ndef g():\n    \'\'\'\n"""\n',
        "def f():\n    return '\"\"\"'\n\nclass g:\n    '''A text.\n    '''\n",
        "def f():\n    return 1\n\x0cdef g():\n    return 2\n",
        "def f(\n):\n    return (\n1\n)\nif f():\n    pass\nelse:\n    def g(): pass\n",
        "",
        '"""A text.\ndef f(): pass\n"""\n# a note\nasync  def f():\n    pass\n',
    ],
)
def test_texts_that_are_hard_to_cut(text: str) -> None:
    whole, kept = module_of(text), imported(text)
    assert not whole.problems
    assert bindings_of(kept).index == bindings_of(whole).index
    assert dumped(kept) == dumped(whole)


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    return 1\ncase = 64\nX = 2\n",
        'D = {}\ndef f():\n    return 1\ncase["a"] = 64\n',
        "def f():\n    return 1 + \\\n2\nX = 3\n",
        'S = "abc \\\ndef bar(): \\\nq"\nX = 1\n',
        'A = 1  # the """ quotes\n"""doc\ndef f(): pass\nA = 5\n"""\nB = 2  # the """ quotes\nC = 3\n',
        'A = \'"""\'\n"""doc\ndef f(): pass\nA = 5\n"""\nB = \'"""\'\nC = 3\n',
        '@foo("""\nclass B: pass\n""")\ndef f():\n    return 1\n',
        '@foo("""\nclass B: pass\n  """)\ndef f():\n    return 1\n',
        '@foo("a \\\nclass B: pass")\ndef f():\n    return 1\n',
        '@foo(a,\nb)\ndef f(x):\n    return 1\ndef g():\n    """A text\n\n"""\n',
        "def \ufb01x():\n    return 1\n@one\ndef \u00e9():\n    return 1\nclass a\u00b7b: pass\n",
        "def f\\\n():\n    return 1\nX = 1\n",
    ],
)
def test_texts_whose_cut_is_in_doubt(text: str) -> None:
    whole, kept = module_of(text), imported(text)
    assert not whole.problems
    assert bindings_of(kept).index == bindings_of(whole).index
    assert dumped(kept) == dumped(whole)


@pytest.mark.parametrize("sign", ["@(\n    triton.jit\n)", "@\\\ntriton.jit"])
def test_a_decorator_away_from_its_sign(sign: str) -> None:
    text = f"import triton\n\n{sign}\ndef k(x):\n    y = 1\n    z = 2\n    return y + z\n"
    whole = module_of(text)
    assert not whole.problems
    assert dumped(imported(text)) == dumped(whole)
