"""The time limit of a command: refused if it is too short, enforced while engines run."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness import console
from harness.campaign.model import Campaign
from harness.campaign.trial_order import plan
from harness.errors import BadInputError
from harness.machine.detect import machine
from harness.report import words
from harness.report.expected_time import (
    ExpectedTime,
    MachineRate,
    RemainingTime,
    expected,
    this_machine,
)
from harness.run.engine_run import RunOnEngine
from harness.run.interleave import JointStop
from harness.run.stopping import Early
from schemas.submission import Submission

# The factor by which an estimate may be wrong on an idle CPU.
_OFF = 1.5
# After so many answers, the pace shows whether a command fits into its time limit.
FIRST_ANSWERS = 3
# The margin of a time limit on the time that the blocks take.
_ROOM = 1.2


def budget_for(seconds: float) -> str:
    """Return a --budget in minutes that certainly covers a number of seconds."""
    return str(math.ceil(_ROOM * seconds / 60))


def too_short(limit_s: float, what: str, least_s: float, where: str, instead: str) -> BadInputError:
    """Return the error for a limit that is too short for `what`."""
    takes = f"{what} takes about {words.seconds(least_s)} {where}"
    return BadInputError(f"--budget {limit_s / 60:g} is too short: {takes}; {instead}")


def in_turns(
    campaigns: Sequence[Campaign],
    most_s: float | None = None,
    rate: MachineRate | None = None,
    *,
    blocks: int = 1,
    grows: bool = False,
) -> ExpectedTime | None:
    """Return the expected time of campaigns run one after another; `None` if any is unknown.

    `rate` defaults to this machine's. Raises `BadInputError` if `most_s` is clearly too short for
    this number of blocks on the CPU, unless it `grows` to their time.
    """
    settings, limit_s = campaigns[0].settings, math.inf if most_s is None else most_s
    blocks = min(blocks, campaigns[0].blocks)
    rate = rate or this_machine(settings.threads)
    found = [each for campaign in campaigns if (each := expected(campaign, rate)) is not None]
    if len(found) < len(campaigns):
        return None
    first_s = sum(each.first_seconds for each in found)
    needed_s = blocks * first_s
    if grows:
        limit_s = max(limit_s, needed_s)
    # The rate applies to the CPU only.
    if needed_s > _OFF * limit_s and not (settings.gpu_layers and machine().gpus):
        instead = f"give --budget {budget_for(needed_s)}, or fewer --prompts or --max-tokens"
        raise too_short(limit_s, blocks_named(blocks), needed_s, "on this CPU", instead)
    return ExpectedTime(
        seconds=min(limit_s, sum(each.seconds for each in found)),
        least_seconds=min(limit_s, sum(each.least_seconds for each in found)),
        first_seconds=first_s,
    )


def blocks_named(count: int) -> str:
    return "a block of all prompts" if count == 1 else f"a comparison of {count} blocks"


@dataclass(kw_only=True)
class JointEnd:
    """Ends the runs of all engines together: at the time limit, or after a block that all finished.

    `budget_s` is the limit for all engines together, in seconds; a limit that `grows` was not
    given. Fewer than `least_blocks` support no answer; `enough` tells whether more blocks are
    unnecessary. If even these blocks exceed the limit, `least_s` is set to the seconds they take.
    """

    budget_s: float | None
    enough: Callable[[Mapping[str, Submission]], bool] | None = None
    least_blocks: int = 1
    grows: bool = False
    clock: Callable[[], float] = time.monotonic
    least_s: float | None = None

    @property
    def compares(self) -> bool:
        return self.enough is not None

    def expected(self, campaigns: Sequence[Campaign]) -> ExpectedTime | None:
        """Return the expected time of all engines. Raises `BadInputError` for too short a limit."""
        return in_turns(campaigns, self.budget_s, blocks=self.least_blocks, grows=self.grows)

    def after_answers(self, runs: Mapping[str, RunOnEngine], remaining: RemainingTime) -> JointStop:
        """Return the stop check, to be called when all runs are at the same trial of the plan."""
        campaign, began_s = next(iter(runs.values())).campaign, self.clock()
        self.least_blocks = min(self.least_blocks, campaign.blocks)
        block, ended, seen = len(plan(campaign)) // campaign.blocks, list[int](), list[int]()

        def stop(position: int) -> Early | None:
            if position == 0 or self.budget_s is None:
                return None
            spent_s, block_s = self.clock() - began_s, remaining.block_s()
            least_s = spent_s + block_s * (self.least_blocks - position / block)
            if self.compares and not seen and remaining.trials[0] >= FIRST_ANSWERS:
                seen.append(position)
                self._judge(least_s)
                remaining.end_in(self.budget_s - spent_s)
            if self.least_s is not None or (position < block and spent_s > self.budget_s):
                self.least_s = least_s
                return "budget-spent"
            if position % block:
                return "budget-spent" if spent_s > self.budget_s else None
            ended.append(position)
            if self.enough and self.enough({name: run.so_far() for name, run in runs.items()}):
                return "precise-enough"
            next_ends_s = spent_s * (len(ended) + 1) / len(ended)
            return "budget-spent" if next_ends_s > self.budget_s else None

        return stop

    def _judge(self, least_s: float) -> None:
        """Let the limit grow to the seconds of the fewest blocks, or find it too short for them."""
        if least_s <= (self.budget_s or math.inf):
            return
        if not self.grows:
            self.least_s = least_s
            return
        self.budget_s = _ROOM * least_s
        limit = words.seconds(self.budget_s)
        console.say(f"The time limit is {limit}, as {self.least_blocks} blocks need.")
