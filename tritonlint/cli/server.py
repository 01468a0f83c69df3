"""`tritonlint server`: the language server."""

from __future__ import annotations

import click


@click.command(short_help="The language server, on standard input and output.")
@click.option("--stdio", is_flag=True, hidden=True, help="What some editors add; it is the only way anyhow.")
def command(stdio: bool) -> int:
    """Run the language server on standard input and output, until the editor ends it."""
    from tritonlint_server.main import main

    return main()
