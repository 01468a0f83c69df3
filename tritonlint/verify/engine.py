"""Has jobs compiled in child processes beside this one, several at a time, and gives the answers as they come.

A process of the engine imports Triton once; it forks for each module and for each compile (child/main.py), so an import
that hangs, a compiler that aborts or a module that calls exit costs its own rows only.
"""

from __future__ import annotations

import base64
import json
import os
import queue
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonlint.facts.cubin import CodeError, read_amdgcn, read_cubin
from tritonlint.facts.triton_cache import release_of
from tritonlint.gpu.profile import GpuProfile
from tritonlint.verify.asked import CompileJob

_CHILD = Path(__file__).with_name("child")
# Loads child/ as a package of its own name, so that the interpreter needs nothing of tritonlint.
BOOT = (
    "import importlib.util as u, sys\n"
    "s = u.spec_from_file_location('_tritonlint_child', sys.argv[1] + '/__init__.py',"
    " submodule_search_locations=[sys.argv[1]])\n"
    "m = u.module_from_spec(s); sys.modules['_tritonlint_child'] = m; s.loader.exec_module(m)\n"
    "from _tritonlint_child.main import main\n"
    "main()\n"
)
_BATCH = (4, 24)  # jobs of one import, least and most: another process can take the rest of the file
_HELLO_SECONDS = 120.0
_DUMPS = ("TRITON_KERNEL_DUMP", "TRITON_DUMP_DIR")
OLDEST = (3, 0)  # older releases are compiled through another interface


