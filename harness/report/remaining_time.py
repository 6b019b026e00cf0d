"""Estimate how long the rest of a run takes, from what its trials took so far."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import fmean

from harness.run import events


@dataclass(slots=True)
class _Arm:
    """The seconds of its trials so far, and of a token in its warm-up; `None` if it failed."""

    token_s: float | None = 1.0
    trials_s: list[float] = field(default_factory=list)


class RemainingTime:
    """The trials of an arm that are left take as long as those that it had.

    An arm without any takes as long as its warm-up says, compared with the others. What lies
    between two trials, such as starting a server, counts as a part of the second.
    """

    def __init__(
        self, most_s: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`most_s` is the limit of the run, if it has one."""
        self._clock = clock
        self._last_s = clock()
        self._ends_s = float("inf") if most_s is None else clock() + most_s
        self._total: Counter[str] = Counter()
        self._done: Counter[str] = Counter()
        self._arms: dict[str, dict[str, _Arm]] = {}

    def observe(self, name: str, event: events.Event) -> None:
        """Count an event of the campaign of this name."""
        passed_s = self._clock() - self._last_s
        arms = self._arms.setdefault(name, {})
        match event:
            case events.TrialStarted() | events.WarmingUp():
                return  # the time until a trial begins is a part of it
            case events.TrialsPlanned(total=total, done=done):
                self._total[name], self._done[name] = total, done
            case events.Extended(total=total):
                self._total[name] = total
            case events.WarmedUp(arm=arm, token_s=token_s):
                arms.setdefault(arm, _Arm()).token_s = token_s
            case events.ArmFailed(arm=arm):
                arms.setdefault(arm, _Arm()).token_s = None
            case events.TrialEnded(trial=trial):
                self._done[name] += 1
                arms.setdefault(trial.arm, _Arm()).trials_s.append(passed_s)
        self._last_s += passed_s

    @property
    def trials(self) -> tuple[int, int]:
        """How many trials are done, and how many are planned."""
        return self._done.total(), self._total.total()

    def seconds(self) -> float | None:
        """Seconds until all is done; `None` before the first trial ended."""
        every = (arm for arms in self._arms.values() for arm in arms.values())
        timed = [(fmean(arm.trials_s), arm.token_s or 1.0) for arm in every if arm.trials_s]
        if not timed:
            return None
        tokens = sum(trial_s for trial_s, _ in timed) / sum(token_s for _, token_s in timed)
        rest_s = sum(part_s for name in self._arms for part_s in self._parts(name, tokens))
        within_s = self._ends_s - self._clock()
        return min(rest_s, within_s) if within_s > 0 else rest_s

    def _parts(self, name: str, tokens: float) -> Iterator[float]:
        """The seconds that are left for each arm; `tokens` is how many a trial is worth."""
        arms = self._arms[name].values()
        share = self._total[name] - self._done[name] + sum(len(arm.trials_s) for arm in arms)
        for arm in arms:
            left = max(0.0, share / len(arms) - len(arm.trials_s))
            trial_s = fmean(arm.trials_s) if arm.trials_s else tokens * (arm.token_s or 0.0)
            yield trial_s * left
