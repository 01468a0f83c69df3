"""What a change brings: the findings that were not there at a git reference.

The whole tree of the reference is linted as well, in a folder of its own, so that a changed helper in
another file counts. Nothing is checked out, and the working tree is not touched."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from tritonlint.discovery import SUFFIXES
from tritonlint.finding import Finding
from tritonlint.fingerprint import identity
from tritonlint.settings import Resolver, Settings

UNFIT = ("TL101", "TL102", "TL103")  # a config that cannot run
NONE_FITS = "TL104"  # a list of which no config can run


class SinceError(ValueError):
    """git is not there, or does not know the reference. `str()` is one line."""


class _Mapped(Resolver):
    """The settings of the working tree for the files of the old one."""

    def __init__(self, base: Resolver, old: Path, new: Path) -> None:
        super().__init__()
        self._base = base
        self._old = old
        self._new = new

    def for_path(self, path: str | Path, folder: bool | None = None) -> Settings:
        try:
            inside = Path(path).absolute().relative_to(self._old)
        except ValueError:
            return self._base.for_path(path, folder)
        return self._base.for_path(self._new / inside, folder)


def top_of(path: Path) -> Path:
    """The top folder of the repository around a path. Raises SinceError."""
    folder = path if path.is_dir() else path.parent
    return Path(_git(folder, "rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").strip())


def extract(top: Path, reference: str, into: Path) -> None:
    """Writes the linted kinds of files of a commit into a folder. Raises SinceError."""
    commit = _git(
        top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}", hint=reference
    )
    archive = _git(top, "archive", "--format=tar", commit.decode().strip())
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            name = member.name
            if not member.isfile() or not name.endswith(SUFFIXES):
                continue
            if name.startswith("/") or ".." in name.split("/"):
                continue
            data = tar.extractfile(member)
            if data is None:
                continue
            target = into / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data.read())


def old_findings(
    paths: Sequence[str],
    reference: str,
    into: Path,
    resolver: Resolver,
    lint: Callable[[Sequence[str], Resolver], Sequence[Finding]],
) -> tuple[list[Finding], Path, Path]:
    """The findings of the same paths at the reference: (findings, the old tree, the working tree)."""
    top = top_of(Path(paths[0]).absolute())
    old = into.resolve()
    extract(top, reference, old)
    there: list[str] = []
    for path in paths:
        absolute = Path(os.path.realpath(path))
        try:
            inside = absolute.relative_to(top.resolve())
        except ValueError:
            raise SinceError(f"{path} is not in the repository {top}") from None
        if (old / inside).exists():
            there.append(str(old / inside))
    if not there:
        return [], old, top
    return list(lint(there, _Mapped(resolver, old, top))), old, top


def brought(new: Sequence[Finding], before: Sequence[Finding], old: Path, top: Path) -> list[Finding]:
    """The findings of `new` that were not there before; each old one accounts for one new one."""
    left = Counter(identity(finding, old) for finding in before)
    found: list[Finding] = []
    for finding in new:
        name = identity(finding, top)
        if left[name] > 0:
            left[name] -= 1
        else:
            found.append(finding)
    return found


def summary(found: Sequence[Finding], reference: str) -> list[str]:
    """ "This change makes 3 configs infeasible on rtx3090." """
    unfit = Counter(gpu for finding in found if finding.code in UNFIT for gpu in finding.gpus)
    lines = [
        f"This change makes {count} config{'s' if count != 1 else ''} infeasible on {gpu}."
        for gpu, count in sorted(unfit.items())
    ]
    empty = Counter(gpu for finding in found if finding.code == NONE_FITS for gpu in finding.gpus)
    lines += [
        f"This change leaves {count} list{'s' if count != 1 else ''} without a config that fits {gpu}."
        for gpu, count in sorted(empty.items())
    ]
    return lines or [f"No config became infeasible since {reference}."]


def _git(folder: Path, *arguments: str, hint: str = "") -> bytes:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            check=False,
            env={**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"},
        )
    except FileNotFoundError:
        raise SinceError("--since needs git, which is not installed") from None
    except OSError as error:
        raise SinceError(f"git cannot be run: {error.strerror or error}") from None
    if done.returncode == 0:
        return done.stdout
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    if hint:
        raise SinceError(f"git does not know {hint!r} (in a shallow clone: fetch more of the history)")
    raise SinceError(f"git: {said[-1] if said else 'failed'}".replace("fatal: ", ""))
