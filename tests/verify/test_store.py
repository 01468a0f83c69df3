"""What is kept between runs."""

from __future__ import annotations

from pathlib import Path

from tritonlint.verify.store import Store


def test_answers_are_there_at_once_and_for_others(tmp_path: Path) -> None:
    first, second = Store(tmp_path), Store(tmp_path)
    first.put("compiled", "a", {"shared_bytes": 1})
    assert second.get("compiled", "a") == {"shared_bytes": 1}
    assert second.get("estimated", "a") is None
    first.close()
    second.close()


def test_a_store_that_cannot_be_used_is_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "verify.sqlite3").write_bytes(b"no database" * 1000)
    for store in (Store(None), Store(tmp_path / "file"), Store(damaged)):
        store.put("compiled", "a", {})
        assert store.get("compiled", "a") is None
        store.close()
