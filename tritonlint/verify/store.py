"""What was compiled and estimated before, kept in one SQLite file in the user's cache folder.

Nothing here raises: a store that cannot be used is the same as an empty one.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any, Literal

Table = Literal["compiled", "estimated"]
_KEEP = 200_000  # entries of each kind; the oldest go


class Store:
    """Answers by key, as JSON. Each one is written at once, so that a run that is stopped goes on from there."""

    def __init__(self, folder: Path | None) -> None:
        self._database: sqlite3.Connection | None = None
        if folder is None:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(folder / "verify.sqlite3", timeout=10, isolation_level=None)
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = OFF")
            for table in ("compiled", "estimated"):
                database.execute(f"CREATE TABLE IF NOT EXISTS {table} (key TEXT PRIMARY KEY, answer TEXT)")
            self._database = database
        except (sqlite3.Error, OSError):
            return

    def get(self, table: Table, key: str) -> dict[str, Any] | None:
        if self._database is None:
            return None
        try:
            row = self._database.execute(f"SELECT answer FROM {table} WHERE key = ?", (key,)).fetchone()
            found: dict[str, Any] | None = json.loads(row[0]) if row else None
            return found
        except (sqlite3.Error, ValueError):
            return None

    def put(self, table: Table, key: str, answer: dict[str, Any]) -> None:
        if self._database is None:
            return
        with contextlib.suppress(sqlite3.Error):
            self._database.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (key, json.dumps(answer)))

    def close(self) -> None:
        database, self._database = self._database, None
        if database is None:
            return
        with contextlib.suppress(sqlite3.Error), contextlib.closing(database):
            for table in ("compiled", "estimated"):
                database.execute(
                    f"DELETE FROM {table} WHERE rowid <= (SELECT max(rowid) FROM {table}) - {_KEEP}"
                )
