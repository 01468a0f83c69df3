"""TL511: an option of the other vendor, or one that this GPU ignores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding
from tritonlint.rule import Context, Rule
from tritonlint.source.sites import AutotuneSite, Candidate
from tritonlint.source.values import Known
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, config_values, findings, known_int
from tritonlint_rules.support.launch_options import options, vendors_of
from tritonlint_rules.support.places import of_launch, of_tuning, of_value
from tritonlint_rules.support.say import listed
from tritonlint_rules.support.survey import all_entries, by_config

CODE, NAME = "TL511", "foreign-option"
_AMD = ("waves_per_eu", "matrix_instr_nonkdim", "kpack")


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for entries in all_entries(context):
        if not entries:
            continue
        plan, gpu = entries[0].plan, entries[0].gpu
        parameters = {parameter.name for parameter in plan.kernel.parameters}
        place = of_tuning(plan, plan.tuning) if plan.tuning is not None else of_launch(plan)
        ignored: dict[str, None] = {}
        for group in by_config(entries):
            given = _given(group[0].of.candidate)
            for name in _AMD:
                if name in given and gpu.vendor == "nvidia" and name in parameters:
                    ignored[name] = None
        if ignored:
            wasted = _differ_only_in(entries[0].plan.tuning, tuple(ignored))
            yield Draft(
                place=place,
                severity="info",
                certainty="proven",
                message=(
                    f"{listed(ignored)} {'is an option' if len(ignored) == 1 else 'are options'} of AMD's "
                    f"compiler, {{gpus}} ignores {'it' if len(ignored) == 1 else 'them'}"
                    + (f": {wasted} configs differ in nothing else" if wasted else "")
                ),
                gpu=gpu,
                help="give each vendor a list of its own",
            )
        for group in by_config(entries):
            candidate = group[0].of.candidate
            pack = known_int(_given(candidate).get("kpack"))
            if gpu.arch == "gfx950" and context.triton >= (3, 5) and pack is not None and pack > 1:
                yield Draft(
                    place=of_value(context, plan, candidate, "kpack"),
                    severity="info",
                    certainty="proven",
                    message=f"kpack={pack} is taken as 1 on {gpu.arch}",
                    gpu=gpu,
                    config=config_values(candidate),
                )
        other = _raises_elsewhere(context, entries[0].of.candidate, parameters, gpu.vendor)
        if other:
            yield Draft(
                place=place,
                severity="info",
                certainty="likely",
                message=(
                    f"{listed(other)} raises KeyError on GPUs of the other vendor, which this run is for too"
                ),
                gpu=gpu,
                help="choose the options by the backend, where the list is built",
            )


def _given(candidate: Candidate) -> dict[str, object]:
    values: dict[str, object] = dict(candidate.extra)
    values.update({name: value for name, value in candidate.constants.items() if name in _AMD})
    for name, value in (candidate.config.kwargs if candidate.config is not None else {}).items():
        values.setdefault(name, Known(value))
    return values


def _differ_only_in(tuning: AutotuneSite | None, names: tuple[str, ...]) -> int:
    """How many configs are the same as another but for these names."""
    if tuning is None:
        return 0
    seen: set[str] = set()
    again = 0
    for config in tuning.configs:
        rest = sorted((name, repr(value)) for name, value in config.kwargs.items() if name not in names)
        identity = repr((rest, config.num_warps, config.num_stages, config.num_ctas, config.maxnreg))
        again += identity in seen
        seen.add(identity)
    return again


def _raises_elsewhere(context: Context, candidate: Candidate, parameters: set[str], vendor: str) -> list[str]:
    """Options that this vendor knows and another vendor of the same run does not."""
    others = {gpu.vendor for gpu in context.gpus} - {vendor}
    found: list[str] = []
    for other in others:
        known = options(other, context.triton)
        for name in _given(candidate):
            if known is None or name in parameters or name in known:
                continue
            if vendor in vendors_of(name, context.triton) and not _conditional(context, name, other):
                found.append(name)
    return list(dict.fromkeys(found))


def _conditional(context: Context, name: str, vendor: str) -> bool:
    """Whether the code leaves the option out on the other vendor's GPUs."""
    return all(
        name not in _given(of.candidate)
        for gpu in context.gpus
        if gpu.vendor == vendor
        for of in context.estimates(gpu)
    )


_PARAMETER = samples.tuned_gemm(
    [
        samples.config("64x64x32", "num_stages=2").replace("32}", '32, "waves_per_eu": 0}'),
        samples.config("64x64x32", "num_stages=2").replace("32}", '32, "waves_per_eu": 2}'),
    ]
).replace("BLOCK_K: tl.constexpr", "BLOCK_K: tl.constexpr, waves_per_eu: tl.constexpr = 0")
_PACK = samples.launched_gemm("64x64x32", "num_stages=2, kpack=2")

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="info",
    what=(
        "An option that only one vendor's compiler knows, in code that is linted for the other one, or "
        "one that is ignored."
    ),
    why=(
        "`waves_per_eu`, `matrix_instr_nonkdim` and `kpack` steer AMD's compiler. As parameters of the "
        "kernel they are accepted on NVIDIA and do nothing, so that configs which differ only in them are "
        "tuned twice; as launch options they raise there (TL207). gfx950 takes `kpack` as 1."
    ),
    example='```python\ntriton.Config({"BLOCK_M": 64, "waves_per_eu": 2})  # and the same with 0\n```',
    better="```python\nconfigs = amd_configs() if is_hip() else nvidia_configs()\n```",
    when_not="One list for both vendors, where the few more configs do not matter.",
    source="The option classes of both back ends in Triton 3.0 to 3.9.",
    at_most="info",
    check=check,
    valid=(
        samples.miss(_PARAMETER, "it has an effect here", gpu="mi300x"),
        samples.miss(_PACK, "gfx942 packs", gpu="mi300x"),
        samples.miss(_PACK.replace("kpack=2", "kpack=1"), "1 is what it is", gpu="gfx950"),
    ),
    invalid=(
        samples.hit(_PARAMETER, "@triton.autotune", "waves_per_eu", severity="info"),
        samples.hit(_PACK, "gemm[grid]", "kpack", gpu="gfx950", severity="info"),
        samples.hit(
            _PARAMETER.replace("@triton.autotune", "@tune").replace(
                "import triton\n", "import triton\nfrom triton import autotune as tune\n"
            ),
            "@tune",
            "1 configs differ",
            why="autotune under another name",
        ),
    ),
)
