"""The terms of a message about shared memory add up to its number."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from tritonlint.lint import lint_source
from tritonlint.settings import Settings

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
GPUS = ["a100", "rtx4090", "h100", "mi300x", "b200"]
_TERM = re.compile(
    r"(?:(?P<count>\d+) )?[a-z ]+ (?:x )?(?P<tiles>\d+(?:x\d+)*|\([\dx+ ]+\)) x (?P<size>\d+) B|(?P<bytes>[\d,]+) B of .*"
)


def stated(term: str) -> int:
    """The bytes of "3 buffers x (128x64 + 64x256) x 2 B", "2 operands 64x128 x 2 B" or "32 B of barriers"."""
    match = _TERM.fullmatch(term)
    assert match, term
    if match["bytes"]:
        return int(match["bytes"].replace(",", ""))
    tiles = match["tiles"].strip("()").split(" + ")
    elements = sum(math.prod(map(int, tile.split("x"))) for tile in tiles)
    return int(match["count"] or 1) * elements * int(match["size"])


@pytest.mark.parametrize("gpu", GPUS)
def test_the_terms_add_up(gpu: str) -> None:
    found = 0
    for path in EXAMPLES:
        result = lint_source(
            path.name, path.read_text(encoding="utf-8"), Settings(), gpus=[gpu], triton="3.9"
        )
        for finding in result.findings:
            if finding.code != "TL101":
                continue
            message = re.search(r"smem ([\d,]+) B exceeds [^:]*: (.*?)(?:, with .*)?$", finding.message)
            assert message, finding.message
            terms = re.split(r" \+ (?![^(]*\))", message[2])
            assert sum(map(stated, terms)) == int(message[1].replace(",", "")), finding.message
            found += 1
    assert found >= 3


def test_equal_operands_are_counted() -> None:
    path = next(path for path in EXAMPLES if path.name == "attention.py")
    result = lint_source(path.name, path.read_text(encoding="utf-8"), Settings(), gpus=["a100"], triton="3.9")
    assert any(
        "smem 229,376 B" in finding.message and "+ 2 operands 64x128 x 2 B" in finding.message
        for finding in result.findings
    )
