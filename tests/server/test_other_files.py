"""Findings of one document that stand in another file."""

from __future__ import annotations

from pathlib import Path

from tritonlint_server.analysis import at_home

from tests.server.client import Client
from tritonlint.finding import Finding, Related
from tritonlint.span import Span

KERNEL = """\
import triton
import triton.language as tl

@triton.autotune(
    configs=[triton.Config({"BLOCK": 1024}, num_warps=4), triton.Config({"BLOCK": 1024}, num_warps=4)], key=["n"]
)
@triton.jit
def k(x_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + o, 1.0, mask=o < n)
"""
LAUNCH = """\
import torch
from kern import k

A = [
    dict(num_warps=2), dict(num_warps=3),
]
def run():
    x = torch.empty(4096, device="cuda", dtype=torch.float32)
    k[(4,)](x, 4096)
"""


def test_a_list_in_another_file_is_not_marked_here(tmp_path: Path) -> None:
    (tmp_path / "kern.py").write_text(KERNEL)
    with Client() as client:
        client.initialize()
        for name, text, codes in (("use.py", LAUNCH, []), ("kern.py", KERNEL, ["TL305"])):
            uri = (tmp_path / name).as_uri()
            client.open(uri, text)
            assert client.codes(uri) == codes


def test_what_is_related_to_this_file_stands_there() -> None:
    here, there = Span(3, 1, 3, 9), Span(7, 2, 7, 4)
    own = Finding(
        code="TL101", name="n", severity="error", certainty="proven", path="/a.py", span=here, message="m"
    )
    other = Finding(
        code="TL102", name="n", severity="error", certainty="proven", path="/b/kern.py", span=there, message="m",
        related=(Related("/a.py", here, "launched here"),),
    )  # fmt: skip
    first, second = at_home([own, other], "/a.py")
    assert first is own
    assert (second.path, second.span, second.message) == ("/a.py", here, "kern.py:7: m")
    assert second.related == (Related("/b/kern.py", there, "m"),)
    assert not list(at_home([other], "/c.py"))
