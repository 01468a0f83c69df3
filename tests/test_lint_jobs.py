"""Which files are linted together, and that it makes no difference to what is said."""

from __future__ import annotations

import json
import signal
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tritonlint.lint_jobs import Job, _tuned_store, batches_of, lint_jobs
from tritonlint.lint_many import lint_paths
from tritonlint.settings import Resolver, Settings
from tritonlint.targets import choose

ENTRY = {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 64, "GROUP_SIZE_M": 8, "num_warps": 4}
TOO_LARGE = ENTRY | {"BLOCK_SIZE_N": 256, "BLOCK_SIZE_K": 256, "num_stages": 5}
A100, H100 = "device_name=NVIDIA_A100-SXM4-80GB", "device_name=NVIDIA_H100_80GB_HBM3,dtype=fp8_w8a8"


def test_tuned_files_of_one_device_and_type_are_done_together() -> None:
    targets = choose(Settings(), Path(), ("a100",), "3.9")
    names = (f"E=8,N=1,{H100}.json", "a.py", f"E=8,N=1,{A100}.json", f"E=16,N=2,{H100}.json", "b.py")
    jobs = [Job(name, Settings(), targets, "likely", b"") for name in names]
    assert batches_of(jobs) == [(2,), (0, 3), (1,), (4,)]


def test_results_come_in_the_order_of_the_files(tmp_path: Path) -> None:
    for number, name in enumerate((H100, A100, H100, A100, H100)):
        path = tmp_path / f"{number}" / f"E=8,N={number},{name}.json"
        path.parent.mkdir()
        path.write_text(json.dumps({"1": ENTRY, "2": TOO_LARGE}), encoding="utf-8")
    one, two = (lint_paths([str(tmp_path)], Resolver(isolated=True), jobs=jobs) for jobs in (1, 2))
    assert one.findings == two.findings
    folders = [Path(finding.path).parent.name for finding in one.findings]
    assert folders == sorted(folders) and len(set(folders)) == 5
    alone = [
        finding
        for number in range(5)
        for finding in lint_paths([str(tmp_path / str(number))], Resolver(isolated=True), jobs=1).findings
    ]
    assert alone == list(one.findings)


def test_an_interrupt_while_processes_are_started_ends_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python ignores what is raised between a fork and the code after it; the interrupt is raised after that."""
    started: list[ProcessPoolExecutor] = []

    class Interrupted(ProcessPoolExecutor):
        def submit(self, *args: Any, **kwargs: Any) -> Any:
            future = super().submit(*args, **kwargs)
            started.append(self)
            signal.raise_signal(signal.SIGINT)
            return future

    targets = choose(Settings(), Path(), ("a100",), "3.9")
    jobs = [Job(f"f{number}.py", Settings(), targets, "likely", b"") for number in range(8)]
    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", Interrupted)
    monkeypatch.setattr("signal.getsignal", lambda _: signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        list(lint_jobs(jobs, 2))
    assert len(started) == 8


def test_a_bound_is_worked_out_once_for_all_tuned_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tritonlint.compiler import at_most as module

    plain, asked = module.at_most, list[Any]()

    def noted(*given: Any) -> Any:
        asked.append(given)
        return plain(*given)

    monkeypatch.setattr(module, "at_most", noted)
    for number in (1, 2):
        (tmp_path / f"E=8,N={number},{A100}.json").write_text(json.dumps({"1": ENTRY}), encoding="utf-8")
    _tuned_store.cache_clear()
    lint_paths([str(tmp_path)], Resolver(isolated=True), jobs=1, least="warning")
    assert len(asked) == 1
