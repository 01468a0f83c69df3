"""Work is shared by the targets that answer alike, and only by them."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import Any

import pytest

from tests.samples import ADD, GEMM, kernel
from tritonlint.compiler import compile as compile_module
from tritonlint.compiler.asked import AskedMemo, AskedNumber, AskedTarget
from tritonlint.compiler.compile import compiled
from tritonlint.compiler.graph import GOp, from_function
from tritonlint.compiler.options import Options
from tritonlint.compiler.releases import release
from tritonlint.compiler.target import Target
from tritonlint.kernel.ir import Trace
from tritonlint.kernel.trace import ArgumentSpec, trace
from tritonlint.source.sites import KernelSource

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


def test_a_number_that_is_only_compared_is_shared_by_those_on_the_same_side() -> None:
    memo: AskedMemo[bool] = AskedMemo(4)
    made: list[Target] = []

    def make(target: Target, stages: int) -> bool:
        made.append(target)
        return stages > 1 and stages != 7

    found = [memo.get_for("key", TARGETS[0], number, make) for number in (0, 1, 2, 3, 7, 9)]
    assert found == [False, False, True, True, False, True]
    assert len(made) == 3


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (hash, 6), (str, "6"), (int, 6), (bool, True), (lambda value: value + 1, 7), (lambda value: 9 - value, 3),
        (lambda value: value // 4, 1), (lambda value: f"{value}", "6"), (lambda value: {value: 2}[6], 2),
        (lambda value: list(range(value)), [0, 1, 2, 3, 4, 5]), (lambda value: [0] * value, [0] * 6),
        (lambda value: "abcdefg"[value], "g"), (lambda value: max(2, value) + 0, 6), (lambda value: value + value, 12),
    ],
)  # fmt: skip
def test_what_is_no_comparison_with_a_number_asks_for_the_number(read, said) -> None:
    view = AskedNumber(6)
    assert read(view) == said
    assert view.answers[()] == 6


def specs_of(read: KernelSource, constants: Mapping[str, int]) -> dict[str, ArgumentSpec]:
    names = [a.arg for a in read.node.args.args if a.arg not in constants]
    return {one: ArgumentSpec("*fp16" if one.endswith("_ptr") else "i32", True) for one in names}


def counted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[tuple[Any, ...]]:
    """What a function of the compile module is called with from now on."""
    plain, calls = getattr(compile_module, name), []

    def noted(*given: Any) -> Any:
        calls.append(given)
        return plain(*given)

    monkeypatch.setattr(compile_module, name, noted)
    return calls


@pytest.mark.parametrize("version", [(2, 1), (3, 0), (3, 4), (3, 9)])
@pytest.mark.parametrize(
    ("source", "name", "constants", "times"),
    [(GEMM, "gemm", GEMM_TILES, 6), (ADD, "add", {"BLOCK": 1024}, 2)],
)
def test_configs_that_differ_in_stages_share_an_answer_only_where_it_is_the_same(
    source, name, constants, times, version, monkeypatch
) -> None:
    read = kernel(source, name)
    specs = specs_of(read, constants)
    made = counted(monkeypatch, "_without_registers")
    for target in (Target("sm_80"), Target("sm_90"), Target("gfx942")):
        traced = trace(read, specs, constants, target=target, release=version)
        made.clear()
        options = [Options(num_stages=stages) for stages in range(6)]
        shared = [compiled(traced, one, target, release(*version)) for one in options]
        assert len(made) <= times
        for one, answer in zip(options, shared, strict=True):
            alone = trace(read, specs, constants, target=target, release=version)
            assert answer == compiled(alone, one, target, release(*version))


def test_targets_share_what_comes_before_tensor_cores(monkeypatch) -> None:
    """A kernel for many targets goes once through the passes that ask little; each answer is that of a fresh start."""
    read = kernel(GEMM, "gemm")
    specs = specs_of(read, GEMM_TILES)
    runs = counted(monkeypatch, "first_layouts")
    nvidia = [target for target in TARGETS if target.is_nvidia and target.capability >= 80]
    for tile in (32, 64):
        constants = {**GEMM_TILES, "BLOCK_M": tile}
        traced = trace(read, specs, constants, target=nvidia[0], release=(3, 9))
        runs.clear()
        shared = [compiled(traced, Options(), target, (3, 9)) for target in nvidia]
        assert len(runs) <= 2  # a copy is kept from the second kind of target on
        for target, answer in zip(nvidia, shared, strict=True):
            alone = trace(read, specs, constants, target=target, release=(3, 9))
            assert answer == compiled(alone, Options(), target, (3, 9))


def test_without_a_dot_all_newer_nvidia_targets_share_all_but_the_registers(monkeypatch) -> None:
    """What a launch may have of registers, and how many it takes, stays each one's own."""
    read = kernel(ADD, "add")
    specs = specs_of(read, {"BLOCK": 0})
    made = counted(monkeypatch, "_without_registers")
    nvidia = [target for target in TARGETS if target.is_nvidia and target.capability >= 80]

    def traced() -> Trace:
        return trace(read, specs, {"BLOCK": 8192}, target=nvidia[0], release=(3, 9))

    once = traced()
    options = [Options(maxnreg=limit) for limit in (None, 32)]
    shared = [(target, one, compiled(once, one, target, (3, 9))) for target in nvidia for one in options]
    assert len(made) == 1
    for target, one, answer in shared:
        assert answer == compiled(traced(), one, target, (3, 9))
    assert {answer.registers for _, _, answer in shared} > {32}


def test_what_is_dropped_is_told() -> None:
    gone: list[str] = []
    memo: AskedMemo[str] = AskedMemo(2, gone.append)
    for key in "abca":
        memo.get(key, TARGETS[0], lambda view, key=key: key + view.arch[:2])
    assert gone == ["asm", "bsm"]


def test_a_released_graph_goes_without_a_collection() -> None:
    read = kernel(GEMM, "gemm")
    traced = trace(read, specs_of(read, GEMM_TILES), GEMM_TILES, target=TARGETS[2], release=(3, 9))
    gc.collect()
    gc.disable()
    try:
        before = _operations()
        graph = from_function(traced.function)
        copy = graph.clone()
        assert _operations() > before + 100
        graph.release()
        copy.release()
        del graph, copy
        assert _operations() == before
    finally:
        gc.enable()


def _operations() -> int:
    return sum(type(one) is GOp for one in gc.get_objects())
