"""A finding stands under the smallest text at fault: the argument, not the call, where one argument is."""

from __future__ import annotations

import pytest
from tritonlint_rules.support import samples

from tritonlint.fixes import text_at
from tritonlint.lint import lint_source
from tritonlint.settings import Settings

FITS = samples.block(256)
SPREAD = samples.tuned_scale([samples.block(1024, "num_warps=w")]).replace(
    'triton.Config({"BLOCK": 1024}, num_warps=w)',
    '*[triton.Config({"BLOCK": 1024}, num_warps=w) for w in (3, 4)]',
)
AT_FAULT = {
    "warps of a launch": (samples.launched_scale("BLOCK=1024, num_warps=6"), "TL204", "num_warps=6"),
    "warps of a config": (
        samples.tuned_scale([FITS, samples.block(1024, "num_warps = 6")]), "TL204", "num_warps = 6"
    ),
    "warps on a line of their own": (
        samples.tuned_scale([FITS, samples.block(1024, "\n        num_warps=6,\n    ")]), "TL204", "num_warps=6"
    ),
    "warps of a comprehension": (SPREAD, "TL204", "num_warps=w"),
    "warps from a dict of options": (
        samples.launched_scale("BLOCK=1024, **OPTIONS", before='OPTIONS = {"num_warps": 6}\n'), "TL204", None
    ),
    "too many warps": (samples.launched_scale("BLOCK=1024, num_warps=64"), "TL102", "num_warps=64"),
    "clusters": (samples.launched_scale("BLOCK=1024, num_ctas=2"), "TL205", "num_ctas=2"),
    "an option": (samples.launched_scale("BLOCK=1024, num_wraps=4"), "TL207", "num_wraps=4"),
    "an option of Config": (
        samples.tuned_scale([FITS, samples.block(1024, "num_wraps=4")]), "TL207", "num_wraps=4"
    ),
    "a meta-parameter": (
        samples.tuned_scale([FITS, 'triton.Config({"BLOCK": 64, "BLOKC": 512})']), "TL301", '"BLOKC": 512'
    ),
    "an option in the dict": (
        samples.tuned_scale([FITS, 'triton.Config({"BLOCK": 512, "num_warps": 8})']), "TL302", '"num_warps": 8'
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", AT_FAULT)
def test_the_argument_at_fault_is_underlined(what: str) -> None:
    """None: the launch, since the value is not written there."""
    source, code, text = AT_FAULT[what]
    result = lint_source("example.py", source, Settings(), gpus=["a100"], triton="3.9", certainty="possible")
    spans = {finding.span for finding in result.findings if finding.code == code}
    assert spans, [finding.code for finding in result.findings]
    found = {text_at(source, span) for span in spans}
    assert found == {text} if text is not None else all(one.startswith("scale[(") for one in found)
