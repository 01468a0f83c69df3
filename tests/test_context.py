"""What a rule is given: plans on each GPU, estimates kept, changes tried."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.samples import ADD, GEMM, targets
from tritonlint import registry, work
from tritonlint.context import FileWork, PlanContext
from tritonlint.finding import Finding
from tritonlint.lint import lint_source
from tritonlint.settings import Settings
from tritonlint.targets import choose

TUNED = GEMM.replace(
    "@triton.jit\ndef gemm",
    "@triton.autotune(configs=[triton.Config("
    '{"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8}, num_warps=w, num_stages=s)'
    ' for w in (4, 8) for s in (2, 3, 4)], key=["M"])\n@triton.jit\ndef gemm',
)


def context(source: str, *gpus: str) -> PlanContext:
    work = FileWork("k.py", source, Settings(), choose(Settings(), Path("."), gpus or ["a100"], "3.9"))
    (found,) = work.contexts()
    return found


def test_there_is_one_estimate_a_config_and_it_is_kept() -> None:
    found = context(TUNED)
    gpu = found.gpus[0]
    estimates = found.estimates(gpu)
    assert len(estimates) == 6
    assert found.estimates(gpu) is estimates
    assert [one.estimate.shared_bytes for one in estimates[:3]] == [32768, 65536, 98304]


def test_what_is_taken_needs_no_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    source = TUNED.replace(
        "@triton.autotune", "# tritonlint: assume M=4096, N=4096, K=4096\n@triton.autotune"
    )
    counted: list[object] = []
    real = work.measure
    monkeypatch.setattr(
        work, "measure", lambda *given, **named: counted.append(given) or real(*given, **named)
    )
    found = context(source, "h100")
    for of in found.estimates(found.gpus[0]):
        taken = of.taken
        assert not counted
        whole = of.estimate
        kept = ("waves", "flops", "bytes_min", "bytes_tiled", "bytes_dram", "time_ms", "bound", "steps")
        assert replace(whole, **{name: getattr(taken, name) for name in kept}) == taken
        assert of.taken is whole
        counted.clear()


def test_configs_with_the_same_constants_are_traced_once() -> None:
    found = context(TUNED)
    traces = {id(one.trace) for one in found.estimates(found.gpus[0])}
    assert len(traces) == 1


def test_a_change_is_tried_on_the_model() -> None:
    found = context(TUNED)
    first = found.estimates(found.gpus[0])[0]
    changed = found.retry(first, {"num_stages": 4, "BLOCK_K": 32})
    assert changed.options.num_stages == 4
    assert changed.estimate.shared_bytes == 3 * (128 * 32 + 32 * 128) * 2
    assert found.retry(first, {"BLOCK_K": 32, "num_stages": 4}) is changed


def test_a_comment_at_the_kernel_names_its_gpu() -> None:
    source = ADD.replace("@triton.jit", "# tritonlint: assume BLOCK=64, gpu=h100\n@triton.jit")
    assert [gpu.name for gpu in context(source, "a100", "t4").gpus] == ["h100"]


def test_an_unknown_gpu_in_a_comment_is_said_and_the_targets_hold() -> None:
    source = ADD.replace("@triton.jit", "# tritonlint: assume gpu=h10\n@triton.jit")
    work = FileWork("k.py", source, Settings(), targets("t4"))
    (found,) = work.contexts()
    assert [gpu.name for gpu in found.gpus] == ["t4"]
    (problem,) = work.assumption_problems
    assert "unknown GPU 'h10'" in problem.message


def test_a_constant_that_nobody_gives_leaves_no_estimate_but_a_reason() -> None:
    (one,) = context(ADD).estimates(context(ADD).gpus[0])
    assert one.estimate is None
    assert one.unknown == ("BLOCK: nobody gives it in this file",)


def test_the_settings_say_where_a_function_takes_its_configs_from(tmp_path: Path) -> None:
    (tmp_path / "tuned.json").write_text('{"a": {"BLOCK": 64, "num_warps": 3}}')
    source = ADD.replace(
        "@triton.jit", "from lib import tuned\n\n\n@triton.autotune(configs=tuned(), key=[])\n@triton.jit", 1
    )
    settings = Settings(config_functions=("lib.tuned:tuned.json",), path=tmp_path / "tritonlint.toml")
    found = lint_source("k.py", source.encode(), settings, gpus=["a100"], triton="3.9")
    assert "TL204" in {finding.code for finding in found.findings}


def test_a_rule_that_fails_is_named_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> list[Finding]:
        raise ValueError("on purpose")

    known = registry.registry()
    rules = tuple(replace(rule, check=fail) if rule.code == "TL101" else rule for rule in known.rules)
    monkeypatch.setattr(registry, "registry", lambda: registry.Registry(rules))
    result = lint_source("k.py", TUNED + "\n\ndef f(:\n", Settings(), gpus=["t4"], triton="3.9")
    (problem,) = result.problems
    assert problem.internal
    assert "internal error in TL101, kernel gemm: ValueError: on purpose" in problem.message
    assert "TL901" in {finding.code for finding in result.findings}


def test_a_linted_file_goes_without_a_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work with its contexts, and the model with its traces; nothing else may hold them."""
    made: list[weakref.ReferenceType[FileWork]] = []

    class Noted(FileWork):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            made.append(weakref.ref(self))

    monkeypatch.setattr("tritonlint.context.FileWork", Noted)
    gc.collect()
    gc.disable()
    try:
        result = lint_source("k.py", GEMM, Settings(gpus=("a100",)))
        assert result.stats.kernels and made
        assert made[0]() is None
    finally:
        gc.enable()
