"""Random input for every door of tritonlint, and what has to hold whatever comes in.

A target takes a random generator and returns nothing; it raises what must not be raised. `tests/test_fuzz.py` runs each a
little, `benchmarks/fuzz.py` as long as one likes. The same number gives the same input.
"""

from __future__ import annotations

import json
import random
import re
import string
import tempfile
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from tritonlint.estimate import Estimator, JobError, job_of
from tritonlint.lint import FileResult, lint_source
from tritonlint.settings import Resolver, Settings, SettingsError

ROOT = Path(__file__).parent.parent
GPUS = ("sm_70", "a100", "h100", "b200", "rtx4090", "mi300x", "gfx1100")
WORDS = (
    "tl.constexpr", "tl.arange(0, BLOCK)", "tl.dot(a, b)", "tl.load(p)", "tl.store(p, v)", "for i in range(n):", "while True:",
    "if x:", "else:", "return", "lambda meta: (1,)", "[grid]", "(", ")", "[", "]", "{", "}", ":", ",", "*", "**", "=", "==",
    "-1", "0", "1", "3", "2**40", "1e400", "float('nan')", "None", "True", "''", '"""', "#", "\\", "\n", "    ", "\t", "\r",
    "\x00", "\u2028", "\ufeff", "\U0001f600", "triton.Config({}, num_warps=0)", "triton.autotune", "triton.heuristics",
    "# tritonlint: ignore[TL101]", "# tritonlint: assume M=1, x=*fp16", "# tritonlint: ignore-file", "@triton.jit", "def f(",
    "class C:", "import x", "from . import *", "num_stages=10**9", "num_warps=-4", "tl.zeros((1 << 40, 2), tl.float32)", "async",
    "yield", "await x", "del x", "global x", "match x:", "case _:", "f'{x!r:>{w}}'", "x := 1", "try:", "except*", "with a as b:",
)  # fmt: skip


@lru_cache(maxsize=1)
def seeds() -> tuple[str, ...]:
    """Texts to start from: the examples, and the examples of every rule."""
    from tritonlint.registry import registry

    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("*.py"))]
    texts += [case.code for rule in registry().rules for case in (*rule.valid, *rule.invalid)]
    return tuple(texts)


def mutated(text: str, random_: random.Random, times: int | None = None) -> str:
    """A text with pieces removed, doubled, moved, put in or cut off."""
    for _ in range(times if times is not None else random_.choice((1, 1, 2, 3, 8))):
        if not text:
            return text
        start = random_.randrange(len(text))
        end = min(len(text), start + random_.choice((1, 1, 4, 20, 200)))
        lines = text.split("\n")
        kind = random_.randrange(8)
        if kind == 0:
            text = text[:start] + text[end:]
        elif kind == 1:
            text = text[:end] + text[start:]
        elif kind == 2:
            text = text[:start] + random_.choice(WORDS) + text[start:]
        elif kind == 3:
            text = text[:start] + random_.choice(WORDS) + text[end:]
        elif kind == 4:
            text = text[:start]
        elif kind == 5:
            random_.shuffle(lines)
            text = "\n".join(lines)
        elif kind == 6:
            number = random_.randrange(len(lines))
            lines[number:number] = random_.choice(seeds()).split("\n")[:8]
            text = "\n".join(lines)
        else:
            text = re.sub(r"\d+", lambda match: _number(match[0], random_), text)
    return text


def _number(text: str, random_: random.Random) -> str:
    if random_.random() < 0.8:
        return text
    return str(random_.choice((0, 1, -1, 3, 7, 16, 2**16, 2**31, 2**63, 10**30)))


def well(result: FileResult) -> None:
    """What holds for every result: no failure of tritonlint's own, and places inside of the text."""
    internal = [problem for problem in result.problems if problem.internal]
    assert not internal, internal[0].detail or internal[0].message
    lines = result.source.count("\n") + result.source.count("\r") + 2
    for finding in result.findings:
        of_json = finding.code == "TL901" and result.path.endswith(
            ".ipynb"
        )  # lines of the file, not of its cells
        if finding.path == result.path and not of_json:
            assert 1 <= finding.span.line <= finding.span.end_line <= lines, finding
        assert finding.message and "\n" not in finding.message, finding


