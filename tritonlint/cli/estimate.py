"""`tritonlint estimate`: what one launch costs on one GPU."""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal

import click

from tritonlint.cli.main import CommandError
from tritonlint.cli.options import counted
from tritonlint.output.json_text import json_text

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

    from tritonlint.estimate import Estimate, Estimator, Job

_PARALLEL_LINES = 512  # a batch of so many is worth starting processes for
_CHUNK = 32  # lines that go to a process at once


@click.command(short_help="What one launch costs on one GPU, with each step of the arithmetic.")
@click.argument("launch", required=False, metavar="FILE::KERNEL")
@click.option("--gpu", metavar="NAME", help="The GPU or target.")
@click.option("--triton", metavar="V", help="The Triton release.")
@click.option("--set", "sets", multiple=True, metavar="NAME=VALUE", help="A constant, or a run-time size.")
@click.option(
    "--type", "types", multiple=True, metavar="NAME=TYPE", help="The type of an argument, as *fp16."
)
@click.option("--num-warps", type=int, metavar="N")
@click.option("--num-stages", type=int, metavar="N")
@click.option("--num-ctas", type=int, metavar="N")
@click.option("--maxnreg", type=int, metavar="N")
@click.option("--grid", metavar="X[,Y[,Z]]", help="How many programs are launched.")
@click.option("--model", type=click.Choice(["compiler", "textbook"]), default="compiler", show_default=True)
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--batch", metavar="JOBS.jsonl", help="One job a line in (- is standard input), one estimate a line out."
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes for --batch (for a long file: all cores).",
)
def command(
    launch: str | None,
    gpu: str | None,
    triton: str | None,
    sets: tuple[str, ...],
    types: tuple[str, ...],
    num_warps: int | None,
    num_stages: int | None,
    num_ctas: int | None,
    maxnreg: int | None,
    grid: str | None,
    model: Literal["compiler", "textbook"],
    output_format: str,
    batch: str | None,
    jobs: int | None,
) -> int:
    """What one launch costs on one GPU: shared memory, registers, CTAs per SM, waves, time.

    Constants that are not set are those of the kernel's first config or launch.
    """
    if batch is not None:
        if launch is not None:
            raise CommandError("FILE::KERNEL and --batch exclude each other")
        return _batch(batch, jobs)
    if launch is None or "::" not in launch:
        raise CommandError("name a kernel as FILE::KERNEL, or jobs with --batch")
    if gpu is None:
        raise CommandError("--gpu NAME is needed")
    from tritonlint.estimate import Estimator, JobError, job_of

    file, _, kernel = launch.rpartition("::")
    data: dict[str, Any] = {
        "file": file,
        "kernel": kernel,
        "gpu": gpu,
        "triton": triton,
        "types": dict(pair(text, "--type") for text in types),
        "num_warps": num_warps,
        "num_stages": num_stages,
        "num_ctas": num_ctas,
        "maxnreg": maxnreg,
        "grid": _grid(grid),
        "model": model,
    }
    try:
        estimator = Estimator()
        job = _with_sets(estimator, job_of(data), sets)
        estimate = estimator.estimate(job)
    except JobError as error:
        raise CommandError(str(error)) from None
    if output_format == "json":
        click.echo(json_text(estimate.to_json()))
    else:
        click.echo("\n".join(_text(estimator, job, estimate)))
    return 0


