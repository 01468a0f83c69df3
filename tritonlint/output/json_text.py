"""JSON that every program can read, whatever the locale of the one that wrote it."""

from __future__ import annotations

import json
import re
from typing import Any

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # the other half characters stand for bytes of file names


def json_text(value: Any, indent: int | None = 2) -> str:
    r"""A value as JSON in ASCII, without a line end. Names of files are read as UTF-8 even where the locale is another;
    what is no text in them, and half characters, which strict readers refuse, become \ufffd."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, default=str)
    if text.isascii():
        return text
    whole = _HALF.sub("\ufffd", text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return _NOT_ASCII.sub(lambda character: json.dumps(character[0])[1:-1], whole)