def lint(
    name: str, data: str | bytes, random_: random.Random, settings: Settings | None = None
) -> FileResult:
    gpus = random_.sample(GPUS, 2)
    triton = random_.choice(("2.1", "3.2", "3.9"))
    return lint_source(name, data, settings or Settings(), gpus=gpus, triton=triton, certainty="possible")


# --- targets


def source(random_: random.Random) -> None:
    """Source bytes."""
    data: str | bytes = mutated(random_.choice(seeds()), random_)
    if random_.random() < 0.2:
        raw = bytearray(data.encode("utf-8", "surrogatepass"))  # type: ignore[union-attr]
        for _ in range(random_.choice((1, 5, 50))):
            if raw:
                raw[random_.randrange(len(raw))] = random_.randrange(256)
        data = bytes(raw)
    well(lint("fuzz.py", data, random_))


def comments(random_: random.Random) -> None:
    """Suppressions and assumptions."""
    lines = random_.choice(seeds()).split("\n")
    for _ in range(random_.choice((1, 3))):
        word = random_.choice(
            ("ignore", "ignore-next-line", "ignore-file", "assume", "assme", "", "ignore [")
        )
        inside = "".join(random_.choices(("TL101", "TL1", "M=4096", "x_ptr=*fp16", "gpu=h100", ",", "]", "[", "=", " ", "#",
                                          "\t", "\u00e9", "*", "(1, 2)", "tl.float16", "'"), k=random_.randrange(8)))  # fmt: skip
        comment = random_.choice(
            ("# tritonlint: {}[{}] why", "# tritonlint: {} {}", "#tritonlint:{}{}")
        ).format(word, inside)
        number = random_.randrange(len(lines) + 1)
        if random_.random() < 0.5 and number < len(lines):
            lines[number] += "  " + comment
        else:
            lines.insert(number, comment)
    well(lint("fuzz.py", "\n".join(lines), random_))


def settings(random_: random.Random) -> None:
    """A settings file: it is read, or refused in one line that names it."""
    keys = ("gpus", "triton", "select", "ignore", "severity", "exclude", "per-file-ignores", "default-types", "profiles",
            "config-functions", "baseline", "required-version", "require-reasons", "unknown", "")  # fmt: skip
    values = ('"a100"', '["a100", "h100"]', "3.9", '"3.9"', "true", "[]", "{}", '{TL101 = "info"}', '{"*.py" = ["TL1"]}',
              '{x = {base = "a100"}}', "-1", '["TL9999"]', '"\\u0000"', "1979-05-27", "[[1], 2]", '">=0.1"', "nan", '"["')  # fmt: skip
    text = "".join(
        f"{random_.choice(keys)} = {random_.choice(values)}\n" for _ in range(random_.randrange(5))
    )
    if random_.random() < 0.3:
        text = mutated(text, random_)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tritonlint.toml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            found = Resolver().for_path(Path(folder) / "k.py")
            well(lint_source(str(Path(folder) / "k.py"), seeds()[3], found))
        except SettingsError as error:
            assert "\n" not in str(error) and str(error), repr(str(error))


def jobs(random_: random.Random) -> None:
    """Lines of `estimate --batch`."""
    things: tuple[Any, ...] = (0, -1, 3, 2**70, 1.5, "fp16", "*fp16", "h100", "", None, True, [], [1, 2], {}, {"a": 1}, "3.9",
                               "gfx942", [0, -1], "nan", ["x"])  # fmt: skip
    job: dict[str, Any] = {
        "file": str(ROOT / "examples" / "gemm.py"), "kernel": "gemm", "gpu": "a100", "num_warps": 4, "num_stages": 3,
        "constants": {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 8}, "types": {"a_ptr": "*fp16"},
        "grid": [64, 1, 1], "triton": "3.9", "divisible_by_16": ["a_ptr"],
    }  # fmt: skip
    for _ in range(random_.choice((1, 2, 4))):
        name = random_.choice((*job, "maxnreg", "num_ctas", "other"))
        if isinstance(job.get(name), dict) and random_.random() < 0.6:
            table = dict(job[name])
            table[random_.choice((*table, "stride_am", "M", "zzz"))] = random_.choice(things)
            job[name] = table
        elif random_.random() < 0.2:
            job.pop(name, None)
        else:
            job[name] = random_.choice(things)
    try:
        estimate = Estimator().estimate(job_of(json.loads(json.dumps(job))))
    except (JobError, SettingsError) as error:
        assert "\n" not in str(error), repr(str(error))
        return
    made = estimate.to_json()
    json.dumps(made, allow_nan=False)
    assert made["shared_lower_bound"] <= made["shared_bytes"] or not made["shared_exact"]


