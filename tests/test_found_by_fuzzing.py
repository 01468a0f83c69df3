"""Inputs that random runs (benchmarks/fuzz.py) once broke tritonlint with, cut down to what matters."""

from __future__ import annotations

import pytest
from tritonlint_rules.support import samples

from tests.fuzzing import well
from tritonlint.lint import lint_source
from tritonlint.settings import Settings

HEAD = """import torch
import triton
import triton.language as tl


@triton.jit
def f(p, B: tl.constexpr):
    tl.store(p, B)


"""
FOUND = {
    "the larger of a length and a fraction": "def run(p, xs):\n    f[(1,)](p, B=max(len(xs), 0.5))\n",
    "the larger of a length and a name of another module": "def run(p, xs):\n    f[(1,)](p, B=max(len(xs), torch.a))\n",
}


def test_a_pipeline_of_many_stages_is_not_gone_through() -> None:
    """It took minutes, and what it takes at least is known from fewer stages."""
    text = samples.tuned_gemm([samples.config("128x256x64", f"num_stages={stages}") for stages in (65536, 3)])
    result = lint_source("found.py", text, Settings(), gpus=["h100"], triton="3.9", certainty="possible")
    well(result)
    (finding,) = (one for one in result.findings if one.code == "TL101")
    assert finding.config is not None and finding.config["num_stages"] == 65536


@pytest.mark.parametrize("what", FOUND)
def test_what_was_found(what: str) -> None:
    well(
        lint_source(
            "found.py", HEAD + FOUND[what], Settings(), gpus=["h100"], triton="3.9", certainty="possible"
        )
    )
