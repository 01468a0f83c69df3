"""Comments and blank lines cost no lint, and what is carried over is what a lint would say."""

from __future__ import annotations

from pathlib import Path

import pytest
from tritonlint_server.analysis import Analyser
from tritonlint_server.analysis_record import Analysis, Request
from tritonlint_server.quiet_edits import carried_over

from tests.server.samples import GEMM, WARPS

DOCUMENTED = GEMM.replace(
    "    rm = tl.program_id(0)",
    '    """C = A @ B.\n\n    Each program has a tile.\n    """\n    rm = tl.program_id(0)',
)
SAMPLE = (
    DOCUMENTED + WARPS.split("\n\n\n", 1)[1] + 'text = """one\n# no comment\ntwo"""\nlong = 1 + \\\n    2\n'
)


def analysed(path: Path, text: str) -> Analysis:
    request = Request(str(path), text, (), ("rtx4090",), "3.9")
    return Analyser().run(request, lambda: False)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("quiet") / "a.py"


@pytest.fixture(scope="module")
def before(path: Path) -> Analysis:
    found = analysed(path, SAMPLE)
    assert found.findings and found.survey.sites and not found.failure
    return found


def edited(line: int, text: str, delete: int = 0) -> str:
    """The sample with other lines from a line (from 1) on."""
    lines = SAMPLE.split("\n")
    lines[line - 1 : line - 1 + delete] = text.split("\n") if text or delete == 0 else []
    return "\n".join(lines)


LINES = SAMPLE.split("\n")
FIRST_CONFIG = next(number for number, line in enumerate(LINES, 1) if "num_stages=4" in line)
IN_KERNEL = next(number for number, line in enumerate(LINES, 1) if "acc = tl.zeros" in line)
IN_DOC = LINES.index("    Each program has a tile.") + 1
DOC_HEAD = LINES.index('    """C = A @ B.') + 1
IN_STRING = LINES.index("# no comment") + 1
CONTINUED = LINES.index("    2") + 1

QUIET = {
    "a comment behind a config": edited(FIRST_CONFIG, LINES[FIRST_CONFIG - 1] + "  # wide", delete=1),
    "a comment between configs": edited(FIRST_CONFIG + 1, "        # the small one\n"),
    "blank lines before the kernel": edited(3, "\n\n"),
    "a comment in the kernel": edited(IN_KERNEL, '    # "quotes" and line 7'),
    "a comment and blanks in the kernel": edited(
        IN_KERNEL, "    # sums\n\n" + LINES[IN_KERNEL - 1] + "   ", delete=1
    ),
    "a line of a docstring": edited(IN_DOC, '    Each "program" has # one tile.\n    And more.', delete=1),
    "the head of a docstring": edited(DOC_HEAD, '    """C = A @ B, in tiles # of M x N.', delete=1),
    "a comment in the second line": edited(2, "import triton.language as tl  # a comment", delete=1),
    "a blank line gone": edited(3, "", delete=1),
}
LOUD = {
    "other code": edited(IN_KERNEL, LINES[IN_KERNEL - 1].replace("float32", "float16"), delete=1),
    "other blanks before code": edited(IN_KERNEL, "  " + LINES[IN_KERNEL - 1], delete=1),
    "a comment of ours": edited(
        FIRST_CONFIG, LINES[FIRST_CONFIG - 1] + "  # tritonlint: ignore[TL101]", delete=1
    ),
    "a string over lines": edited(IN_STRING, "# another", delete=1),
    "a line that is continued": edited(CONTINUED, "# here it ends"),
    "a docstring that ends in its head": edited(DOC_HEAD, '    """C = A @ B."""', delete=1),
    "a docstring that moves": edited(DOC_HEAD, '        """C = A @ B.', delete=1),
    "an encoding in the second line": edited(2, "# coding: latin-1"),
    "an open string": edited(IN_KERNEL, "    x = 'open  # no comment"),
    "code behind a comment sign in a string": edited(IN_KERNEL, "    x = '#'; y = 1"),
    "the first lines, where encodings are named": edited(1, "# a comment"),
}


@pytest.mark.parametrize("name", QUIET)
def test_what_is_carried_over(path: Path, before: Analysis, name: str) -> None:
    """Findings, hints and hovers are those of a fresh lint, without one."""
    found = carried_over(str(path), SAMPLE, QUIET[name], before)
    assert found == analysed(path, QUIET[name])


@pytest.mark.parametrize("name", LOUD)
def test_what_is_linted_again(path: Path, before: Analysis, name: str) -> None:
    """Whatever may change code, or what our comments hold for."""
    assert carried_over(str(path), SAMPLE, LOUD[name], before) is None


def test_a_session_of_edits(path: Path) -> None:
    """Edits one after the other, quiet and loud, give at each step what a fresh lint gives."""
    analyser = Analyser()
    for text in (SAMPLE, *QUIET.values(), *LOUD.values(), SAMPLE, *QUIET.values()):
        request = Request(str(path), text, (), ("rtx4090",), "3.9")
        assert analyser.run(request, lambda: False) == analysed(path, text)
