"""Estimate how long the rest of a run takes, from what its trials took so far."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import fmean

from harness.run import events

# A warm-up is one short text: of 2 x the others' seconds there, about 1.4 x are seen in the trials.
_ROUGH = 0.5


@dataclass(slots=True)
class _Arm:
    """The seconds of its answers so far, and of a token in its warm-up; `None` if it failed."""

    token_s: float | None = 1.0
    answers_s: list[float] = field(default_factory=list)


@dataclass(slots=True)
class _Campaign:
    """What is planned and done, and the seconds that are not spent in every block.

    Those are by arm and block, for starting a server, and by prompt, for processing it once.
    """

    total: int = 0
    done: int = 0
    prompts: int = 1
    restarts: bool = False
    arms: dict[str, _Arm] = field(default_factory=dict)
    starts_s: dict[tuple[str, int], float] = field(default_factory=dict)
    prompts_s: dict[str, float] = field(default_factory=dict)

    @property
    def begins(self) -> bool:
        """Whether arms that take turns have not all had one."""
        able = [arm for arm in self.arms.values() if arm.token_s is not None]
        return not self.restarts and sum(len(arm.answers_s) for arm in able) < len(able)

    def count(self, event: events.TrialEnded, passed_s: float) -> None:
        trial = event.trial
        again_s = passed_s if event.again_s is None else min(event.again_s, passed_s)
        self.done += 1
        self.arms.setdefault(trial.arm, _Arm()).answers_s.append(again_s)
        once_s = self.prompts_s.setdefault(trial.prompt, 0.0)
        turn = trial.arm, trial.block
        if self.restarts and turn not in self.starts_s:
            self.starts_s[turn] = passed_s - again_s
        else:
            self.prompts_s[trial.prompt] = once_s + passed_s - again_s

    def parts_s(self, scale: float) -> Iterator[float]:
        """The seconds that are left for each arm, for starts and for prompts.

        `scale` makes seconds of an answer from those of a token in a warm-up.
        """
        arms, trials = self.arms.values(), max(0, self.total - self.done)
        share = (trials + sum(len(arm.answers_s) for arm in arms)) / max(1, len(arms))
        for arm in arms:
            guess_s = scale * (arm.token_s or 0.0) ** _ROUGH
            left = max(0.0, share - len(arm.answers_s))
            yield left * (fmean(arm.answers_s) if arm.answers_s else guess_s)
        if self.starts_s:
            yield fmean(self.starts_s.values()) * (trials // self.prompts)
        if self.prompts_s:
            unseen = min(max(0, self.prompts - len(self.prompts_s)), trials / len(arms))
            yield fmean(self.prompts_s.values()) * unseen


class RemainingTime:
    """The answers of an arm that are left take as long as those that it had.

    An arm without any is compared with the others by their warm-ups, roughly. Starting a
    server and processing a prompt for the first time are counted apart: only some trials do it.
    """

    def __init__(
        self, most_s: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`most_s` is the limit of the run, if it has one."""
        self._clock = clock
        self._last_s = clock()
        self._ends_s = float("inf") if most_s is None else clock() + most_s
        self._campaigns: dict[str, _Campaign] = {}

    def observe(self, name: str, event: events.Event) -> None:
        """Count an event of the campaign of this name."""
        passed_s = self._clock() - self._last_s
        campaign = self._campaigns.setdefault(name, _Campaign())
        match event:
            case events.TrialStarted() if campaign.prompts_s:
                return  # the time since the last trial is a part of this one
            case events.TrialsPlanned():
                campaign.total, campaign.done = event.total, event.done
                campaign.prompts, campaign.restarts = event.prompts, event.restarts
            case events.Extended(total=total):
                campaign.total = total
            case events.WarmedUp(arm=arm, token_s=token_s):
                campaign.arms.setdefault(arm, _Arm()).token_s = token_s
            case events.ArmFailed(arm=arm):
                campaign.arms.setdefault(arm, _Arm()).token_s = None
            case events.TrialEnded():
                campaign.count(event, passed_s)
        self._last_s += passed_s

    @property
    def trials(self) -> tuple[int, int]:
        """How many trials are done, and how many are planned."""
        campaigns = self._campaigns.values()
        return sum(each.done for each in campaigns), sum(each.total for each in campaigns)

    def seconds(self) -> float | None:
        """Seconds until all is done; `None` before the first trial ended.

        Where the arms take turns, that is the first trial of the last arm: each does something
        that it does once for a prompt.
        """
        every = [arm for each in self._campaigns.values() for arm in each.arms.values()]
        timed = [(fmean(arm.answers_s), arm.token_s or 1.0) for arm in every if arm.answers_s]
        if not timed or any(each.begins for each in self._campaigns.values()):
            return None
        scale = fmean(trial_s / token_s**_ROUGH for trial_s, token_s in timed)
        campaigns = self._campaigns.values()
        rest_s = sum(part_s for each in campaigns for part_s in each.parts_s(scale))
        # At the limit no block is started; the one that runs is finished.
        block = sum(-each.done % (each.prompts * len(each.arms) or 1) for each in campaigns)
        done, total = self.trials
        block_s = rest_s * min(1.0, block / max(1, total - done))
        return min(rest_s, max(block_s, self._ends_s - self._clock()))
