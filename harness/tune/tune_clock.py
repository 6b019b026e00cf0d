"""Watches a tune's time: when to end its look, and whether a certificate fits."""

from collections.abc import Callable, Mapping

from harness import console
from harness.campaign.model import PlannedTrial
from harness.report import words
from harness.report.events import ArmFailed, Event, TrialEnded, WarmedUp
from harness.run.next_step import RESUME, resume_command
from harness.run.time_limit import FIRST_ANSWERS, budget_for, too_short
from harness.tune.search import LEAST_TRIALS, LOOK_SHARE, StageName
from schemas.submission import Submission

# A margin on the time that answers take, for loading engines and for machines that slow down.
_ROOM = 1.5


class TuneClock:
    """The seconds that a tune has taken on `clock`, and the events of its current stage.

    `stages` are the finished stages. If a tune is resumed, the earlier stages count only through
    the times of their trials.
    """

    def __init__(
        self, limit_s: float, clock: Callable[[], float], stages: Mapping[StageName, Submission]
    ) -> None:
        self.limit_s, self._clock, self._stages = limit_s, clock, stages
        self._began_s = self._first_s = clock()
        self._loading_s = 0.0
        self.begin_stage()

    def begin_stage(self) -> None:
        self._stage_s = self._clock()
        self.trials: list[PlannedTrial] = []
        self.failed: set[str] = set()

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

    def left_s(self) -> float:
        return self.limit_s - self.spent_s()

    def look_is_long(self) -> bool:
        """Whether the look used up its time, or leaves too little for a certificate."""
        return self.spent_s() > LOOK_SHARE * self.limit_s or self.left_s() < self._least_s()

    def require_pick(self, *, grows: bool) -> None:
        """After three answers, check that the limit covers the smallest tune at their pace.

        A limit that `grows` is raised instead. Raises `BadInputError`.
        """
        pick_s = self.spent_s() + self._least_s()
        if len(self.trials) != FIRST_ANSWERS or pick_s <= self.limit_s:
            return
        if not grows:
            more = resume_command(RESUME, "--budget", budget_for(pick_s))
            pace = "at the pace of its first answers"
            raise too_short(self.limit_s, "a pick", pick_s, pace, f"continue with {more}")
        self.limit_s = 60 * float(budget_for(pick_s))
        console.say(f"The time limit is {words.seconds(self.limit_s)}, as a pick needs.")

    def _least_s(self) -> float:
        """Return the seconds of the smallest certificate, at the pace of this stage."""
        pace_s = (self._clock() - self._first_s) / max(1, len(self.trials) - 1)
        return _ROOM * LEAST_TRIALS * pace_s

    def fits(self, blocks: int) -> bool:
        """Whether this many blocks of the smallest certificate fit into the budget."""
        walls = self._walls_s()
        block_s = LEAST_TRIALS * sum(walls) / max(1, len(walls))
        return self.left_s() >= self._loading_s + blocks * block_s

    def _walls_s(self) -> list[float]:
        return [(t.wall_ms or 0) / 1000 for each in self._stages.values() for t in each.trials]
