"""The page of the matrix as text: what stands in it, and how large it is."""

from __future__ import annotations

import base64
import gzip
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cache import missing
from tests.cli.running import tritonlint
from tests.samples import GEMM, targets
from tritonlint.context import FileWork
from tritonlint.estimate_record import TimePart
from tritonlint.gpu.profile import list_profiles
from tritonlint.matrix import Cell, Row, cell_text, rows_of
from tritonlint.model.occupancy import occupancy
from tritonlint.output.page import render as page
from tritonlint.output.page.curves import curves
from tritonlint.output.page.payload import payload
from tritonlint.rule import Later
from tritonlint.settings import Settings

TUNED = GEMM.replace(
    "@triton.jit\ndef gemm",
    """# tritonlint: assume M=4096, N=4096, K=4096
@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 128, "BLOCK_N": n, "BLOCK_K": 64, "GROUP_M": 8}, num_warps=8, num_stages=4)
        for n in (64, 256)
    ],
    key=["M", "N", "K"],
)
@triton.jit
def gemm""",
)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    both = replace(targets("rtx3070"), names=("rtx3070", "h100"))
    return rows_of(FileWork("a </script><b>.py", TUNED.encode(), Settings(), both))


@pytest.fixture(scope="module")
def html(rows: Sequence[Row]) -> str:
    if page.missing() is not None:
        missing("tritonlint[html]")
    return page.render(rows, ["rtx3070", "h100"], ["3.9"])


def test_the_page_refers_to_nothing_outside(html: str) -> None:
    found = re.search(r"<(?:link|img|iframe)\b|<script[^>]+src=|@import|url\(", html)
    assert found is None
    assert "default-src 'none'" in html


def test_names_from_files_cannot_leave_their_place(html: str) -> None:
    """A path that holds markup stands in the packed data only."""
    assert "</script><b>" not in html
    assert html.count("<script") == html.count("</script>") == 4


def unpacked(html: str) -> Any:
    found = re.search(r'id="data">([^<]+)<', html)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def test_the_data_is_that_of_the_matrix(html: str) -> None:
    data = unpacked(html)
    assert data["kernels"] == [{"path": "a </script><b>.py", "name": "gemm"}]
    assert [gpu["name"] for gpu in data["gpus"]] == ["rtx3070", "h100"]
    small, large = (row["cells"] for row in data["rows"])
    assert (small[0]["state"], large[0]["state"], large[1]["state"]) == ("fits", "no", "fits")
    assert large[0]["over"] == 147_456 - 101_376
    steps = [data["strings"][number] for number in large[1]["steps"]]
    assert any(step.startswith("limiter: ") for step in steps)


def test_the_same_rows_give_the_same_page(rows: Sequence[Row], html: str) -> None:
    assert page.render(rows, ["rtx3070", "h100"], ["3.9"]) == html


def test_500_configs_on_20_gpus_stay_below_2_mb(rows: Sequence[Row]) -> None:
    """Every cell with numbers of its own, as if no two configs shared a step."""
    if page.missing() is not None:
        missing("tritonlint[html]")
    cell = next(iter(rows[0].cells.values()))
    names = [f"gpu{number}" for number in range(20)]

    def own(number: int) -> Cell:
        assert cell.of is not None and cell.of.estimate is not None
        estimate = cell.of.estimate
        steps = tuple(
            re.sub(r"\d{3,}", lambda found: str(int(found[0]) + number), step) for step in estimate.steps
        )
        changed = replace(estimate, steps=steps, registers=number % 255, shared_bytes=number)
        return replace(cell, of=replace(cell.of, answer=Later(lambda: changed)))

    many = [
        replace(rows[0], line=line, cells={name: own(line * 20 + place) for place, name in enumerate(names)})
        for line in range(500)
    ]
    size = len(page.render(many, names, ["3.9"]).encode())
    assert size < 2_000_000


def looked_up(tables: Mapping[str, Any], warps: int, shared: int, registers: int) -> int:
    """As assets/charts.js does it."""
    size = tables["warps"].index(warps)
    return min(
        tables["threads"][size],
        tables["blocks"][size],
        sum(shared <= most for most in tables["shared"]),
        next(programs for last, programs in tables["registers"][size] if registers <= last),
    )


@pytest.mark.parametrize("gpu", list_profiles(), ids=lambda gpu: gpu.name)
def test_the_tables_of_a_gpu_are_its_occupancy(gpu: Any) -> None:
    tables = curves(gpu)
    for warps in tables["warps"]:
        for shared in (0, 1, 1024, 16_384, 48 * 1024, gpu.shared_bytes_per_cta, gpu.shared_bytes_per_cta + 1):
            for registers in (1, 24, 32, 33, 100, 128, 200, gpu.registers_per_thread_max):
                model = occupancy(gpu, warps=warps, shared_bytes=shared, registers=registers).ctas_per_sm
                assert looked_up(tables, warps, shared, registers) == model, (warps, shared, registers)


def test_a_missing_library_is_one_line_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "gemm.py").write_text(TUNED, encoding="utf-8")
    (tmp_path / "altair.py").write_text("", encoding="utf-8")
    hidden = tmp_path / "sitecustomize.py"
    hidden.write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, package=None: None if name == 'vl_convert' else find(name, package)\n",
        encoding="utf-8",
    )
    path = f"{tmp_path}:{':'.join(sys.path)}"
    run = ["matrix", "gemm.py", "--output-format", "html", "--output-file", "out.html"]
    done = tritonlint(*run, cwd=tmp_path, env={"PYTHONPATH": path})
    assert done.status == 2 and not (tmp_path / "out.html").exists()
    assert done.err == "error: --output-format html needs vl_convert: install tritonlint[html]\n"


def test_what_is_not_known_is_shown_as_such(rows: Sequence[Row]) -> None:
    name = next(iter(rows[0].cells))
    cell = replace(rows[0].cells[name], of=None, why="BLOCK_M: not known")
    data = payload([replace(rows[0], cells={name: cell})], [name, "other"], ["3.9"])
    (row,) = data["rows"]
    assert row["cells"][0]["state"] == "unknown" and row["cells"][1] is None
    assert data["strings"][row["cells"][0]["why"][0]] == "BLOCK_M: not known"
    assert data["gpus"][1] == {"name": "other"}


def test_a_time_that_no_model_predicts_is_left_out(rows: Sequence[Row]) -> None:
    name, cell = next(iter(rows[0].cells.items()))
    assert cell.of is not None and cell.of.estimate is not None
    time = TimePart(compute=0.5, memory=0.25, launch=0.125, total=None)
    estimate = replace(cell.of.estimate, time_ms=time)
    unknown = replace(cell, of=replace(cell.of, answer=Later(lambda: estimate)))
    (row,) = payload([replace(rows[0], cells={name: unknown})], [name], ["3.9"])["rows"]
    assert row["cells"][0]["time"] is None and row["cells"][0]["timeRange"] is None
    assert "ms" not in cell_text(unknown) and " us" not in cell_text(unknown)
