"""Notebooks: code cells as one module."""

from __future__ import annotations

import json

from tritonlint.source import parse_file, read, read_plans
from tritonlint.source.notebook import cell_at

from .reading import H100, HEAD, KERNEL


def notebook(*cells: object, language: str = "python") -> bytes:
    document = {
        "cells": [
            cell if isinstance(cell, dict) else {"cell_type": "code", "id": f"c{number}", "source": cell}
            for number, cell in enumerate(cells)
        ],
        "metadata": {"kernelspec": {"language": language}},
    }
    return json.dumps(document).encode()


def test_cells_are_one_module_with_a_map() -> None:
    text = {"cell_type": "markdown", "source": "# triton"}
    file = read(
        "a.ipynb", notebook(HEAD.splitlines(keepends=True), text, KERNEL, "scale[(1,)](a, b, 5, BLOCK=64)")
    )
    (plan,) = read_plans(parse_file(file), H100).plans
    assert plan.launch is not None
    found = cell_at(file.cells, plan.launch.span.line)
    assert found is not None
    cell, line = found
    assert (cell.index, cell.id, line) == (3, "c3", 1)


def test_magics_are_neutralised_and_lines_stay() -> None:
    code = "%pip install triton\n!nvidia-smi\nfiles = !ls\nn = %time 3\nif n:\n    !ls\nscale?\nx = 5 % 3\n"
    file = read("a.ipynb", notebook(code))
    module = parse_file(file)
    assert module.problems == ()
    assert file.text.splitlines()[7] == "x = 5 % 3"


def test_cells_in_other_languages_are_left_out() -> None:
    file = read("a.ipynb", notebook("%%bash\necho (", "%%time\nimport triton\n", "x = 1"))
    module = parse_file(file)
    assert module.problems == ()
    assert len(module.statements) >= 2


def test_a_notebook_of_another_language_is_not_read() -> None:
    assert read("a.ipynb", notebook("triton <- 1", language="R")).text == ""


def test_what_is_no_notebook_is_said() -> None:
    broken = read("a.ipynb", b"{ 'triton': ")
    assert broken.problems[0].kind == "syntax"
    assert read("a.ipynb", b"[1, 2]").text == ""
    assert read("a.ipynb", b'{"cells": [1, {"cell_type": "code"}, null]}').text in ("", "\n")
