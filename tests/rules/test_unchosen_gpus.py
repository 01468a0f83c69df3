"""Where nobody chose the GPUs, what only one of them lacks is not held against the program."""

from __future__ import annotations

import pytest
from tritonlint_rules.support import samples

from tritonlint.finding import Finding
from tritonlint.gpu import detect
from tritonlint.lint import lint_source
from tritonlint.settings import Settings

FP8 = samples.launched_gemm("64x64x64", types="*fp8e4nv").replace("c_ptr=*fp8e4nv", "c_ptr=*fp16")
CLUSTERS = samples.launched_gemm("64x64x64", "num_ctas=2")
BIG = samples.launched_gemm("128x256x64", "num_warps=8, num_stages=4")  # 147,456 B before Hopper
HUGE = samples.launched_gemm("256x256x128", "num_warps=8, num_stages=4")
FIRST = samples.config("64x64x32", "num_warps=4, num_stages=3")
LIST = samples.tuned_gemm([FIRST, samples.config("128x256x64", "num_warps=8, num_stages=4")])


@pytest.fixture(autouse=True)
def no_gpu_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "detect", tuple)


def found(source: str, code: str, *gpus: str) -> list[Finding]:
    result = lint_source("example.py", source, Settings(), gpus=gpus, triton="3.9", certainty="possible")
    assert not [problem for problem in result.problems if problem.internal]
    return [finding for finding in result.findings if finding.code == code]


@pytest.mark.parametrize(("source", "code"), [(FP8, "TL206"), (CLUSTERS, "TL205")])
def test_what_a_default_gpu_lacks_is_possible_only(source: str, code: str) -> None:
    assert {finding.certainty for finding in found(source, code)} == {"possible"}
    (named,) = found(source, code, "a100")
    assert named.severity == "error" and named.certainty != "possible"


def test_a_comment_names_a_gpu_as_well_as_an_option_does() -> None:
    source = FP8.replace("assume a_ptr", "assume gpu=a100, a_ptr")
    assert [finding.certainty for finding in found(source, "TL206")] == ["proven"]


def test_an_error_on_some_of_the_defaults_is_a_warning() -> None:
    (some,) = found(BIG, "TL101")
    assert (some.severity, some.gpus) == ("warning", ("rtx4090",))
    (named,) = found(BIG, "TL101", "rtx4090")
    assert named.severity == "error"


def test_an_error_on_all_of_the_defaults_is_one() -> None:
    every = found(HUGE, "TL101")
    assert {finding.severity for finding in every} == {"error"}
    assert {gpu for finding in every for gpu in finding.gpus} == {"a100", "h100", "rtx4090"}


def test_a_config_of_a_list_that_only_some_defaults_skip_is_a_fact() -> None:
    (some,) = found(LIST, "TL101")
    assert (some.severity, some.gpus) == ("info", ("rtx4090",))
    (named,) = found(LIST, "TL101", "rtx4090")
    assert named.severity == "warning"


def test_what_is_only_possible_on_the_others_does_not_hold_on_them() -> None:
    """262,144 B of fp16 are too much for all three; of one byte an element, which the file has too, for the smallest
    alone."""
    wide = samples.config("256x128x128", "num_warps=8, num_stages=4")
    source = samples.tuned_gemm([FIRST, wide]).replace("a_ptr=*fp16, b_ptr=*fp16, c_ptr=*fp16, ", "")
    (every,) = found(source, "TL101")
    assert (every.severity, every.certainty, len(every.gpus)) == ("warning", "likely", 3)
    kinds = [
        (one.severity, one.certainty, one.gpus)
        for one in found(source + "\nFP8 = torch.float8_e5m2\n", "TL101")
    ]
    assert ("info", "likely", ("rtx4090",)) in kinds
    assert all(certainty == "possible" for _, certainty, gpus in kinds if gpus != ("rtx4090",))
