"""Work is shared by the targets that answer alike, and only by them."""

from __future__ import annotations

import pytest

from tests.samples import ADD, GEMM, kernel
from tritonlint.compiler.asked import AskedMemo, AskedTarget
from tritonlint.compiler.compile import compiled
from tritonlint.compiler.options import Options
from tritonlint.compiler.releases import release
from tritonlint.compiler.target import Target
from tritonlint.kernel.trace import ArgumentSpec, trace

TARGETS = [
    Target(f"sm_{number}") for number in (70, 75, 80, 86, 87, 89, 90, 100, 103, 120, 121)
] + [Target(name) for name in ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")]  # fmt: skip
GEMM_TILES = {
    "BLOCK_M": 64,
    "BLOCK_N": 64,
    "BLOCK_K": 32,
    "GROUP_M": 8,
    "stride_ak": 1,
    "stride_bn": 1,
    "stride_cn": 1,
}


def test_a_comparison_counts_as_no_more_than_its_result() -> None:
    memo: AskedMemo[str] = AskedMemo(4)
    made: list[str] = []

    def make(target: Target) -> str:
        made.append(target.arch if target.is_amd else "nvidia")
        return "new" if not target.is_amd and target.capability >= 90 else "old"

    found = [memo.get("key", target, make) for target in TARGETS]
    assert found == ["new" if target.capability >= 90 else "old" for target in TARGETS]
    assert made == ["nvidia", "nvidia", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"]


@pytest.mark.parametrize(
    "read", [hash, str, int, lambda value: value + 1, lambda value: f"{value}", lambda value: {value}]
)
def test_what_is_no_comparison_asks_for_the_whole_number(read) -> None:
    view = AskedTarget(Target("sm_86"))
    read(view.capability)
    assert view.answers == {("capability",): 86}


def test_what_a_view_is_asked_through_a_memo_counts_for_the_view() -> None:
    memo: AskedMemo[bool] = AskedMemo(4)
    for target in (Target("sm_80"), Target("sm_86")):  # made for the first, found for the second
        view = AskedTarget(target)
        assert memo.get("key", view, lambda asked: asked.capability < 90)
        assert [(name, said) for (name, *_), said in view.answers.items()] == [("capability", True)]


def test_an_error_on_the_way_leaves_its_questions() -> None:
    memo: AskedMemo[None] = AskedMemo(4)
    view = AskedTarget(Target("sm_80"))

    def fail(target: Target) -> None:
        raise ValueError(target.arch)

    with pytest.raises(ValueError, match="sm_80"):
        memo.get("key", view, fail)
    assert view.answers == {("arch",): "sm_80"}


@pytest.mark.parametrize("version", [(3, 0), (3, 4), (3, 9)])
@pytest.mark.parametrize(
    ("source", "name", "constants"), [(GEMM, "gemm", GEMM_TILES), (ADD, "add", {"BLOCK": 1024})]
)
def test_the_compiler_answers_the_same_through_the_memo(source, name, constants, version) -> None:
    read = kernel(source, name)
    names = [a.arg for a in read.node.args.args if a.arg not in constants]
    specs = {one: ArgumentSpec("*fp16" if one.endswith("_ptr") else "i32", True) for one in names}
    memo = AskedMemo(64)
    made = 0

    def make(target: Target):
        nonlocal made
        made += 1
        traced = trace(read, specs, constants, target=target, release=version)
        return compiled(traced, Options(), target, release(*version))

    for target in TARGETS:
        shared = memo.get("key", target, make)
        traced = trace(read, specs, constants, target=target, release=version)
        assert shared == compiled(traced, Options(), target, release(*version))
    assert made < len(TARGETS)
