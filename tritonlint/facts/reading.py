"""Facts from files and folders, whatever kind they are of."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tritonlint.facts.nsight import read_nsight
from tritonlint.facts.record import Fact
from tritonlint.facts.run_log import read_run_log
from tritonlint.facts.triton_cache import TritonCache, is_triton_cache
from tritonlint.facts.tritonparse import read_tritonparse
from tritonlint.facts.verified import read_verified

KINDS = (
    "a folder of Triton's cache, a log of tritonparse (.ndjson, .ndjson.gz), a CSV of Nsight Compute (--page raw), "
    "a run log of tritonlint.autotune (.jsonl), or the JSON of `tritonlint verify`"
)

_LOGS = (".ndjson", ".ndjson.gz", ".ndjson.zst")


class FactsError(ValueError):
    """A path that holds no facts; one line for the user."""


@dataclass(slots=True)
class FactBook:
    """All facts, by kernel name. Oldest first, so that the last of equals is the newest."""

    caches: list[TritonCache] = field(default_factory=list)
    _listed: dict[str, list[Fact]] = field(default_factory=dict)
    _read: dict[str, tuple[Fact, ...]] = field(default_factory=dict)

    def add(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            self._listed.setdefault(fact.kernel, []).append(fact)

    def of(self, kernel: str) -> tuple[Fact, ...]:
        """The facts of kernels of that name."""
        if kernel not in self._read:
            found = [fact for cache in self.caches for fact in cache.facts(kernel)]
            self._read[kernel] = (*found, *self._listed.get(kernel, ()))
        return self._read[kernel]

    @property
    def kernels(self) -> frozenset[str]:
        return frozenset(self._listed).union(*(cache.kernels for cache in self.caches))


def read_facts(paths: Iterable[str]) -> FactBook:
    """The facts of all paths. Raises FactsError for a path that is not there or of no known kind."""
    book = FactBook()
    for path in paths:
        place = Path(path).expanduser()
        try:
            _read(place, book)
        except OSError as error:
            raise FactsError(f"{path}: cannot be read: {error.strerror or error}") from None
        except (ValueError, EOFError) as error:
            raise FactsError(f"{path}: {error}") from None
    return book


def _read(place: Path, book: FactBook) -> None:
    if place.is_dir():
        logs = sorted(file for file in place.iterdir() if file.name.endswith(_LOGS))
        if is_triton_cache(place):
            book.caches.append(TritonCache(place))
        elif not logs:
            raise ValueError(f"no facts in this folder; what is read is {KINDS}")
        for log in logs:
            book.add(read_tritonparse(log))
        return
    name = place.name
    if name.endswith(_LOGS):
        book.add(read_tritonparse(place))
    elif name.endswith(".jsonl"):
        book.add(read_run_log(place))
    elif name.endswith(".csv"):
        book.add(list(read_nsight(place)))
    elif name.endswith((".json", ".json.gz")):
        book.add(list(_from_json(place)))
    else:
        os.stat(place)
        raise ValueError(f"no facts; what is read is {KINDS}")


def _from_json(place: Path) -> Iterator[Fact]:
    opener: Any = gzip.open if place.suffix == ".gz" else open
    with opener(place, "rt", encoding="utf-8") as file:
        data = json.load(file)
    if not isinstance(data, dict) or not isinstance(data.get("rows"), list):
        raise ValueError(f"no facts; what is read is {KINDS}")
    yield from read_verified(data, str(place))
