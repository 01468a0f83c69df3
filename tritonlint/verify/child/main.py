"""The process beside tritonlint: it imports Triton once and forks for each module, which forks for each compile.

Standard input has one request a line: {"file", "cells", "gpu", "jobs", "import_seconds", "compile_seconds",
"memory_bytes", "path"}; "cells" is the text of a notebook, else empty. Standard output gets one line for each job,
{"id", "result"|"error", "kind", "seconds"}, and {"end": true}.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from .compiling import Refused, answer, installed
from .importing import KernelNotFound, NotImported, import_file, run_cells
from .limits import Lines, die_with, fork, said, write_line

# What assemblers and LLVM say of a target that they do not know.
_UNKNOWN_TARGET = (
    "for option 'gpu-name'",
    "is not a recognized processor",
    "computeCapability not supported",
)
_SLACK_SECONDS = 30.0  # the inner limit speaks first


def main() -> None:
    """Serves requests until standard input ends."""
    die_with(os.getppid())  # a run that is killed leaves nobody who compiles on
    out = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    hello = installed()
    write_line(out, hello)
    if "missing" in hello:
        return
    _warm()
    for line in sys.stdin.buffer:
        _serve(json.loads(line), out)
        write_line(out, {"end": True})


def _warm() -> None:
    """What every module needs is imported once; a torch that fails here fails for the module that asks for it."""
    with contextlib.suppress(Exception):
        importlib.import_module("triton.language")
        _name_the_compiler()
        if importlib.util.find_spec("torch") is not None:
            importlib.import_module("torch")


def _name_the_compiler() -> None:
    """Triton reads all of its own files to name what it caches, once in each process: a second for each compile here,
    where the cache is a fresh folder."""
    version = importlib.import_module("triton").__version__
    for name in ("triton.runtime.cache", "triton.compiler.compiler"):
        module = importlib.import_module(name)
        if hasattr(module, "triton_key"):
            module.triton_key = lambda: version  # type: ignore[attr-defined]


def _serve(request: Mapping[str, Any], out: int) -> None:
    """One module: forks, passes its lines on, and ends it."""
    child = fork(lambda descriptor: _module(request, descriptor), request["memory_bytes"])
    lines = Lines(child)
    seconds = request["import_seconds"]
    left = [job["id"] for job in request["jobs"]]
    why = ""
    try:
        while (line := lines.next(seconds)) is not None:
            seconds = request["compile_seconds"] + _SLACK_SECONDS
            if "id" in line:
                left.remove(line["id"])
                write_line(out, _for_reading(line))
            elif "failed" in line:
                why = line["failed"]
                break
    except TimeoutError:
        why = f"importing the module took more than {seconds:g} s"
        if seconds != request["import_seconds"]:
            why = "the module's process stopped answering"
    status = child.kill()
    _end_strays()
    if not why and left:
        code = os.waitstatus_to_exitcode(status)
        how = f"signal {-code}" if code < 0 else f"status {code}"
        why = _with_output(f"importing the module ended the process ({how})", child.tail.text())
    elif why and child.tail.text().strip() and "status 2" in why:
        why = _with_output(why, child.tail.text())  # argparse says there what it misses
    for job in left:
        write_line(out, _for_reading({"id": job, "kind": "import", "error": why}))


_ERROR = re.compile(r"\berror\s*:", re.IGNORECASE)  # ptxas puts blanks before the colon


def _for_reading(line: dict[str, Any]) -> dict[str, Any]:
    """The reason without the paths of this run's own files: `ptxas /tmp/x/y.ptx, line 84; error` is `ptxas, line 84`."""
    if "error" in line:
        scratch = re.escape(os.environ["TRITONLINT_SCRATCH"])
        line["error"] = re.sub(rf" ?{scratch}/[^\s,;:'\"]*", "", line["error"])
    return line


def _with_output(why: str, tail: str) -> str:
    last = said(tail)
    return f"{why}: {last}" if last else why


