"""Decide between two blocks whether the campaign is long enough."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from estimates.repeatability import deciding
from harness.campaign.model import Campaign, PlannedTrial, Stopping
from harness.campaign.plan import plan
from harness.run import events
from harness.run.events import Observer
from harness.run.journal import DroppedFact, Journal, TrialFact
from schemas.submission import Submission

Early = Literal["precise-enough", "budget-spent"]
Ended = Literal["completed", "precise-enough", "budget-spent", "interrupted"]


def decide(
    rule: Stopping, *, blocks: int, half_width: float | None, spent_s: float
) -> Early | None:
    """Why no further block is run after so many; `None` if there is no reason to stop.

    `half_width` is that of the interval over blocks, as a share of the ratio. The next block is
    expected to take as long as the earlier ones on average; if it would overrun the budget, it is
    not started. The first always runs: without it there would be no result at all.
    """
    if blocks == 0:
        return None
    narrow = rule.precision is not None and half_width is not None and half_width <= rule.precision
    if narrow and blocks >= rule.least_blocks:
        return "precise-enough"
    next_ends_s = spent_s * (blocks + 1) / blocks
    if rule.budget_s is not None and next_ends_s > rule.budget_s:
        return "budget-spent"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneDecision:
    """The decision after a block: arms that get no further trials, and whether to stop."""

    drop: frozenset[str] = frozenset()
    enough: bool = False


Prune = Callable[[Submission], PruneDecision]
Blocks = dict[int, list[PlannedTrial]]


class StopController:
    """Decide what a campaign still runs, by its journal.

    The budget covers the time by `clock` from now on, and the trials of earlier parts of a resumed
    campaign. `so_far` gives what was measured up to now; `prune` may drop arms after a block.
    """

    def __init__(
        self,
        campaign: Campaign,
        journal: Journal,
        *,
        clock: Callable[[], float],
        observe: Observer,
        so_far: Callable[[], Submission],
        prune: Prune | None = None,
    ) -> None:
        self._campaign = campaign
        self._journal = journal
        self._clock = clock
        self._observe = observe
        self._so_far = so_far
        self._prune = prune
        self._start_s = clock() - _seconds_of_trials(journal)

    def left(self) -> Blocks:
        """The trials of the plan that the journal does not hold, by block, in their order."""
        done = {
            (fact.trial.arm, fact.trial.prompt, fact.trial.block)
            for fact in self._journal.facts
            if isinstance(fact, TrialFact)
        }
        left: Blocks = {}
        dropped = self.dropped
        for item in plan(self._campaign):
            if item.arm not in dropped and (item.arm, item.prompt, item.block) not in done:
                left.setdefault(item.block, []).append(item)
        return left

    def announce(self, left: Blocks) -> None:
        """Report how many trials are certain, and how many of them are done."""
        undone = sum(len(items) for items in left.values())
        beyond = self._per_block * (self._campaign.blocks - self._campaign.least_blocks)
        done = self._done
        self._observe(events.TrialsPlanned(total=done + max(undone - beyond, 0), done=done))

    def early(self, block: int, left: Blocks) -> Early | None:
        """Why the campaign ends before this block. A started block is always finished."""
        if block == self._campaign.blocks or len(left[block]) < self._per_block:
            return None
        if self._prune is not None and block and self._pruned(self._prune, block):
            return "precise-enough"
        optional = block >= self._campaign.least_blocks
        half_width = deciding(self._so_far()) if optional else None
        early = decide(
            self._campaign.stopping,
            blocks=block,
            half_width=half_width,
            spent_s=self._clock() - self._start_s,
        )
        if early is None and optional:
            total = self._per_block * (block + 1)
            self._observe(events.Extended(total=total, half_width=half_width))
        return early

    @property
    def dropped(self) -> frozenset[str]:
        """The arms that get no further trials."""
        facts = self._journal.facts
        return frozenset(fact.arm for fact in facts if isinstance(fact, DroppedFact))

    def _pruned(self, prune: Prune, block: int) -> bool:
        """Drop the arms that are not worth another block; returns whether the campaign is over."""
        decision = prune(self._so_far())
        for arm in sorted(decision.drop - self.dropped):
            self._journal.add(DroppedFact(arm=arm))
        if decision.drop:
            left = self._per_block * (self._campaign.blocks - block)
            self._observe(events.TrialsPlanned(total=self._done + left, done=self._done))
        return decision.enough

    @property
    def _done(self) -> int:
        return sum(isinstance(fact, TrialFact) for fact in self._journal.facts)

    @property
    def _per_block(self) -> int:
        arms = len(self._campaign.arms) - len(self.dropped)
        return arms * len(self._campaign.suite.prompts)


def _seconds_of_trials(journal: Journal) -> float:
    """Seconds that the earlier trials took, without loading."""
    walls = [fact.trial.wall_ms or 0.0 for fact in journal.facts if isinstance(fact, TrialFact)]
    return sum(walls) / 1000
