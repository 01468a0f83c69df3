"""The entry point of the command line: `tritonlint` and `python -m tritonlint`."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line and ends the process with its exit status."""
    from tritonlint.cli.streams import OutputError, guard, not_written

    guard()
    if sys.argv[1:] in (["--version"], ["-V"]):  # without importing anything else
        from tritonlint import __version__

        try:
            print(f"tritonlint {__version__}", flush=True)
        except OutputError as error:
            sys.exit(not_written(error))
        return
    from tritonlint.cli.main import run
    from tritonlint.collector import before_the_end, collect_rarely

    collect_rarely()
    try:
        status = run(sys.argv[1:])
    finally:
        before_the_end()
    sys.exit(status)


if __name__ == "__main__":
    main()
