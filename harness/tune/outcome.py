"""The outcome of a tune: the settings that it considered, and the results of its stages."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from textwrap import wrap

from estimates.model import Summary
from estimates.summary import summarize
from harness.report.setting_results import SettingFigures, settings
from harness.tune.forecast import Candidate
from harness.tune.search import StageName
from schemas.codec import Json
from schemas.submission import Submission
from schemas.vocabulary import say

_WIDTH = 79


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The findings of a tune, which are those of the result of its last stage."""

    candidates: tuple[Candidate, ...]
    stages: Mapping[StageName, Submission]
    interrupted: bool

    @property
    def submission(self) -> Submission:
        """The result of the last stage: the certificate, unless the tune was cut short."""
        return [*self.stages.values()][-1]

    @cached_property
    def summary(self) -> Summary:
        return summarize(self.submission)

    @property
    def certified(self) -> bool:
        """Whether the figures are from prompts that had no part in choosing the settings."""
        return "certificate" in self.stages

    @property
    def pick(self) -> SettingFigures | None:
        """The certified setting that the report recommends; `None` to leave speculation off."""
        best = next(iter(settings(self.submission, self.summary)), None) if self.certified else None
        return best if best is not None and best.answer in ("yes", "depends") else None

    @property
    def trials(self) -> int:
        return sum(len(each.trials) for each in self.stages.values())

    @property
    def certified_arms(self) -> set[str]:
        """The arms of the certificate."""
        return {arm.id for arm in self.submission.arms} if self.certified else set()


def lines(outcome: Outcome) -> Iterator[str]:
    """Yield what the report of the result does not say: how the settings were chosen."""
    effort = f"{say.count(len(outcome.candidates), 'setting')} considered"
    if outcome.certified:
        tried = sum(each.id in outcome.certified_arms for each in outcome.candidates)
        prompts = say.count(len(outcome.submission.suite.prompts), "other prompt")
        effort += f"; the best {tried} by forecast measured on {prompts}"
    yield from wrap(f"{effort}; {say.count(outcome.trials, 'trial')} in total.", _WIDTH)
    if not outcome.certified:
        yield "Nothing is certified: the tune ended with its look."


def as_json(outcome: Outcome) -> dict[str, Json]:
    """Return how the settings of a tune were chosen; `pick` is `None` for no speculation."""
    return {
        "pick": None if outcome.pick is None else outcome.pick.arm.id,
        "certified": outcome.certified,
        "candidates": [
            {
                "arm": each.id,
                "family": each.family,
                "depth": each.depth,
                "predicted": each.predicted,
                "certified": each.id in outcome.certified_arms,
            }
            for each in outcome.candidates
        ],
        "trials": outcome.trials,
        "stage_prompts": {name: len(stage.suite.prompts) for name, stage in outcome.stages.items()},
    }
