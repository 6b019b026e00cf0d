"""Define what a check receives and returns: the evidence of a submission, and an observation.

A flag is written from an observation with the words of `schemas/vocabulary/flags.toml`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from estimates.model import Estimate, Flag
from estimates.pairing import PromptPairs
from estimates.trial_times import clock, is_timed, times_ms
from schemas.submission import Submission, Trial
from schemas.vocabulary.flags import FLAGS, FlagCase, Severity, filled

STEADY_SHARE = 0.85
# Caches a value that several flags of the same submission share.
shared = lru_cache(maxsize=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """One arm's timed trials on one prompt, in the order of their blocks, and their times."""

    arm: str
    prompt: str
    trials: tuple[Trial, ...]
    ms_per_token: tuple[float, ...]

    @property
    def key(self) -> tuple[str, str]:
        """The arm and the prompt."""
        return self.arm, self.prompt


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class FlagEvidence:
    """A submission and its derived values."""

    submission: Submission
    pairs: tuple[PromptPairs, ...]
    estimates: tuple[Estimate, ...]
    repeats: tuple[Repeats, ...]


def repeats(submission: Submission) -> tuple[Repeats, ...]:
    """Group all timed trials by arm and prompt, in the order in which the groups first ran."""
    groups: dict[tuple[str, str], list[Trial]] = {}
    for trial in submission.trials:
        if is_timed(trial):
            groups.setdefault((trial.arm, trial.prompt), []).append(trial)
    return tuple(
        Repeats(
            arm=arm, prompt=prompt, trials=ordered, ms_per_token=times_ms(ordered, clock(ordered))
        )
        for (arm, prompt), group in groups.items()
        for ordered in [tuple(sorted(group, key=lambda trial: trial.block))]
    )


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


def steady_length(trial: Trial) -> int | None:
    """The draft length of nearly all rounds of a trial, if there is one, else `None`.

    Such rounds cost the same. A few may be cheaper, because the end of an output cuts drafts short.
    But a single wide round costs as much as several plain ones, so the length is 0 only if no round
    drafted anything.
    """
    histogram = trial.drafted_histogram
    if histogram is None:
        return None if trial.drafted or trial.accepted else 0
    length = max(range(len(histogram)), key=histogram.__getitem__, default=0)
    share = STEADY_SHARE if length else 1.0
    return length if sum(histogram) * share <= max(histogram, default=0) else None


def only(names: Iterable[str]) -> str | None:
    """The common name if all are the same; `None` if they differ."""
    distinct = set(names)
    return distinct.pop() if len(distinct) == 1 else None
