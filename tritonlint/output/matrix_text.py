"""The matrix in the terminal."""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tritonlint.matrix import Row, by_kernel, cell_text, config_text
from tritonlint.output.style import style_for

_COLOUR = {"fits": "green", "maybe": "yellow", "no": "red", "unknown": "dim"}


def render(rows: Sequence[Row], gpus: Sequence[str], triton: Sequence[str], stream: TextIO | None) -> str:
    """One table a kernel. `stream` is where it goes, for its width and colour; None for a file."""
    colour = stream is not None and style_for(stream).colour
    width = shutil.get_terminal_size((120, 24)).columns if colour else 400
    written = io.StringIO()
    console = Console(
        file=written,
        force_terminal=colour,
        color_system="standard" if colour else None,
        width=width,
        highlight=False,
        legacy_windows=False,
    )
    if not rows:
        console.print("no config and no launch found")
    for (path, kernel, release), own in by_kernel(rows).items():
        title = f"{kernel} ({path})" + (f", Triton {release}" if len(triton) > 1 else "")
        table = Table(title=title, title_justify="left", title_style="bold", expand=False)
        table.add_column("config", overflow="fold")
        for gpu in gpus:
            table.add_column(gpu, justify="right")
        for row in own:
            cells = [row.cells.get(gpu) for gpu in gpus]
            table.add_row(
                Text(config_text(row.config)),
                *(Text(cell_text(cell), style=_COLOUR[cell.state] if cell else "") for cell in cells),
            )
        console.print(table)
    if rows:
        everywhere = sum(row.fits_everywhere for row in rows)
        console.print(
            f"Triton {', '.join(triton)}. CTAs per SM and what limits them; +N B: so much too large; ?: "
            f"not known. {everywhere} of {len(rows)} fit everywhere."
        )
    return written.getvalue()
