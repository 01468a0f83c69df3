"""What the server asks of its worker, and what it gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tritonlint.finding import Certainty, Finding
from tritonlint_server.sites import Survey

Signature = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """What to read and how. `content` None reads the file; `signature` stands for the state of the settings
    files around it, so that they are read again only when one of them changed."""

    path: str
    content: str | None
    signature: Signature
    gpus: tuple[str, ...] | None = None
    triton: str | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    certainty: Certainty = "likely"


@dataclass(frozen=True, slots=True)
class Analysis:
    """`findings` carry no estimates. `settings_error`: the settings cannot be used, and why; `failure`:
    tritonlint itself failed on something."""

    findings: tuple[Finding, ...] = ()
    survey: Survey = field(default_factory=Survey)
    gpus: tuple[str, ...] = ()
    triton: str = ""
    targets: str = ""
    settings_error: str = ""
    failure: str = ""
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """Which files below these folders are worth reading?"""

    path: str  # the first folder, for messages
    folders: tuple[str, ...]
    overrides: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listed:
    paths: tuple[str, ...] = ()
    settings_error: str = ""
