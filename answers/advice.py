"""Decide whether to use speculation, and which way of drafting is the most promising."""

from collections.abc import Mapping
from typing import Literal

from answers.choices import PlanOption
from answers.rounds import chance_of_gain

Verdict = Literal["Yes", "Probably", "Try it", "Probably not", "No"]
_PROBABLE, _IMPROBABLE = 0.8, 0.2
RANKS: Mapping[Verdict, int] = {
    "No": 0, "Probably not": 1, "Try it": 2, "Probably": 3, "Yes": 4
}  # fmt: skip


def verdict_of(choice: PlanOption) -> tuple[Verdict, float | None]:
    """The verdict on a way of drafting, and its chance of a gain.

    A prediction from assumed acceptance never gets *Yes* and, if the option fits, never *No*.
    """
    gain, figures = choice.gain, choice.figures
    if gain is None or not choice.fits:
        return "No", None
    chance = chance_of_gain(gain.estimate, gain.low, gain.high)
    if figures is not None and figures.speedup < 1:
        return ("No" if gain.high < 1 else "Probably not"), chance
    drafts = choice.speculation
    guessed = figures is None and drafts is not None and drafts.acceptance is None
    if gain.low > 1:
        sure = not guessed and (figures is None or figures.sure)
        return ("Yes" if sure else "Probably"), chance
    if gain.high < 1:
        return ("Probably not" if guessed else "No"), chance
    if chance >= _PROBABLE:
        return "Probably", chance
    return ("Probably not" if chance <= _IMPROBABLE else "Try it"), chance


def promise(choice: PlanOption) -> tuple[bool, bool, bool, bool, int, float]:
    """A sort key for ways of drafting, highest for the best: by fit, then by evidence and gain.

    Measured gains rank above predicted gains; losses rank last. Predictions are ranked by the lower
    end of their interval, so that uncertain ones do not win.
    """
    rank, measured = RANKS[verdict_of(choice)[0]], choice.figures is not None
    gain = choice.gain.estimate if choice.gain else 0.0
    sure = choice.gain.low if choice.gain and not measured else gain
    gains = gain >= 1 and rank > 1
    return choice.fits, gains and measured, gains, measured, rank, sure


def helps(judged: PlanOption, verdict: Verdict) -> bool:
    """Whether speculation should be switched on, given this verdict."""
    gains = judged.gain is not None and judged.gain.estimate >= 1
    return gains and RANKS[verdict] >= RANKS["Try it"]