def _module(request: Mapping[str, Any], descriptor: int) -> None:
    """In the child: imports the module, then compiles its jobs, each in a child of its own."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = [request["file"]]
    sys.path[:0] = request["path"]
    scratch = tempfile.mkdtemp(dir=os.environ["TRITONLINT_SCRATCH"])
    os.environ["TRITON_CACHE_DIR"] = scratch
    own = os.getpid()
    failed = ""
    try:
        from . import driver, torch_stand_in

        driver.install(request["gpu"])
        torch_stand_in.prepare(request["gpu"])
        if request["cells"]:
            module, failed = run_cells(request["file"], request["cells"], scratch)
        else:
            module = import_file(request["file"])
    except NotImported as failure:
        write_line(descriptor, {"failed": _why_not(failure.errors)})
        sys.stderr.flush()
        return
    except BaseException as error:  # the stand-ins themselves, with a Triton that is laid out otherwise
        write_line(descriptor, {"failed": f"the module cannot be imported: {_described(error)}"})
        return
    if os.getpid() != own:
        os._exit(0)  # a fork that the module made and let go on
    write_line(descriptor, {"imported": True})
    for job in request["jobs"]:
        began = time.monotonic()
        line = _compiled(job, module, request)
        if failed:
            line = _after_failure(line, failed)
        line.update(id=job["id"], seconds=round(time.monotonic() - began, 3))
        write_line(descriptor, line)


def _after_failure(line: dict[str, Any], failed: str) -> dict[str, Any]:
    """In a notebook of which a cell failed, what is missing afterwards says nothing of the kernel."""
    missing = line.get("kind") == "not-found" or "is not defined" in line.get("error", "")
    return {"kind": "import", "error": f"a cell fails: {failed}; then: {line['error']}"} if missing else line


def _why_not(errors: Sequence[BaseException]) -> str:
    """What the user's own import would say, and what stops one that goes around the package's `__init__`."""
    first, last = errors[0], errors[-1]
    if isinstance(first, SystemExit):
        return f"importing the module calls exit (status {_status(first)})"
    said, said_last = _described(first), _described(last)
    text = f"the module cannot be imported: {said}"
    return text if said_last == said else f"{text}; without the `__init__` of its package: {said_last}"


def _status(stop: SystemExit) -> object:
    return 0 if stop.code is None else stop.code if isinstance(stop.code, int) else 1


def _described(error: BaseException) -> str:
    """ "ModuleNotFoundError: No module named 'x' (line 3 of the file that failed)"."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    text = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {text}{place}" if text else f"{type(error).__name__}{place}"


def _compiled(job: Mapping[str, Any], module: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """One compile in a child, whatever becomes of it."""

    def work(descriptor: int) -> None:
        try:
            line: dict[str, Any] = {"result": answer(job, module, request["gpu"])}
        except (Refused, KernelNotFound) as error:
            kind = "refused" if isinstance(error, Refused) else "not-found"
            line = {"kind": kind, "error": str(error)}
        except BaseException as error:
            memory = any(isinstance(one, MemoryError) for one in _chain(error))
            line = {"kind": "memory" if memory else "rejected", "error": _reason(error)}
        write_line(descriptor, line)

    child = fork(work, request["memory_bytes"])
    try:
        line = Lines(child).next(request["compile_seconds"])
    except TimeoutError:
        child.kill()
        return {"kind": "time", "error": f"no answer in {request['compile_seconds']:g} s"}
    code = os.waitstatus_to_exitcode(child.kill())
    if line is not None and "PassManager" in line.get("error", ""):
        line["error"] = _with_output(line["error"], child.tail.text())
    if line is None:
        text = said(child.tail.text())
        memory = "bad_alloc" in text or "out of memory" in text.lower()
        how = f"signal {-code}" if code < 0 else f"status {code}"
        line = {"kind": "memory" if memory else "crashed", "error": f"the compiler died ({how}): {text}"}
    if any(text in line.get("error", "") for text in _UNKNOWN_TARGET):
        line["kind"] = "target"
        line["error"] = f"this release cannot compile for {request['gpu']['arch']}: {line['error']}"
    if line.get("kind") == "memory" or "Cannot allocate memory" in line.get("error", ""):
        line = {"kind": "memory", "error": f"more than {request['memory_bytes'] >> 20:,} MB of memory"}
    return line


def _reason(error: BaseException) -> str:
    """The compiler's own words, without the source lines that its messages quote."""
    texts = [
        f"{type(one).__name__}: {_telling(getattr(one, 'error_message', None) or str(one))}"
        for one in _chain(error)[:3]
    ]
    return " | ".join(text for text in texts if not text.endswith(": ")) or type(error).__name__


def _chain(error: BaseException) -> list[BaseException]:
    """The error, what caused it, and so on."""
    found = [error]
    while (cause := found[-1].__cause__) is not None and len(found) < 10:
        found.append(cause)
    return found


def _telling(text: str) -> str:
    """Of a long message the lines that name an error, else the last ones."""
    lines = [line.strip() for line in text.splitlines() if line.strip(" ^")]
    if len(lines) > 3:
        named = [line for line in lines if "fatal" in line or _ERROR.search(line)]
        lines = list(dict.fromkeys(named))[:2] or lines[-1:]
    return " ".join(" ".join(lines).split())[:400]


def _end_strays() -> None:
    """Ends what the module started and moved out of its group: everything that carries this run's mark."""
    mark = f"TRITONLINT_SCRATCH={os.environ['TRITONLINT_SCRATCH']}".encode()
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if mark in file.read().split(b"\0"):
                    os.kill(int(name), 9)
        except OSError:
            continue
