"""`tritonlint calibrate` from outside, with facts that are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import tritonlint
from tests.facts.texts import add_ttir, cache_entry
from tests.samples import ADD

SOURCE = ADD + "\n\ndef run(x, y, out):\n    add[(4,)](x, y, out, 4096, BLOCK=128)\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "add.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def test_a_claim_that_is_contradicted(project: Path) -> None:
    cache_entry(project / "cache", "AAA", add_ttir(), shared=512, registers=14)
    done = tritonlint("calibrate", "add.py", "--gpu", "h100", "--facts", "cache", cwd=project)
    assert done.status == 1
    assert (
        "shared memory: scratch that is not seen at all (1 row, 1 of them claimed, median +512)" in done.out
    )
    assert "add.py:" in done.out
    done = tritonlint(
        "calibrate", "add.py", "--gpu", "h100", "--facts", "cache", "--output-format", "json", cwd=project
    )
    (mechanism,) = done.json["mechanisms"]
    assert (mechanism["what"], mechanism["claimed"]) == ("shared memory", 1)
    assert mechanism["targets"] == ["sm_90, Triton 3.9"]
    assert done.json["summary"]["rows"] == 1


def test_nothing_is_off(project: Path) -> None:
    cache_entry(project / "cache", "AAA", add_ttir(), shared=0, registers=14)
    arguments = ("calibrate", "add.py", "--gpu", "h100", "--gpu", "a100", "--facts", "cache")
    done = tritonlint(*arguments, cwd=project)
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[0] == "1 row compared, 1 launch without a fact."
    assert done.out.splitlines()[-1] == "Nothing is off."


def test_facts_of_another_release_are_compared_with_the_estimates_for_that_one(project: Path) -> None:
    cache_entry(project / "cache", "AAA", add_ttir(), shared=0, registers=14, triton_version="3.4.0")
    done = tritonlint("calibrate", "add.py", "--gpu", "h100", "--facts", "cache", cwd=project)
    assert done.out.startswith("1 row compared")


def test_wrong_arguments(project: Path) -> None:
    for arguments in (("nowhere.py", "--facts", "add.py"), ("add.py", "--facts", "nowhere")):
        done = tritonlint("calibrate", *arguments, cwd=project)
        assert done.status == 2
        assert len(done.err.splitlines()) == 1


def test_the_setting_for_facts_does_not_take_the_place_of_what_is_compared(project: Path) -> None:
    cache_entry(project / "cache", "AAA", add_ttir(), shared=512, registers=14)
    (project / "tritonlint.toml").write_text("facts = ['cache']\n", encoding="utf-8")
    done = tritonlint("calibrate", "add.py", "--gpu", "h100", "--facts", "cache", cwd=project)
    assert done.status == 1
