"""Inputs that random runs (benchmarks/fuzz.py) once broke tritonlint with, cut down to what matters."""

from __future__ import annotations

import json

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
    "a format that a value does not take": "def run(p):\n    f[(1,)](p, B=f'{None:.2f}')\n",
    "a format for a number that no float holds": "def run(p):\n    f[(1,)](p, B=f'{10**400:.2f}')\n",
}
# What a host function does before its launch: none of it may fill the memory, or go through what it need not.
ENDLESS = (
    "for i in range(10**30):\n    pass",
    "B = len(range(10**30))",
    "B = 10**8 if 1.5 in range(10**9) else 4",
    "B = range(10**9).count(1.5)",
    "B = range(10**9)[int(p)]",
    "B = '%1000000000d' % 3",
    "B = '%*d' % (10**9, 3)",
    "B = f'{3:1000000000}'",
    "B = '{:>1000000000}'.format(3)",
    "B = '{:{}}'.format(3, 10**9)",
    "B = 'x'\nfor i in range(100):\n    B = B + B",
    "B = 'x'\nfor i in range(100):\n    B = f'{B}{B}'",
    "B = 'x'\nfor i in range(100):\n    B = B.replace('x', 'xx')",
    "B = 'x'\nfor i in range(100):\n    B = ''.join([B, B])",
    "B = [0]\nfor i in range(100):\n    B = B + B",
    "B = [0]\nfor i in range(100):\n    B.extend(B)",
    "B = [0]\nfor i in range(100):\n    B[len(B):] = B",
    "B = (0,)\nfor i in range(100):\n    B = (*B, *B)",
    "B = [0] * 50_000\nfor i in range(10_000):\n    C = B == B + [1]",
    "B = (0,)\nfor i in range(100):\n    B = (B, B)\nC = str(B)",
    "B = [0]\nfor i in range(100):\n    C = []\n    C.append(B)\n    C.append(B)\n    B = C\nC = B == B",
)


def test_a_pipeline_of_many_stages_is_not_gone_through() -> None:
    """It took minutes, and what it takes at least is known from fewer stages."""
    text = samples.tuned_gemm([samples.config("128x256x64", f"num_stages={stages}") for stages in (65536, 3)])
    result = lint_source("found.py", text, Settings(), gpus=["h100"], triton="3.9", certainty="possible")
    well(result)
    (finding,) = (one for one in result.findings if one.code == "TL101")
    assert finding.config is not None and finding.config["num_stages"] == 65536


def test_so_many_stages_of_a_tuned_file_are_not_gone_through() -> None:
    name = "E=8,N=7168,device_name=NVIDIA_H100_80GB_HBM3,dtype=fp8_w8a8,block_shape=[128,128].json"
    entry = {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 64, "GROUP_SIZE_M": 1, "num_warps": 4}
    text = json.dumps({"64": {**entry, "num_stages": 2**40, "x": "a"}, "triton_version": "3.4.0"}, indent=4)
    for triton in ("2.1", "3.2", "3.9"):
        well(
            lint_source(name, text, Settings(), gpus=["h100", "mi300x"], triton=triton, certainty="possible")
        )


@pytest.mark.parametrize("body", ENDLESS)
def test_no_value_grows_without_bound(body: str) -> None:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    text = f"{HEAD}def run(p):\n{lines}    f[(1,)](p, B=B)\n"
    well(lint_source("found.py", text, Settings(), gpus=["h100"], triton="3.9", certainty="possible"))


@pytest.mark.parametrize("what", FOUND)
def test_what_was_found(what: str) -> None:
    well(
        lint_source(
            "found.py", HEAD + FOUND[what], Settings(), gpus=["h100"], triton="3.9", certainty="possible"
        )
    )
