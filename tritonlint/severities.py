"""Severities as the settings want them: for a rule, a family of rules, or a rule on one GPU."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tritonlint.finding import Finding, Severity
from tritonlint.registry import Registry, UnknownRuleError
from tritonlint.settings import Settings, SettingsError


def with_severities(findings: Iterable[Finding], settings: Settings, known: Registry) -> list[Finding]:
    """Findings with the severities that the settings give; "off" drops one. One that is about several GPUs is
    split where these get different severities."""
    if not settings.severity:
        return list(findings)
    changed: list[Finding] = []
    for finding in findings:
        groups: dict[str, list[str]] = {}
        for gpu in finding.gpus or ("",):
            severity = _severity_on(finding.code, gpu, settings, known) or finding.severity
            groups.setdefault(severity, []).append(gpu)
        for severity, gpus in groups.items():
            if severity != "off":
                level: Severity = severity  # type: ignore[assignment]
                changed.append(replace(finding, severity=level, gpus=tuple(gpu for gpu in gpus if gpu)))
    return changed


def check(settings: Settings, known: Registry) -> None:
    """Raises SettingsError where a table of `severity` names a GPU or a rule that is not there. A rule's table
    holds GPUs (and `default`, for all others), a GPU's table holds rules."""
    from tritonlint.targets import named_gpu, own_profiles

    origin = settings.origins.get("severity", "")
    for name, table in settings.severity.items():
        if isinstance(table, str):
            continue
        for inner in table:
            key = f"severity.{name}.{inner}"
            try:
                if not (known.find(name) or _is_family(name, known)):
                    known.codes(inner)
                elif inner != "default":
                    named_gpu(inner, own_profiles(settings))
            except (UnknownRuleError, SettingsError) as error:
                raise SettingsError(str(error), origin, key=key) from None


def _severity_on(code: str, gpu: str, settings: Settings, known: Registry) -> str | None:
    """The severity that the settings give a rule on one GPU. What is said for the GPU goes first, then what
    names the rule most exactly."""
    best: tuple[int, int, str] | None = None
    for name, value in settings.severity.items():
        pairs: list[tuple[int, str, str]] = []  # (1 for one GPU, rule, severity)
        if isinstance(value, str):
            pairs.append((0, name, value))
        elif known.find(name) or _is_family(name, known):
            pairs += [(1, name, level) for on, level in value.items() if _same_gpu(on, gpu)]
            pairs += [(0, name, level) for on, level in value.items() if on == "default"]
        elif _same_gpu(name, gpu):
            pairs += [(1, rule, level) for rule, level in value.items()]
        for on_gpu, rule, level in pairs:
            try:
                codes = known.codes(rule)
            except UnknownRuleError:
                continue
            if code in codes:
                candidate = (on_gpu, -len(codes), level)
                if best is None or candidate[:2] > best[:2]:
                    best = candidate
    return best[2] if best else None


def _is_family(name: str, known: Registry) -> bool:
    return name.upper() in known.names


def _same_gpu(name: str, gpu: str) -> bool:
    from tritonlint.gpu.names import resolve, squeeze

    return bool(gpu) and (squeeze(name) == squeeze(gpu) or (resolve(name) or name) == gpu)
