"""Define the input of the flags: a submission, its pairs, estimates and repeated trials."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from estimates.model import Estimate
from estimates.pairing import PromptPairs
from estimates.trial_times import clock, is_timed, ms_per_token
from schemas.submission import Submission, Trial

STEADY_SHARE = 0.85


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """One arm's timed trials on one prompt, in the order of their blocks, and their times."""

    arm: str
    prompt: str
    trials: tuple[Trial, ...]
    ms_per_token: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class FlagEvidence:
    """A submission and its derived values; `once` caches values that several flags share."""

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
    return tuple(_repeats(arm, prompt, group) for (arm, prompt), group in groups.items())


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


def _repeats(arm: str, prompt: str, trials: Sequence[Trial]) -> Repeats:
    ordered = tuple(sorted(trials, key=lambda trial: trial.block))
    by = clock(ordered)
    return Repeats(
        arm=arm,
        prompt=prompt,
        trials=ordered,
        ms_per_token=tuple(ms for trial in ordered if (ms := ms_per_token(trial, by)) is not None),
    )
