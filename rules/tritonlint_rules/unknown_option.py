"""TL207: a keyword that neither the kernel nor the backend knows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tritonlint.finding import Certainty, Finding
from tritonlint.rule import Context, Rule
from tritonlint.source.sites import LaunchPlan
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, findings
from tritonlint_rules.support.launch_options import config_keywords, everywhere_known, options, vendors_of
from tritonlint_rules.support.names import sure_launch
from tritonlint_rules.support.places import Place, of_argument, of_config_value
from tritonlint_rules.support.say import listed
from tritonlint_rules.support.vendors import speaks_of_amd

if TYPE_CHECKING:
    from tritonlint.gpu.profile import GpuProfile

CODE, NAME = "TL207", "unknown-option"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for gpu in context.gpus:
        plan = context.plan_on(gpu)
        yield from _of_launch(context, plan, gpu)
        yield from _of_configs(context, plan, gpu)


def _of_launch(context: Context, plan: LaunchPlan, gpu: GpuProfile) -> Iterator[Draft]:
    if plan.launch is None:
        return
    parameters = {parameter.name for parameter in plan.kernel.parameters}
    known = options(gpu.vendor, context.triton)
    if known is None:
        return
    for name, given in plan.launch.options.items():
        if name not in known and name not in parameters:
            certainty: Certainty = "proven" if sure_launch(context, plan) else "possible"
            if given.sometimes or _written_for(context, name):
                certainty = "possible"
            yield _draft(
                context,
                gpu,
                of_argument(context, plan, name),
                name,
                "the launch",
                parameters | known,
                certainty,
            )


def _written_for(context: Context, option: str) -> bool:
    """Whether the option is AMD's and the file says that it is for AMD's GPUs: then the launch is not for
    this one."""
    return vendors_of(option, context.triton) == ("amd",) and speaks_of_amd(context)


def _of_configs(context: Context, plan: LaunchPlan, gpu: GpuProfile) -> Iterator[Draft]:
    if plan.tuning is None:
        return
    if plan.tuning.tuned_file and not (plan.kernel.name and "gpu" in plan.assumed):
        return  # for what program, or for what GPU, is not known
    parameters = {parameter.name for parameter in plan.kernel.parameters}
    accepted = config_keywords(context.triton)
    known = options(gpu.vendor, context.triton)
    level: Certainty = "possible" if plan.tuning.alternatives or plan.tuning.prune else "proven"
    for config in plan.tuning.configs:
        for name in config.extra:
            if name not in accepted:
                place = of_config_value(context, plan, config, name)
                # Raised where the list is built, whatever is tried of it.
                yield _draft(context, gpu, place, name, "triton.Config", accepted, "proven")
        for name in config.kwargs:
            if name in parameters or known is None or name in known:
                continue
            if everywhere_known(name):
                sure: Certainty = "possible" if _written_for(context, name) else level
                place = of_config_value(context, plan, config, name)
                yield _draft(context, gpu, place, name, "the launch", parameters | known, sure)
        if known is not None and config.maxnreg is not None and "maxnreg" not in known:
            place = of_config_value(context, plan, config, "maxnreg")
            yield _draft(context, gpu, place, "maxnreg", "the launch", parameters | known, level)


def _draft(
    context: Context,
    gpu: GpuProfile,
    place: Place,
    name: str,
    taker: str,
    known: Iterable[str],
    certainty: Certainty,
) -> Draft:
    major, minor = context.triton
    where = f"Triton {major}.{minor}" + ("" if taker == "triton.Config" else f" on {gpu.arch}")
    vendors = [vendor for vendor in vendors_of(name, context.triton) if vendor != gpu.vendor]
    why = f"; it is an option of {'AMD' if vendors[0] == 'amd' else 'NVIDIA'} only" if vendors else ""
    error = "TypeError" if taker == "triton.Config" or context.triton < (3, 0) else "KeyError"
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.75)
    if taker == "triton.Config" and name == "meta":
        close = ["kwargs"]
    help_text = f"did you mean {listed(close)}?" if close else None
    if vendors:
        help_text = (
            "give it only where the backend is that one, or make it a constexpr parameter of the kernel"
        )
    return Draft(
        place=place,
        severity="error",
        certainty=certainty,
        message=f"{taker} does not know {name} in {where}{why}: it raises {error}",
        gpu=gpu,
        help=help_text,
        lacks=bool(vendors),
    )


RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what=(
        "A keyword of a launch, or of `triton.Config`, that is no parameter of the kernel and no option "
        "of that release and backend."
    ),
    why=(
        "From Triton 3.0 on the launch raises `KeyError: Keyword argument ... was specified but "
        "unrecognised`, before that a TypeError. `Config` raises a TypeError where the list is built, so "
        "the module cannot even be imported. Options come and go with releases, and each vendor has its "
        "own: `waves_per_eu`, `matrix_instr_nonkdim` and `kpack` are AMD's, `maxnreg` is NVIDIA's."
    ),
    example="```python\nscale[grid](x, y, n, BLOCK=1024, num_warps=8, threads_per_warp=16)\n```",
    better="```python\nscale[grid](x, y, n, BLOCK=1024, num_warps=8)\n```",
    when_not=(
        "A wrapper around the kernel takes the keyword out before Triton sees it. AMD's options in a file "
        "that says it is for ROCm are reported as `possible` only, which is not shown by default."
    ),
    source="The option classes and `Config` of all wheels from 2.1 to 3.9.",
    check=check,
    valid=(
        samples.miss(
            samples.launched_scale("BLOCK=1024, num_warps=8, maxnreg=128"), "maxnreg is known since 3.0"
        ),
        samples.miss(
            samples.launched_scale("BLOCK=1024, waves_per_eu=2"), "an option of this backend", gpu="mi300x"
        ),
        samples.miss(
            samples.launched_scale("BLOCK=1024, waves_per_eu=2").replace(
                "BLOCK: tl.constexpr", "BLOCK: tl.constexpr, waves_per_eu: tl.constexpr"
            ),
            "the kernel has a parameter of that name",
        ),
        samples.miss(
            samples.tuned_scale([samples.block(512, "num_consumer_groups=2"), samples.block(1024)]),
            "known to Config in 3.2 and 3.3",
            gpu="h100",
            triton="3.3",
        ),
        samples.miss(
            '"""Kernels for ROCm."""\n\n' + samples.launched_scale("BLOCK=1024, waves_per_eu=2"),
            "the file is for AMD's GPUs",
        ),
        samples.miss(
            samples.launched_scale("**tile")
            .replace("scale[", "kernel[")
            .replace(
                "def run(x, y, n):\n",
                "@triton.jit\ndef copy(x_ptr, y_ptr, n):\n    tl.store(y_ptr, tl.load(x_ptr))\n\n\n"
                "def run(x, y, n):\n    tiled = n > 64\n    kernel = scale if tiled else copy\n"
                '    tile = {"BLOCK": 1024} if tiled else {}\n',
            ),
            "which kernel it is goes with what is given",
        ),
        samples.miss(
            samples.launched_scale("BLOCK=1024, **more").replace(
                "def run(x, y, n)", "def run(x, y, n, **more)"
            ),
            "what the splat holds is not known",
        ),
        samples.miss(
            samples.launched_scale("BLOCK=1024, **more").replace(
                "def run(x, y, n):\n",
                "def run(x, y, n):\n    more = {}\n    if x.is_special:\n"
                '        more["threads_per_warp"] = 32 if n > 64 else 16\n',
            ),
            "given on some devices only, which may not be this one",
        ),
    ),
    invalid=(
        samples.hit(
            samples.launched_scale("BLOCK=1024, threads_per_warp=16"),
            "scale[(",
            "threads_per_warp",
            severity="error",
        ),
        samples.hit(
            samples.launched_scale("BLOCK=1024, waves_per_eu=2"),
            "scale[(",
            "waves_per_eu",
            why="AMD's option",
        ),
        samples.hit(
            samples.tuned_scale([samples.block(512, "num_consumer_groups=2"), samples.block(1024)]),
            "num_consumer_groups",
            "num_consumer_groups",
            gpu="h100",
            why="gone since 3.4",
        ),
        samples.hit(
            samples.tuned_scale(['triton.Config(meta={"BLOCK": 512}, num_warps=4)', samples.block(1024)]),
            "meta=",
            "meta",
            why="the old name of the first parameter",
        ),
        samples.hit(
            samples.launched_scale("BLOCK=1024, num_warp=8")
            .replace("import triton\n", "import triton as tt\n")
            .replace("triton.cdiv", "tt.cdiv")
            .replace("@triton.jit", "@tt.jit"),
            "scale[(",
            "num_warp",
            why="a misspelling, and triton under another name",
        ),
    ),
)
