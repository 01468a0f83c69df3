"""Memory of the language server over a long day, beside ruff's in the same run.

    python benchmarks/long_sessions.py FILE.py [--edits 10000] [--files 200] [--random 0] [--seed 0] [--no-ruff]

Types and deletes all over the file, each time asking for diagnostics, and prints the resident memory of the server with
its child processes ten times on the way; then opens many copies of the file with a line of their own, all at once, and
prints memory and the time until the last has its diagnostics. With --random, sends so many messages of random sessions
(tests/server/sessions.py) to a server as well and compares its last answers with those of a fresh one.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.keystrokes import Server, percentile
from tests.server import samples
from tests.server.client import Client
from tests.server.sessions import RandomSession

CHARACTERS = "x1 (,#"


def resident_mib(pid: int) -> float:
    """Of a process and its children."""
    asked = ["ps", "-o", "rss=", "--pid", str(pid), "--ppid", str(pid)]
    return sum(map(int, subprocess.run(asked, capture_output=True, text=True).stdout.split())) / 1024


def edits(servers: list[Server], uri: str, text: str, count: int, chosen: random.Random) -> None:
    """Each edit is undone by the next one."""
    lines = text.splitlines()
    for number in range(count // 2):
        line = chosen.randrange(len(lines))
        column = chosen.randrange(len(lines[line]) + 1)
        at, end = {"line": line, "character": column}, {"line": line, "character": column + 1}
        for server in servers:
            server.stroke(
                uri, "typed", {"range": {"start": at, "end": at}, "text": chosen.choice(CHARACTERS)}
            )
            server.stroke(uri, "undone", {"range": {"start": at, "end": end}, "text": ""})
        if (number + 1) % max(count // 20, 1) == 0:
            told = "   ".join(
                f"{server.name} {resident_mib(server.process.pid):6.0f} MiB" for server in servers
            )
            print(f"{2 * (number + 1):7} edits: {told}", flush=True)
    for server in servers:
        print(
            f"{server.name:12} p50 {percentile(server.strokes, 0.5):7.1f} ms   "
            f"p95 {percentile(server.strokes, 0.95):7.1f} ms"
        )


def many_files(servers: list[Server], uri: str, text: str, count: int) -> None:
    for server in servers:
        start = time.perf_counter()
        uris = [uri.replace(".py", f"_{number}.py") for number in range(count)]
        for number, one in enumerate(uris):
            item = {"uri": one, "languageId": "python", "version": 1, "text": f"{text}\nNUMBER = {number}\n"}
            server.say({"method": "textDocument/didOpen", "params": {"textDocument": item}})
        for one in uris:
            server.ask("textDocument/diagnostic", {"textDocument": {"uri": one}})
        taken = time.perf_counter() - start
        print(
            f"{server.name:12} {count} files open: {taken:7.1f} s   {resident_mib(server.process.pid):6.0f} MiB"
        )


def random_sessions(steps: int, seed: int) -> bool:
    """Whether the answers of a fresh server are the same."""
    texts = (samples.WARPS, samples.GEMM)
    settings = {"gpus": ["a100", "rtx4090"], "triton": "3.9"}
    with Client(stderr=subprocess.DEVNULL) as client, Client() as fresh:
        client.initialize(**settings)
        fresh.initialize(**settings)
        session = RandomSession(client, random.Random(seed), texts)
        session.run(steps)
        equal = True
        for uri, items in session.final().items():
            fresh.open(uri, session.open[uri].text)
            equal = equal and fresh.pull(uri)["items"] == items
        print(f"{steps} random messages: {'as a fresh server' if equal else 'NOT as a fresh server'}")
        return equal


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-ruff", action="store_true")
    options = parser.parse_args()
    text = options.file.read_text(encoding="utf-8")
    uri = options.file.absolute().as_uri()
    servers = [Server.start("tritonlint", [sys.executable, "-m", "tritonlint", "server"])]
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")
    if ruff is not None and not options.no_ruff:
        servers.append(Server.start("ruff", [ruff, "server"]))
    try:
        for server in servers:
            server.open(uri, text)
        edits(servers, uri, text, options.edits, random.Random(options.seed))
        many_files(servers, uri, text, options.files)
    finally:
        for server in servers:
            server.process.kill()
    if options.random and not random_sessions(options.random, options.seed):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
