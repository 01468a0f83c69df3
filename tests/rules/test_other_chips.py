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
        ("vllm_ascend/ops/add.py", "possible"),
        ("third_party/hcu/python/test/unit/language/sub/add.py", "possible"),
        ("third_party/other/python/test/unit/language/sub/add.py", "proven"),
        ("home/npu/a/b/c/d/add.py", "proven"),
    ],
)
def test_folders_of_other_chips(path: str, certainty: str) -> None:
    assert certainties(path, samples.ADD + LAUNCH.format("", "")) == [certainty]


@pytest.mark.parametrize(
    ("path", "gpus"),
    [
        ("pkg/ops/norm.py", ["a100", "mi300x"]),
        ("pkg/nvidia/ops/norm.py", ["a100"]),
        ("pkg/ops/_rocm/norm.py", ["mi300x"]),
        ("pkg/ops/amd.py", ["mi300x"]),
        ("pkg/nvidia/amd/norm.py", ["a100", "mi300x"]),  # of which of the two it is does not say
        ("pkg/ops/cuda/norm.py", ["a100", "mi300x"]),  # as torch calls AMD's devices too
        ("nvidia/a/b/c/d/norm.py", ["a100", "mi300x"]),
    ],
)
def test_folders_of_one_vendor(path: str, gpus: list[str]) -> None:
    """Too many threads on both: said of the GPUs that the file is for."""
    source = (
        samples.ADD + "\n\ndef run(x, y, out, n):\n    add[(n,)](x, y, out, n, BLOCK=1024, num_warps=64)\n"
    )
    result = lint_source(path, source, Settings(), gpus=["a100", "mi300x"])
    found = [finding.gpus for finding in result.findings if finding.code == "TL102"]
    assert sorted(gpu for names in found for gpu in names) == gpus


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
