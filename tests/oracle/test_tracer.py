"""The tracer against the real front end, operation by operation, on kernels that use each corner of the language.

The releases are those of tests/cache.py: fetched where that is allowed, else the test is skipped by name.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import ttir_text

from tests.cache import triton_release
from tritonlint.compiler.target import Target
from tritonlint.kernel.trace import ArgumentSpec, trace
from tritonlint.source import parse_file, plans, read
from tritonlint.source.sites import Platform

_RELEASES = ("3.2.0", "3.4.0", "3.6.0", "3.9.0")
_HERE = Path(__file__).parent
_KERNELS = _HERE / "language_kernels.py"
_TYPES = {"x": "*i32", "y": "*i32", "z": "*fp32"}


def jobs() -> list[dict[str, Any]]:
    """Every kernel of the file for two targets."""
    made = []
    for node in ast.walk(ast.parse(_KERNELS.read_text())):
        if not isinstance(node, ast.FunctionDef) or [a.arg for a in node.args.args[:3]] != ["x", "y", "z"]:
            continue
        names = [a.arg for a in node.args.args]
        consts = {"B": 16 if node.name in ("dots", "clamps") else 64}
        if "C" in names:
            consts["C"] = 32
        for arch in ("sm_80", "sm_90"):
            for flag in (1, 0) if "FLAG" in names else (1,):
                extra = {"FLAG": flag} if "FLAG" in names else {}
                made.append(
                    {"kernel": node.name, "arch": arch, "consts": {**consts, **extra}, "types": _TYPES}
                )
    return made


def real_answers(wheel: Path, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, str(_HERE / "ttir_worker.py"), str(_KERNELS)],
        input="\n".join(map(json.dumps, asked)),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(wheel), "TRITON_DEFAULT_FP_FUSION": "1"},
        check=False,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(asked), done.stderr[-1000:]
    return answers


@pytest.mark.oracle
@pytest.mark.parametrize("version", _RELEASES)
def test_traces_are_what_the_front_end_emits(version: str) -> None:
    """The same operations with the same types in the same loops; a kernel that is refused is refused by both."""
    wheel = triton_release(version)
    major, minor = version.split(".")[:2]
    release = (int(major), int(minor))
    asked = jobs()
    failures = []
    for arch in ("sm_80", "sm_90"):
        found = plans(parse_file(read(_KERNELS)), Platform(arch, release))
        kernels = {plan.kernel.name: plan.kernel for plan in found}
        mine = [job for job in asked if job["arch"] == arch]
        for job, answer in zip(mine, real_answers(wheel, mine), strict=True):
            if "missing" in answer:
                continue
            source = kernels[job["kernel"]]
            names = [p.name for p in source.parameters if p.name not in job["consts"]]
            arguments = {n: ArgumentSpec(_TYPES.get(n, "i32"), True) for n in names}
            traced = trace(source, arguments, job["consts"], target=Target(arch), release=release)
            if "error" in answer:
                if not traced.errors:
                    failures.append((job, answer["error"]))
                continue
            real = ttir_text.parse(answer["ttir"])
            only = ttir_text.differences(real, ttir_text.listed(traced.function.body), release >= (3, 3))
            if any(only) or not traced.complete:
                failures.append((job, only, traced.gaps, traced.errors))
    assert not failures
