"""Decide whether to use speculation, and which way of drafting is the most promising.

The limits were calibrated on whole sources left out: at *Probably* and above, at least 85 % of the
figures gained, and at *Probably not* and below at most 25 %.
"""

from collections.abc import Collection, Sequence
from typing import Literal

from planner.choices import PlanOption
from planner.rounds import chance_of_gain

Verdict = Literal["Yes", "Probably", "Try it", "No reason to", "Probably not", "No"]
_SURE, _PROBABLE, _IMPROBABLE = 0.9, 0.8, 0.3
_WORTH_TRYING = 1.1  # a smaller expected gain is no reason to switch speculation on
_SEVERAL = 2
RECOMMENDING: Collection[Verdict] = ("Yes", "Probably", "Try it")


def verdict_of(choice: PlanOption) -> tuple[Verdict, float | None]:
    """The verdict on a way of drafting, and its chance of a gain.

    *Yes* and *No* need a measured acceptance, or figures of this card and model: with raw trials,
    or of several people.
    """
    gain, figures, way = choice.gain, choice.figures, choice.way
    if gain is None or way is None or not choice.fits:
        return "No", None
    chance = chance_of_gain(gain.estimate, gain.low, gain.high)
    here = _is_here(choice)
    own = here or (way.accepted is not None and gain.basis != "doubted")
    known = own or (
        figures is not None and (figures.tier != "published" or figures.people >= _SEVERAL)
    )
    # Drafts from the text gain only on text that repeats its prompt, which few questions are about.
    untried = way.source == "text" and not own and not any(choice.tried[:2])
    if gain.estimate >= (1.0 if here else _WORTH_TRYING) and not untried:
        if chance < _PROBABLE or gain.basis == "doubted":
            return "Try it", chance
        sure = chance >= _SURE and known and (own or (figures is not None and figures.sure))
        return ("Yes" if sure else "Probably"), chance
    if chance > _IMPROBABLE:
        return "No reason to", chance
    return ("No" if chance <= 1 - _SURE and known else "Probably not"), chance


def most_promising(options: Sequence[PlanOption]) -> PlanOption | None:
    """The way to draft that fits and is worth trying, if there is one, and that most people tried.

    It is the way with the highest estimate, or one whose interval overlaps with that one's and that
    more people tried: first on this card, then with this model, then with any.
    """
    if len(options) <= 1:
        return next(iter(options), None)
    fitting = [each for each in options if each.fits] or options
    helping = [each for each in fitting if helps(each, verdict_of(each)[0])] or fitting
    best = max(helping, key=_estimate, default=None)
    if best is None or best.gain is None:
        return best
    low = best.gain.low
    alike = [each for each in helping if each.gain and each.gain.high >= low]
    return max(alike, key=lambda each: (_is_here(each), each.tried, _estimate(each)))


def _is_here(choice: PlanOption) -> bool:
    """Whether the gain was measured on this machine, where the measured verdict counts."""
    return choice.gain is not None and choice.gain.basis == "here"


def helps(judged: PlanOption, verdict: Verdict) -> bool:
    """Whether speculation should be switched on, given this verdict."""
    return judged.gain is not None and verdict in RECOMMENDING


def _estimate(choice: PlanOption) -> float:
    return choice.gain.estimate if choice.gain else 0.0
