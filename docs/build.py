"""Builds the documentation: `python docs/build.py` (needs tritonlint[docs,html]).

Pages of docs/ are copied. Those that end in .j2 are templates whose numbers come from runs of tritonlint, made now.
The pages of rules, GPUs and settings are written from the rules, the profiles and the settings table. The site is
built strictly: a link to a page or heading that is not there ends the build.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jinja2

from tritonlint.cli.gpus import HEAD, cells, number_text
from tritonlint.gpu.profile import GpuProfile, list_profiles
from tritonlint.model.waves import persistent_waves, waves
from tritonlint.registry import registry
from tritonlint.rule import Rule
from tritonlint.rule_text import markdown
from tritonlint.settings_file import KEYS

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs"
BUILD = ROOT / "build" / "docs"
LIVE_GPUS = ("a100", "h100", "b200", "rtx3070", "rtx4090", "t4", "mi300x")  # of the page that `matrix` makes
FAMILIES = {
    "TL1": "Does not fit",
    "TL2": "Does not compile",
    "TL3": "Autotune and launch disagree with the kernel",
    "TL4": "The grid",
    "TL5": "Speed",
    "TL9": "The file and the linter",
}


def main() -> int:
    assemble()
    done = subprocess.run([sys.executable, "-m", "zensical", "build", "--strict", "--clean"], cwd=ROOT)
    return done.returncode


def assemble() -> None:
    """Writes every page into build/docs."""
    shutil.rmtree(BUILD, ignore_errors=True)
    for name, text in sorted(pages().items()):
        place = BUILD / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    shutil.copytree(PAGES / "images", BUILD / "images")
    shutil.copy(PAGES / "site.css", BUILD)
    gpus = " ".join(f"--gpu {name}" for name in LIVE_GPUS)
    tritonlint(f"matrix examples/gemm.py examples/softmax.py {gpus} --triton 3.2 --triton 3.9 --output-format html "
               f"--output-file {shlex.quote(str(BUILD / 'example-matrix.html'))}")  # fmt: skip


def pages() -> dict[str, str]:
    """File name -> Markdown."""
    found = {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
    found.update(templates())
    found.setdefault("accuracy.md", "# Accuracy\n\nNo measurements are recorded yet.\n")
    for source in ("CONTRIBUTING.md", "CHANGELOG.md"):
        found[source.lower()] = (ROOT / source).read_text(encoding="utf-8")
    found.update(rule_pages(registry().rules))
    found.update(gpu_pages(list_profiles()))
    return found


# --- templates


def templates() -> Iterator[tuple[str, str]]:
    """(name, text) of each *.md.j2."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PAGES), undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    environment.filters["n"] = lambda number: f"{number:,}"
    environment.filters["percent"] = lambda share: f"{share:.0%}"
    environment.filters["percent1"] = lambda share: f"{share:.1%}"
    environment.filters["ms"] = lambda number: f"{number:.3g} ms"
    environment.globals.update(
        run=run, estimate=estimate, steps=steps, waves=waves, persistent_waves=persistent_waves, settings=KEYS
    )
    for path in sorted(PAGES.glob("*.md.j2")):
        yield path.name.removesuffix(".j2"), environment.get_template(path.name).render()


def tritonlint(command: str) -> str:
    """What a command line prints; a failure of it ends the build."""
    done = subprocess.run(
        [sys.executable, "-m", "tritonlint", *shlex.split(command)], cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"tritonlint {command}: {done.stderr}")
    return done.stdout


def run(command: str, lines: int | None = None) -> str:
    """The command and its output as a block; at most the first `lines`."""
    printed = tritonlint(command).rstrip().splitlines()
    cut = [*printed[:lines], "..."] if lines is not None and len(printed) > lines else printed
    return "\n".join(["```console", f"$ tritonlint {command}", *cut, "```"])


def estimate(command: str) -> Mapping[str, Any]:
    """An estimate as a mapping, as `estimate --output-format json` gives it."""
    found: Mapping[str, Any] = json.loads(tritonlint(f"estimate {command} --output-format json"))
    return found


def steps(found: Mapping[str, Any], *words: str) -> str:
    """The steps of an estimate that begin with one of the words, as a block."""
    chosen = [step for step in found["steps"] if step.startswith(words)]
    if not chosen:
        raise SystemExit(f"no step begins with {words}")
    return "\n".join(["```text", *chosen, "```"])


# --- rules


def rule_pages(rules: tuple[Rule, ...]) -> dict[str, str]:
    """A page a rule, and the table of all."""
    lines = [
        "# Rules",
        "",
        "`tritonlint rule CODE` prints the same pages. A code is never used twice; codes, names and families (`TL1`) are "
        "taken by `--select`, `--ignore`, the settings and `# tritonlint: ignore[...]`.",
    ]
    for family, title in FAMILIES.items():
        own = [rule for rule in rules if rule.code.startswith(family)]
        lines += [
            "",
            f"## {family}xx: {title}",
            "",
            "| rule | severity | fix | what it looks for |",
            "|---|---|---|---|",
        ]
        for rule in own:
            first = rule.what.split(". ")[0].rstrip(".").replace("|", "\\|").replace("\n", " ")
            link = f"[{rule.code} {rule.name}]({rule.code}.md)"
            lines.append(f"| {link} | {rule.severity} | {rule.fixable} | {first} |")
    found = {f"rules/{rule.code}.md": markdown(rule) + "\n" for rule in rules}
    return {**found, "rules/index.md": "\n".join(lines) + "\n"}


# --- GPUs


def gpu_pages(gpus: list[GpuProfile]) -> dict[str, str]:
    """A page a GPU with the source of each number, and the table of all."""
    lines = [
        "# GPUs",
        "",
        "Names are taken in any spelling that differs only in case, blanks, dashes and vendor words; bare targets "
        "(`sm_70` to `sm_121`, `gfx90a` to `gfx1250`) are taken too. Add your own with the setting "
        "[`profiles`](../settings.md#profiles). Each GPU has a page with the source of each number.",
        "",
        f"| {' | '.join((HEAD[0], 'GPU', *HEAD[1:]))} |",
        "|" + "---|" * (len(HEAD) + 1),
    ]
    for gpu in gpus:
        name, *numbers = cells(gpu)
        lines.append(f"| {' | '.join((f'[{name}]({name}.md)', gpu.title or gpu.arch, *numbers))} |")
    found = {f"gpus/{gpu.name}.md": _gpu_page(gpu) for gpu in gpus}
    return {**found, "gpus/index.md": "\n".join(lines) + "\n"}


def _gpu_page(gpu: GpuProfile) -> str:
    also = f"Also known as {', '.join(gpu.aliases)}." if gpu.aliases else ""
    lines = [f"# {gpu.name}", "", f"{gpu.title or gpu.arch} (`{gpu.arch}`). {also}".rstrip(), "",
             "| number | value | source |", "|---|---:|---|"]  # fmt: skip
    for field, value, source in gpu.numbers():
        lines.append(f"| `{field}` | {number_text(value)} | {re.sub('[|]', '&#124;', source)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
