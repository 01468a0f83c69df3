"""The page of a rule as a file, for the help link of a diagnostic: it is there offline, and of the release
in hand."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from tritonlint import __version__
from tritonlint.result_cache import cache_folder
from tritonlint_server.uris import uri_of


@lru_cache(maxsize=256)
def link(code: str) -> str | None:
    """The URI of a rule's page; None where there is no such rule or the page cannot be written."""
    text = page(code)
    if text is None:
        return None
    try:
        folder = _folder()
        file = folder / f"{code}.md"
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            partial = file.with_suffix(f".{os.getpid()}")
            partial.write_text(text, encoding="utf-8")
            partial.replace(file)
    except OSError:
        return None
    return uri_of(str(file))


@lru_cache(maxsize=256)
def page(name: str) -> str | None:
    """A rule's text in Markdown, by code or name."""
    from tritonlint.registry import registry
    from tritonlint.rule_text import markdown

    rule = registry().find(name)
    return markdown(rule) + "\n" if rule is not None else None


@lru_cache(maxsize=1)
def _folder() -> Path:
    """Below the user's cache folder, else a folder of its own for this process."""
    base = cache_folder()
    if base is not None:
        folder = base / f"rules-{__version__}"
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            return folder
    return Path(tempfile.mkdtemp(prefix="tritonlint-"))
