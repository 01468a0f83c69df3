"""TL205: a number of CTAs a cluster that the GPU or the release does not take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tritonlint.finding import Finding, Fix
from tritonlint.model.clusters import refused_clusters
from tritonlint.rule import Context, Rule
from tritonlint_rules.support import samples
from tritonlint_rules.support.drafts import Draft, config_values, findings, possible_ints
from tritonlint_rules.support.nearest import edit_value
from tritonlint_rules.support.places import of_value
from tritonlint_rules.support.survey import all_entries, by_config, in_all, list_certainty, lower

CODE, NAME = "TL205", "clusters-unsupported"


def check(context: Context) -> Iterable[Finding]:
    return findings(CODE, NAME, context, _drafts(context))


def _drafts(context: Context) -> Iterator[Draft]:
    for listed in all_entries(context):
        for group in by_config(listed):
            entry = group[0]
            known = [one for each in group if (one := possible_ints(each.of.candidate.num_ctas))]
            for ctas in dict.fromkeys(number for numbers in known for number in numbers):
                verdict = refused_clusters(entry.gpu, ctas, context.triton)
                if verdict is None:
                    continue
                reason, level = verdict
                edit = edit_value(context, entry, "num_ctas", 1)
                yield Draft(
                    place=of_value(context, entry.plan, entry.of.candidate, "num_ctas"),
                    severity="error",
                    certainty=lower(
                        lower(level, in_all(known, [one for one in known if one == (ctas,)])),
                        list_certainty(entry),
                    ),
                    message=f"num_ctas={ctas} on {{gpus}}: {reason}",
                    gpu=entry.gpu,
                    config=config_values(entry.of.candidate),
                    assumptions=entry.of.candidate.assumptions,
                    help="num_ctas=1 runs everywhere",
                    fixes=(Fix("num_ctas=1", False, (edit,)),) if edit else (),
                    lacks=entry.gpu.vendor == "amd" or entry.gpu.capability < 90,
                )
                break


_PAIR = samples.tuned_scale([samples.block(512, "num_warps=4"), samples.block(1024, "num_ctas=2")])

RULE = Rule(
    code=CODE,
    name=NAME,
    severity="error",
    what="`num_ctas` over 1 on a GPU without clusters, no power of two, or more than a cluster can have.",
    why=(
        "A cluster is a group of CTAs on neighbouring SMs that share their shared memory. Only sm_90 and "
        "newer have it. Triton 3.5 and newer raise a ValueError elsewhere; 3.3 and 3.4 end the whole "
        "process inside LLVM. Neither is caught by the autotuner, so one such config stops the tuning."
    ),
    example='```python\ntriton.Config({"BLOCK": 1024}, num_warps=4, num_ctas=2)  # on an RTX 4090\n```',
    better='```python\ntriton.Config({"BLOCK": 1024}, num_warps=4)\n```',
    when_not="A list that is chosen by the device's capability before it gets to the tuner.",
    source="Triton 2.2 to 3.9 compiled for sm_80 and sm_90; num_ctas 3, 16 and 32 tried on an H200.",
    check=check,
    fixable="unsafe",
    valid=(
        samples.miss(samples.launched_scale("BLOCK=1024, num_ctas=1"), "one CTA is no cluster"),
        samples.miss(_PAIR, "Hopper has clusters", gpu="h100"),
        samples.miss(
            samples.launched_scale("BLOCK=1024, num_ctas=8"), "the largest portable size", gpu="h100"
        ),
        samples.miss(
            samples.launched_scale("BLOCK=1024, num_ctas=c").replace(
                "def run(x, y, n)", "def run(x, y, n, c)"
            ),
            "the caller says how many",
        ),
    ),
    invalid=(
        samples.hit(_PAIR, "num_ctas=2", "2", gpu="rtx4090", severity="error", why="in a list too"),
        samples.hit(samples.launched_scale("BLOCK=1024, num_ctas=2"), "scale[(", "2", gpu="rtx4090"),
        samples.hit(samples.launched_scale("BLOCK=1024, num_ctas=3"), "scale[(", "3", gpu="h100"),
        samples.hit(
            _PAIR.replace("triton.Config(", "Conf(").replace(
                "import triton\n", "import triton\nfrom triton import Config as Conf\n"
            ),
            "num_ctas=2",
            "2",
            gpu="rtx4090",
            why="Config under another name",
        ),
    ),
)
