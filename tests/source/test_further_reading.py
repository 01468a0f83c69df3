"""Functions that ask a platform something are read again for the next one; the rest is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.samples import HEAD
from tritonlint.context import FileWork
from tritonlint.settings import Settings
from tritonlint.source.reading import read_plans
from tritonlint.source.sites import LaunchPlan
from tritonlint.targets import choose, platform

SOURCE = (
    HEAD
    + """\
SIZES = [64]
VALUE = 1.0


@triton.jit
def k(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), VALUE)


@triton.jit
def other(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)


def asks(x):
    SMS = torch.cuda.get_device_properties(0).multi_processor_count
    k[(SMS,)](x, BLOCK=64, num_stages=2)


def plain(x, y):
    other[(1,)](x, BLOCK=SIZES[0], num_stages=2)


def hands_on(x):
    plain(x, x)
"""
)
GPUS = ("a100", "h100", "rtx4090")


def told(plans: Any) -> list[str]:
    return [repr((plan.launch, plan.candidates, plan.missing, plan.unknown)) for plan in plans]


def on_each(source: str) -> list[list[LaunchPlan]]:
    """The plans on each GPU, which have to be those of a reading for it alone."""
    work = FileWork("k.py", source, Settings(), choose(Settings(), Path("."), GPUS, "3.9"))
    found = [list(work.plans_on(gpu).values()) for gpu in work.targets.gpus]
    for gpu, plans in zip(work.targets.gpus, found, strict=True):
        alone = read_plans(work.module, platform(gpu, work.targets.triton))
        assert told(plans) == told(alone.plans)
    assert not work.differs
    return found


def shared(found: list[list[LaunchPlan]]) -> set[str]:
    """The kernels whose plan is the same object on the first two GPUs."""
    return {one.kernel.name for one, two in zip(*found[:2], strict=True) if one is two}


def test_what_asks_nothing_is_read_once() -> None:
    found = on_each(SOURCE)
    assert shared(found) == {"other"}
    grids = [plan.candidates[0].grid for plans in found for plan in plans if plan.kernel.name == "k"]
    assert [grid[0].value for grid in grids if grid] == [108, 132, 128]


EDITS = {
    "the module asks": ("VALUE = 1.0", "SMS = torch.cuda.get_device_capability()\\nSIZES.append(SMS)"),
    "what was left behind is looked at": (
        "x, BLOCK=64,",
        "x, BLOCK=SIZES[-1],",
        "def plain(x, y):",
        "def plain(x, y):\\n    SIZES.append(128)",
    ),
    "launched on one platform only": ("    k[(SMS,)]", "    if SMS > 128:\\n        k[(SMS,)]"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_otherwise_all_is_read_again(edit: str) -> None:
    source = SOURCE
    pairs = EDITS[edit]
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in source
        source = source.replace(old, new.replace("\\n", "\n"))
    assert shared(on_each(source)) == set()


def test_functions_that_launch_at_the_same_place_are_read_again() -> None:
    source = SOURCE.replace("def plain(x, y):\n", "def plain(x, y):\n    launch(x, 32)\n").replace(
        "    SMS =", "    launch(x, 128)\n    SMS ="
    )
    source += "\n\ndef launch(x, n):\n    other[(n,)](x, BLOCK=n, num_stages=2)\n"
    found = on_each(source)
    places = [plan.launch.span.line for plan in found[0] if plan.launch is not None]
    assert len(places) == 3
    assert [one is two for one, two in zip(*found[:2], strict=True)].count(True) == 1


def test_what_is_asked_later_is_noticed() -> None:
    source = SOURCE.replace(
        "VALUE = 1.0", "VALUE = torch.cuda.get_device_properties(0).multi_processor_count"
    )
    work = FileWork("k.py", source, Settings(), choose(Settings(), Path("."), GPUS, "3.9"))
    plans = [list(work.plans_on(gpu).values()) for gpu in work.targets.gpus]
    assert shared(plans) == {"other"}
    assert plans[0][0].kernel.scope.lookup("VALUE") is not None
    assert work.differs


def test_a_property_that_nobody_reads_is_not_asked_for() -> None:
    source = """
import triton

@triton.jit
def k(x, BLOCK: tl.constexpr):
    pass

def run(x):
    properties = triton.runtime.driver.active.utils.get_device_properties(0)
    k[(properties.get("num_vectorcore", 20),)](x, BLOCK=KEY)
"""
    same, apart = (
        on_each(source.replace("KEY", text)) for text in ("64", "properties['multiprocessor_count']")
    )
    assert shared(same) == {"k"}
    assert shared(apart) == set()
