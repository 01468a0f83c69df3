"""Random input for every door of tritonlint, for as long as one likes.

    python benchmarks/fuzz.py [--seconds 600] [--inputs N] [--seed 0] [--jobs 2] [--target source ...]
                              [--corpus FOLDER] [--largest 200000]

Runs the targets of tests/fuzzing.py in worker processes, each input with a limit of CPU time and of memory, and prints
every kind of failure once with the target and the seed that bring it back. It ends after so many seconds or so many
inputs of each target, whichever is first. With --corpus, sources are mutated from the Python files with kernels of that
folder (unpacked wheels of kernel libraries, say) as well, of those that are smaller than --largest bytes: an input costs
what its file costs, so that most of a long run is better spent on small ones. Exit status 1 where anything failed.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests import fuzzing

SECONDS_PER_INPUT = 60
BYTES_OF_MEMORY = 4 << 30
BATCH = 20


class TooSlow(BaseException):
    """Not an Exception, so that nothing on the way takes it for an error of its own."""


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise TooSlow


def _prepare(corpus: str | None, largest: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES_OF_MEMORY, BYTES_OF_MEMORY))
    signal.signal(signal.SIGPROF, _stop)
    if corpus is not None:
        own = fuzzing.seeds()
        files = sorted(path for path in Path(corpus).rglob("*.py") if path.stat().st_size < largest)
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in files]
        kernels = tuple(text for text in texts if "triton.jit" in text)
        fuzzing.seeds = lambda: (*own, *kernels)  # type: ignore[assignment]


def _batch(target: str, first: int) -> tuple[int, float, list[tuple[str, int, str]]]:
    """(inputs, the longest one in seconds of CPU time, failures) of BATCH seeds."""
    failures: list[tuple[str, int, str]] = []
    longest = 0.0
    for seed in range(first, first + BATCH):
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SECONDS_PER_INPUT)
        try:
            fuzzing.TARGETS[target](random.Random(seed))
        except TooSlow:
            failures.append((target, seed, f"over {SECONDS_PER_INPUT} s"))
        except BaseException as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            failures.append(
                (
                    target,
                    seed,
                    f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {error}",
                )
            )
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        longest = max(longest, time.process_time() - start)
    return BATCH, longest, failures


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--inputs", type=int, help="of each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--target", nargs="*", default=list(fuzzing.TARGETS), choices=list(fuzzing.TARGETS))
    parser.add_argument("--corpus")
    parser.add_argument("--largest", type=int, default=200_000, help="bytes of a file of the corpus")
    options = parser.parse_args()
    until = time.monotonic() + options.seconds
    inputs = dict.fromkeys(options.target, 0)
    longest = dict.fromkeys(options.target, 0.0)
    kinds: set[str] = set()
    first = options.seed
    given = (options.corpus, options.largest)
    with ProcessPoolExecutor(options.jobs, initializer=_prepare, initargs=given) as pool:
        while time.monotonic() < until and (options.inputs is None or first - options.seed < options.inputs):
            for target, future in [(target, pool.submit(_batch, target, first)) for target in options.target]:
                count, slowest, failures = future.result()
                inputs[target] += count
                longest[target] = max(longest[target], slowest)
                for name, seed, text in failures:
                    kind = f"{name} {text.splitlines()[0][:160]}"
                    if kind not in kinds:
                        kinds.add(kind)
                        print(f"{name}, seed {seed}: {text.strip()[-600:]}", flush=True)
            first += BATCH
    for target in options.target:
        print(f"{target:10} {inputs[target]:>7,} inputs, the longest {longest[target]:.1f} s")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"{len(kinds)} kinds of failure; the largest worker had {peak:,} MiB")
    return 1 if kinds else 0


if __name__ == "__main__":
    raise SystemExit(main())
