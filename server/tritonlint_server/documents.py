"""What is open in the editor: documents, and notebooks as one unit made of their cells.

A unit is what is linted as one module. Its `revision` counts every change, whatever the client says of
versions, so that an answer for an older text is never taken for one of the newest.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tritonlint_server.buffer import Buffer
from tritonlint_server.uris import key_of, name_of, path_of

_revisions = itertools.count(1)


@dataclass(slots=True)
class Document:
    """One text document: a file, or a cell of a notebook."""

    uri: str
    language: str
    version: int | None
    buffer: Buffer


@dataclass(slots=True)
class Unit:
    """A file or a notebook. `path` is the name that settings are looked up for; `on_disk`: it is a file's."""

    uri: str
    path: str
    documents: list[Document]
    notebook: bool = False
    on_disk: bool = True
    revision: int = field(default_factory=lambda: next(_revisions))
    saved: int = 0  # the revision that was opened or written last

    def touch(self) -> None:
        self.revision = next(_revisions)

    @property
    def version(self) -> int | None:
        return self.documents[0].version if self.documents and not self.notebook else None

    def mentions_triton(self) -> bool:
        return any("triton" in document.buffer.text for document in self.documents)

    def firsts(self) -> list[int]:
        """The line of the joined text (from 1) at which each document begins."""
        starts = [1]
        for document in self.documents:
            starts.append(starts[-1] + len(document.buffer.lines))
        return starts[:-1]

    def at(self, line: int) -> tuple[Document, int]:
        """The document that holds a line of the joined text, and the line in it (from 0). Lines past the
        end are the last one's."""
        number = 0
        for number, first in enumerate(self.firsts()):
            if line < first + len(self.documents[number].buffer.lines):
                return self.documents[number], max(line - first, 0)
        last = self.documents[number]
        return last, len(last.buffer.lines) - 1

    def joined_line(self, uri: str, line: int) -> int | None:
        """The line of the joined text (from 1) for a line (from 0) of one of the documents."""
        key = key_of(uri)
        for first, document in zip(self.firsts(), self.documents, strict=True):
            if key_of(document.uri) == key:
                return first + line
        return None


class Documents:
    """The open units, by the URI of any of their documents. Nothing here fails for a document that is not
    open."""

    def __init__(self) -> None:
        self._units: dict[str, Unit] = {}
        self._owner: dict[str, str] = {}  # document -> unit
        self.folder = os.getcwd()  # for documents that are no file

    def __iter__(self) -> Iterator[Unit]:
        return iter(list(self._units.values()))

    def unit(self, uri: str) -> Unit | None:
        """The unit that a document (or a notebook) belongs to."""
        key = key_of(uri)
        return self._units.get(self._owner.get(key, key))

    def document(self, uri: str) -> Document | None:
        unit = self.unit(uri)
        if unit is None:
            return None
        key = key_of(uri)
        return next((document for document in unit.documents if key_of(document.uri) == key), None)

    def by_path(self, path: str) -> Unit | None:
        """The open file of a path."""
        return next((unit for unit in self if unit.on_disk and unit.path == path), None)

    def open(self, document: Document) -> Unit:
        """Opens a document, or replaces it where it is open already."""
        return self._put(document.uri, [document], notebook=False)

    def open_notebook(self, uri: str, cells: Sequence[Document]) -> Unit:
        return self._put(uri, list(cells), notebook=True)

    def set_cells(self, unit: Unit, cells: Sequence[Document]) -> list[Document]:
        """Other cells for a notebook; gives those that are gone."""
        keys = {key_of(cell.uri) for cell in cells}
        gone = [document for document in unit.documents if key_of(document.uri) not in keys]
        for document in gone:
            self._owner.pop(key_of(document.uri), None)
        unit.documents = list(cells)
        self._owner.update(dict.fromkeys(keys, key_of(unit.uri)))
        unit.touch()
        return gone

    def close(self, uri: str) -> Unit | None:
        """Closes a unit by its own URI."""
        unit = self._units.pop(key_of(uri), None)
        if unit is not None:
            for document in unit.documents:
                self._owner.pop(key_of(document.uri), None)
        return unit

    def _put(self, uri: str, documents: list[Document], notebook: bool) -> Unit:
        path = path_of(uri)
        unit = Unit(uri, path or name_of(uri, self.folder), documents, notebook, path is not None)
        key = key_of(uri)
        self.close(uri)
        self._units[key] = unit
        for document in documents:
            self._owner[key_of(document.uri)] = key
        return unit
