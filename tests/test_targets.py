"""The words of the summary for what is checked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonlint.lint import lint_source
from tritonlint.settings import Settings
from tritonlint.targets import choose

GEMM = Path(__file__).parents[1] / "examples" / "gemm.py"


_AS = "findings on memory are possible only"


@pytest.mark.parametrize(
    ("triton", "said"),
    [
        ("3.9", "Triton 3.9 (--triton)"),
        ("2.1.0", "Triton 2.1 (--triton)"),
        ("9.9", f"Triton 9.9 (--triton; newer than 3.9, the newest known: judged as 3.9, {_AS})"),
        ("2.7", f"Triton 2.7 (--triton; not known: judged as 2.3, {_AS})"),
    ],
)
def test_a_release_that_is_not_known_is_said_to_be_so(tmp_path: Path, triton: str, said: str) -> None:
    assert choose(Settings(), tmp_path, ["a100"], triton).described() == f"a100 (--gpu), {said}"


def test_a_release_of_the_settings_is_said_to_be_newer(tmp_path: Path) -> None:
    described = choose(Settings(triton="3.99"), tmp_path, ["a100"]).described()
    assert "Triton 3.99 (settings; newer than 3.9, the newest known: judged as 3.9, " in described


def test_a_newer_release_gets_the_findings_of_the_newest_as_possible() -> None:
    def memory(triton: str) -> list[tuple[str, str]]:
        text = GEMM.read_text(encoding="utf-8")
        found = lint_source("a.py", text, Settings(), gpus=["a100"], triton=triton, certainty="possible")
        return [(one.message, one.certainty) for one in found.findings if one.code == "TL101"]

    assert memory("3.9")
    assert [(message, "possible") for message, _ in memory("3.9")] == memory("9.9")
