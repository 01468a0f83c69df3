"""What a test expects to raise is no alarm."""

from __future__ import annotations

import pytest
from tritonlint_rules.support import samples

from tritonlint.finding import Finding
from tritonlint.lint import lint_source
from tritonlint.settings import Settings

KERNEL = samples.HEAD + (
    "@triton.jit\ndef k(x, n, BLOCK: tl.constexpr):\n"
    "    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    tl.store(x + o, o, o < n)\n\n\n"
)
LAUNCH = "k[(4,)](x, n, BLOCK=128, num_warps=3)"
TOO_ODD = "k[(4,)](x, n, BLOCK=96)"  # the finding stands in the kernel


def found(source: str) -> list[Finding]:
    result = lint_source("test_it.py", source, Settings(), gpus=["a100"], triton="3.9", certainty="possible")
    assert not [problem for problem in result.problems if problem.internal]
    return [finding for finding in result.findings if finding.severity == "error"]


@pytest.mark.parametrize("launch", [LAUNCH, TOO_ODD])
@pytest.mark.parametrize(
    ("block", "level"),
    [
        ("with pytest.raises(AssertionError, match='power'):", "possible"),
        ("with raises(AssertionError), torch.cuda.device(0):", "possible"),
        ("with self.assertRaises(Exception):", "possible"),
        ("with self.assertRaisesRegex(Exception, 'power'):", "possible"),
        ("with torch.cuda.device(0):", "proven"),
        ("if raises(AssertionError):", "proven"),
    ],
)
def test_a_launch_that_is_expected_to_raise(block: str, level: str, launch: str) -> None:
    source = KERNEL + f"def test_it(self, x, n):\n    {block}\n        {launch}\n"
    assert {finding.certainty for finding in found(source)} == {level}


@pytest.mark.parametrize("launch", [LAUNCH, TOO_ODD])
def test_a_launch_beside_the_block_is_not_expected_to(launch: str) -> None:
    source = KERNEL + (
        f"def test_it(x, n):\n    with pytest.raises(AssertionError):\n        k[(4,)](x)\n    {launch}\n"
    )
    assert "proven" in {finding.certainty for finding in found(source)}


def test_a_kernel_that_is_made_where_it_is_expected_to_fail() -> None:
    source = samples.HEAD + (
        "def test_it(x, n):\n    with pytest.raises(ValueError):\n"
        "        @triton.autotune([triton.Config({'BLOCK': 64}), triton.Config({'BLOCK': 128})], key=['m'])\n"
        "        @triton.jit\n        def k(x, n, BLOCK: tl.constexpr):\n"
        "            tl.store(x + tl.arange(0, BLOCK), n)\n        k[(4,)](x, n)\n"
    )
    assert {(finding.code, finding.certainty) for finding in found(source)} == {("TL303", "possible")}
