"""Kernels that nothing is fitted on: what the driver says of their launches, and how far the estimates are from it.

    python benchmarks/held_out.py measure ROWS.jsonl        (needs PyTorch, Triton 3.6 and a GPU; four minutes)
    python benchmarks/held_out.py compare [ROWS.jsonl] [--rows]

`measure` draws launches of the problems below, the same every time. `compare` estimates each, and prints for each
problem, and for all: how often shared memory and CTAs per SM are right, spills that were said, rank correlation of the
time, what the first choice and the best of the first five lose, and how many times lie in the predicted range. It
prints the warnings on the three fastest as well, and refusals that were not predicted.

These kernels are for measuring. Whoever mends a mechanism that they show takes other kernels to fit on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import pathlib
import random
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
KERNELS = HERE / "held_out_kernels.py"
ROWS = HERE / "data" / "h200_held_out.jsonl"
Config = Mapping[str, int]


@dataclass(frozen=True)
class Tensor:
    """A contiguous tensor; `below` fills it with indices under that number, `all_same` with that number."""

    dtype: str
    numel: int
    below: int | None = None
    all_same: int | None = None

    def type_of(self, _: Config) -> str:
        return f"*{self.dtype}"


@dataclass(frozen=True)
class Descriptor:
    """A tensor descriptor made by the host, of a block that the config names."""

    dtype: str
    shape: tuple[int, int]
    block: tuple[str, str]

    def type_of(self, constants: Config) -> str:
        return f"tensordesc<{self.dtype}[{', '.join(str(constants[name]) for name in self.block)}]>"


Argument = Tensor | Descriptor | int | float


@dataclass(frozen=True)
class Problem:
    """One kernel and its arguments, with the configs that are tried."""

    name: str
    kernel: str
    arguments: Mapping[str, Argument]
    grid: Callable[[Config], tuple[int, ...]]
    constants: Config
    configs: Sequence[Config]


def up(a: int, b: int) -> int:
    return -(-a // b)


def lists(**choices: Iterable[int]) -> list[Config]:
    """All combinations."""
    return [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]


def not_too_large(configs: list[Config], one: str, other: str) -> list[Config]:
    """Those whose accumulator has at most 128 elements a thread."""
    return [config for config in configs if config[one] * config[other] <= 4096 * config["num_warps"]]


def between(configs: list[Config], one: str, other: str, low: int, high: int) -> list[Config]:
    return [config for config in configs if low <= config[one] * config[other] <= high]


WARPS = (1, 2, 4, 8)
TILES = dict(BLOCK_M=(32, 64, 128), BLOCK_N=(64, 128, 256), BLOCK_K=(32, 64, 128))


def problems() -> Iterator[Problem]:
    yield from _rows()
    yield from _products()
    yield from _attention()
    yield from _memory()


def _rows() -> Iterator[Problem]:
    rows, n = 16384, 4096
    x = Tensor("bf16", rows * n)
    norm = dict(DX=x, DY=x, X=x, W=Tensor("bf16", n), MEAN=Tensor("fp32", rows), RSTD=Tensor("fp32", rows))
    yield Problem(
        "layer norm, backward", "layernorm_bwd_dx",
        dict(**norm, DWP=Tensor("fp32", rows // 16 * n), stride=n, N=n, GROUP_ROWS=16),
        lambda _: (rows // 16,), dict(BLOCK=4096), lists(num_warps=(2, 4, 8, 16, 32), num_stages=(1, 2, 3)),
    )  # fmt: skip
    words = 128256
    yield Problem(
        "cross entropy", "cross_entropy",
        dict(LOGITS=Tensor("bf16", 4096 * words), LABELS=Tensor("i64", 4096, below=words), LOSS=Tensor("fp32", 4096),
             LSE=Tensor("fp32", 4096), V=words, stride=words),
        lambda _: (4096,), {},
        lists(BLOCK_V=(1024, 2048, 4096, 8192, 16384), num_warps=(4, 8, 16, 32), num_stages=(2, 4)),
    )  # fmt: skip
    gate = Tensor("bf16", 8192 * 11008)
    yield Problem(
        "SwiGLU, backward", "swiglu_bwd", dict(DC=gate, A=gate, B=gate, DA=gate, DB=gate, n=11008, stride=11008),
        lambda _: (8192,), dict(BLOCK=16384), lists(num_warps=(2, 4, 8, 16, 32), num_stages=(3,)),
    )  # fmt: skip
    yield Problem(
        "rotary embedding of pairs", "rope_pairs",
        dict(X=Tensor("bf16", 16384 * 4096), COS=Tensor("bf16", 16384 * 64), SIN=Tensor("bf16", 16384 * 64),
             Y=Tensor("bf16", 16384 * 4096), T=16384, H=32),
        lambda c: (up(16384, c["BLOCK_T"]), 32), dict(D=128),
        lists(BLOCK_T=(4, 8, 16, 32, 64, 128), num_warps=WARPS, num_stages=(3,)),
    )  # fmt: skip
    yield Problem(
        "rows to fp8", "quant_rows",
        dict(X=Tensor("bf16", 16384 * 8192), Y=Tensor("fp8e4nv", 16384 * 8192), S=Tensor("fp32", 16384), N=8192,
             stride=8192),
        lambda _: (16384,), dict(BLOCK=8192), lists(num_warps=(1, 2, 4, 8, 16, 32), num_stages=(3,)),
    )  # fmt: skip
    yield Problem(
        "cumulative sums", "row_cumsum",
        dict(X=Tensor("bf16", 8192 * 8192), Y=Tensor("fp32", 8192 * 8192), rows=8192, N=8192),
        lambda c: (up(8192, c["BLOCK_M"]),), {},
        between(lists(BLOCK_M=(1, 2, 4, 8, 16, 32), BLOCK_N=(64, 128, 512, 1024, 2048), num_warps=WARPS,
                      num_stages=(1, 2, 3)), "BLOCK_M", "BLOCK_N", 256, 16384),
    )  # fmt: skip
    yield Problem(
        "group norm", "group_norm",
        dict(X=Tensor("fp16", 32 * 320 * 4096), Y=Tensor("fp16", 32 * 320 * 4096), W=Tensor("fp16", 320),
             B=Tensor("fp16", 320), C=320, HW=4096),
        lambda _: (32, 40), dict(GC=8),
        lists(BLOCK_HW=(64, 128, 256, 512, 1024, 2048), num_warps=(1, 2, 4, 8, 16), num_stages=(1, 2, 4)),
    )  # fmt: skip


def _products() -> Iterator[Problem]:
    n = k = 4096
    yield Problem(
        "experts", "moe_gemm",
        dict(A=Tensor("bf16", 4096 * k), B=Tensor("bf16", 8 * n * k), C=Tensor("bf16", 8192 * n),
             IDS=Tensor("i32", 8192, below=8192), EXPERTS=Tensor("i32", 512, below=8), N=n, K=k, stride_am=k,
             stride_be=n * k, stride_bn=k, stride_cm=n),
        lambda c: (up(n, c["BLOCK_N"]), 8192 // c["BLOCK_M"]), dict(TOPK=2),
        not_too_large(lists(**TILES, num_warps=(4, 8), num_stages=(2, 3, 4)), "BLOCK_M", "BLOCK_N"),
    )  # fmt: skip
    for rows, blocks in ((16, (16,)), (2048, (64, 128))):
        yield Problem(
            f"4-bit weights, {rows} rows", "int4_weights",
            dict(A=Tensor("fp16", max(rows, 256) * k), QW=Tensor("u8", k * n // 2, below=256),
                 S=Tensor("fp16", k // 128 * n), C=Tensor("fp16", rows * n), M=rows, N=n, K=k),
            lambda c, rows=rows: (up(rows, c["BLOCK_M"]), n // c["BLOCK_N"]), dict(GROUP=128),
            lists(BLOCK_M=blocks, BLOCK_N=(32, 64, 128), BLOCK_K=(32, 64, 128), num_warps=(4, 8), num_stages=(2, 3, 4)),
        )  # fmt: skip
    yield Problem(
        "fp8 with scales of blocks", "fp8_block_gemm",
        dict(A=Tensor("fp8e4nv", 4096 * k), B=Tensor("fp8e4nv", n * k), AS=Tensor("fp32", 4096 * k // 128),
             BS=Tensor("fp32", n // 128 * k // 128), C=Tensor("bf16", 4096 * n), M=4096, N=n, K=k),
        lambda c: (up(4096, c["BLOCK_M"]) * up(n, c["BLOCK_N"]),), dict(BLOCK_K=128),
        lists(BLOCK_M=(64, 128, 256), BLOCK_N=(64, 128, 256), num_warps=(4, 8), num_stages=(2, 3, 4, 5)),
    )  # fmt: skip
    yield Problem(
        "96 products", "batched_product",
        dict(A=Tensor("fp16", 96 * 1024 * 512), B=Tensor("fp16", 96 * 512 * 1024), C=Tensor("fp16", 96 * 1024 * 1024),
             M=1024, N=1024, K=512, sab=1024 * 512, sbb=512 * 1024, scb=1024 * 1024),
        lambda c: (up(1024, c["BLOCK_M"]), up(1024, c["BLOCK_N"]), 96), {},
        not_too_large(lists(**TILES, num_warps=(4, 8), num_stages=(2, 3, 4)), "BLOCK_M", "BLOCK_N"),
    )  # fmt: skip
    yield Problem(
        "convolution", "conv3x3",
        dict(X=Tensor("fp16", 258 * 258 * 256), W=Tensor("fp16", 9 * 256 * 256), Y=Tensor("fp16", 256 * 256 * 256),
             H=256, WD=256, CIN=256, COUT=256),
        lambda c: (up(65536, c["BLOCK_P"]), 256 // c["BLOCK_N"]), {},
        not_too_large(lists(BLOCK_P=(64, 128, 256), BLOCK_N=(64, 128, 256), BLOCK_C=(32, 64), num_warps=(4, 8),
                            num_stages=(2, 3, 4)), "BLOCK_P", "BLOCK_N"),
    )  # fmt: skip
    yield Problem(
        "product by descriptors, GELU", "gemm_gelu_desc",
        dict(a_desc=Descriptor("bf16", (4096, k), ("BLOCK_M", "BLOCK_K")),
             b_desc=Descriptor("bf16", (n, k), ("BLOCK_N", "BLOCK_K")), bias=Tensor("fp32", n),
             c_desc=Descriptor("bf16", (4096, n), ("BLOCK_M", "BLOCK_N")), M=4096, N=n, K=k),
        lambda c: (up(4096, c["BLOCK_M"]) * up(n, c["BLOCK_N"]),), dict(GROUP_M=8),
        not_too_large(lists(BLOCK_M=(64, 128, 256), BLOCK_N=(64, 128, 256), BLOCK_K=(32, 64, 128), num_warps=(4, 8),
                            num_stages=(2, 3, 4)), "BLOCK_M", "BLOCK_N"),
    )  # fmt: skip
    yield Problem(
        "low rank", "lora",
        dict(X=Tensor("bf16", 4096 * k), A=Tensor("bf16", k * 64), B=Tensor("bf16", 64 * n), Y=Tensor("bf16", 4096 * n),
             M=4096, N=n, K=k),
        lambda c: (4096 // c["BLOCK_M"], n // c["BLOCK_N"]), dict(R=64),
        not_too_large(lists(**TILES, num_warps=(4, 8), num_stages=(2, 3, 4)), "BLOCK_M", "BLOCK_N"),
    )  # fmt: skip


def _attention() -> Iterator[Problem]:
    s = 4096
    for d, heads in ((64, 32), (128, 16)):
        x, row = Tensor("bf16", heads * s * d), Tensor("fp32", heads * s)
        yield Problem(
            f"attention of {d}, backward", "attn_bwd_dkdv",
            dict(Q=x, K=x, V=x, DO=x, DK=x, DV=x, LSE=row, DELTA=row, sm_scale=0.1, S=s, stride_h=s * d),
            lambda c, heads=heads: (s // c["BLOCK_N"], heads), dict(D=d),
            lists(BLOCK_M=(16, 32, 64, 128), BLOCK_N=(32, 64, 128), num_warps=(4, 8), num_stages=(1, 2, 3)),
        )  # fmt: skip
    for page in (16, 64, 128):
        pages, cache = 8192 // page, Tensor("fp16", 65536 * 8 * 128)
        yield Problem(
            f"decoding, pages of {page}", "paged_decode",
            dict(Q=Tensor("fp16", 64 * 32 * 128), KC=cache, VC=cache, O=Tensor("fp32", 64 * 8 * 16 * 4 * 128),
                 LSE=Tensor("fp32", 64 * 8 * 16 * 4), TABLE=Tensor("i32", 64 * pages, below=65536 // page),
                 LENGTH=Tensor("i32", 64, all_same=8192), sm_scale=0.1, HEADS=32),
            lambda c: (64, 8, c["SPLITS"]), dict(KVH=8, G=4, D=128, PAGE=page, PAGES=pages, BLOCK_G=16),
            lists(SPLITS=WARPS, num_warps=WARPS, num_stages=(1, 2, 3, 4)),
        )  # fmt: skip
    t = 4096
    yield Problem(
        "linear attention by chunks", "chunk_linear_attn",
        dict(Q=Tensor("bf16", 64 * t * 64), K=Tensor("bf16", 64 * t * 64), V=Tensor("bf16", 64 * t * 128),
             O=Tensor("bf16", 64 * t * 128), T=t, stride_h=t * 64),
        lambda c: (128 // c["BV"], 64), dict(D=64, DV=128),
        lists(BT=(16, 32, 64, 128), BV=(32, 64, 128), num_warps=(2, 4, 8), num_stages=(1, 2, 3)),
    )  # fmt: skip


def _memory() -> Iterator[Problem]:
    yield Problem(
        "embedding, backward", "embedding_bwd",
        dict(GRAD=Tensor("bf16", 32768 * 2048), IDS=Tensor("i32", 32768, below=32000), DW=Tensor("fp32", 32000 * 2048),
             n=32768, D=2048),
        lambda c: (up(32768, c["BLOCK_T"]), up(2048, c["BLOCK_D"])), {},
        between(lists(BLOCK_T=(1, 4, 16, 32), BLOCK_D=(128, 256, 512, 1024), num_warps=WARPS, num_stages=(3,)),
                "BLOCK_T", "BLOCK_D", 1, 16384),
    )  # fmt: skip
    yield Problem(
        "heads to the front", "permute_heads",
        dict(X=Tensor("bf16", 16384 * 4096), Y=Tensor("bf16", 16384 * 4096), T=16384),
        lambda c: (up(16384, c["BLOCK_T"]), 32), dict(H=32, D=128),
        lists(BLOCK_T=(8, 16, 32, 64, 128, 256), num_warps=WARPS, num_stages=(3,)),
    )  # fmt: skip
    yield Problem(
        "matrix times vector", "gemv",
        dict(X=Tensor("bf16", 8192), W=Tensor("bf16", 28672 * 8192), Y=Tensor("fp32", 28672), N=28672, K=8192),
        lambda c: (up(28672, c["BLOCK_N"]),), {},
        between(lists(BLOCK_N=(1, 2, 4, 8, 16, 32), BLOCK_K=(128, 256, 512, 1024, 2048), num_warps=WARPS,
                      num_stages=(1, 2, 3)), "BLOCK_N", "BLOCK_K", 256, 8192),
    )  # fmt: skip
    n = 1 << 26
    yield Problem(
        "AdamW", "adamw",
        dict(P=Tensor("fp32", n), G=Tensor("bf16", n), M=Tensor("fp32", n), V=Tensor("fp32", n), lr=1e-3, b1=0.9,
             b2=0.99, eps=1e-8, wd=0.01, n=n),
        lambda c: (up(n, c["BLOCK"]),), {},
        lists(BLOCK=(256, 512, 1024, 2048, 4096, 8192), num_warps=WARPS, num_stages=(3,)),
    )  # fmt: skip


def launches(most: int = 16) -> Iterator[tuple[Problem, Config]]:
    """(problem, config) of all that is measured: `most` of each, drawn the same every time."""
    for number, problem in enumerate(problems()):
        configs = list(problem.configs)
        random.Random(number).shuffle(configs)
        for config in configs[:most]:
            yield problem, config


def job_of_launch(problem: Problem, config: Config) -> dict[str, Any]:
    """What the estimator is asked, without file, GPU and release."""
    constants = {**problem.constants, **{name: value for name, value in config.items() if name.isupper()}}
    types, values = {}, {}
    for name, argument in problem.arguments.items():
        if isinstance(argument, Tensor | Descriptor):
            types[name] = argument.type_of(constants)
        else:
            types[name], values[name] = "fp32" if isinstance(argument, float) else "i32", argument
    return {
        "kernel": problem.kernel, "types": types, "values": values, "constants": constants,
        "warps": config["num_warps"], "stages": config["num_stages"], "grid": list(problem.grid(constants)),
    }  # fmt: skip


def measure(out: str) -> None:
    import held_out_kernels
    import torch
    from measure_gpu import driven
    from triton.tools.tensor_descriptor import TensorDescriptor

    types = {
        "fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32, "fp8e4nv": torch.float8_e4m3fn,
        "u8": torch.uint8, "i32": torch.int32, "i64": torch.int64,
    }  # fmt: skip
    flush = torch.empty(1 << 28, dtype=torch.int8, device="cuda")
    held: dict[str, Any] = {}
    last = ""

    def tensor(name: str, argument: Argument, constants: Config) -> Any:
        if isinstance(argument, int | float):
            return argument
        if name not in held:
            of = types[argument.dtype]
            if isinstance(argument, Descriptor):
                held[name] = torch.randn(argument.shape, device="cuda").to(of)
            elif argument.all_same is not None:
                held[name] = torch.full((argument.numel,), argument.all_same, dtype=of, device="cuda")
            elif argument.below is not None:
                held[name] = torch.randint(0, argument.below, (argument.numel,), device="cuda").to(of)
            else:
                held[name] = torch.randn(argument.numel, dtype=torch.float16, device="cuda").to(of)
        if isinstance(argument, Descriptor):
            return TensorDescriptor.from_tensor(held[name], [constants[side] for side in argument.block])
        return held[name]

    with open(out, "w") as file:
        for problem, config in launches():
            if problem.name != last:
                held.clear()
                torch.cuda.empty_cache()
                last = problem.name
            job = job_of_launch(problem, config)
            arguments = {
                name: tensor(name, argument, job["constants"]) for name, argument in problem.arguments.items()
            }
            kernel = getattr(held_out_kernels, problem.kernel)[tuple(job["grid"])]
            row: dict[str, Any] = {"problem": problem.name, **job}

            def launch(kernel: Any = kernel, arguments: Any = arguments, job: Any = job) -> Any:
                return kernel(
                    **arguments, **job["constants"], num_warps=job["warps"], num_stages=job["stages"]
                )

            row |= driven(launch, flush, at_least=4, seconds=0.08)
            print(json.dumps(row), file=file, flush=True)


def rank_correlation(some: Sequence[float], others: Sequence[float]) -> float:
    """Spearman's; equal values have the mean of their ranks."""

    def ranks(values: Sequence[float]) -> list[float]:
        ordered = sorted(values)
        return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]

    return statistics.correlation(ranks(some), ranks(others))


