"""The hooks for triton.autotune, called as Triton's autotuner calls them; no Triton and no GPU here."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tritonlint import autotune
from tritonlint.facts.reading import read_facts
from tritonlint.facts.record import Numbers
from tritonlint.gpu.profile import find_gpu
from tritonlint.run_log import read
from tritonlint.run_outcome import Outcomes
from tritonlint.runtime_launches import RuntimeLaunches

GEMM = """import triton
import triton.language as tl

@triton.jit
def gemm(a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(0, K, BK):
        x = tl.load(a + m[:, None] * sa + (i + k)[None, :])
        y = tl.load(b + (i + k)[:, None] * sb + n[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * sc + n[None, :], acc)
"""


class Config:
    def __init__(self, kwargs: Mapping[str, Any], num_warps: int = 4, num_stages: int = 3) -> None:
        self.kwargs = dict(kwargs)
        self.num_warps, self.num_stages, self.num_ctas, self.maxnreg = num_warps, num_stages, 1, None


def config(m: int, n: int, k: int, num_warps: int = 4, num_stages: int = 3) -> Config:
    return Config({"BM": m, "BN": n, "BK": k}, num_warps, num_stages)


class Autotuner:
    """Calls the hooks with what Triton's own calls them with."""

    def __init__(self, fn: Any, configs: list[Config], hook: Any) -> None:
        self.fn, self.configs, self.hook = fn, configs, hook

    def prune(self, **meta: Any) -> list[Any]:
        return self.hook(self.configs, {**arguments(), **meta.pop("other", {})}, **meta)  # type: ignore[no-any-return]

    def perf(self, one: Config, **meta: Any) -> float:
        options = {"num_warps": one.num_warps, "num_stages": one.num_stages, "num_ctas": one.num_ctas}
        return float(autotune.perf_model(**arguments(), **meta, **one.kwargs, **options))


def arguments(dtype: str = "torch.float16") -> dict[str, Any]:
    tensor = SimpleNamespace(dtype=dtype, data_ptr=lambda: 256)
    sizes = dict.fromkeys(("M", "N", "K", "sa", "sb", "sc"), 4096)
    return {"a": tensor, "b": tensor, "c": tensor, **sizes}


def grid(meta: Mapping[str, Any]) -> tuple[int, int]:
    return (meta["M"] // meta["BM"], meta["N"] // meta["BN"])


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    path = tmp_path / "gemm.py"
    path.write_text(GEMM)
    launches = RuntimeLaunches()
    launches._gpu, launches._triton = find_gpu("h200"), "3.6"
    monkeypatch.setattr(autotune, "_launches", launches)
    code = SimpleNamespace(
        co_filename=str(path), co_firstlineno=4, co_varnames=(), co_argcount=0, co_kwonlyargcount=0
    )
    yield SimpleNamespace(fn=SimpleNamespace(__name__="gemm", __code__=code))


GOOD = config(128, 256, 64, num_warps=8)
UNFIT = config(256, 256, 128, num_warps=8, num_stages=4)
SLOW = config(32, 32, 32)
CONFIGS = [UNFIT, SLOW, GOOD, config(128, 128, 64), config(64, 256, 64), config(256, 64, 64, num_warps=8)]


def test_what_cannot_run_and_what_is_slow_goes(kernel: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "tritonlint.autotune"):
        kept = Autotuner(kernel, CONFIGS, autotune.early_config_prune).prune(grid=grid, warmup=False)
    assert GOOD in kept
    assert UNFIT not in kept and SLOW not in kept
    assert "cannot run: shared memory" in caplog.text and "beaten" in caplog.text


@pytest.mark.parametrize(
    ("gpu", "release", "ctas", "why"),
    [
        ("a100", "3.6", 2, "clusters need sm_90"),
        ("mi300x", "3.6", 2, "clusters are not supported"),
        ("h200", "3.6", 3, "not a power of two"),
        ("h200", "3.6", 2, ""),
        ("a100", "3.2", 2, ""),  # runs or not: not known for sure
    ],
)
def test_clusters_that_the_gpu_does_not_take(
    kernel: Any, caplog: pytest.LogCaptureFixture, gpu: str, release: str, ctas: int, why: str
) -> None:
    """They would end the tuning with an error, or the whole process."""
    autotune._launches._gpu, autotune._launches._triton = find_gpu(gpu), release
    plain, clusters = config(64, 64, 32), config(64, 64, 32)
    clusters.num_ctas = ctas
    with caplog.at_level(logging.DEBUG, "tritonlint.autotune"):
        kept = Autotuner(kernel, [plain, clusters], autotune.early_config_prune).prune(grid=grid)
    assert (clusters not in kept) == bool(why)
    assert why in caplog.text


def test_a_parameter_with_the_name_of_an_option(kernel: Any) -> None:
    code = kernel.fn.__code__
    text = Path(code.co_filename).read_text()
    assert "BK: tl.constexpr)" in text and "in range(0, K, BK)" in text
    text = text.replace("BK: tl.constexpr)", "BK: tl.constexpr, num_stages: tl.constexpr)")
    Path(code.co_filename).write_text(
        text.replace("in range(0, K, BK)", "in tl.range(0, K, BK, num_stages=num_stages)")
    )
    code.co_varnames, code.co_argcount = ("num_stages",), 1
    kept = Autotuner(kernel, CONFIGS, autotune.early_config_prune).prune(grid=grid, warmup=False)
    assert GOOD in kept and UNFIT not in kept


def test_the_number_kept(kernel: Any) -> None:
    kept = Autotuner(kernel, CONFIGS, autotune.Pruner(top_k=1)).prune(grid=grid)
    assert len(kept) == 1
    assert kept[0] in (GOOD, CONFIGS[3])


def test_never_everything(kernel: Any) -> None:
    assert Autotuner(kernel, [UNFIT, UNFIT], autotune.early_config_prune).prune(grid=grid) == [UNFIT]


def test_without_a_grid_only_what_cannot_run_goes(kernel: Any) -> None:
    assert Autotuner(kernel, CONFIGS, autotune.early_config_prune).prune() == CONFIGS[1:]


def test_outside_of_a_tuning_all_are_kept() -> None:
    assert autotune.early_config_prune(CONFIGS, arguments()) == CONFIGS


def test_an_argument_that_nobody_knows(kernel: Any) -> None:
    """Then nothing is known, and all are kept."""
    tuner = Autotuner(kernel, CONFIGS, autotune.early_config_prune)
    assert tuner.prune(grid=grid, other={"b": object()}) == CONFIGS


def test_perf_model(kernel: Any) -> None:
    tuner = Autotuner(kernel, CONFIGS, None)
    assert tuner.perf(UNFIT, grid=grid) == float("inf")
    assert 0.1 < tuner.perf(GOOD, grid=grid) < 0.4 < tuner.perf(SLOW, grid=grid)


def test_the_run_log(kernel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line for each tuning; a line that was cut short is passed over."""
    path = tmp_path / "runs.jsonl"
    monkeypatch.setenv(autotune.LOG_VARIABLE, str(path))
    tuner = Autotuner(kernel, CONFIGS, autotune.early_config_prune)
    tuner.prune(grid=grid)
    path.write_text(path.read_text() + '{"version": 1, "ker')
    (tuning,) = read(str(path))
    assert (tuning.kernel, tuning.gpu, tuning.triton) == ("gemm", "h200", "3.6")
    assert [decision.kept for decision in tuning.decisions][:3] == [False, False, True]
    assert tuning.decisions[0].config == {
        "BM": 256,
        "BN": 256,
        "BK": 128,
        "num_warps": 8,
        "num_stages": 4,
        "num_ctas": 1,
    }
    assert json.loads(path.read_text().splitlines()[0])["configs"][2]["time_ms"] > 0.1


def test_what_became_of_a_tuning_follows_in_the_log(
    kernel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the next call of a hook, as Triton keeps it; `check --facts` reads it as measured."""
    path = tmp_path / "runs.jsonl"
    monkeypatch.setenv(autotune.LOG_VARIABLE, str(path))
    monkeypatch.setattr(autotune, "_outcomes", Outcomes())
    tuner = Autotuner(kernel, CONFIGS, autotune.early_config_prune)
    tuner.prune(grid=grid)
    names = ["a", "b", "c", "M", "N", "K", "sa", "sb", "sc", "BM", "BN", "BK"]
    compiled = SimpleNamespace(
        metadata=SimpleNamespace(shared=98_304, num_warps=8, num_stages=3, num_ctas=1, tmem_size=0),
        n_regs=210,
        n_spills=2,
        src=SimpleNamespace(
            constants={(9,): 128, (10,): 256, (11,): 64},
            signature={name: "constexpr" if name in ("BM", "BN", "BK") else "*fp16" for name in names},
            attrs={(0,): [["tt.divisibility", 16]], (9,): [], (3,): []},
        ),
    )
    not_loaded = SimpleNamespace(n_regs=None)
    kernel.create_binder, kernel.arg_names = None, names
    kernel.device_caches = {0: ({"key": compiled, "other": not_loaded}, {}, "target")}
    tuner.configs_timings = {SLOW: [float("inf")] * 3, GOOD: [0.25, 0.2, 0.3]}  # type: ignore[attr-defined]
    for _ in range(2):  # what was written is not written again
        tuner.prune(grid=grid)
    assert len(list(read(str(path)))) == 3
    (fact,) = read_facts([str(path)]).of("gemm")
    assert (fact.rung, fact.gpu, fact.triton, fact.num_warps) == ("measured", "h200", (3, 6), 8)
    assert fact.constants == {"BM": 128, "BN": 256, "BK": 64}
    assert fact.arguments is not None
    assert fact.arguments[0] == ("a", "*fp16", True)
    assert fact.numbers == Numbers(98_304, 210, 2, 0, 8, None, 0.25)


def test_an_outcome_that_cannot_be_read_stops_nothing(
    kernel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(autotune.LOG_VARIABLE, str(tmp_path / "runs.jsonl"))
    monkeypatch.setattr(autotune, "_outcomes", Outcomes())
    tuner = Autotuner(kernel, CONFIGS, autotune.early_config_prune)
    kernel.create_binder, kernel.device_caches = None, {0: ({"key": SimpleNamespace(n_regs=1)},)}
    assert tuner.prune(grid=grid) == tuner.prune(grid=grid)
