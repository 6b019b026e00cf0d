"""Say what decides: the acceptance from which speculation pays, and the speedups at others.

All numbers follow from one: the cost of a round in plain steps. At the acceptance that an answer
expects, the speedup is the answer's.
"""

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from planner.acceptance import DIGITS, cost_here, drafted, fitted, tokens_of
from planner.answer import Answer
from planner.sentences import sentence
from schemas.vocabulary import TASKS, say

STRIP = (0.4, 0.6, 0.8)  # the acceptances at which an answer shows its speedup


class Deciding(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of a round of a way to draft, and the acceptances around it.

    `cost` is that of a round in plain steps. `expected` is the acceptance with which the answer's
    speedup is reached: the asker's own if `is_own`. `low` and `high` are the usual acceptances of
    `people` people, on `task` if it is given.
    """

    depth: int
    cost: float
    expected: float
    is_own: bool
    low: float
    high: float
    people: int
    task: str | None

    @property
    def even(self) -> float | None:
        """The acceptance with which speculation is as fast as none; `None` if none is enough."""
        share = (self.cost - 1) / self.depth
        return share if share <= 1 else None

    @property
    def strip(self) -> Mapping[float, float]:
        """The speedup at each acceptance of `STRIP`."""
        return {share: self.gain(share) for share in STRIP}

    def gain(self, share: float) -> float:
        """The speedup with an acceptance."""
        return (1 + share * self.depth) / self.cost


def deciding(found: Answer) -> Deciding | None:
    """The numbers of the judged way to draft; `None` if none fits that drafts in each round.

    A measured speedup without counted tokens leaves the cost of a round unknown: `None`, too.
    """
    judged = found.judged
    if judged is None or judged.gain is None or judged.way is None or not found.asked.fits:
        return None
    if judged.way.source == "text" or (judged.way.measured and not judged.way.accepted):
        return None
    way, gain, task = judged.way, judged.gain, found.question.task
    depth = drafted(way.source, judged.depth)
    setup = found.setup
    case = setup.case(judged.case, way)
    if gain.basis == "curve" or way.accepted:  # the cost is known
        tokens = tokens_of(setup, judged.case, way, depth).estimate
        cost = round(tokens / gain.estimate, DIGITS)
    else:
        cost = cost_here(setup, judged.case, judged.found, way, depth, gain.estimate)
    usual = fitted().usual_of(case, task)
    low, high = usual.shares(depth)
    return Deciding(
        depth=depth,
        cost=cost,
        expected=(gain.estimate * cost - 1) / depth,
        is_own=way.accepted is not None,
        low=low,
        high=high,
        people=usual.people,
        task=task if usual is not fitted().usual_of(case) else None,
    )


def sentences(found: Answer) -> tuple[str, ...]:
    """Sentences on the break-even, the expected and usual acceptance, and the speedups, if any."""
    known = deciding(found)
    if known is None:
        return ()
    # A page computes the sentence from the digits in the files of answers.
    if not known.is_own:
        share = (round(known.gain(known.expected), 2) * known.cost - 1) / known.depth
        known = replace(known, expected=min(max(share, 0.0), 1.0))
    names = (
        "no-acceptance" if known.even is None else "even",
        "own-acceptance" if known.is_own else "expected-acceptance",
        "strip",
    )
    values = {
        "depth": known.depth,
        "tokens": f"{known.cost:.1f}",
        "most": known.depth + 1,
        "even": say.percent(known.even),
        "expected": say.percent(known.expected),
        "usual": usual(known),
        "each": say.listed(
            [f"{say.times(gain)} at {say.percent(share)}" for share, gain in known.strip.items()]
        ),
    }
    return tuple(sentence(name, **values) for name in names)


def usual(known: Deciding) -> str:
    """The acceptances that people get."""
    low, high = (say.percent(share) for share in (known.low, known.high))
    task = f" on {TASKS[known.task].label.lower()}" if known.task else ""
    return sentence("usual", low=low, high=high, people=known.people, task=task)
