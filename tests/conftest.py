"""What every test gets."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How fast a machine is says nothing about the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture(autouse=True)
def cache_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """No test reads what another one kept, or writes into the user's cache."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("TRITONLINT_CACHE_DIR", str(folder))
    return folder