def tuned(random_: random.Random) -> None:
    """Files of tuned configs, and their names."""
    name = random_.choice((
        "E=8,N=7168,device_name=NVIDIA_H100_80GB_HBM3,dtype=fp8_w8a8,block_shape=[128,128].json",
        "E=,N=x,device_name=,dtype=fp8.json", "N=512,K=7168,device_name=AMD_Instinct_MI300X,dtype=int8,block_shape=[128].json",
        "tuned.json", "device_name=NVIDIA_A100.json",
    ))  # fmt: skip
    entry = {
        "BLOCK_SIZE_M": 64,
        "BLOCK_SIZE_N": 64,
        "BLOCK_SIZE_K": 64,
        "GROUP_SIZE_M": 1,
        "num_warps": 4,
        "num_stages": 3,
    }
    for _ in range(random_.randrange(3)):
        entry[random_.choice((*entry, "waves_per_eu", "x"))] = random_.choice(
            (0, 1, 3, 2**40, -1, None, "a", [1], 1.5)
        )  # type: ignore[assignment]
    text = json.dumps(
        {str(random_.choice((1, 64, "x", 2**40))): entry, "triton_version": "3.4.0"},
        indent=random_.choice((None, 4)),
    )
    well(lint(name, mutated(text, random_) if random_.random() < 0.5 else text, random_))


def notebook(random_: random.Random) -> None:
    """Notebooks: cells with magics, damaged JSON, odd fields."""
    text = random_.choice(seeds())
    cut = random_.randrange(len(text) + 1)
    cells: list[Any] = [
        {
            "cell_type": "code",
            "source": text[:cut].splitlines(keepends=True),
            "metadata": {},
            "outputs": [],
            "id": "a",
        },
        {"cell_type": "markdown", "source": "# triton"},
        {
            "cell_type": "code",
            "source": random_.choice(("%pip install x\n!ls\n", "%%bash\nls", "", "?x", "x??\n", "%%", "!")),
        },
        {"cell_type": "code", "source": text[cut:]},
    ]
    for _ in range(random_.randrange(2)):
        cells[random_.randrange(4)] = random_.choice(
            ([], None, {}, 3, {"cell_type": "code", "source": 3}, {"source": [1]})
        )
    data = json.dumps(
        {
            "cells": cells,
            "nbformat": 4,
            "metadata": random_.choice(({}, None, {"language_info": {"name": "R"}})),
        }
    )
    well(lint("fuzz.ipynb", mutated(data, random_) if random_.random() < 0.3 else data, random_))


def names(random_: random.Random) -> None:
    """Names of GPUs and rules, as somebody types them."""
    from tritonlint.gpu.names import UnknownGpuError
    from tritonlint.gpu.profile import find_gpu
    from tritonlint.registry import UnknownRuleError, registry

    start = random_.choice(
        ("rtx4090", "sm_90", "gfx942", "NVIDIA H100", "TL101", "shared-memory-exceeded", "")
    )
    text = mutated(start, random_) + "".join(random_.choices(string.printable, k=random_.randrange(3)))
    try:
        find_gpu(text)
    except UnknownGpuError as error:
        assert str(error)
    try:
        registry().codes(text)
    except UnknownRuleError as error:
        assert str(error)


TARGETS: Mapping[str, Callable[[random.Random], None]] = {
    "source": source,
    "comments": comments,
    "settings": settings,
    "jobs": jobs,
    "tuned": tuned,
    "notebook": notebook,
    "names": names,
}
