"""What linting a file gave, kept on disk for the next run of the command line.

One SQLite file in the user's cache folder. An entry is found by everything that the result depends on: the bytes and the
path of the file, the settings, the targets, and the code and data of tritonlint and of the installed rules. The other
files that were looked at on the way (imported modules, lists that the settings name) are kept beside it with their times
and sizes, those that were not there as well; an entry counts only while all of them are as they were.

Nothing here raises: a cache that cannot be used, or an entry that is damaged, is the same as none.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import os
import pickle
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonlint import __version__
from tritonlint.disk import Stamp, stamp
from tritonlint.lint import FileResult

if TYPE_CHECKING:
    from tritonlint.finding import Finding
    from tritonlint.settings import Settings
    from tritonlint.targets import Targets

MAX_BYTES = 256 * 1024 * 1024
_DAY = 86_400
_ALLOWED_BUILTINS = {"frozenset": frozenset, "set": set}


def cache_folder() -> Path | None:
    """$TRITONLINT_CACHE_DIR, else `tritonlint` in the user's cache folder; None where no home is known."""
    named = os.environ.get("TRITONLINT_CACHE_DIR")
    if named:
        return Path(named)
    try:
        home = Path.home()
    except RuntimeError:
        home = Path()
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "tritonlint" / "Cache"
    elif sys.platform == "darwin":
        folder = home / "Library" / "Caches" / "tritonlint"
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "tritonlint"
    return folder if folder.is_absolute() else None  # an empty HOME would put it into the current folder


def cache_file(folder: Path) -> Path:
    return folder / "results.sqlite3"


class ResultCache:
    """The cache of one run. Use as a context manager: what was put is written when it ends."""

    def __init__(self, folder: Path | None) -> None:
        self._database: sqlite3.Connection | None = None
        self._stamps: dict[str, Stamp] = {}
        self._used: list[str] = []
        self._new: list[tuple[str, bytes, bytes, int]] = []
        self._code: bytes | None = None
        # What keys of the same settings and targets begin with; these are kept, since their ids are the key.
        self._shared: dict[Any, tuple[Any, Settings, Targets]] = {}
        if folder is not None:
            self._open(folder)

    def __enter__(self) -> ResultCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self, folder: Path) -> None:
        for _ in range(2):  # once more after a damaged file was removed
            try:
                folder.mkdir(parents=True, exist_ok=True)
                database = sqlite3.connect(cache_file(folder), timeout=5, isolation_level=None)
                database.execute("PRAGMA auto_vacuum = INCREMENTAL")
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA synchronous = OFF")  # a lost entry costs one lint
                database.execute(
                    "CREATE TABLE IF NOT EXISTS results"
                    " (key TEXT PRIMARY KEY, looked_at BLOB, result BLOB, used INTEGER)"
                )
                self._database = database
                return
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):  # locked, read-only, a full disk
                    return
                with contextlib.suppress(OSError):
                    cache_file(folder).unlink()
            except OSError:
                return

    @property
    def usable(self) -> bool:
        return self._database is not None

    def key(
        self, path: str, data: bytes, settings: Settings, targets: Targets, certainty: str, least: str
    ) -> str:
        """The name of a result: a digest of all that it depends on but the other files. What GPUs have is in the code, or
        in the settings."""
        shared = (id(settings), id(targets), certainty, least)
        if shared not in self._shared:
            if self._code is None:
                self._code = code_digest()
            digest = hashlib.sha256(self._code)
            for part in (repr(settings), targets.described(), certainty, least):
                digest.update(part.encode("utf-8", "surrogatepass"))
                digest.update(b"\0")
            self._shared[shared] = (digest, settings, targets)
        digest = self._shared[shared][0].copy()
        for part in (path, os.path.abspath(path)):
            digest.update(part.encode("utf-8", "surrogatepass"))
            digest.update(b"\0")
        digest.update(data)
        name: str = digest.hexdigest()
        return name

    def get(self, key: str) -> FileResult | None:
        """The result kept under a key, if every other file it rests on is as it was. Without its `source`."""
        if self._database is None:
            return None
        try:
            row = self._database.execute(
                "SELECT looked_at, result, used FROM results WHERE key = ?", (key,)
            ).fetchone()
        except sqlite3.Error:
            self._database = None
            return None
        if row is None:
            return None
        try:
            looked_at = _loads(row[0])
            if any(self._stamp(path) != stamp for path, stamp in looked_at.items()):
                return None
            result = _loads(row[1])
        except Exception:  # whatever a damaged entry holds
            return None
        if not isinstance(result, FileResult):
            return None
        if row[2] < time.time() - _DAY:
            self._used.append(key)
        return result

    def put(self, key: str, result: FileResult) -> None:
        """Keeps a result, unless tritonlint failed on the way to it."""
        if self._database is None or any(problem.internal for problem in result.problems):
            return
        findings = tuple(_without_answer(finding) for finding in result.findings)
        kept = replace(result, findings=findings, source="", looked_at={})
        try:
            looked_at = pickle.dumps(dict(result.looked_at), protocol=4)
            self._new.append((key, looked_at, pickle.dumps(kept, protocol=4), int(time.time())))
        except Exception:  # a rule of somebody else's put something into a finding that cannot be kept
            return

    def close(self) -> None:
        """Writes what is new, notes what was used, and drops what was not used for longest when there is too much."""
        database, self._database = self._database, None
        if database is None:
            return
        with contextlib.suppress(sqlite3.Error), contextlib.closing(database):
            if self._new or self._used:
                database.execute("BEGIN IMMEDIATE")
                database.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", self._new)
                now = int(time.time())
                database.executemany(
                    "UPDATE results SET used = ? WHERE key = ?", [(now, key) for key in self._used]
                )
                database.execute("COMMIT")
            if self._new:
                _trim(database)

    def _stamp(self, path: str) -> Stamp:
        """Asked once a run for each file, since many modules import the same ones."""
        if path not in self._stamps:
            self._stamps[path] = stamp(path)
        return self._stamps[path]


