"""An estimate beside the compiler's answer, and what differs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tritonlint.gpu.profile import GpuProfile
from tritonlint.model.occupancy import occupancy
from tritonlint.source.notebook import in_cells
from tritonlint.verify.asked import Asked
from tritonlint.verify.engine import Answer

State = Literal["wrong", "off", "failed", "refused", "incomplete", "equal"]
# What is shown first, first. "wrong": a claim does not hold; "off": an estimate that claims nothing missed; "failed":
# not compiled, for a reason that says nothing of the estimate; "refused": by the compiler, as was said; "incomplete":
# a value is not known.
STATES: tuple[State, ...] = ("wrong", "off", "failed", "refused", "equal", "incomplete")

_ASSEMBLER = re.compile("ptxas", re.IGNORECASE)  # PTXASError; older releases have only the words of ptxas


@dataclass(frozen=True, slots=True)
class Difference:
    """`claimed`: the estimate says that this is so; else it only guesses."""

    what: str
    estimated: Any
    compiled: Any
    claimed: bool

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Row:
    """A launch or config on a GPU. `estimate` is that of `estimate --output-format json`, with None where nothing can
    be said; `compiled` None where there is no answer, then `reason` says why, and `kind` of what kind that is."""

    path: str
    line: int
    kernel: str
    config: Mapping[str, Any]
    gpu: str
    arch: str
    state: State
    estimate: Mapping[str, Any] | None
    compiled: Mapping[str, Any] | None
    differences: tuple[Difference, ...]
    assumptions: tuple[str, ...]
    kind: str = ""
    reason: str = ""
    seconds: float = 0.0
    job: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Without the parts of the estimate that are not compared."""
        kept = ("shared_bytes", "shared_exact", "shared_lower_bound", "tensor_memory_columns", "registers",
                "registers_low", "registers_high", "spills", "warps", "ctas_per_sm", "fits")  # fmt: skip
        estimate = None if self.estimate is None else {name: self.estimate[name] for name in kept}
        return {
            "state": self.state,
            "path": self.path,
            "line": self.line,
            "kernel": self.kernel,
            "config": dict(self.config),
            "gpu": self.gpu,
            "arch": self.arch,
            "estimate": estimate,
            "compiled": None if self.compiled is None else dict(self.compiled),
            "differences": [difference.to_json() for difference in self.differences],
            "assumptions": list(self.assumptions),
            "kind": self.kind,
            "reason": self.reason,
            "seconds": self.seconds,
            "job": None if self.job is None else dict(self.job),
        }


def row_of(asked: Asked, estimated: Mapping[str, Any] | None, answer: Answer | None) -> Row:
    """`estimated` is {"estimate": JSON | None, "why": [...], "refused": bool, "assembly": bool}. No estimate claims
    that assembly which the user wrote assembles: such a row is "failed", of the kind "assembly"."""
    estimate = estimated["estimate"] if estimated else None
    compiled: dict[str, Any] | None = None
    differences: list[Difference] = []
    kind, reason = "", asked.why
    state: State = "incomplete"
    if answer is not None:
        kind, reason = answer.kind, answer.error
        refused = bool(estimated and estimated["refused"])
        if not answer.kind:
            compiled = compiled_numbers(answer, asked.gpu)
            if refused:
                why = "; ".join(estimated["why"] if estimated else ())
                differences.append(Difference("compiles", f"no: {why}", "yes", True))
            elif estimate is not None:
                differences = compare(estimate, compiled)
            state = _state(differences)
        elif kind == "rejected" and estimated and estimated["assembly"] and _ASSEMBLER.search(reason):
            state, kind = "failed", "assembly"
        elif answer.kind in ("rejected", "refused"):
            state = "refused" if refused else "wrong" if estimate is not None else "failed"
            if state == "wrong":
                differences.append(Difference("compiles", "yes", f"no: {reason}", True))
        else:
            state = "failed"
    assumptions = estimate["assumptions"] if estimate is not None else asked.assumptions
    cells = asked.work.module.file.cells
    return Row(
        asked.path, asked.line, asked.kernel, asked.config, asked.gpu.name, asked.gpu.arch, state, estimate,
        compiled, tuple(differences), tuple(assumptions), kind, in_cells(reason, cells),
        answer.seconds if answer is not None else 0.0,
        asked.job.to_json() if asked.job is not None else None,
    )  # fmt: skip


def compiled_numbers(answer: Answer, gpu: GpuProfile) -> dict[str, Any]:
    """The compiler's numbers under the names of an estimate, with what the GPU makes of them."""
    taken = occupancy(
        gpu,
        warps=answer.warps,
        shared_bytes=answer.shared_bytes,
        registers=answer.registers,
        tensor_memory_columns=answer.tensor_memory_columns,
    )
    fits = (
        answer.shared_bytes <= gpu.shared_bytes_per_cta
        and answer.warps * gpu.warp_size <= gpu.threads_per_cta_max
        and (not gpu.tensor_memory_columns or answer.tensor_memory_columns <= gpu.tensor_memory_columns)
    )
    return {
        "shared_bytes": answer.shared_bytes,
        "tensor_memory_columns": answer.tensor_memory_columns,
        "registers": answer.registers,
        "spills": answer.spills,
        "warps": answer.warps,
        "ctas_per_sm": taken.ctas_per_sm,
        "limiter": taken.limiter,
        "fits": fits,
    }


def compare(estimate: Mapping[str, Any], compiled: Mapping[str, Any]) -> list[Difference]:
    """What differs. The number of shared bytes is claimed where it is called exact, a bound and a refusal always, the
    registers never: they come with a range."""
    found: list[Difference] = []

    def differs(what: str, claimed: bool, mine: Any = None) -> None:
        found.append(Difference(what, estimate[what] if mine is None else mine, compiled[what], claimed))

    exact = bool(estimate["shared_exact"])
    if estimate["shared_bytes"] != compiled["shared_bytes"]:
        over = estimate["shared_lower_bound"] > compiled["shared_bytes"]
        differs("shared_bytes", exact or over)
    for what in ("tensor_memory_columns", "warps"):
        if estimate[what] != compiled[what]:
            differs(what, exact)
    registers = compiled["registers"]
    if registers is not None and estimate["registers"] is not None:
        low, high = estimate["registers_low"], estimate["registers_high"]
        if not low <= registers <= high:
            differs("registers", False, f"{estimate['registers']} ({low} to {high})")
    spills = compiled["spills"]
    if spills is not None:
        said = estimate["spills"]
        if (said == "certain" and not spills) or (said == "no" and spills):
            differs("spills", said == "certain")
    if estimate["ctas_per_sm"] != compiled["ctas_per_sm"]:
        differs("ctas_per_sm", False)
    if estimate["fits"] != compiled["fits"]:
        # That it fits is claimed only with an exact number; that it does not, always.
        differs("fits", exact or not estimate["fits"])
    return found


def _state(differences: list[Difference]) -> State:
    if any(difference.claimed for difference in differences):
        return "wrong"
    return "off" if differences else "equal"
