"""The page of the matrix in Chromium: what is seen, pickers, sorting, keyboard, colours, and no word from the
network or the console."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser import drive
from tests.cli.running import tritonlint

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Any:
    page = tmp_path_factory.mktemp("page") / "matrix.html"
    gpus = [word for name in ("rtx3070", "h100", "mi300x", "sm_75") for word in ("--gpu", name)]
    done = tritonlint(
        "matrix", "examples/gemm.py", "examples/softmax.py", *gpus, "--triton", "3.2", "--triton", "3.9",
        "--output-format", "html", "--output-file", str(page), cwd=ROOT,
    )  # fmt: skip
    assert done.status == 0, done.err
    return drive(Path(__file__).with_name("drive.mjs"), PAGE=page.as_uri())


def test_neither_the_console_nor_the_network_is_used(seen: Any) -> None:
    assert seen["console"] == []
    assert seen["requests"] == []


def test_each_kernel_has_its_map(seen: Any) -> None:
    assert [text.split()[0] for text in seen["kernels"]] == ["gemm", "softmax_rows"]
    assert seen["columns"] == ["config", "rtx3070", "h100", "mi300x", "sm_75"]
    assert seen["rows"] == 8
    assert "\u2713 1 regs" in [" ".join(text.split()) for text in seen["cells"]]
    assert "\u2717 +46,080 B" in [
        " ".join(text.split()) for text in seen["cells"]
    ]  # a sign and words, not colour


def test_a_cell_says_aloud_what_its_colour_shows(seen: Any) -> None:
    assert seen["mark"] == "fits"
    assert seen["label"].startswith("1 CTA per SM, limited by registers, occupancy 16.7%, about ")


def test_the_charts_stand_where_the_model_stands(seen: Any) -> None:
    """Three sweeps and the waves; what the page looks up is what the model computed, for every config."""
    assert seen["charts"] == 4
    assert seen["here"] == ["here: 1"] * 3
    assert "12 waves, the last one fills 6 of 46 places (13%)" in seen["captions"][3]
    assert seen["looked_up"]["cells"] > 60 and seen["looked_up"]["wrong"] == 0


def test_hovering_shows_the_arithmetic(seen: Any) -> None:
    assert "shared memory in all: 98,304 B (exact)" in seen["tooltip"]
    assert seen["tooltip_gone"]


def test_the_keyboard_goes_everywhere(seen: Any) -> None:
    assert seen["moved"] == [2, 2]
    assert seen["tab_stops"] == 1
    assert seen["title"].startswith("gemm on NVIDIA H100")
    assert seen["back"] == "TD"


def test_sorting_by_a_gpu(seen: Any) -> None:
    def counts(texts: list[str]) -> list[int | None]:
        return [int(text.split()[1]) if text.startswith("\u2713") else None for text in texts]

    down, up = counts(seen["descending"]), counts(seen["ascending"])
    assert seen["sorted"] == "descending"
    known = [count for count in down if count is not None]
    assert known == sorted(known, reverse=True) and len(known) == 6
    assert up[:6] == sorted(known)
    assert down[6:] == up[6:] == [None, None]  # what does not fit is last, whatever the order


def test_pickers_and_filters(seen: Any) -> None:
    assert seen["everywhere"] < 13 and seen["not_fitting"] == 0
    assert 0 < seen["found"] < 13
    assert "loosen the filters" in seen["nothing"]
    assert seen["fewer_columns"] == ["config", "h100", "mi300x", "sm_75"]
    assert seen["no_gpus"] == 0
    assert "Triton 3.2" in seen["release"]
    assert seen["bytes"].split()[-1] == "KB"
    assert seen["one_kernel"] == 1


def test_light_dark_and_narrow(seen: Any) -> None:
    assert seen["dark"] != seen["forced_light"] == "rgb(255, 255, 255)"
    assert seen["overflow"] <= 0


def test_accessibility(seen: Any) -> None:
    """axe finds nothing, the contrast of colours included."""
    assert seen["violations"] == []
    assert seen["dark_violations"] == []