def _without_answer(finding: Finding) -> Finding:
    """Without the compiler's whole answer, which only rules look at; the records in it take longest to import."""
    if finding.estimate is None or finding.estimate.compiled is None:
        return finding
    return replace(finding, estimate=replace(finding.estimate, compiled=None))


def clear(folder: Path) -> int:
    """Removes the cache; the bytes that it held. Raises OSError."""
    freed = 0
    for name in ("", "-wal", "-shm"):
        path = Path(f"{cache_file(folder)}{name}")
        if path.exists():
            freed += path.stat().st_size
            path.unlink()
    return freed


def _trim(database: sqlite3.Connection) -> None:
    def pages(name: str) -> int:
        return int(database.execute(f"PRAGMA {name}").fetchone()[0])

    limit = MAX_BYTES // pages("page_size")
    if pages("page_count") <= limit:
        return
    entries = int(database.execute("SELECT count(*) FROM results").fetchone()[0])
    surplus = entries // 4 + 1
    database.execute(
        "DELETE FROM results WHERE key IN (SELECT key FROM results ORDER BY used LIMIT ?)", (surplus,)
    )
    database.execute("PRAGMA incremental_vacuum").fetchall()


class _Unpickler(pickle.Unpickler):
    """Makes plain values and tritonlint's own records, and calls nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        found = _found.get((module, name))
        if found is None:
            found = _found[module, name] = self._record(module, name)
        return found

    def _record(self, module: str, name: str) -> Any:
        if module == "builtins" and name in _ALLOWED_BUILTINS:
            return _ALLOWED_BUILTINS[name]
        if module.split(".", 1)[0] in ("tritonlint", "tritonlint_rules"):
            found = super().find_class(module, name)
            if isinstance(found, type) and dataclasses.is_dataclass(found):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no record of tritonlint")


_found: dict[tuple[str, str], Any] = {}


def _loads(data: bytes) -> Any:
    return _Unpickler(io.BytesIO(data)).load()


def code_digest() -> bytes:
    """A digest of the code and data that make results: the releases and files of tritonlint and of every rule
    package, so that a change in a checkout counts as well."""
    digest = hashlib.sha256(f"{__version__} {sys.version_info[:2]}".encode())
    for folder in dict.fromkeys((Path(__file__).parent, *_rule_folders())):
        for path in _files(folder):
            digest.update(f"{path} {stamp(path)}\n".encode("utf-8", "surrogatepass"))
    return digest.digest()


def _rule_folders() -> Iterator[Path]:
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    from tritonlint.registry import GROUP

    for point in entry_points(group=GROUP):
        try:
            spec = find_spec(point.module.partition(".")[0])
        except (ImportError, ValueError):
            continue
        if spec is not None and spec.origin is not None:
            yield Path(spec.origin).parent


def _files(folder: Path) -> Iterable[str]:
    found: list[str] = []
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        found += [os.path.join(here, name) for name in sorted(names) if not name.endswith(".pyc")]
        if len(found) > 5_000:  # a rule that is a lone module in a folder of everything
            break
    return found
