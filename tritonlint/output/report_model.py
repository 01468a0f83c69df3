"""The JSON of a run as pydantic models: what other programs can rely on, field by field, and the JSON Schema that is
shipped. `check` itself does not import this; a test holds real reports and the shipped schema against it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Position(_Part):
    """Lines and columns count from 1; columns are characters."""

    line: int = Field(ge=1)
    column: int = Field(ge=1)


class Range(_Part):
    """`end` is the first position behind."""

    start: Position
    end: Position


class Edit(_Part):
    """`cell`, here and elsewhere: of a notebook, the number of the cell, from 1, that the range counts in."""

    cell: int | None = Field(default=None, ge=1)
    range: Range
    text: str


class Fix(_Part):
    """`safe`: neither results nor tile shapes change."""

    title: str
    safe: bool
    edits: list[Edit]


class Related(_Part):
    path: str
    cell: int | None = Field(default=None, ge=1)
    range: Range
    message: str


class Waves(_Part):
    """`last` and `efficiency` are fractions of 1; `last` is 0 where the last full wave is the end."""

    programs: int
    per_wave: int
    full: int
    last: float
    efficiency: float


class TimeMs(_Part):
    """Milliseconds: three roofs, and what a model of the launch predicts; null where no model applies."""

    compute: float
    memory: float
    launch: float
    total: float | None


class Fact(_Part):
    """Where the numbers of the compiler come from, if they are not estimated. `contradicted`: what the estimate said
    that is not so."""

    rung: Literal["compiled", "measured"]
    origin: str
    contradicted: list[str]


class Estimate(_Part):
    """What one launch costs on one GPU. Lengths are bytes; null: not known."""

    shared_bytes: int
    shared_exact: bool
    shared_lower_bound: int
    tensor_memory_columns: int
    registers: int | None
    registers_low: int | None
    registers_high: int | None
    spills: Literal["no", "likely", "certain"]
    threads: int
    warps: int
    tensor_cores: Literal["none", "mma_v2", "wgmma", "tcgen05", "mfma", "wmma"]
    ctas_per_sm: int
    occupancy: float
    limiter: str | None
    limits: dict[str, int | None]
    fits: bool
    why_not: list[str]
    waves: Waves | None
    flops: int | None
    bytes_min: int | None
    bytes_tiled: int | None
    bytes_dram: int | None
    time_ms: TimeMs | None
    bound: Literal["compute", "memory", "launch"] | None
    certainty: Literal["proven", "likely", "possible"]
    assumptions: list[str]
    steps: list[str]
    fact: Fact | None = None


class Finding(_Part):
    code: str = Field(pattern=r"^[A-Z]+\d+$")
    name: str
    severity: Literal["error", "warning", "info"]
    certainty: Literal["proven", "likely", "possible"]
    message: str
    path: str
    cell: int | None = Field(default=None, ge=1)
    range: Range
    kernel: str | None
    gpus: list[str]
    triton: str | None
    config: dict[str, Any] | None
    estimate: Estimate | None
    assumptions: list[str]
    related: list[Related]
    help: str | None
    fixes: list[Fix]


class Skipped(_Part):
    path: str
    reason: str


class Problem(_Part):
    path: str
    message: str
    internal: bool


class Summary(_Part):
    """Counts of findings by severity, of files and of what was in them."""

    error: int
    warning: int
    info: int
    suppressed: int
    files: int
    files_with_triton: int
    kernels: int
    launches: int
    configs: int
    facts: int
    contradicted: int
    triton: list[str]
    targets: list[str]
    skipped: list[Skipped]
    problems: list[Problem]


class Report(_Part):
    """The output of `tritonlint check --output-format json`."""

    version: Literal[1]
    tritonlint: str
    targets: list[str]
    findings: list[Finding]
    summary: Summary


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a report."""
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, **Report.model_json_schema(mode="serialization")}
