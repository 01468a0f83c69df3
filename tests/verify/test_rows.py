"""An estimate beside an answer: what is a contradiction, and what is a miss."""

from __future__ import annotations

from typing import Any

import pytest

from tests.samples import ADD
from tests.verify.test_asked import asked
from tritonlint.verify.engine import Answer
from tritonlint.verify.rows import Row, compare, row_of

SOURCE = ADD + "\n\ndef run(x, y, out):\n    add[(4,)](x, y, out, 4096, BLOCK=128)\n"
ESTIMATE: dict[str, Any] = {
    "shared_bytes": 1024, "shared_exact": True, "shared_lower_bound": 1024, "tensor_memory_columns": 0,
    "registers": 40, "registers_low": 32, "registers_high": 48, "spills": "no", "warps": 4, "ctas_per_sm": 12,
    "fits": True, "assumptions": ["x_ptr is *fp32 (default)"],
}  # fmt: skip
COMPILED: dict[str, Any] = {
    "shared_bytes": 1024, "tensor_memory_columns": 0, "registers": 40, "spills": 0, "warps": 4,
    "ctas_per_sm": 12, "fits": True,
}  # fmt: skip


@pytest.mark.parametrize(
    ("estimate", "compiled", "expected"),
    [
        ({}, {}, []),
        ({}, {"shared_bytes": 2048}, [("shared_bytes", True)]),
        ({"shared_exact": False, "shared_lower_bound": 0}, {"shared_bytes": 2048}, [("shared_bytes", False)]),
        ({"shared_exact": False}, {"shared_bytes": 512}, [("shared_bytes", True)]),  # below the lower bound
        ({}, {"registers": 49}, [("registers", False)]),
        ({"registers": None}, {"registers": 49}, []),
        ({}, {"spills": 3}, [("spills", False)]),
        ({"spills": "likely"}, {"spills": 0}, []),
        ({"spills": "certain"}, {"spills": 0}, [("spills", True)]),
        ({"fits": False, "shared_exact": False}, {}, [("fits", True)]),  # a false alarm
        ({}, {"tensor_memory_columns": 128, "warps": 8}, [("tensor_memory_columns", True), ("warps", True)]),
    ],
)
def test_what_differs(
    estimate: dict[str, Any], compiled: dict[str, Any], expected: list[tuple[str, bool]]
) -> None:
    found = compare({**ESTIMATE, **estimate}, {**COMPILED, **compiled})
    assert [(one.what, one.claimed) for one in found] == expected


def row(
    answer: Answer | None,
    estimate: dict[str, Any] | None = ESTIMATE,
    refused: bool = False,
    assembly: bool = False,
) -> Row:
    (one,) = asked(SOURCE)
    return row_of(
        one, {"estimate": estimate, "why": ["line 3: no"], "refused": refused, "assembly": assembly}, answer
    )


def test_states() -> None:
    (one,) = asked(SOURCE)
    assert one.job is not None
    key = one.job.key
    good = Answer(key, shared_bytes=1024, warps=4, registers=40, spills=0)
    rejected = Answer(key, "rejected", "CompilationError: no")
    assert row(good, {**ESTIMATE, "ctas_per_sm": 12}).state == "equal"
    assert row(rejected).state == "wrong"  # said to compile
    assert row(rejected, None, refused=True).state == "refused"
    assert row(good, None, refused=True).state == "wrong"  # said not to compile
    for kind in ("import", "time", "memory", "crashed", "target", "not-found", "no-triton"):
        failed = row(Answer(key, kind, "why"))
        assert (failed.state, failed.reason, failed.compiled) == ("failed", "why", None)
    assert row(None).state == "incomplete"


def test_nothing_claims_that_written_assembly_assembles() -> None:
    (one,) = asked(SOURCE)
    assert one.job is not None
    words = "ptxas /tmp/x.ptx, line 30; error   : Not a name of any known instruction: 'nosuch'"
    for error in (f"PTXASError: PTXAS error: {words}", f"RuntimeError: {words}"):
        answer = Answer(one.job.key, "rejected", error)
        found = row(answer, assembly=True)
        assert (found.state, found.kind, found.reason) == ("failed", "assembly", error)
        assert found.differences == ()
        assert row(answer).state == "wrong"  # Triton's own code must assemble
    other = Answer(one.job.key, "rejected", "CompilationError: no")
    assert row(other, assembly=True).state == "wrong"


def test_a_row_as_json_names_what_was_assumed() -> None:
    (one,) = asked(SOURCE)
    assert one.job is not None
    answer = Answer(one.job.key, shared_bytes=512, warps=4, registers=40, spills=0)
    data = row(answer).to_json()
    assert data["differences"][0] == {
        "what": "shared_bytes", "estimated": 1024, "compiled": 512, "claimed": True
    }  # fmt: skip
    assert data["assumptions"] == ["x_ptr is *fp32 (default)"]
    assert data["config"]["BLOCK"] == 128
    assert data["compiled"]["limiter"]
