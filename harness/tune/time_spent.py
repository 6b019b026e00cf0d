"""Watches a tune's time: when to end its first stage (the look), whether another stage fits."""

from collections.abc import Callable, Mapping

from harness.campaign.model import PlannedTrial
from harness.report.events import ArmFailed, Event, TrialEnded, WarmedUp
from harness.tune.search import LEAST_TRIALS, LOOK_SHARE, StageName
from schemas.submission import Submission

# A margin on the time that answers take, for loading engines and for machines that slow down.
_ROOM = 1.5


class TimeSpent:
    """The seconds that a tune has taken on `clock`, and the events of its current stage.

    `stages` are the finished stages. If a tune is resumed, the earlier stages count only through
    the times of their trials.
    """

    def __init__(
        self, limit_s: float, clock: Callable[[], float], stages: Mapping[StageName, Submission]
    ) -> None:
        self._limit_s, self._clock, self._stages = limit_s, clock, stages
        self._began_s = self._stage_s = self._first_s = clock()
        self._loading_s = 0.0
        self.trials: list[PlannedTrial] = []
        self.failed: set[str] = set()

    def begin_stage(self) -> None:
        self._stage_s = self._clock()
        self.trials.clear()
        self.failed.clear()

    def observe(self, event: Event) -> None:
        """Record an event of the current stage."""
        match event:
            case TrialEnded():
                self._first_s = self._first_s if self.trials else self._clock()
                self.trials.append(event.trial)
            case ArmFailed():
                self.failed.add(event.arm)
            case WarmedUp():
                self._loading_s = self._clock() - self._stage_s
            case _:
                pass

    def spent_s(self) -> float:
        """Return the seconds since the tune began, or the sum of its trials if that is more."""
        return max(self._clock() - self._began_s, sum(self._walls_s()))

    def left_s(self, share: float = 1.0) -> float:
        """Return a share of the remaining budget."""
        return share * (self._limit_s - self.spent_s())

    def look_is_long(self) -> bool:
        """Whether the look used up its time, or leaves too little for race and certificate."""
        pace_s = (self._clock() - self._first_s) / max(1, len(self.trials) - 1)
        least_s = _ROOM * 2 * LEAST_TRIALS * pace_s
        return self.spent_s() > LOOK_SHARE * self._limit_s or self.left_s() < least_s

    def fits_another_stage(self, blocks: int) -> bool:
        """Whether this many blocks of the smallest race or certificate fit into the budget."""
        walls = self._walls_s()
        block_s = LEAST_TRIALS * sum(walls) / max(1, len(walls))
        return self.left_s() >= self._loading_s + blocks * block_s

    def _walls_s(self) -> list[float]:
        return [(t.wall_ms or 0) / 1000 for each in self._stages.values() for t in each.trials]
