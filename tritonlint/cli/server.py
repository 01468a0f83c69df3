"""`tritonlint server`: the language server."""

from __future__ import annotations

import importlib
from typing import Any

import click


@click.command(short_help="The language server, on standard input and output.")
@click.option("--stdio", is_flag=True, hidden=True, help="What some editors add; there is no other way.")
def command(stdio: bool) -> int:
    """Run the language server on standard input and output, until the editor ends it."""
    server: Any = importlib.import_module("tritonlint_server.main")  # its imports take half a second
    return int(server.main() or 0)
