"""Puts the page together. Needs altair, vl-convert-python and Jinja2 (the extra `html`)."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tritonlint import __version__
from tritonlint.matrix import Row
from tritonlint.output.page.charts import specs
from tritonlint.output.page.payload import as_json, packed, payload

ASSETS = Path(__file__).resolve().parent / "assets"
SCRIPTS = (
    "data.js",
    "heatmap.js",
    "charts.js",
    "details.js",
    "main.js",
)  # in the order in which they build on
NEEDED = ("altair", "vl_convert", "jinja2")


def missing() -> str | None:
    """The first library that is not installed, None where all are."""
    return next((name for name in NEEDED if importlib.util.find_spec(name) is None), None)


def render(rows: Sequence[Row], gpus: Sequence[str], triton: Sequence[str]) -> str:
    """The whole page."""
    altair, vl_convert, jinja2 = (_library(name) for name in NEEDED)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS), autoescape=True, undefined=jinja2.StrictUndefined
    )
    page: str = environment.get_template("page.html").render(
        version=__version__,
        title="Triton configs on GPUs",
        summary=_summary(rows, gpus, triton),
        style=_asset("style.css"),
        data=packed(as_json(payload(rows, gpus, triton))),
        charts=specs(altair),
        library=packed(vl_convert.javascript_bundle()),
        scripts=[_asset(name) for name in SCRIPTS],
    )
    return page


def _library(name: str) -> Any:
    return importlib.import_module(name)


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _summary(rows: Sequence[Row], gpus: Sequence[str], triton: Sequence[str]) -> str:
    kernels = len({(row.path, row.kernel) for row in rows})
    everywhere = sum(row.fits_everywhere for row in rows)
    return (
        f"{len(rows):,} configs of {kernels:,} kernels on {len(gpus)} GPUs, Triton {', '.join(triton)}; "
        f"{everywhere:,} fit everywhere."
    )
