"""TL901: a file that cannot be read as Python."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding
from tritonlint.rule import FileContext, Rule
from tritonlint_rules.support import samples

CODE, NAME = "TL901", "syntax-error"
_HELP = (
    f"read as Python {sys.version_info.major}.{sys.version_info.minor}, the one that runs tritonlint: newer "
    "syntax needs a newer one; the rest of the file is linted as far as it can be read"
)


def check_file(context: FileContext) -> Iterable[Finding]:
    return list(_findings(context))


def _findings(context: FileContext) -> Iterator[Finding]:
    for problem in context.problems:
        if problem.kind in ("syntax", "unreadable"):
            yield Finding(
                CODE,
                NAME,
                "error",
                "proven",
                problem.message,
                problem.path or context.path,
                problem.span,
                kernel=problem.kernel,
                help=_HELP if problem.kind == "syntax" else None,
            )


RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what=(
        "The file is not Python (or not a notebook, not JSON), or it cannot be read: encoding, "
        "permission, size."
    ),
    why="What cannot be read is not checked. Definitions beside the broken one are still linted.",
    example="```python\n@triton.jit\ndef scale(x_ptr, n:\n```",
    better="```python\n@triton.jit\ndef scale(x_ptr, n):\n```",
    when_not="Templates that only look like Python: put them under `exclude`.",
    source="Python's own parser.",
    check_file=check_file,
    valid=(
        samples.miss(samples.launched_scale(), "a whole file"),
        samples.miss(samples.launched_scale() + "\n# scale[(1,](x\n", "broken code in a comment"),
        samples.miss('TEXT = """\n@triton.jit\ndef scale(x_ptr, n:\n"""\n', "broken code in a string"),
    ),
    invalid=(
        samples.hit(
            samples.launched_scale().replace("def run(x, y, n):", "def run(x, y, n:"),
            "def run",
            severity="error",
        ),
        samples.hit(
            samples.launched_scale().replace("import triton\n", "import triton as tt\n") + "\n\nx = (1,,2)\n",
            "1,,2",
            why="after the code that is linted",
        ),
    ),
)
