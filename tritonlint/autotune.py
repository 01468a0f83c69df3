"""Hooks for triton.autotune: fewer configs to compile and to time, chosen by what tritonlint says of them.

    from tritonlint.autotune import early_config_prune, perf_model

    @triton.autotune(configs=..., key=["M", "N", "K"], prune_configs_by={"early_config_prune": early_config_prune})
    @triton.jit
    def kernel(...): ...

`early_config_prune` drops what cannot run on the GPU in hand, what another config beats for sure, and all but the
`top_k` fastest by the predicted time; it never drops everything, and keeps what it knows nothing of. `perf_model` gives
the predicted milliseconds, for `{"perf_model": perf_model, "top_k": 10}`. Both find the kernel through the autotuner
that calls them. `Pruner(top_k=5)` is the first hook with another number.

What was dropped and why goes to the logger "tritonlint.autotune", and, where TRITONLINT_RUN_LOG names a file, as one
line of JSON for each tuning to that file (tritonlint.run_log); what the configs that were tried really need and take
follows there, and `tritonlint check --facts` takes it.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from tritonlint.collector import rarely_for_now
from tritonlint.run_log import Decision, Tuning, append
from tritonlint.run_outcome import Outcomes
from tritonlint.runtime_launches import Prediction, RuntimeLaunches, kernel_name

log = logging.getLogger("tritonlint.autotune")

TOP_K = 10
LOG_VARIABLE = "TRITONLINT_RUN_LOG"
# A config is beaten for sure where its time at the best is longer than that of another one at its worst.
_MAX_FRAMES = 12

_launches = RuntimeLaunches()
_outcomes = Outcomes()


@dataclass(frozen=True)
class Pruner:
    """`early_config_prune` that keeps the `top_k` fastest configs by predicted time."""

    top_k: int = TOP_K

    def __call__(self, configs: Sequence[Any], named_args: Mapping[str, Any], **meta: Any) -> list[Any]:
        """The configs to compile and time, at least one, in the order of the list. Never raises."""
        configs = list(configs)
        tuner = _tuner()
        if tuner is None or not configs:
            return configs
        kernel = tuner.fn
        _outcomes.write()
        try:
            with rarely_for_now():
                return self._pruned(tuner, configs, named_args, meta)
        except Exception as error:  # tuning must go on, whatever is odd about this kernel
            log.warning("%s: nothing is pruned: %s: %s", kernel_name(kernel), type(error).__name__, error)
            return configs

    def _pruned(
        self, tuner: Any, configs: list[Any], named_args: Mapping[str, Any], meta: Mapping[str, Any]
    ) -> list[Any]:
        began = perf_counter()
        kernel = tuner.fn
        predictions = [_launches.predict(kernel, named_args, meta, config) for config in configs]
        reasons = _reasons(predictions, self.top_k)
        kept = [config for config, reason in zip(configs, reasons, strict=True) if not reason]
        if not kept:
            # All refused: one is tried, so that the error is the compiler's own.
            kept, reasons[0] = configs[:1], ""
        tuning = Tuning(
            kernel=kernel_name(kernel),
            file=_launches.file_of(kernel),
            gpu=_launches.gpu_name,
            triton=_launches.triton,
            seconds=perf_counter() - began,
            decisions=tuple(
                Decision(_values(config), not reason, reason, prediction.time_ms, prediction.problem)
                for config, reason, prediction in zip(configs, reasons, predictions, strict=True)
            ),
        )
        _say(tuning, tuner)
        return kept


early_config_prune = Pruner()


def perf_model(**named: Any) -> float:
    """Predicted milliseconds of one config, as triton.autotune asks for them: all arguments, meta-parameters and
    launch options by name. Infinite where it cannot run; 0 where nothing is known, so that it is tried."""
    tuner = _tuner()
    if tuner is None:
        return 0.0
    kernel = tuner.fn
    try:
        with rarely_for_now():
            prediction = _launches.predict_named(kernel, named)
    except Exception as error:
        log.warning("%s: no prediction: %s: %s", kernel_name(kernel), type(error).__name__, error)
        return 0.0
    if prediction.refused:
        return float("inf")
    return prediction.time_ms or 0.0


def _reasons(predictions: Sequence[Prediction], top_k: int) -> list[str]:
    """Why each config is dropped; "" for those that are kept."""
    reasons = [
        f"cannot run: {prediction.refused}" if prediction.refused else "" for prediction in predictions
    ]
    timed = [
        (prediction.time_ms, at)
        for at, prediction in enumerate(predictions)
        if not reasons[at] and prediction.time_ms is not None
    ]
    surest = min((predictions[at].worst_ms for _, at in timed), default=0.0)
    order = [at for _, at in sorted(timed)]
    for rank, at in enumerate(order):
        one = predictions[at]
        if rank and one.best_ms > surest:
            reasons[at] = f"beaten: {one.best_ms:.4g} ms at the best, another {surest:.4g} ms at the worst"
        elif rank >= max(1, top_k):
            reasons[at] = f"predicted {one.time_ms:.4g} ms, rank {rank + 1} of {len(order)}"
    return reasons


def _say(tuning: Tuning, tuner: Any) -> None:
    dropped = [decision for decision in tuning.decisions if not decision.kept]
    log.info(
        "%s on %s: %d of %d configs kept, in %.0f ms",
        tuning.kernel, tuning.gpu, len(tuning.decisions) - len(dropped), len(tuning.decisions), tuning.seconds * 1e3,
    )  # fmt: skip
    for decision in dropped:
        log.debug("dropped %s: %s", decision.config, decision.reason)
    path = os.environ.get(LOG_VARIABLE)
    if path:
        try:
            append(path, tuning)
            _outcomes.expect(tuner, tuning, path)
        except OSError as error:
            log.warning("%s: cannot be written: %s", path, error.strerror or error)


def _values(config: Any) -> dict[str, Any]:
    """The config as a launch gets it."""
    values = dict(config.kwargs)
    for name in ("num_warps", "num_stages", "num_ctas", "maxnreg"):
        value = getattr(config, name, None)
        if value is not None:
            values[name] = value
    return values


def _tuner() -> Any:
    """The autotuner that calls: Triton does not hand the kernel to its hooks. None outside of a tuning."""
    frame = sys._getframe(2)
    for _ in range(_MAX_FRAMES):
        owner = frame.f_locals.get("self")
        if owner is not None and hasattr(owner, "configs") and hasattr(owner, "fn"):
            return owner
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return None
