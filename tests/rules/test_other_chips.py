"""What is written for other chips, or given on their devices only, is no error on a GPU."""

from __future__ import annotations

import pytest

from tests import samples
from tritonlint.lint import lint_source
from tritonlint.settings import Settings

LAUNCH = """

def run(x, y, out, n):
    {}add[(n,)](x, y, out, n, BLOCK=1024, grf_mode="large"{})
"""


def certainties(path: str, source: str) -> list[str]:
    result = lint_source(path, source, Settings(), gpus=["a100"], certainty="possible")
    return [finding.certainty for finding in result.findings if finding.code == "TL207"]


@pytest.mark.parametrize(
    ("path", "certainty"),
    [
        ("pkg/ops/add.py", "proven"),
        ("pkg/ops/backends/_ascend/ops/add.py", "possible"),
        ("pkg\\runtime\\_Cambricon\\add.py", "possible"),
        ("pkg/ops/xpu.py", "possible"),
        ("pkg/ops/xpu_free.py", "proven"),
        ("home/npu/a/b/c/d/add.py", "proven"),
    ],
)
def test_folders_of_other_chips(path: str, certainty: str) -> None:
    assert certainties(path, samples.ADD + LAUNCH.format("", "")) == [certainty]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ('x.device.type == "xpu"', []),
        ('x.device.type != "xpu"', ["proven"]),
        ('x.device.type == "cuda"', ["proven"]),
        ('n == "xpu"', ["proven"]),
    ],
)
def test_branches_for_devices_of_other_chips_are_not_taken(condition: str, expected: list[str]) -> None:
    source = samples.ADD + LAUNCH.format(f"if {condition}:\n        ", "")
    assert certainties("add.py", source) == expected


def test_what_is_given_under_an_open_condition_is_not_proven() -> None:
    source = samples.ADD + LAUNCH.format(
        'more = {}\n    if n > 5:\n        more["num_ctas_"] = 2 if n > 9 else 1\n    ', ", **more"
    ).replace(', grf_mode="large"', "")
    assert certainties("add.py", source) == ["possible"]
