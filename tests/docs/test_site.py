"""The documentation builds strictly (a link that leads nowhere ends the build), and holds what it promises."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cache import missing
from tritonlint.gpu.profile import list_profiles
from tritonlint.registry import registry
from tritonlint.settings_file import KEYS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site() -> Path:
    for name in ("zensical", "jinja2", "altair", "vl_convert"):
        if importlib.util.find_spec(name) is None:
            missing("tritonlint[docs,html]")
    done = subprocess.run(
        [sys.executable, "docs/build.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return ROOT / "build"


def test_every_rule_gpu_and_setting_has_its_place(site: Path) -> None:
    rules = {path.stem for path in (site / "site" / "rules").glob("TL*.html")}
    assert rules == {rule.code for rule in registry().rules}
    gpus = {path.stem for path in (site / "site" / "gpus").glob("*.html")} - {"index"}
    assert gpus == {gpu.name for gpu in list_profiles()}
    settings = (site / "docs" / "settings.md").read_text(encoding="utf-8")
    assert all(f"## {key}\n" in settings for key in KEYS)


def test_the_lesson_still_says_what_the_runs_say(site: Path) -> None:
    """The words around the numbers hold as long as these do."""
    text = " ".join((site / "docs" / "how-it-works.md").read_text(encoding="utf-8").split())
    for words in (
        "98,304 B are nearly all of the 102,400 B of an SM",
        "The true number is 65,536 B, and it is exact; 98,304 B are what 4 stages take",
        "they take 23 waves, and the last holds 12 of 46: 26%",
        "By that the kernel is memory-bound",
        "and the kernel is compute-bound",
    ):
        assert words in text


def test_nothing_is_asked_of_other_hosts(site: Path) -> None:
    """Fonts and scripts come with the site."""
    page = (site / "site" / "index.html").read_text(encoding="utf-8")
    assert "fonts.g" not in page
    assert 'src="http' not in page
