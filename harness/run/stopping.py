"""Decide between blocks whether a campaign may end."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from estimates.running_order import disagreeing
from harness.campaign.model import Campaign, PlannedTrial, Stopping
from harness.campaign.trial_order import plan
from harness.report import events
from harness.run.journal import DroppedFact, Journal, TrialFact
from schemas.submission import Submission, Trial

Early = Literal["precise-enough", "budget-spent"]
Ended = Literal["completed", "precise-enough", "budget-spent", "interrupted"]


def fits_budget(rule: Stopping, *, blocks: int, spent_s: float, share: float = 1.0) -> bool:
    """Whether the next block, or a `share` of it, would end within the budget.

    It is expected to take as long as the average earlier block. The first block always fits:
    without a block there would be no result.
    """
    if blocks == 0 or rule.budget_s is None:
        return True
    return spent_s * (blocks + share) / blocks <= rule.budget_s


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneDecision:
    """The decision after a block: arms that get no further trials, and whether to stop."""

    dropped: frozenset[str] = frozenset()
    decided: bool = False


Prune = Callable[[Submission], PruneDecision]
Blocks = dict[int, list[PlannedTrial]]


@dataclass(kw_only=True)
class StopController:
    """Decides, from the journal, which trials a campaign still runs.

    The budget covers the time on `clock` since this object was created, and the trials of a resumed
    campaign's earlier parts. `so_far` returns the result up to now; `prune` may drop arms after a
    block.
    """

    campaign: Campaign
    journal: Journal
    clock: Callable[[], float]
    observe: events.Observer
    so_far: Callable[[], Submission]
    prune: Prune | None = None

    def __post_init__(self) -> None:
        # Earlier trials count with their wall time, which excludes loading.
        self._start_s = self.clock() - sum(trial.wall_ms or 0.0 for trial in self._trials) / 1000

    def left(self) -> Blocks:
        """Return the trials that the journal lacks, by block, in order.

        Trials of the plan come first, then repeats of the prompts whose times disagree.
        """
        return self._undone(plan(self.campaign)) or self.repeats()

    def repeats(self) -> Blocks:
        """Return the repeats that follow the last block and are not yet in the journal.

        The prompts are chosen by the times in the journal, so a resumed campaign repeats the same
        ones.
        """
        blocks = self.campaign.blocks
        again = disagreeing(self._trials, blocks, self.campaign.stopping.repeat_beyond)
        return self._undone(each for each in plan(self.campaign, again) if each.block == blocks)

    def _undone(self, items: Iterable[PlannedTrial]) -> Blocks:
        done = {(trial.arm, trial.prompt, trial.block) for trial in self._trials}
        left: Blocks = {}
        dropped = self.dropped
        for item in items:
            if item.arm not in dropped and (item.arm, item.prompt, item.block) not in done:
                left.setdefault(item.block, []).append(item)
        return left

    def announce(self, left: Blocks) -> None:
        """Report how many trials are planned, and how many have finished."""
        undone = sum(len(items) for items in left.values())
        done = len(self._trials)
        self._planned(done + undone, done)

    def early(self, block: int, left: Blocks) -> Early | None:
        """Return why the campaign ends before a block. A started block is always finished."""
        if block not in left or any(trial.block == block for trial in self._trials):
            return None
        if self.prune is not None and block and self._pruned(self.prune, block):
            return "precise-enough"
        share = len(left[block]) / self._per_block
        spent_s = self.clock() - self._start_s
        if not fits_budget(self.campaign.stopping, blocks=block, spent_s=spent_s, share=share):
            return "budget-spent"
        if block >= self.campaign.blocks:
            self.observe(events.Extended(total=len(self._trials) + len(left[block])))
        return None

    @property
    def dropped(self) -> frozenset[str]:
        """The arms that get no further trials."""
        facts = self.journal.facts
        return frozenset(fact.arm for fact in facts if isinstance(fact, DroppedFact))

    def _pruned(self, prune: Prune, block: int) -> bool:
        """Drop the arms that do not merit another block; return whether the campaign is over."""
        decision = prune(self.so_far())
        for arm in sorted(decision.dropped - self.dropped):
            self.journal.add(DroppedFact(arm=arm))
        if decision.dropped:
            done, left = len(self._trials), self._per_block * (self.campaign.blocks - block)
            self._planned(done + left, done)
        return decision.decided

    def _planned(self, total: int, done: int) -> None:
        prompts = len(self.campaign.suite.prompts)
        restarts = self.campaign.interleaved == "block"
        self.observe(
            events.TrialsPlanned(total=total, done=done, prompts=prompts, restarts=restarts)
        )

    @property
    def _trials(self) -> list[Trial]:
        return [fact.trial for fact in self.journal.facts if isinstance(fact, TrialFact)]

    @property
    def _per_block(self) -> int:
        arms = len(self.campaign.arms) - len(self.dropped)
        return arms * len(self.campaign.suite.prompts)