@dataclass(frozen=True, slots=True)
class Limits:
    """For one import and one compile."""

    import_seconds: float = 120.0
    compile_seconds: float = 120.0
    memory_bytes: int = 8 << 30


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a job. `kind` is "" for a compiled kernel, else why there is none: "import", "not-found",
    "refused" (by the launcher), "rejected" (by the compiler), "target" (not known to the compiler), "crashed", "time",
    "memory"."""

    key: str
    kind: str = ""
    error: str = ""
    shared_bytes: int = 0
    tensor_memory_columns: int = 0
    warps: int = 0
    registers: int | None = None
    spills: int | None = None
    seconds: float = 0.0

    @property
    def lasting(self) -> bool:
        """Would it come out again? Then it is worth keeping."""
        return self.kind in ("", "rejected", "refused", "target", "crashed")

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


class NoTriton(Exception):
    """The interpreter cannot import Triton, in words for the user."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """Where Triton is: a Python executable, and folders in front of its own path."""

    executable: str = sys.executable
    path: tuple[str, ...] = ()


class Engine:
    """Compiles with one Triton. `workers` processes work at the same time. Use as a context manager."""

    def __init__(
        self, interpreter: Interpreter | None = None, workers: int = 1, limits: Limits | None = None
    ) -> None:
        self._interpreter = interpreter or Interpreter()
        self._workers = workers
        self._limits = limits or Limits()
        self._processes: list[_Process] = []
        self._stopped = threading.Event()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for process in self._processes:
            process.end()
        self._processes.clear()

    def triton(self) -> str:
        """The release, as "3.9.0". Raises NoTriton."""
        if not self._processes:
            self._processes.append(_Process(self._interpreter))
        return self._processes[0].triton

    def start(self, jobs: Sequence[tuple[CompileJob, GpuProfile]]) -> Running:
        """Begins to compile; the answers come in the order in which they are done. Raises NoTriton."""
        self.triton()
        batches: queue.Queue[_Batch] = queue.Queue()
        for batch in _batches(jobs, self._workers):
            batches.put(batch)
        done: queue.Queue[Answer | BaseException] = queue.Queue()
        for number in range(max(1, min(self._workers, batches.qsize()))):
            threading.Thread(target=self._work, args=(number, batches, done), daemon=True).start()
        return Running(done, len(jobs))

    def _work(
        self, number: int, batches: queue.Queue[_Batch], done: queue.Queue[Answer | BaseException]
    ) -> None:
        process = self._processes[0] if number == 0 else None
        try:
            while not self._stopped.is_set():
                try:
                    file, gpu, jobs = batches.get_nowait()
                except queue.Empty:
                    return
                if process is None or process.ended:
                    process = _Process(self._interpreter)
                    self._processes.append(process)
                for answer in process.serve(file, gpu, jobs, self._limits):
                    done.put(answer)
        except BaseException as error:
            done.put(error)


class Running:
    """Answers under way. Iterating waits for each; `ready` takes those that are there."""

    def __init__(self, done: queue.Queue[Answer | BaseException], count: int) -> None:
        self._done = done
        self.left = count

    def ready(self) -> Iterator[Answer]:
        while self.left and not self._done.empty():
            yield self._next()

    def __iter__(self) -> Iterator[Answer]:
        while self.left:
            yield self._next()

    def _next(self) -> Answer:
        answer = self._done.get()
        if isinstance(answer, BaseException):
            raise answer
        self.left -= 1
        return answer


_Batch = tuple[str, GpuProfile, list[CompileJob]]


def _batches(jobs: Sequence[tuple[CompileJob, GpuProfile]], workers: int) -> Iterator[_Batch]:
    """The jobs of one file and one GPU together, since the module is imported once for them."""
    groups: dict[tuple[str, str], tuple[GpuProfile, list[CompileJob]]] = {}
    for job, gpu in jobs:
        groups.setdefault((job.file, gpu.name), (gpu, []))[1].append(job)
    least, most = _BATCH
    size = min(most, max(least, len(jobs) // (workers * 4)))
    for (file, _), (gpu, own) in groups.items():
        for start in range(0, len(own), size):
            yield file, gpu, own[start : start + size]


class _Process:
    """One child process with Triton in it."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._scratch = tempfile.mkdtemp(prefix="tritonlint-verify-")
        self._text = b""
        try:
            self._process = subprocess.Popen(
                [interpreter.executable, "-c", BOOT, str(_CHILD)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(interpreter, self._scratch),
                start_new_session=True,
            )
        except OSError as error:
            shutil.rmtree(self._scratch, ignore_errors=True)
            raise NoTriton(f"{interpreter.executable} cannot be run: {error.strerror or error}") from None
        self.ended = False
        try:
            hello = self._line(_HELLO_SECONDS)
        except (TimeoutError, EOFError, ValueError):
            self.end()
            raise NoTriton(f"{interpreter.executable} does not answer as a Python does") from None
        if "missing" in hello:
            self.end()
            raise NoTriton(
                f"no Triton in Python {hello['python']}: {hello['missing']} (pip install 'tritonlint[verify]')"
            )
        self.triton = str(hello["triton"])
        release = release_of(self.triton)
        if release is None or release < OLDEST:
            self.end()
            raise NoTriton(f"Triton {self.triton} is too old: verify asks 3.0 and newer")

    def serve(
        self, file: str, gpu: GpuProfile, jobs: Sequence[CompileJob], limits: Limits
    ) -> Iterator[Answer]:
        """An answer for each job; the process is ended where it stops answering."""
        left = {job.key: job for job in jobs}
        request = {
            "file": str(Path(file).absolute()),
            "cells": jobs[0].cells,
            "gpu": described(gpu),
            "jobs": [job.to_json() for job in jobs],
            "import_seconds": limits.import_seconds,
            "compile_seconds": limits.compile_seconds,
            "memory_bytes": limits.memory_bytes,
            "path": [],
        }
        patience = limits.import_seconds + limits.compile_seconds + 60
        why = "the process that compiles ended"
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            while "end" not in (line := self._line(patience)):
                job = left.pop(line["id"])
                yield _answer(job, line)
        except TimeoutError:
            why = "the process that compiles does not answer"
            self.end()
        except (EOFError, OSError, ValueError):
            self.end()
        for key in left:
            yield Answer(key, "crashed", why)

    def _line(self, seconds: float) -> dict[str, Any]:
        """The next line of the process. Raises TimeoutError, EOFError."""
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        end = time.monotonic() + seconds
        while b"\n" not in self._text:
            left = end - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise TimeoutError
            piece = os.read(descriptor, 1 << 16)
            if not piece:
                raise EOFError
            self._text += piece
        line, _, self._text = self._text.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def end(self) -> None:
        """Ends the process and everything that it started."""
        if getattr(self, "ended", False):
            return
        self.ended = True
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        shutil.rmtree(self._scratch, ignore_errors=True)


def _environment(interpreter: Interpreter, scratch: str) -> dict[str, str]:
    """No GPU to be seen, nothing of TRITON_* (a developer's switches change what is compiled) but what asks for a dump,
    nothing written beside the user's files."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith("TRITON_") or name in _DUMPS
    }
    path = os.pathsep.join((*interpreter.path, *filter(None, [kept.get("PYTHONPATH")])))
    return {
        **kept,
        **({"PYTHONPATH": path} if path else {}),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "HIP_VISIBLE_DEVICES": "",
        "TMPDIR": scratch,
        "TRITONLINT_SCRATCH": scratch,
        "OMP_NUM_THREADS": "1",
    }


def described(gpu: GpuProfile) -> dict[str, Any]:
    """What modules may ask about the device; a plain target gets the numbers of a middling product."""
    return {
        "arch": gpu.arch,
        "title": gpu.title or gpu.name,
        "warp_size": gpu.warp_size,
        "multiprocessors": gpu.multiprocessors or 100,
        "shared_bytes_per_cta": gpu.shared_bytes_per_cta,
        "shared_bytes_per_sm": gpu.shared_bytes_per_sm,
        "registers_per_sm": gpu.registers_per_sm,
        "threads_per_sm": gpu.threads_per_sm,
        "l2_bytes": gpu.l2_bytes or 32 << 20,
        "dram_bytes": gpu.dram_bytes or 32 << 30,
        "clock_khz": int((gpu.clock_hz or 1.5e9) / 1000),
    }


def _answer(job: CompileJob, line: Mapping[str, Any]) -> Answer:
    seconds = float(line.get("seconds") or 0.0)
    if "error" in line:
        return Answer(job.key, line.get("kind") or "crashed", line["error"], seconds=seconds)
    result = line["result"]
    registers = spills = None
    with suppress(CodeError):
        if "cubin" in result:
            code = read_cubin(base64.b64decode(result["cubin"]), job.kernel)
            registers, spills = code.registers, code.spills
        elif "amdgcn" in result:
            code = read_amdgcn(result["amdgcn"])
            registers, spills = code.registers, code.spills
    return Answer(
        job.key,
        shared_bytes=result["shared_bytes"],
        tensor_memory_columns=result["tensor_memory_columns"],
        warps=result["warps"],
        registers=registers,
        spills=spills,
        seconds=seconds,
    )