def pair(text: str, option: str) -> tuple[str, str]:
    """The two sides of NAME=VALUE. Raises CommandError."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise CommandError(f"{option} wants NAME=VALUE, not {text!r}")
    return name.strip(), value.strip()


def _grid(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise CommandError(f"--grid wants one to three numbers, as 1024 or 64,64, not {text!r}") from None


def _with_sets(estimator: Estimator, job: Job, sets: Sequence[str]) -> Job:
    """--set gives constants, and sizes where the name is a run-time argument of the kernel."""
    from tritonlint.jobs import constant
    from tritonlint.source.comments import parse_value

    pairs = [pair(text, "--set") for text in sets]
    if not pairs:
        return job
    constexprs = estimator.constexprs(job)
    constants: dict[str, Any] = {}
    values: dict[str, int] = {}
    for name, text in pairs:
        value = constant(parse_value(text))
        if name in constexprs or not isinstance(value, int) or isinstance(value, bool):
            constants[name] = value
        else:
            values[name] = value
    return replace(job, constants=constants, values=values)


def _text(estimator: Estimator, job: Job, estimate: Estimate) -> Iterator[str]:
    yield f"{job.kernel} on {estimate.gpu}, Triton {estimate.triton[0]}.{estimate.triton[1]}"
    yield ""
    for number, step in enumerate(estimate.steps, 1):
        yield f"  {number:>2}. {step}"
    yield ""
    if estimate.fits:
        ctas = counted(estimate.ctas_per_sm, "CTA")
        yield f"{ctas} per SM, occupancy {estimate.occupancy:.1%}, limiter {estimate.limiter}"
        yield from _profiled(estimate)
    else:
        yield f"does not fit: {'; '.join(estimate.why_not)}"
    sure = estimate.certainty + (f", if {'; '.join(estimate.assumptions)}" if estimate.assumptions else "")
    yield f"known: {sure}"
    if estimate.model == "compiler":
        yield from _textbook(estimator, job, estimate)


def _profiled(estimate: Estimate) -> Iterator[str]:
    """The same numbers under the names that Nsight Compute has for them (checked against 2025.3 on an H200)."""
    from tritonlint.gpu.names import UnknownGpuError
    from tritonlint.gpu.profile import find_gpu
    from tritonlint.model.occupancy import allocated_shared_bytes

    try:
        gpu = find_gpu(estimate.gpu)
    except UnknownGpuError:  # a GPU of the settings
        return
    if gpu.vendor != "nvidia":
        return
    limits = estimate.limits
    numbers = {
        "launch__registers_per_thread": estimate.registers,
        "launch__shared_mem_per_block_allocated": allocated_shared_bytes(gpu, estimate.shared_bytes),
        "launch__occupancy_limit_warps": limits.get("threads"),
        "launch__occupancy_limit_registers": limits.get("registers"),
        "launch__occupancy_limit_shared_mem": limits.get("shared memory"),
        "launch__occupancy_limit_blocks": limits.get("blocks"),
        "sm__maximum_warps_per_active_cycle_pct": round(100 * estimate.occupancy, 2),
    }
    yield "in Nsight Compute:"
    yield from (f"  {name} {value:,}" for name, value in numbers.items() if value is not None)


def _textbook(estimator: Estimator, job: Job, estimate: Estimate) -> Iterator[str]:
    """Where the arithmetic of the teaching material says something else."""
    if estimate.compiled is None or not estimate.compiled.dots:
        return
    book = estimator.estimate(replace(job, model="textbook"))
    differ = []
    if book.shared_bytes != estimate.shared_bytes:
        differ.append(f"{book.shared_bytes:,} B of shared memory, not {estimate.shared_bytes:,}")
    if book.registers != estimate.registers:
        differ.append(f"{book.registers} registers, not {estimate.registers}")
    if book.ctas_per_sm != estimate.ctas_per_sm:
        differ.append(f"{counted(book.ctas_per_sm, 'CTA')} per SM, not {estimate.ctas_per_sm}")
    if differ:
        yield f"the textbook model says {'; '.join(differ)} (--model textbook shows how)"


def _batch(path: str, jobs: int | None) -> int:
    for answer in _answers(_lines(path), jobs, streamed=path == "-"):
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()
    return 0


def _lines(path: str) -> Iterator[str]:
    """The lines of a file or of standard input."""
    if path == "-":
        yield from sys.stdin
        return
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            yield from file
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror or error}") from None


def _answers(lines: Iterator[str], jobs: int | None, streamed: bool) -> Iterator[str]:
    """The answers in the order of the lines. A file is read whole for several processes, a stream is answered line by
    line, or a few chunks ahead of what is printed."""
    if streamed:
        yield from _answers_ahead(lines, jobs) if jobs is not None and jobs > 1 else map(_answer, lines)
        return
    first = list(islice(lines, _PARALLEL_LINES))
    if jobs is None:
        jobs = min(os.cpu_count() or 1, 16) if len(first) == _PARALLEL_LINES else 1
    if jobs == 1:
        yield from map(_answer, chain(first, lines))
        return
    yield from _answers_of_groups([*first, *lines], jobs)


def _pool(jobs: int) -> ProcessPoolExecutor:
    from concurrent.futures import ProcessPoolExecutor

    from tritonlint.collector import collect_rarely

    return ProcessPoolExecutor(jobs, initializer=collect_rarely)


def _answers_ahead(lines: Iterator[str], jobs: int) -> Iterator[str]:
    waiting: deque[Future[list[str]]] = deque()
    with _pool(jobs) as pool:
        while True:
            while len(waiting) < jobs * 2 and (chunk := list(islice(lines, _CHUNK))):
                waiting.append(pool.submit(_answer_chunk, chunk))
            if not waiting:
                return
            yield from waiting.popleft().result()


def _answers_of_groups(lines: Sequence[str], jobs: int) -> Iterator[str]:
    """Jobs of one kernel with the same constants go to one process, which traces and compiles them together."""
    groups: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        groups.setdefault(_group(line), []).append(number)
    chunks: list[list[int]] = [[]]
    for numbers in groups.values():
        if len(chunks[-1]) >= _CHUNK:
            chunks.append([])
        chunks[-1] += numbers
    answers: dict[int, str] = {}
    following = 0
    with _pool(jobs) as pool:
        futures = [pool.submit(_answer_chunk, [lines[number] for number in chunk]) for chunk in chunks]
        for chunk, future in zip(chunks, futures, strict=True):
            answers.update(zip(chunk, future.result(), strict=True))
            while following in answers:
                yield answers.pop(following)
                following += 1


def _group(line: str) -> str:
    """What tells the jobs apart that share the most work."""
    try:
        job = json.loads(line)
        return repr([job.get(name) for name in ("file", "kernel", "triton", "constants", "types")])
    except (ValueError, AttributeError, RecursionError):
        return ""


_ESTIMATOR: Estimator | None = None


def _answer(line: str) -> str:
    global _ESTIMATOR
    from tritonlint.estimate import Estimator, estimate_line

    if _ESTIMATOR is None:
        _ESTIMATOR = Estimator()
    return json_text(estimate_line(_ESTIMATOR, line), indent=None)


def _answer_chunk(lines: list[str]) -> list[str]:
    return [_answer(line) for line in lines]
