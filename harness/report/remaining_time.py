"""Estimate how long the rest of a run takes, from the times of its trials so far."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import fmean

from harness.report import events


@dataclass(slots=True)
class _Campaign:
    """A campaign's trial counts, the seconds that each arm's answers took, and separate costs.

    The separate costs are server starts, by arm and block, and the first processing of each prompt.
    In `arms`, a failed arm is `None`.
    """

    total: int = 0
    done: int = 0
    prompts: int = 1
    restarts: bool = False
    arms: dict[str, list[float] | None] = field(default_factory=dict)
    starts_s: dict[tuple[str, int], float] = field(default_factory=dict)
    prompts_s: dict[str, float] = field(default_factory=dict)

    @property
    def answers_s(self) -> list[list[float]]:
        return [each for each in self.arms.values() if each is not None]

    @property
    def begins(self) -> bool:
        """Whether any of the alternating arms has no answer yet."""
        return not self.restarts and sum(map(len, self.answers_s)) < len(self.answers_s)

    def count(self, event: events.TrialEnded, passed_s: float) -> None:
        trial = event.trial
        again_s = passed_s if event.again_s is None else min(event.again_s, passed_s)
        self.done += 1
        self.arms[trial.arm] = [*(self.arms.get(trial.arm) or ()), again_s]
        once_s = self.prompts_s.setdefault(trial.prompt, 0.0)
        turn = trial.arm, trial.block
        if self.restarts and turn not in self.starts_s:
            self.starts_s[turn] = passed_s - again_s
        else:
            self.prompts_s[trial.prompt] = once_s + passed_s - again_s

    def parts_s(self, usual_s: float) -> Iterator[float]:
        """Yield the remaining seconds for each arm's answers, for server starts and for prompts."""
        trials, arms = self.total - self.done, max(1, len(self.arms))
        if trials <= 0:
            return
        share = (trials + sum(map(len, self.answers_s))) / arms
        for each in self.answers_s:
            yield (fmean(each) if each else usual_s) * max(0.0, share - len(each))
        if self.starts_s:
            yield fmean(self.starts_s.values()) * (trials // self.prompts)
        if self.prompts_s:
            unseen = min(max(0, self.prompts - len(self.prompts_s)), trials / arms)
            yield fmean(self.prompts_s.values()) * unseen


class RemainingTime:
    """An estimate that assumes that an arm's remaining answers take as long as its earlier ones.

    An arm without answers is assumed to take as long as the other arms, since its warm-up (a short
    text) is not typical. Starting a server and processing a prompt for the first time are counted
    separately.
    """

    def __init__(
        self, most_s: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Start without observations; `most_s` is the time limit of the run, if any."""
        self._clock = clock
        self._last_s = clock()
        self._ends_s = float("inf") if most_s is None else clock() + most_s
        self._campaigns: dict[str, _Campaign] = {}

    def observe(self, name: str, event: events.Event) -> None:
        """Update the estimate with an event of the named campaign."""
        passed_s = self._clock() - self._last_s
        campaign = self._campaigns.setdefault(name, _Campaign())
        match event:
            case events.TrialStarted() if campaign.prompts_s:
                return  # the time since the last trial belongs to this trial
            case events.TrialsPlanned():
                campaign.total, campaign.done = event.total, event.done
                campaign.prompts, campaign.restarts = event.prompts, event.restarts
            case events.Extended(total=total):
                campaign.total = total
            case events.WarmedUp(arm=arm):
                campaign.arms.setdefault(arm, [])
            case events.ArmFailed(arm=arm):
                campaign.arms[arm] = None
            case events.TrialEnded():
                campaign.count(event, passed_s)
        self._last_s += passed_s

    @property
    def trials(self) -> tuple[int, int]:
        """The numbers of finished and planned trials."""
        campaigns = self._campaigns.values()
        return sum(each.done for each in campaigns), sum(each.total for each in campaigns)

    def seconds(self) -> float | None:
        """The seconds until all trials are done; `None` until the first trial ends.

        If the arms alternate, every arm needs a trial first: each arm does some work only once per
        prompt.
        """
        campaigns = self._campaigns.values()
        timed = [fmean(each) for campaign in campaigns for each in campaign.answers_s if each]
        if not timed or any(each.begins for each in campaigns):
            return None
        usual_s = fmean(timed)
        rest_s = sum(part_s for each in campaigns for part_s in each.parts_s(usual_s))
        # After the limit no block is started, but the running block is finished.
        block = sum(-each.done % (each.prompts * len(each.arms) or 1) for each in campaigns)
        done, total = self.trials
        block_s = rest_s * min(1.0, block / max(1, total - done))
        return min(rest_s, max(block_s, self._ends_s - self._clock()))
