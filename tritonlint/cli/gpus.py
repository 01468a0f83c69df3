"""`tritonlint gpus`: the profiles, with the source of each number."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tritonlint.output.json_text import json_text

if TYPE_CHECKING:
    from tritonlint.gpu.profile import GpuProfile


@click.command(short_help="The GPU profiles, with the source of each number.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--detect", is_flag=True, help="Only the GPUs of this machine.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(names: tuple[str, ...], detect: bool, output_format: str) -> int:
    """The GPUs that --gpu takes, those of the settings included. With names: each number and its source."""
    from tritonlint.gpu.profile import list_profiles
    from tritonlint.settings import Resolver
    from tritonlint.targets import named_gpu, own_profiles

    own = own_profiles(Resolver().for_path(Path(".")))
    if detect:
        from tritonlint.gpu.detect import detect as find_local

        local = tuple(dict.fromkeys(find_local()))
        if not local:
            click.echo("no GPU found on this machine", err=True)
        profiles = [named_gpu(name, own) for name in local]
    elif names:
        profiles = [named_gpu(name, own) for name in names]
    else:
        profiles = [*own.values(), *list_profiles()]
    if output_format == "json":
        click.echo(json_text({"gpus": [gpu_object(gpu) for gpu in profiles]}))
    elif names or detect:
        click.echo("\n\n".join("\n".join(_sheet(gpu)) for gpu in profiles))
    else:
        click.echo("\n".join(_table(profiles)))
    return 0


def gpu_object(gpu: GpuProfile) -> dict[str, Any]:
    """A profile as JSON: its fields, and `sources` from field to words."""
    fields: dict[str, Any] = gpu.model_dump(mode="json")
    return fields


HEAD = ("name", "arch", "SMs", "smem/CTA", "smem/SM", "L2", "GB/s", "fp16 TFLOP/s")


def cells(gpu: GpuProfile) -> tuple[str, ...]:
    """The line of a GPU in the table of all, under HEAD."""
    rate = gpu.peak_flops("fp16")
    return (
        gpu.name,
        gpu.arch,
        str(gpu.multiprocessors or "-"),
        f"{gpu.shared_bytes_per_cta:,}",
        f"{gpu.shared_bytes_per_sm:,}",
        f"{gpu.l2_bytes / 2**20:g} MB" if gpu.l2_bytes else "-",
        f"{gpu.dram_bytes_per_s / 1e9:,.0f}" if gpu.dram_bytes_per_s else "-",
        f"{rate / 1e12:,.0f}" if rate else "-",
    )


def number_text(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def _table(profiles: list[GpuProfile]) -> list[str]:
    rows = [HEAD, *(cells(gpu) for gpu in profiles)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _sheet(gpu: GpuProfile) -> list[str]:
    lines = [f"{gpu.name}: {gpu.title or gpu.arch} ({gpu.arch})"]
    if gpu.aliases:
        lines.append(f"  also: {', '.join(gpu.aliases)}")
    rows = gpu.numbers()
    width = max((len(field) for field, _, _ in rows), default=0)
    for field, value, source in rows:
        lines.append(f"  {field:<{width}}  {number_text(value)}" + (f"  ({source})" if source else ""))
    return lines
