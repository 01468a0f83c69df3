"""What is set in the editor. Every value may be missing or nonsense: then the default holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from tritonlint.finding import CERTAINTIES, Certainty

SECTION = "tritonlint"
_LISTS = ("select", "ignore")


@dataclass(frozen=True, slots=True)
class Configuration:
    """`gpus` and `triton` go before the project's settings, as the options of the command line do.
    `status`: the client wants `tritonlint/status` notifications."""

    gpus: tuple[str, ...] = ()
    triton: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    certainty: Certainty = "likely"
    enable: bool = True
    run: Literal["onType", "onSave"] = "onType"
    diagnostic_mode: Literal["openFilesOnly", "workspace"] = "openFilesOnly"
    inlay_hints: bool = True
    code_lens: bool = True
    suppress_action: bool = True
    status: bool = False

    @property
    def overrides(self) -> dict[str, Any]:
        """For settings.with_overrides."""
        return {"select": self.select, "ignore": self.ignore}


@dataclass(slots=True)
class _Table:
    """A JSON object, asked with defaults."""

    values: Mapping[str, Any] = field(default_factory=dict)

    def table(self, name: str) -> _Table:
        value = self.values.get(name)
        return _Table(value) if isinstance(value, Mapping) else _Table()

    def flag(self, name: str, default: bool) -> bool:
        value = self.values.get(name)
        return value if isinstance(value, bool) else default

    def names(self, name: str) -> tuple[str, ...]:
        value = self.values.get(name)
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, Sequence):
            return ()
        return tuple(entry for entry in value if isinstance(entry, str) and entry.strip())

    def choice(self, name: str, allowed: Sequence[str], default: str) -> str:
        value = self.values.get(name)
        return value if isinstance(value, str) and value in allowed else default


def read(options: Any) -> Configuration:
    """The configuration in a client's `tritonlint` section (or in an object that holds one)."""
    table = _Table(options) if isinstance(options, Mapping) else _Table()
    if isinstance(table.values.get(SECTION), Mapping):
        status = table.flag("statusNotifications", False)
        table = table.table(SECTION)
    else:
        status = table.flag("statusNotifications", False)
    lint = table.table("lint")
    triton = table.values.get("triton")
    return Configuration(
        gpus=table.names("gpus"),
        triton=triton if isinstance(triton, str) and triton.strip() else None,
        select=lint.names("select"),
        ignore=lint.names("ignore"),
        certainty=cast(Certainty, lint.choice("certainty", CERTAINTIES, "likely")),
        enable=table.flag("enable", True),
        run=cast(Literal["onType", "onSave"], lint.choice("run", ("onType", "onSave"), "onType")),
        diagnostic_mode=cast(
            Literal["openFilesOnly", "workspace"],
            table.choice("diagnosticMode", ("openFilesOnly", "workspace"), "openFilesOnly"),
        ),
        inlay_hints=table.table("inlayHints").flag("enable", True),
        code_lens=table.table("codeLens").flag("enable", True),
        suppress_action=table.table("codeAction").table("suppress").flag("enable", True),
        status=status,
    )


def target_of(options: Any) -> tuple[str, ...]:
    """The GPUs that a client remembers from its last session."""
    return _Table(options).names("target") if isinstance(options, Mapping) else ()
