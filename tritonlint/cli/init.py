"""`tritonlint init`: a settings file for this project, with the GPUs and the release that were found or asked for."""

from __future__ import annotations

from pathlib import Path

import click

from tritonlint.cli.main import CommandError

OWN_FILE = "tritonlint.toml"


@click.command(short_help="Write a settings file.")
@click.argument("folder", default=".", metavar="[FOLDER]")
@click.option("--gpu", "gpus", multiple=True, metavar="NAME", help="Check for this GPU; repeatable.")
@click.option("--triton", metavar="VERSION", help="Check for this Triton release, such as 3.9.")
def command(folder: str, gpus: tuple[str, ...], triton: str | None) -> int:
    """Writes tritonlint.toml into FOLDER, with the GPUs of --gpu, else those of this machine, else common ones.

    Nothing is overwritten: where settings are already found, in that file or in pyproject.toml, it ends with 2.
    """
    place = Path(folder)
    if not place.is_dir():
        raise CommandError(f"{folder}: no such folder")
    file = place / OWN_FILE
    _check_free(place, file)
    text, described = _text(place, gpus, triton)
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise CommandError(f"{file}: cannot be written: {error.strerror or error}") from None
    click.echo(f"{file} written: {described}.")
    return 0


def _check_free(place: Path, file: Path) -> None:
    from tritonlint.settings_file import read

    if file.exists() or file.is_symlink():
        raise CommandError(f"{file} is there already; nothing is written")
    project = place / "pyproject.toml"
    if project.is_file() and read(project) is not None:
        raise CommandError(f"{project} has a [tool.tritonlint] table already; nothing is written")


def _text(place: Path, gpus: tuple[str, ...], triton: str | None) -> tuple[str, str]:
    """(the file, what was chosen and why). Raises SettingsError for a name that is not known."""
    from tritonlint import __version__
    from tritonlint.settings import Settings
    from tritonlint.targets import choose

    targets = choose(Settings(), place.absolute(), gpus, triton)
    names = ", ".join(f'"{name}"' for name in targets.names)
    lines = [
        "# Settings of tritonlint; `tritonlint schema settings` and the documentation name all of them.",
        f"gpus = [{names}]" + ("" if gpus else f"  # {targets.gpus_why}"),
    ]
    known = f'triton = "{targets.triton_name}"'
    # A release that is only the newest known would grow old in the file.
    lines.append(
        known if triton else f"# {known}  # now: {targets.triton_why}; unset, it is found for each project"
    )
    lines += [
        f'required-version = ">={__version__}"',
        "",
        "# Not read, as in .gitignore:",
        '# exclude = ["third_party/"]',
        "",
        "# [severity]",
        '# TL101 = "error"',
        "",
        "# [per-file-ignores]",
        '# "tests/**" = ["TL3"]',
    ]
    return "\n".join(lines) + "\n", targets.described()
