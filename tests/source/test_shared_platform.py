"""One reading of a file serves the platforms that answer alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.samples import HEAD
from tritonlint.context import FileWork
from tritonlint.settings import Settings
from tritonlint.source.shared_platform import SharedPlatform
from tritonlint.source.sites import Platform
from tritonlint.targets import choose

KERNEL = """\
@triton.jit
def k(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), VALUE)


def run(x):
    k[(1,)](x, BLOCK=SIZE, num_stages=2)
"""


def file_work(source: str, gpus: tuple[str, ...]) -> FileWork:
    return FileWork("k.py", source, Settings(), choose(Settings(), Path("."), gpus, "3.9"))


def readings(asks: str, gpus: tuple[str, ...]) -> tuple[list[object], int]:
    """The BLOCK on each GPU, and how many readings that took."""
    work = file_work(HEAD + asks + "\n\n" + KERNEL, gpus)
    plans = [next(iter(work.plans_on(gpu).values())) for gpu in work.targets.gpus]
    return [plan.candidates[0].constants["BLOCK"].value for plan in plans], len({id(plan) for plan in plans})


@pytest.mark.parametrize(
    ("asks", "values", "taken"),
    [
        ("SIZE = 64", [64, 64, 64, 64], 1),
        ("SIZE = 128 if torch.version.hip else 64", [64, 64, 64, 128], 2),
        ("SIZE = 64 if torch.cuda.get_device_capability() >= (9, 0) else 32", [32, 32, 64, 64], 4),
        ("SIZE = torch.cuda.get_device_properties(0).warp_size", [32, 32, 32, 64], 2),
    ],
)
def test_a_file_is_read_once_for_gpus_that_answer_alike(asks: str, values: list[int], taken: int) -> None:
    assert readings(asks, ("a100", "rtx4090", "h100", "mi300x")) == (values, taken)


def test_a_name_that_means_something_else_later_is_noticed() -> None:
    work = file_work(
        HEAD + "VALUE = 1.0 if torch.version.hip else 2.0\nSIZE = 64\n\n\n" + KERNEL, ("a100", "mi300x")
    )
    plans = [next(iter(work.plans_on(gpu).values())) for gpu in work.targets.gpus]
    assert plans[0] is plans[1] and not work.differs
    assert plans[0].kernel.scope.lookup("VALUE") is not None
    assert work.differs


def test_platforms_are_told_apart_by_what_was_asked() -> None:
    shared = SharedPlatform(Platform("sm_80", (3, 9), "a100"))
    assert shared.triton == (3, 9)
    assert shared.admits(Platform("gfx942", (3, 9), "mi300x"))
    assert not shared.admits(Platform("sm_80", (3, 8)))
    assert not shared.differs
    assert shared.arch == "sm_80"
    assert shared.differs
    assert not shared.admits(Platform("sm_90", (3, 9)))
