"""Put what a check saw into the words of `schemas/vocabulary/flags.toml`."""

from collections.abc import Mapping
from dataclasses import dataclass

from estimates.model import Flag
from schemas.vocabulary.flags import FLAGS, FlagCase, Severity, filled


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What a check saw: the values in the message, and the place that the flag names.

    `severity` replaces that of the vocabulary; `case` chooses among its cases.
    """

    values: Mapping[str, object]
    arm: str | None
    prompt: str | None
    severity: Severity | None
    case: str | None


def observation(
    *,
    arm: str | None = None,
    prompt: str | None = None,
    severity: Severity | None = None,
    case: str | None = None,
    **values: object,
) -> Observation:
    """What a check saw; `values` are those that the message names."""
    return Observation(values=values, arm=arm, prompt=prompt, severity=severity, case=case)


def flag(name: str, found: Observation) -> Flag:
    """The flag of this name about what a check saw."""
    entry = FLAGS[name]
    case = entry.cases[found.case] if found.case else FlagCase()
    return Flag(
        name=name,
        severity=found.severity or case.severity or entry.severity,
        message=filled(case.message or entry.message, found.values),
        remedy=case.remedy or entry.remedy,
        arm=found.arm,
        prompt=found.prompt,
    )


def bounds(name: str) -> Mapping[str, float]:
    """The figures from which on a flag is raised."""
    return FLAGS[name].bounds
