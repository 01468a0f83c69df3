"""`check --facts` and the setting `facts` from outside."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.running import tritonlint
from tests.facts.texts import add_ttir, cache_entry
from tests.samples import ADD

SOURCE = ADD + "\n\ndef run(x, y, out):\n    add[(32,)](x, y, out, 4096, BLOCK=128)\n"


def project(folder: Path) -> None:
    (folder / "add.py").write_text(SOURCE, encoding="utf-8")
    cache_entry(folder / "cache", "AAA", add_ttir(), shared=300_000, registers=60)


def test_a_finding_stands_on_the_fact_and_names_its_rung(tmp_path: Path) -> None:
    """The estimate says that it fits; the compiled kernel does not."""
    project(tmp_path)
    arguments = ("check", "add.py", "--gpu", "h100", "--triton", "3.9", "--output-format")
    assert tritonlint(*arguments, "json", cwd=tmp_path).status == 0
    done = tritonlint(*arguments, "json", "--facts", "cache", cwd=tmp_path)
    assert done.status == 1
    (finding,) = [finding for finding in done.json["findings"] if finding["code"] == "TL101"]
    assert finding["certainty"] == "proven"
    assert finding["estimate"]["shared_bytes"] == 300_000
    fact = finding["estimate"]["fact"]
    assert fact["rung"] == "compiled"
    assert fact["origin"].endswith("AAA/add.json")
    assert fact["contradicted"]
    assert (done.json["summary"]["facts"], done.json["summary"]["contradicted"]) == (1, 1)
    text = tritonlint(*arguments, "full", "--facts", "cache", cwd=tmp_path).out
    assert "compiled (Triton cache, " in text
    assert "1 estimate replaced by compiled or measured numbers, of which 1 say otherwise." in text


def test_the_setting(tmp_path: Path) -> None:
    """Counted from the settings file; changes of the facts are seen at once."""
    project(tmp_path)
    (tmp_path / "tritonlint.toml").write_text(
        "facts = ['cache']\ngpus = ['h100']\ntriton = '3.9'\n", encoding="utf-8"
    )
    (tmp_path / "inner").mkdir()
    env = {"TRITONLINT_CACHE_DIR": str(tmp_path / "kept")}
    arguments = ("check", "../add.py", "--output-format", "json")
    done = tritonlint(*arguments, cwd=tmp_path / "inner", env=env)
    assert done.codes == ["TL101"]
    metadata = tmp_path / "cache" / "AAA" / "add.json"
    metadata.write_text(json.dumps({**json.loads(metadata.read_text()), "shared": 0}), encoding="utf-8")
    assert tritonlint(*arguments, cwd=tmp_path / "inner", env=env).codes == []


def test_paths_without_facts_are_one_line(tmp_path: Path) -> None:
    project(tmp_path)
    done = tritonlint("check", "add.py", "--facts", "nothing.csv", cwd=tmp_path)
    assert done.status == 2
    assert "nothing.csv: cannot be read: No such file or directory" in done.err
    assert len(done.err.splitlines()) == 1
