"""Random sessions: the server lives, answers each request, and ends where a fresh server begins."""

from __future__ import annotations

import random

import pytest

from tests.server.client import Client
from tests.server.samples import GEMM, WARPS
from tests.server.sessions import RandomSession

SETTINGS = {"gpus": ["a100"], "triton": "3.9"}


@pytest.mark.parametrize("seed", range(3))
def test_a_random_session_ends_with_what_a_fresh_server_says(seed: int) -> None:
    with Client() as client:
        client.initialize(**SETTINGS)
        session = RandomSession(client, random.Random(seed), (WARPS, GEMM))
        session.run(150)
        found = session.final()
        assert client.process.poll() is None
    assert found
    with Client() as fresh:
        fresh.initialize(**SETTINGS)
        for uri, document in session.open.items():
            fresh.open(uri, document.text)
            assert fresh.pull(uri)["items"] == found[uri], document.text
