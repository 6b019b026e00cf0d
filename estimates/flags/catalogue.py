"""Write flags from observations, with the words of `schemas/vocabulary/flags.toml`."""

from collections.abc import Mapping

from estimates.model import Flag
from schemas.vocabulary.flags import FLAGS, FlagCase, Severity, filled


class Observation:
    """The observation of a check: the arm and prompt that the flag names, and values for its text.

    `severity` replaces the vocabulary's severity; `case` chooses one of the flag's cases.
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
    """The flag with this name, filled in from an observation."""
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
    """The thresholds of a flag."""
    return FLAGS[name].bounds
