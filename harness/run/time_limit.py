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
from harness.report.expected_time import ExpectedTime, MachineRate, expected, this_machine
from harness.run.engine_run import RunOnEngine
from harness.run.interleave import JointStop
from harness.run.stopping import Early
from schemas.submission import Submission

# The factor by which an estimate may be wrong on an idle CPU.
_OFF = 1.5
# The number of answers per engine; before that, loading and prefill take much of the time.
_FIRST_ANSWERS = 4
BLOCK = "a block of all prompts"


def budget_for(seconds: float) -> str:
    """Return a --budget in minutes that certainly covers a number of seconds."""
    return str(math.ceil(1.2 * seconds / 60))


def too_short(limit_s: float, what: str, least_s: float, where: str, instead: str) -> BadInputError:
    """Return the error for a limit that is too short for `what`."""
    takes = f"{what} takes about {words.seconds(least_s)} {where}"
    return BadInputError(f"--budget {limit_s / 60:g} is too short: {takes}; {instead}")


def in_turns(
    campaigns: Sequence[Campaign], most_s: float | None = None, rate: MachineRate | None = None
) -> ExpectedTime | None:
    """Return the expected time of campaigns run one after another; `None` if any is unknown.

    `rate` defaults to this machine's. Raises `BadInputError` if `most_s` is clearly too short for
    one block on the CPU.
    """
    settings, limit_s = campaigns[0].settings, math.inf if most_s is None else most_s
    rate = rate or this_machine(settings.threads)
    found = [each for campaign in campaigns if (each := expected(campaign, rate)) is not None]
    if len(found) < len(campaigns):
        return None
    first_s = sum(each.first_seconds for each in found)
    # The rate applies to the CPU only.
    if first_s > _OFF * limit_s and not (settings.gpu_layers and machine().gpus):
        instead = f"give --budget {budget_for(first_s)}, or fewer --prompts or --max-tokens"
        raise too_short(limit_s, BLOCK, first_s, "on this CPU", instead)
    return ExpectedTime(
        seconds=min(limit_s, sum(each.seconds for each in found)),
        least_seconds=min(limit_s, sum(each.least_seconds for each in found)),
        first_seconds=first_s,
        token_s=found[0].token_s,
    )


@dataclass(kw_only=True)
class JointEnd:
    """Ends the runs of all engines together: at the time limit, or after a block that all finished.

    `budget_s` is the limit for all engines together, in seconds. Compared engines must finish a
    whole block; `enough` tells whether more blocks are unnecessary. If the limit ends the first
    block, `block_s` is set to the seconds that the whole block would take.
    """

    budget_s: float | None
    enough: Callable[[Mapping[str, Submission]], bool] | None = None
    clock: Callable[[], float] = time.monotonic
    block_s: float | None = None

    @property
    def compares(self) -> bool:
        return self.enough is not None

    def after_answers(self, runs: Mapping[str, RunOnEngine]) -> JointStop:
        """Return the stop check, to be called when all runs are at the same trial of the plan."""
        campaign = next(iter(runs.values())).campaign
        trials, limit_s, began_s = len(plan(campaign)), self.budget_s, self.clock()
        block = trials // campaign.blocks
        pauses: list[tuple[int, float]] = []
        ended: list[int] = []

        def stop(position: int) -> Early | None:
            if position == 0 or limit_s is None:
                return None
            spent_s = self.clock() - began_s
            pauses.append((position, spent_s))
            # Excluding the loading before the first answer, if known.
            (first, first_s), more = pauses[0], len(pauses) > 1
            pace_s = (spent_s - first_s * more) / (position - first * more)
            sees = self.compares and more and pauses[-2][0] < _FIRST_ANSWERS <= position
            block_s = spent_s + pace_s * (block - position)
            if position < block and max(spent_s, block_s * sees) > limit_s:
                self.block_s = block_s
                return "budget-spent"
            if sees:
                _say_too_long(spent_s + pace_s * (trials - position), limit_s, campaign.blocks)
            if position % block:
                return "budget-spent" if spent_s > limit_s else None
            ended.append(position)
            if self.enough and self.enough({name: run.so_far() for name, run in runs.items()}):
                return "precise-enough"
            next_ends_s = spent_s * (len(ended) + 1) / len(ended)
            return "budget-spent" if next_ends_s > limit_s else None

        return stop


def _say_too_long(whole_s: float, limit_s: float, blocks: int) -> None:
    """If not all blocks fit into the limit at the pace of the first answers, report how many do."""
    fit = max(1, int(blocks * limit_s / whole_s))
    if fit < blocks:
        console.say(
            f"At the pace of the first answers, {fit} of {blocks} blocks fit into "
            f"{words.seconds(limit_s)}, so intervals may stay wide. All blocks take about "
            f"{words.seconds(whole_s)}: --budget {math.ceil(whole_s / 60)}."
        )
