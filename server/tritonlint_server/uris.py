"""Between the URIs of a client and paths."""

from __future__ import annotations

import os
from urllib.parse import quote, unquote, unquote_to_bytes, urlsplit

from pygls.uris import from_fs_path, to_fs_path


def key_of(uri: str) -> str:
    """The same for every spelling of a URI: clients differ in which characters they escape."""
    return unquote(uri)


def path_of(uri: str) -> str | None:
    """The absolute path of a `file:` URI, None for other schemes."""
    try:
        path = to_fs_path(uri)
        if path and "\ufffd" in path and os.name == "posix":  # bytes that are not UTF-8
            path = os.fsdecode(unquote_to_bytes(urlsplit(uri).path))
    except ValueError:
        return None
    return os.path.normpath(path) if path else None


def name_of(uri: str, folder: str) -> str:
    """A path for a document that is not a file (untitled, in memory), in the folder whose settings shall
    hold."""
    try:
        name = os.path.basename(urlsplit(uri).path) or "untitled"
    except ValueError:
        name = "untitled"
    return os.path.join(folder, name if os.path.splitext(name)[1] else f"{name}.py")


def uri_of(path: str) -> str:
    """The `file:` URI of a path."""
    absolute = os.path.abspath(path)
    try:
        return from_fs_path(absolute) or ""
    except UnicodeEncodeError:  # bytes that are not UTF-8
        return "file://" + quote(absolute, errors="surrogateescape")
