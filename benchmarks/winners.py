"""What is said of launches whose time on a GPU is known: no warning on the fastest, and what could not run is refused.

    python benchmarks/winners.py [TABLE.csv ...] [--kernels FILE] [--all]

For each kernel and problem of the tables (by default those of benchmarks/data), the three fastest launches are written
as a program and linted; findings that are warnings or errors are printed. Then each launch that the driver refused
(OutOfResources) is estimated, with --all also each one that ran: refused ones have to be said not to fit, the others
not. The exit status is 1 where one of this fails.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import re
import sys
from collections.abc import Iterable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from benchmarks.timed_rows import HERE, Timed, timed_rows
from tritonlint.estimate import Estimator, job_of
from tritonlint.finding import Finding
from tritonlint.lint import lint_source
from tritonlint.settings import Settings

TABLES = tuple(str(HERE / "data" / name) for name in ("h200.csv", "h200_second.csv", "h200_third.csv"))
KERNELS = str(HERE / "gpu_kernels.py")
FASTEST = 3
_TORCH = {
    "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp8e4nv": "float8_e4m3fn", "i8": "int8",
    "u8": "uint8", "i32": "int32", "i64": "int64",
}  # fmt: skip
_DESCRIPTOR = re.compile(r"tensordesc<(\w+)(\[.*\])>")


def fastest(launches: Iterable[Timed]) -> list[Timed]:
    """The three of each kernel and problem with the least time."""
    found: dict[str, list[Timed]] = collections.defaultdict(list)
    for launch in launches:
        found[launch.group].append(launch)
    return [one for group in found.values() for one in sorted(group, key=lambda one: one.ms)[:FASTEST]]


def program(kernels: str, launches: list[Timed]) -> str:
    """The kernels and a function for each launch, with all types and sizes in sight."""
    parts = ["import torch\nfrom triton.tools.tensor_descriptor import TensorDescriptor\n", kernels]
    for number, launch in enumerate(launches):
        job = launch.job
        lines, arguments = [], []
        for name, of in job["types"].items():
            if of.startswith("*"):
                lines.append(f"{name} = torch.empty((65536,), dtype=torch.{_TORCH[of[1:]]}, device='cuda')")
                arguments.append(f"{name}={name}")
            elif made := _DESCRIPTOR.fullmatch(of):
                whole = f"torch.empty((4096, 4096), dtype=torch.{_TORCH[made[1]]}, device='cuda')"
                lines.append(f"{name} = TensorDescriptor.from_tensor({whole}, {made[2]})")
                arguments.append(f"{name}={name}")
            else:
                arguments.append(f"{name}={job['values'].get(name, 0.5)}")
        arguments += [f"{name}={value}" for name, value in job["constants"].items()]
        arguments += [f"num_warps={job['num_warps']}", f"num_stages={job['num_stages']}"]
        lines.append(f"{job['kernel']}[{tuple(job['grid'])}]({', '.join(arguments)})")
        parts.append(f"\n\ndef run_{number:04}():\n" + "".join(f"    {line}\n" for line in lines))
    return "".join(parts)


def warned(kernels: str, launches: list[Timed], gpu: str) -> list[Finding]:
    """Warnings and errors over a program of these launches."""
    result = lint_source("winners.py", program(kernels, launches), Settings(), gpus=[gpu], triton="3.6")
    assert not result.problems, result.problems
    return [finding for finding in result.findings if finding.severity != "info"]


def fits(launch: Timed, estimator: Estimator) -> bool:
    return bool(estimator.estimate(job_of(launch.job)).fits)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", default=TABLES)
    parser.add_argument("--kernels", default=KERNELS)
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--all", action="store_true", help="estimate the launches that ran, too")
    given = parser.parse_args()
    text = pathlib.Path(given.kernels).read_text(encoding="utf-8")
    failed = False
    for table in given.tables:
        ran = list(timed_rows(table, given.kernels, given.gpu))
        best = fastest(ran)
        found = warned(text, best, given.gpu)
        print(f"{table}: {len(found)} warnings on the {len(best)} fastest of {len(ran)} launches")
        for finding in found:
            print(f"  {finding.code} {finding.severity}: {finding.message}")
        refused = list(timed_rows(table, given.kernels, given.gpu, refused=True))
        missed = [launch for launch in refused if fits(launch, Estimator())]
        print(f"  {len(refused) - len(missed)} of {len(refused)} that the driver refused are said not to fit")
        wrong = [launch for launch in ran if not fits(launch, Estimator())] if given.all else []
        if given.all:
            print(f"  {len(wrong)} of {len(ran)} that ran are said not to fit")
        failed = failed or bool(found or missed or wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
