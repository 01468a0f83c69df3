"""The entry point of the command line: `tritonlint` and `python -m tritonlint`."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line and ends the process with its exit status."""
    if sys.argv[1:] in (["--version"], ["-V"]):  # without importing anything else
        from tritonlint import __version__

        print(f"tritonlint {__version__}")
        return
    from tritonlint.cli.streams import guard

    guard()
    from tritonlint.cli.main import run
    from tritonlint.collector import collect_rarely

    collect_rarely()
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
