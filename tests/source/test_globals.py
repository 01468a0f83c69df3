"""Names of a module that its functions set later are not what the module gave them first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.source.reading import launched, tuned, values
from tritonlint.source.values import Known, Unknown

MODULE = """
SIZE = 64
LAZY = None
STAYS = 32
BOTH = 16

def initialise():
    global SIZE, BOTH
    SIZE = torch.cuda.get_device_properties(0).multi_processor_count
    BOTH = 128

def reads():
    global SIZE, ONLY_READ
    return SIZE

ONLY_READ = 8

def lazy():
    global LAZY
    if LAZY is None:
        LAZY = 256
    return LAZY

class Holder:
    def method(self):
        global KEPT
        KEPT = 1
"""


@pytest.mark.parametrize(
    ("value", "known"),
    [
        ("SIZE", None),
        ("reads()", None),
        ("BOTH", None),
        ("STAYS", 32),
        ("ONLY_READ", 8),
        ("lazy()", 256),
        ("KEPT", None),
    ],
)
def test_what_a_function_sets_is_not_known_in_another(value: str, known: int | None) -> None:
    plan = launched(f"{MODULE}\nKEPT = 8\n\ndef run(x, y, n):\n    scale[(1,)](x, y, n, BLOCK={value})\n")
    (block,) = (candidate.constants["BLOCK"] for candidate in plan.candidates)
    assert block == Known(known) if known is not None else isinstance(block, Unknown)


def test_a_function_sees_what_it_sets_itself() -> None:
    plan = launched(
        MODULE
        + "\ndef run(x, y, n):\n    global STAYS\n    STAYS = 512\n    scale[(1,)](x, y, n, BLOCK=STAYS)\n"
    )
    assert [candidate.constants["BLOCK"] for candidate in plan.candidates] == [Known(512)]


def test_where_the_module_runs_its_own_values_hold() -> None:
    site = tuned(MODULE + "\n@triton.autotune([triton.Config({'BLOCK': SIZE})], key=[])\n")
    assert values(site) == [64]


def test_in_a_module_that_is_imported_too(tmp_path: Path) -> None:
    (tmp_path / "sizes.py").write_text("import torch\n" + MODULE)
    code = "import sizes\nfrom sizes import reads, lazy\n"
    for value, known in (("reads()", None), ("lazy()", 256)):
        plan = launched(
            f"{code}\ndef run(x, y, n):\n    scale[(1,)](x, y, n, BLOCK={value})\n",
            path=tmp_path / "kernels.py",
        )
        (block,) = (candidate.constants["BLOCK"] for candidate in plan.candidates)
        assert block == Known(known) if known is not None else isinstance(block, Unknown)
