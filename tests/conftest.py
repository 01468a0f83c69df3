"""What every test gets."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """No test reads what another one kept, or writes into the user's cache."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("TRITONLINT_CACHE_DIR", str(folder))
    return folder
