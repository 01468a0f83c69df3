"""Facts on the launches that they hold for, and on no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.facts.texts import LINE, NSIGHT, add_ttir, cache_entry, parsed_line
from tests.samples import ADD, targets
from tritonlint.attached_facts import on_facts
from tritonlint.context import FileWork
from tritonlint.estimate_record import Estimate
from tritonlint.facts.record import Numbers
from tritonlint.settings import Settings

RUN = "\n\ndef run(x, y, out):\n"


def launched(*configs: str) -> str:
    return ADD + RUN + "".join(f"    add[(4,)](x, y, out, 4096, {config})\n" for config in configs)


def estimates(source: str, facts: Path, gpu: str = "h100", triton: str = "3.9") -> list[Estimate]:
    """Of every launch of the file, in its order."""
    work = FileWork("add.py", source, Settings(facts=(str(facts),)), targets(gpu, triton))
    found = [of.estimate for one in work.contexts() for of in one.estimates(one.gpus[0])]
    return [estimate for estimate in found if estimate is not None]


def rungs(source: str, facts: Path, **more: Any) -> list[str]:
    return [estimate.rung for estimate in estimates(source, facts, **more)]


def test_an_entry_of_the_cache_holds_for_the_launch_with_its_tiles(tmp_path: Path) -> None:
    cache_entry(tmp_path, "AAA", add_ttir(128), registers=77, spill_words=5, shared=640)
    first, second = estimates(launched("BLOCK=64", "BLOCK=128"), tmp_path)
    assert (first.rung, first.registers_low != first.registers_high) == ("estimated", True)
    assert (second.rung, second.origin.startswith("Triton cache, ")) == ("compiled", True)
    assert (second.shared_bytes, second.registers, second.spills) == (640, 77, "certain")
    assert second.registers_low == second.registers_high == 77
    assert second.shared_exact
    assert second.assumptions == ()
    assert [text.split(":")[0] for text in second.contradicted] == ["shared memory", "registers", "spills"]
    assert second.to_json()["fact"]["rung"] == "compiled"
    assert "fact" not in first.to_json()


@pytest.mark.parametrize(
    "changes",
    [
        {"target": {"backend": "cuda", "arch": 80, "warp_size": 32}},
        {"triton_version": "3.8.0"},
        {"num_warps": 8},
        {"num_stages": 2},
        {"num_ctas": 2},
        {"line": LINE + 5},
        {"file": "/project/other.py"},
        {"block": 256},
    ],
    ids=str,
)
def test_what_was_compiled_for_something_else_does_not(tmp_path: Path, changes: dict[str, Any]) -> None:
    text = {name: changes.pop(name) for name in ("line", "file", "block") if name in changes}
    cache_entry(tmp_path, "AAA", add_ttir(**text), **changes)
    assert rungs(launched("BLOCK=128"), tmp_path) == ["estimated"]


def test_two_configs_that_one_entry_may_mean_stay_estimates(tmp_path: Path) -> None:
    """Until both were compiled, with the same numbers."""
    source = launched("BLOCK=128", "BLOCK=128, SPARE=2").replace(
        "BLOCK: tl.constexpr", "BLOCK: tl.constexpr, SPARE: tl.constexpr = 1"
    )
    cache_entry(tmp_path, "AAA", add_ttir())
    assert rungs(source, tmp_path) == ["estimated", "estimated"]
    cache_entry(tmp_path, "BBB", add_ttir())
    assert rungs(source, tmp_path) == ["compiled", "compiled"]
    cache_entry(tmp_path, "CCC", add_ttir(), registers=99)
    assert rungs(source, tmp_path) == ["estimated", "estimated"]


def test_named_constants_say_which_config_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "log.ndjson"
    path.write_text(parsed_line({"4": 128}, shared=512), encoding="utf-8")
    found = estimates(launched("BLOCK=64", "BLOCK=128"), path)
    assert [(one.rung, one.shared_bytes) for one in found] == [("estimated", 0), ("compiled", 512)]


def test_a_measured_launch(tmp_path: Path) -> None:
    """A profiler tells threads and grid; with two configs of four warps it could be either."""
    path = tmp_path / "run.csv"
    path.write_text(NSIGHT, encoding="utf-8")
    (one,) = estimates(launched("BLOCK=128"), path)
    assert (one.rung, one.shared_bytes, one.registers) == ("measured", 98_304, 22)
    assert rungs(launched("BLOCK=128", "BLOCK=64"), path) == ["estimated", "estimated"]
    assert rungs(launched("BLOCK=128", "BLOCK=64, num_warps=8"), path) == ["measured", "estimated"]
    assert rungs(launched("BLOCK=128").replace("(4,)", "(5,)"), path) == ["estimated"]


def test_types_that_the_source_tells_must_be_those_of_the_fact(tmp_path: Path) -> None:
    cache_entry(tmp_path, "AAA", add_ttir())
    told = "# tritonlint: assume x_ptr=*fp16\n    add[(4,)]"
    assert rungs(launched("BLOCK=128"), tmp_path) == ["compiled"]
    assert rungs(launched("BLOCK=128").replace("add[(4,)]", told), tmp_path) == ["estimated"]


def test_what_is_counted_as_contradicted() -> None:
    work = FileWork("add.py", launched("BLOCK=128"), Settings(), targets("h100"))
    (context,) = work.contexts()
    (of,) = context.estimates(context.gpus[0])
    assert of.estimate is not None
    assert of.estimate.compiled is not None
    mine = of.estimate.compiled
    same = Numbers(mine.shared_bytes, mine.registers, 0, 0, mine.warps)
    answer, differ = on_facts(mine, same)
    assert differ == ()
    assert answer.registers_low == answer.registers_high == mine.registers
    guessed = replace(mine, shared_exact=False, shared_lower_bound=0)
    assert on_facts(guessed, replace(same, shared_bytes=4096))[1] == ()  # nothing was claimed
    assert len(on_facts(mine, replace(same, shared_bytes=4096))[1]) == 1
    assert on_facts(mine, Numbers()) == (mine, ())
