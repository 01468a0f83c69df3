"""Where the server writes the pages of rules and its reports."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tritonlint_server import help_pages, report


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    for remembered in (help_pages.link, help_pages._folder, report._folder):
        remembered.cache_clear()
    yield
    for remembered in (help_pages.link, help_pages._folder, report._folder):
        remembered.cache_clear()


def test_a_page_lies_in_the_cache(cache_of_its_own: Path) -> None:
    assert (help_pages.link("TL101") or "").startswith(cache_of_its_own.as_uri())


@pytest.mark.skipif(os.name != "posix", reason="homes of POSIX")
@pytest.mark.parametrize("home", ["", None])
def test_no_home_and_no_cache_is_no_failure(
    home: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written into the folder that the editor happens to be in."""
    for name in ("TRITONLINT_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    if home is not None:
        monkeypatch.setenv("HOME", home)
    else:  # nor an entry of the user

        def nobody() -> Path:
            raise RuntimeError("Could not determine home directory.")

        monkeypatch.setattr(Path, "home", nobody)
    monkeypatch.chdir(tmp_path)
    assert (help_pages.link("TL101") or "").startswith("file:///")
    assert list(tmp_path.iterdir()) == []


def test_reports_lie_in_a_folder_that_is_the_processs_own() -> None:
    folder = Path(report._folder())
    assert report._folder() == str(folder) and folder.stat().st_mode & 0o077 == 0
