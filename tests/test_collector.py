"""What Python's collector is told, and that it is told nothing in processes of others."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tritonlint import collector


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
    gc.set_threshold(1_000_000, 20, 10)
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
