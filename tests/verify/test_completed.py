"""Constants that nothing tells: given by name or pattern, or tried where only a few values are possible."""

from __future__ import annotations

from typing import Any

from tests.samples import HEAD, targets
from tritonlint.context import FileWork
from tritonlint.settings import Settings
from tritonlint.verify.asked import Asked, asked_of

KERNEL = (
    HEAD
    + """\
@triton.jit
def kernel(x_ptr, n, stride_m: tl.constexpr, BLOCK: tl.constexpr, FLAG: tl.constexpr):
    offs = tl.arange(0, BLOCK) * stride_m
    if FLAG:
        offs = offs + 1
    tl.store(x_ptr + offs, n)


def run(x, causal, block):
    kernel[(4,)](x, 4096, x.stride(0), BLOCK=block, FLAG=True if causal else False)
"""
)


def asked(**sets: Any) -> list[Asked]:
    return list(asked_of(FileWork("sample.py", KERNEL, Settings(), targets("h100")), sets))


def test_nothing_is_compiled_while_a_value_is_missing() -> None:
    assert [one.job for one in asked()] == [None, None]
    assert all("BLOCK" in one.why for one in asked(stride_m=1))


def test_patterns_fill_and_few_values_are_tried() -> None:
    found = asked(**{"stride_*": 128, "B*": 64, "n": 3})
    assert [one.config["FLAG"] for one in found] == [True, False]
    for one in found:
        assert one.job is not None
        assert one.job.constants == {"stride_m": 128, "BLOCK": 64, "FLAG": one.config["FLAG"]}
        assert "stride_m is 128 (--set)" in one.assumptions
        assert one.config["BLOCK"] == 64


def test_what_the_launch_gives_is_not_replaced() -> None:
    (first, _) = asked(**{"stride_*": 1, "BLOCK": 64, "num_warps": 32})
    assert first.job is not None
    assert first.job.options["num_warps"] == 4
