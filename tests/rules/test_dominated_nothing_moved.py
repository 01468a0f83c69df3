"""TL508 where the launch moves no bytes: found by the fuzzer."""

from __future__ import annotations

from tritonlint_rules.dominated_config import _clearly_more


def test_nothing_is_not_clearly_more_than_nothing() -> None:
    assert not _clearly_more(0.0, 0.0)
    assert not _clearly_more(8.0, 0.0)
    assert _clearly_more(800.0, 8.0)
