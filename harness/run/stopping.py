"""Decide between blocks whether a campaign may end."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from estimates.running_order import disagreeing
from harness.campaign.model import Campaign, PlannedTrial, Stopping
from harness.campaign.trial_order import plan
from harness.report import events
from harness.run.journal import Journal, TrialFact
from schemas.submission import Trial

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


Blocks = dict[int, list[PlannedTrial]]


@dataclass(kw_only=True)
class StopController:
    """Decides, from the journal, which trials a campaign still runs.

    The budget covers the time on `clock` since this object was created, and the trials of a resumed
    campaign's earlier parts.
    """

    campaign: Campaign
    journal: Journal
    clock: Callable[[], float]
    observe: events.Observer

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
        for item in items:
            if (item.arm, item.prompt, item.block) not in done:
                left.setdefault(item.block, []).append(item)
        return left

    def announce(self, left: Blocks) -> None:
        """Report how many trials are planned, and how many have finished."""
        done = len(self._trials)
        self.observe(
            events.TrialsPlanned(
                total=done + sum(map(len, left.values())),
                done=done,
                prompts=len(self.campaign.suite.prompts),
                restarts=self.campaign.interleaved == "block",
            )
        )

    def early(self, block: int, left: Blocks) -> Early | None:
        """Return why the campaign ends before a block. A started block is always finished."""
        if block not in left or any(trial.block == block for trial in self._trials):
            return None
        share = len(left[block]) / (len(self.campaign.arms) * len(self.campaign.suite.prompts))
        spent_s = self.clock() - self._start_s
        if not fits_budget(self.campaign.stopping, blocks=block, spent_s=spent_s, share=share):
            return "budget-spent"
        if block >= self.campaign.blocks:
            self.announce(left)
        return None

    @property
    def _trials(self) -> list[Trial]:
        return [fact.trial for fact in self.journal.facts if isinstance(fact, TrialFact)]
