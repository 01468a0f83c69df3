"""The command group: each command is one small module, imported when it is called."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from tritonlint import __version__
from tritonlint.cli.streams import OutputError, not_written
from tritonlint.settings import SettingsError

# Command -> what `--help` says. The module is tritonlint.cli.<command>, the click command in it `command`.
COMMANDS = {
    "cache": "Where results are kept between runs; `cache clear` drops them.",
    "calibrate": "Where the estimates are off, by mechanism.",
    "check": "Report what does not fit, does not compile, disagrees or is slow (the default command).",
    "configs": "List every autotune list and launch with the values that it resolves to.",
    "estimate": "What one launch costs on one GPU, with each step of the arithmetic.",
    "gpus": "The GPU profiles, with the source of each number.",
    "init": "Write a settings file with the GPUs found or asked for.",
    "matrix": "Every config against every GPU.",
    "rule": "Explain a rule.",
    "schema": "The JSON Schema of the settings or of a report.",
    "server": "The language server, on standard input and output.",
    "verify": "The same numbers from the real compiler; no GPU needed.",
}

FAILED = 2  # exit status for wrong arguments, wrong settings, a wrong path, or a failure of tritonlint itself


class CommandError(click.ClickException):
    """One line for the user, exit status 2."""

    exit_code = FAILED


class _Group(click.Group):
    """Commands on demand; paths without a command are checked."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"tritonlint.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {"--help", "-h", "--version", "-V"}
        if args and args[0] not in COMMANDS and args[0] not in own:
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):  # without importing the commands
            formatter.write_dl(list(COMMANDS.items()))


@click.command(
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"]},
    options_metavar="[COMMAND]",
    subcommand_metavar="PATH... [OPTIONS]",
)
@click.version_option(__version__, "-V", "--version", message="tritonlint %(version)s")
def cli() -> None:
    """Says what each Triton launch config costs on each GPU: no GPU, no compiling.

    `tritonlint PATH...` is the same as `tritonlint check PATH...`.
    """


def run(arguments: Sequence[str]) -> int:
    """Runs one command line and returns its exit status (0, 1 or 2). A failure of tritonlint is one line; its
    trace comes with TRITONLINT_DEBUG=1."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    if not arguments:  # releases of click differ in what they do then
        click.echo(cli.get_help(click.Context(cli, info_name="tritonlint", **cli.context_settings)), err=True)
        return FAILED
    try:
        result: Any = cli.main(args=list(arguments), prog_name="tritonlint", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return 130
    except click.ClickException as error:
        click.echo(f"error: {' '.join(error.format_message().split())}", err=True)
        return FAILED
    except SettingsError as error:
        click.echo(f"error: {error}", err=True)
        return FAILED
    except OutputError as error:
        return not_written(error)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if os.environ.get("TRITONLINT_DEBUG"):
            raise
        click.echo(
            f"error: tritonlint failed: {type(error).__name__}: {error} (TRITONLINT_DEBUG=1 shows where)",
            err=True,
        )
        return FAILED
