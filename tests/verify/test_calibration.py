"""What explains a difference between an estimate and a fact."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tritonlint.compiler.compiled import Compiled, SharedPart
from tritonlint.facts.record import Numbers
from tritonlint.verify.calibration import Compared, mechanisms, misses, shared_mechanism, summary

BUFFERS = SharedPart("3 buffers x 128x64 x 2 B", 3 * 16_384, 12, "buffer")
SCRATCH = SharedPart("conversion 128x128 x 2 B", 33_792, 20, "conversion", live_at_peak=False)
OTHER = SharedPart("sum", 1_000, 22, "reduction")
ESTIMATE = Compiled(
    shared_bytes=50_152, shared_exact=True, shared_lower_bound=50_152, parts=(BUFFERS, OTHER, SCRATCH),
    tensor_memory_columns=0, warps=4, tensor_cores="mma_v2", dots=(), loads=(), registers=128,
    registers_low=100, registers_high=150, spills="no",
)  # fmt: skip
SAME = Numbers(50_152, 128, 0, 0, 4)


@pytest.mark.parametrize(
    ("real", "name"),
    [
        (50_152 - 16_384, "pipeliner: fewer buffers for a load"),
        (50_152 + 2 * 16_384, "pipeliner: more buffers for a load"),
        (50_152 + 33_792, "conversion: needed once more"),
        (49_152, "reduction: not needed"),
        (49_500, "allocation: other lifetimes or alignment"),
        (60_000, "not explained"),
    ],
)
def test_what_explains_other_shared_memory(real: int, name: str) -> None:
    assert shared_mechanism(ESTIMATE, real) == name


def test_what_is_known_not_to_be_modelled_comes_first() -> None:
    unsure = replace(ESTIMATE, reasons=("line 31: tl.gather is not modelled",))
    assert shared_mechanism(unsure, 49_152) == "not modelled: tl.gather is not modelled"
    assert (
        shared_mechanism(replace(ESTIMATE, shared_bytes=0, parts=()), 16) == "scratch that is not seen at all"
    )


def compared(estimate: Compiled = ESTIMATE, **changes: Any) -> Compared:
    return Compared("a.py", 3, "gemm", {"BM": 64}, "sm_80", "3.9", estimate, replace(SAME, **changes))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"shared_bytes": 1}, [("shared memory", True)]),
        ({"registers": 99}, [("registers", False)]),
        ({"registers": 150}, []),
        ({"spills": 4}, [("spills", False)]),
        ({"tensor_memory_columns": 64, "warps": 8}, [("tensor memory", True), ("warps", True)]),
        ({"shared_bytes": None, "registers": None, "spills": None, "warps": None}, []),
    ],
)
def test_misses(changes: dict[str, Any], expected: list[tuple[str, bool]]) -> None:
    assert [(miss.what, miss.claimed) for miss in misses(compared(**changes))] == expected


def test_an_estimate_that_claims_nothing() -> None:
    guess = replace(ESTIMATE, shared_exact=False, shared_lower_bound=40_000)
    assert [miss.claimed for miss in misses(compared(guess, shared_bytes=45_000))] == [False]
    assert [miss.claimed for miss in misses(compared(guess, shared_bytes=30_000))] == [True]


def test_contradicted_claims_come_first_then_the_most_rows() -> None:
    rows = [
        compared(registers=200),
        compared(registers=201),
        compared(spills=1),
        compared(shared_bytes=49_152),
    ]
    found = mechanisms(rows)
    assert [(one.what, len(one.misses)) for one in found] == [
        ("shared memory", 1), ("registers", 2), ("spills", 1)
    ]  # fmt: skip
    data = found[1].to_json()
    assert data["median_difference"] == 72.5
    assert data["examples"][0]["real"] == 201
    assert summary(rows)["shared memory"] == {"known": 4, "equal": 3}
    assert summary(rows)["registers"] == {"known": 4, "equal": 2}
