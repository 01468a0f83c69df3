"""Random input that is steered by the code that it reaches, with atheris (`pip install -e '.[test,fuzz]'`, Linux).

    python benchmarks/fuzz_coverage.py [--target bytes] [--seconds 600] [--kept FOLDER] [--corpus FOLDER]

The target `bytes` lints what the fuzzer makes of kernels (the examples, those of each rule, and the files with kernels of
--corpus); the others are those of tests/fuzzing.py, with random numbers that are read from the fuzzer's bytes, so that it
learns which choices lead to new code. Inputs that reached something new are kept in --kept for the next time. It ends at
the first failure, whose input it writes down (`--target T --again FILE` runs that one), or when the time is over.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import atheris

with atheris.instrument_imports(include=["tritonlint", "tritonlint_rules"]):
    from tests import fuzzing

SECONDS_PER_INPUT = 300  # by the clock
MEMORY_MB = 4096
LARGEST = 20_000  # bytes of an input


class FromBytes(random.Random):
    """Random numbers that are read from bytes, and all zero when those are at their end."""

    def __init__(self, data: bytes) -> None:
        super().__init__(0)
        self._data = data
        self._at = 0

    def getrandbits(self, count: int, /) -> int:
        size = (count + 7) // 8
        part = self._data[self._at : self._at + size].ljust(size, b"\0")
        self._at += size
        return int.from_bytes(part, "little") >> (8 * size - count)

    def random(self) -> float:
        return self.getrandbits(53) / (1 << 53)


def lint_bytes(data: bytes) -> None:
    """A file of these bytes; the first one chooses what kind of file it is."""
    name = ("fuzz.py", "fuzz.py", "fuzz.ipynb", "device_name=NVIDIA_H100.json")[data[0] % 4 if data else 0]
    fuzzing.well(fuzzing.lint(name, data[1:], random.Random(len(data))))


def entry(target: str) -> Callable[[bytes], None]:
    if target == "bytes":
        return lint_bytes
    return lambda data: fuzzing.TARGETS[target](FromBytes(data))


def starts(target: str, corpus: Path | None) -> list[bytes]:
    """Inputs to begin with."""
    if target != "bytes":
        return [random.Random(seed).randbytes(500) for seed in range(50)]
    texts = [text.encode("utf-8", "surrogatepass") for text in fuzzing.seeds()]
    if corpus is not None:
        files = (path for path in sorted(corpus.rglob("*.py")) if path.stat().st_size < LARGEST)
        texts += [data for data in map(Path.read_bytes, files) if b"triton.jit" in data]
    return [b"\0" + text for text in texts]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--target", default="bytes", choices=["bytes", *fuzzing.TARGETS])
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--again", type=Path)
    options = parser.parse_args()
    run = entry(options.target)
    if options.again is not None:
        run(options.again.read_bytes())
        return
    with tempfile.TemporaryDirectory() as folder:
        kept = options.kept or Path(folder) / "kept"
        first = Path(folder) / "first"
        kept.mkdir(parents=True, exist_ok=True)
        first.mkdir()
        for number, data in enumerate(starts(options.target, options.corpus)):
            (first / str(number)).write_bytes(data)
        child = os.fork()  # the fuzzer ends its process
        if child == 0:
            limits = [f"-max_total_time={options.seconds}", f"-timeout={SECONDS_PER_INPUT}"]
            limits += [f"-rss_limit_mb={MEMORY_MB}", f"-max_len={LARGEST}", "-print_final_stats=1"]
            atheris.Setup([sys.argv[0], *limits, str(kept), str(first)], run)
            atheris.Fuzz()
        _, status = os.waitpid(child, 0)
    raise SystemExit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
