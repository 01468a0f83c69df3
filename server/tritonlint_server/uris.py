"""Between the URIs of a client and paths."""

from __future__ import annotations

import os
from urllib.parse import unquote, urlsplit

from pygls.uris import from_fs_path, to_fs_path


def key_of(uri: str) -> str:
    """The same for every spelling of a URI: clients differ in which characters they escape."""
    return unquote(uri)


def path_of(uri: str) -> str | None:
    """The absolute path of a `file:` URI, None for other schemes."""
    try:
        path = to_fs_path(uri)
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
    return from_fs_path(os.path.abspath(path)) or ""
