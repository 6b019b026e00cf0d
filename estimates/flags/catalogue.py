"""Put what a check saw into the words of `schemas/vocabulary/flags.toml`."""

from collections.abc import Mapping

from estimates.model import Flag
from schemas.vocabulary.flags import FLAGS, FlagCase, Severity, filled


class Observation:
    """What a check saw: the place that the flag names, and the values in the message.

    `severity` replaces that of the vocabulary; `case` chooses among its cases.
    """

    def __init__(
        self,
        *,
        arm: str | None = None,
        prompt: str | None = None,
        severity: Severity | None = None,
        case: str | None = None,
        **values: object,
    ) -> None:
        self.arm, self.prompt, self.values = arm, prompt, values
        self.severity, self.case = severity, case


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
