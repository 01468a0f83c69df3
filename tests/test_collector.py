"""What Python's collector is told, and that it is told nothing in processes of others."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tests.samples import GEMM
from tritonlint import collector
from tritonlint.lint import lint_source
from tritonlint.settings import Settings


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


def test_processes_of_others_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "_own", False)
    before = gc.get_threshold()
    collector.before_workers()
    collector.between_files()
    assert gc.get_freeze_count() == 0
    assert gc.get_threshold() == before


def test_what_is_there_before_the_workers_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "_own", False)  # so that it is put back
    collector.collect_rarely()
    collector.before_workers()
    frozen = gc.get_freeze_count()
    assert frozen > 1000
    later = [[number] for number in range(100)]
    collector.before_workers()
    assert gc.get_freeze_count() == frozen
    assert len(later) == 100


def test_what_is_borrowed_is_given_back_by_the_last() -> None:
    gc.set_threshold(701, 11, 12)
    with pytest.raises(ValueError, match="inner"), collector.rarely_for_now():
        first = gc.get_threshold()
        with collector.rarely_for_now():
            assert gc.get_threshold() == first
        assert gc.get_threshold() == first
        raise ValueError("inner")
    assert first[0] > 701
    assert gc.get_threshold() == (701, 11, 12)


@pytest.fixture
def _collections(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The generations that are collected in a process of our own."""
    monkeypatch.setattr(collector, "_own", True)
    monkeypatch.setattr(collector, "_left", 0)
    monkeypatch.setattr(collector, "_PILE", 10_000)
    gc.set_threshold(100_000_000, 20, 10)
    seen: list[int] = []

    def noted(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            seen.append(info["generation"])

    gc.callbacks.append(noted)
    yield seen
    gc.callbacks.remove(noted)


def test_what_stays_is_gone_through_again_only_once_as_much_joined_it(_collections: list[int]) -> None:
    gc.collect()
    _collections.clear()
    kept = [[[]] for _ in range(20_000)]
    collector.between_files()
    assert _collections == [1, 2]  # the first whole one counts what there is
    for _ in range(3):  # what is garbage again costs no whole one
        rings: list[list[object]] = [[] for _ in range(20_000)]
        for ring in rings:
            ring.append(ring)
        del rings, ring
        collector.between_files()
    assert _collections == [1, 2, 1, 1, 1]
    kept += [[[]] for _ in range(2 * len(gc.get_objects()) // 3)]
    collector.between_files()
    assert _collections == [1, 2, 1, 1, 1, 1, 2]
    assert len(kept) > 20_000


def test_little_is_not_collected_at_all(_collections: list[int]) -> None:
    gc.collect()
    _collections.clear()
    collector.between_files()
    assert _collections == []


def test_nothing_is_gone_through_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "_own", False)
    collector.before_the_end()
    assert gc.get_freeze_count() == 0
    monkeypatch.setattr(collector, "_own", True)
    collector.before_the_end()
    assert gc.get_freeze_count() > 1000


_HOST = """

class Tuned:
    def __init__(self, sizes=(64, 128)):
        self.sizes = sizes

    def pick(self, n):
        return next(size for size in self.sizes if size >= n)


def product(a, b, c):
    def grid(meta):
        return (triton.cdiv(a.shape[0], meta["BLOCK_M"]) * triton.cdiv(b.shape[1], meta["BLOCK_N"]),)

    gemm[grid](a, b, c, 1024, 1024, 1024, 1024, 1, 1024, 1, 1024, 1, BLOCK_M=Tuned().pick(128), BLOCK_N=256,
               BLOCK_K=64, GROUP_M=8, num_stages=5)
"""


def test_a_file_that_was_linted_leaves_nothing_to_a_collection() -> None:
    def lint() -> int:
        return len(lint_source("f.py", GEMM + _HOST, Settings()).findings)

    assert lint()  # what is imported and kept for all files is there now
    gc.collect()
    gc.disable()
    try:
        lint()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        kinds = {type(one) for one in gc.garbage}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not {kind.__qualname__ for kind in kinds if kind.__module__.startswith("tritonlint")}