def compare(path: str, gpu: str, *, rows_too: bool) -> int:
    """Prints the comparison; 1 where shared memory is wrong, a refusal is missed, or a fast launch is warned of."""

    from benchmarks.timed_rows import timed_rows
    from benchmarks.winners import fastest, warned
    from tritonlint.estimate import Estimator, job_of

    estimator = Estimator()
    groups: dict[str, list[tuple[dict[str, Any], Any]]] = {}
    ran = list(timed_rows(path, str(KERNELS), gpu))
    refused = list(timed_rows(path, str(KERNELS), gpu, refused=True))
    missed = sum(bool(estimator.estimate(job_of(launch.job)).fits) for launch in refused)
    falsely = 0
    for launch in ran:
        estimate = estimator.estimate(job_of(launch.job))
        falsely += estimate.fits is False
        groups.setdefault(launch.group, []).append((launch.row, estimate))
    total: Counter[str] = Counter()
    off = []
    for name, rows in groups.items():
        count = Counter(
            {
                "launches": len(rows),
                "shared": sum(estimate.shared_bytes == row["shared"] for row, estimate in rows),
                "ctas": sum(estimate.ctas_per_sm == row["ctas_per_sm"] for row, estimate in rows),
                "spilled": sum(row["spills"] > 0 for row, _ in rows),
                "said": sum(estimate.spills != "no" for _, estimate in rows),
                "both": sum(row["spills"] > 0 and estimate.spills != "no" for row, estimate in rows),
            }
        )
        timed = [
            (estimate.time_ms, row["ms"])
            for row, estimate in rows
            if estimate.time_ms and estimate.time_ms.total and estimate.time_ms.low
        ]
        line = f"{name:47} {len(rows):3}: shared {count['shared']:3}, CTAs {count['ctas']:3}"
        if len(timed) > 4:
            said = [time.total for time, _ in timed]
            true = [ms for _, ms in timed]
            inside = sum(time.low <= ms <= time.high for time, ms in timed)
            count.update(timed=len(timed), inside=inside)
            order = sorted(range(len(said)), key=said.__getitem__)
            best = min(row["ms"] for row, _ in rows)
            off += [ms / total for ms, total in zip(true, said, strict=True)]
            line += (
                f", rank {rank_correlation(said, true):5.2f}, first +{100 * (true[order[0]] / best - 1):.0f}%"
            )
            line += f", best of five +{100 * (min(true[at] for at in order[:5]) / best - 1):.0f}%, in range {inside}"
        print(line)
        total.update(count)
        for row, estimate in rows if rows_too else ():
            config = {**row["constants"], "warps": row["warps"], "stages": row["stages"]}
            time = f"{estimate.time_ms.total:.3f}" if estimate.time_ms and estimate.time_ms.total else "-"
            print(
                f"    {config}: registers {row['regs']} ({estimate.registers}), spills {row['spills']}"
                f" ({estimate.spills}), CTAs {row['ctas_per_sm']} ({estimate.ctas_per_sm}), ms {row['ms']:.3f} ({time})"
            )
    twentieths = statistics.quantiles(off, n=20, method="inclusive")
    quantiles = " ".join(f"{twentieths[at]:.2f}" for at in (0, 9, 18))
    print(
        f"all {total['launches']}: shared {total['shared']}, CTAs {total['ctas']}"
        f" ({total['ctas'] / total['launches']:.1%});"
        f" spills: {total['spilled']} real, {total['said']} said, {total['both']} both;"
        f" times in range {total['inside']} of {total['timed']};"
        f" truth / predicted at 5, 50, 95%: {quantiles}"
    )
    print(f"refused {len(refused)}, not predicted {missed}; said not to fit and ran {falsely}")
    fast = fastest(ran)
    found = warned(KERNELS.read_text(encoding="utf-8"), fast, gpu)
    print(f"{len(found)} warnings on the {len(fast)} fastest")
    for finding in found:
        print(f"  {finding.code} {finding.severity}: {finding.message}")
    return int(bool(found) or missed > 0 or falsely > 0 or total["shared"] < total["launches"])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("measure", "compare"))
    parser.add_argument("path", nargs="?", default=str(ROWS))
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--rows", action="store_true", help="print each launch, too")
    given = parser.parse_args()
    if given.what == "measure":
        measure(given.path)
        return 0
    return compare(given.path, given.gpu, rows_too=given.rows)


if __name__ == "__main__":
    sys.exit(main())
