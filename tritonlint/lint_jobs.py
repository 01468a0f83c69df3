"""Lints many files, in this process or in several, in the order that shares most.

Files of tuned configs are judged by tritonlint's own text of their kernels, and hundreds of them hold the same configs:
those of one device and one type are linted one after the other by one process, which keeps what it compiled. Every other
file stands for itself.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tritonlint.collector import before_workers, between_files, collect_rarely
from tritonlint.finding import Certainty, Severity
from tritonlint.lint import FileProblem, FileResult, lint_source
from tritonlint.settings import Settings

if TYPE_CHECKING:
    from tritonlint.targets import Targets
    from tritonlint.trace_store import TraceStore

PARALLEL_BYTES = 400_000  # of relevant files: below that a worker costs more to start than it saves
PARALLEL_FILES = 4
_MOST_WORKERS = 16


@dataclass(frozen=True, slots=True)
class Job:
    """One relevant file with all that a worker needs."""

    path: str
    settings: Settings
    targets: Targets
    certainty: Certainty
    data: bytes
    key: str = ""  # in the cache of results
    least: Severity = "info"  # what weighs less may be left out


Batch = tuple[int, ...]  # places in the list of jobs, of what one process lints in turn


def lint_jobs(jobs: Sequence[Job], workers: int | None) -> Iterator[tuple[int, FileResult]]:
    """(place of the job, its result), as they are done. `workers`: how many processes; None: as many as pay off."""
    batches = batches_of(jobs)
    count = worker_count(jobs, workers)
    if count <= 1:
        for batch in batches:
            for place in batch:
                yield place, run_job(jobs[place])
        return
    yield from _in_processes(jobs, batches, min(count, len(batches)))


def _in_processes(
    jobs: Sequence[Job], batches: Sequence[Batch], count: int
) -> Iterator[tuple[int, FileResult]]:
    """Whatever ends the run early (Ctrl-C, a reader that wants no more) ends the workers at once."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool

    _import_all()
    before_workers()
    pool = ProcessPoolExecutor(count, initializer=_begin_worker)
    try:
        with _interrupts_later():
            futures = {pool.submit(_run, [jobs[place] for place in batch]): batch for batch in batches}
        for future in as_completed(futures):
            batch = futures[future]
            try:
                results = future.result()
            except BrokenProcessPool:  # a worker died (out of memory, killed): this process tries it
                results = _run([jobs[place] for place in batch])
            except Exception as error:
                results = [_failed(jobs[place].path, error) for place in batch]
            yield from zip(batch, results, strict=True)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in multiprocessing.active_children():
            worker.terminate()
        raise
    pool.shutdown()


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Ctrl-C while processes are started is raised when they are there. In between Python would lose it: what is raised
    by the callbacks that it runs around a fork is ignored."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is not signal.default_int_handler:
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


def _begin_worker() -> None:
    # The process that was started answers Ctrl-C, for all of them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    collect_rarely()


def _import_all() -> None:
    """What every worker would import for itself, once for all of them where they are forked."""
    import tritonlint.compiler.compile
    import tritonlint.context
    import tritonlint.kernel.trace
    import tritonlint.kernel_uses
    import tritonlint.registry
    import tritonlint.source.tuned_plans
    import tritonlint.work

    with suppress(Exception):  # who asks for the rules says what is wrong with them
        tritonlint.registry.registry()


def run_job(job: Job) -> FileResult:
    """Lints one file; whatever goes wrong is in the result."""
    tuned = job.path.endswith(".json")
    if not tuned:
        _forget()
    between_files()
    try:
        return lint_source(
            job.path,
            job.data,
            job.settings,
            targets=job.targets,
            certainty=job.certainty,
            least=job.least,
            store=_tuned_store() if tuned else None,
        )
    except Exception as error:
        return _failed(job.path, error)


def _forget() -> None:
    """What no Python file has from the file before; tuned files come first."""
    from tritonlint.source.guards import forget_conditions
    from tritonlint.source.symbolic import forget_keys

    if _tuned_store.cache_info().currsize:
        _tuned_store().release()
        _tuned_store.cache_clear()
    forget_conditions()
    forget_keys()


def batches_of(jobs: Sequence[Job]) -> list[Batch]:
    """The jobs in the order in which they are best done, those that share most together."""
    tuned: dict[tuple[str, ...], list[int]] = {}
    single: list[Batch] = []
    for place, job in enumerate(jobs):
        if job.path.endswith(".json"):
            from tritonlint.source.tuned import kind_of_name

            tuned.setdefault(kind_of_name(job.path), []).append(place)
        else:
            single.append((place,))
    return [*(tuple(tuned[kind]) for kind in sorted(tuned)), *single]


def worker_count(jobs: Sequence[Job], asked: int | None) -> int:
    """How many processes: as many as asked for, or as pay off."""
    if asked is not None:
        return max(1, min(asked, len(jobs)))
    if len(jobs) < PARALLEL_FILES or sum(len(job.data) for job in jobs) < PARALLEL_BYTES:
        return 1
    return min(os.cpu_count() or 1, len(jobs), _MOST_WORKERS)


def _run(jobs: Sequence[Job]) -> list[FileResult]:
    return [run_job(job) for job in jobs]


def _failed(path: str, error: Exception) -> FileResult:
    message = f"internal error: {type(error).__name__}: {error}"
    return FileResult(path, problems=(FileProblem(path, message, True),))


@lru_cache(maxsize=1)
def _tuned_store() -> TraceStore:
    """What was traced and compiled for one tuned file is good for the next."""
    from tritonlint.trace_store import TraceStore

    return TraceStore()
