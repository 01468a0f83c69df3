"""`tritonlint cache`: where results are kept between runs, and how to drop them."""

from __future__ import annotations

import click

from tritonlint.cli.main import CommandError


@click.command(short_help="Where results are kept between runs.")
@click.argument("action", type=click.Choice(["show", "clear"]), default="show")
def command(action: str) -> int:
    """The cache of `tritonlint check`: `show` says where it is and how large, `clear` removes it.

    TRITONLINT_CACHE_DIR names another folder; `check --no-cache` neither reads nor writes it.
    """
    from tritonlint.result_cache import cache_file, cache_folder, clear

    folder = cache_folder()
    if folder is None:
        raise CommandError("there is no cache: no home folder is known, and TRITONLINT_CACHE_DIR is not set")
    path = cache_file(folder)
    if action == "show":
        size = f"{path.stat().st_size:,} B" if path.exists() else "empty"
        click.echo(f"{path}: {size}")
        return 0
    try:
        freed = clear(folder)
    except OSError as error:
        raise CommandError(f"{path} cannot be removed: {error.strerror or error}") from None
    click.echo(f"{freed:,} B freed")
    return 0
