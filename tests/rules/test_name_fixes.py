"""Which names of a decorator are taken out without being asked."""

from __future__ import annotations

import pytest
from tritonlint_rules.support import samples

from tritonlint.lint import lint_source
from tritonlint.settings import Settings


@pytest.mark.parametrize(
    ("key", "safe"), [('key=["wholly_other"]', False), ('key=["n", "wholly_other"]', True)]
)
def test_a_key_is_not_emptied_without_being_asked(key: str, safe: bool) -> None:
    source = samples.tuned_scale([samples.block(256), samples.block(1024)], key)
    result = lint_source("a.py", source, Settings(), gpus=["a100"], triton="3.9")
    (finding,) = [one for one in result.findings if one.code == "TL303"]
    assert [(fix.title, fix.safe) for fix in finding.fixes] == [("key without wholly_other", safe)]
    assert finding.help and finding.help.startswith("arguments: ")
