"""Compute a round's yield in tokens and its cost in plain steps; their ratio is the speedup.

A round is one step of the target over the drafted tokens, plus the drafting. It yields the accepted
tokens and one more. These formulas replace the estimate from figures where the acceptance or the
cost of wider steps was measured, and they limit every estimate.
"""

import math
from functools import cache, lru_cache
from typing import Literal

import msgspec

from answers.curves import TRANSFER_ERROR, Curve
from answers.placement import LoadPlan
from answers.speed import SpeedEstimate, weights_per_token

# The source of proposed tokens: a second model, the target's own layers, a file of such layers, the
# text.
DraftSource = Literal["model", "own-head", "other-head", "text"]

# The chance that the first drafted token is accepted, from the tokens per round that 58 people
# published, each counted once: the range of nine in ten, and the median.
_LOW, _FIRST, _HIGH = 0.5, 0.86, 0.985
# Each further position is accepted less often: in public figures, acceptance falls from 70 to 38 %
# over five positions.
_NEXT_POSITION = 0.9
# The usual cost in plain steps that each drafted token adds to a round, its drafting by an own head
# included: medians over people of published figures with a stated acceptance. Mixtures read more
# experts in wider steps.
_SLOPES = (("apple", 0.42), ("amd", 0.54), ("cpu", 0.42))
_SLOPE, _SLOPE_MIXTURE, _SLOPE_TEXT = 0.23, 0.53, 0.1
# The error of that cost, as the 90 % half-width of a logarithm.
_COST_ERROR = 0.4
_Z90 = 1.6449


class Speculation(msgspec.Struct, frozen=True, kw_only=True):
    """A method of speculation: its draft source, its id in the vocabulary, and the longest draft.

    `acceptance` is the measured chance that a drafted token is accepted, if it is known.
    """

    source: DraftSource
    method: str
    depth: int
    acceptance: float | None = None

    def chances(self) -> tuple[float, float, float]:
        """The lowest, usual and highest acceptance, averaged over positions."""
        if self.acceptance is not None:
            return (self.acceptance,) * 3
        return _published_chances(self.depth)


@cache
def _published_chances(depth: int) -> tuple[float, float, float]:
    """The range of published acceptance; at its top, all positions are accepted alike."""
    low, usual = (
        chance_of(tokens_per_round(first, depth, _NEXT_POSITION), depth) for first in (_LOW, _FIRST)
    )
    return low, usual, _HIGH


@lru_cache(maxsize=4096)
def chance_of(tokens: float, depth: int) -> float:
    """The acceptance, equal for all drafted tokens, at which a round yields this many tokens."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        below = tokens_per_round(middle, depth) < tokens
        low, high = (middle, high) if below else (low, middle)
    return (low + high) / 2


def tokens_per_round(accepted: float, depth: int, decay: float = 1.0) -> float:
    """The tokens that a round yields on average: 1 + a + a^2 + ... (Leviathan et al. 2023).

    The chance of acceptance falls by the factor `decay` from each position to the next.
    """
    total, reached, chance = 1.0, 1.0, accepted
    for _ in range(depth):
        reached *= chance
        total += reached
        chance *= decay
    return total


def speedup(
    load: LoadPlan, speculation: Speculation, machine: str, curve: Curve | None = None
) -> SpeedEstimate:
    """The speedup with the measured acceptance, or with a measured `curve`, with 90 % bounds.

    `machine` is its kind, such as `nvidia old`.
    """
    low, estimate, high = (
        tokens_per_round(accepted, speculation.depth)
        / round_cost(load, speculation, machine, accepted, curve)
        for accepted in speculation.chances()
    )
    error = _COST_ERROR if curve is None else TRANSFER_ERROR
    below = math.hypot(math.log(estimate / min(low, estimate)), error)
    above = math.hypot(math.log(max(high, estimate) / estimate), error)
    most = speculation.depth + 1.0
    return SpeedEstimate(
        estimate=estimate,
        low=estimate * math.exp(-below),
        high=min(estimate * math.exp(above), most),
        basis="physics" if curve is None else "curve",
    )


def round_cost(
    load: LoadPlan,
    speculation: Speculation,
    machine: str,
    accepted: float,
    curve: Curve | None = None,
) -> float:
    """The cost of a round in plain steps: one step over the draft, the drafting, and a replay.

    Without copies of its recurrent state, a target returns to a checkpoint after a rejection and
    computes the accepted tokens again. Text methods cost a wider step only if they find a draft.
    """
    depth, text = speculation.depth, speculation.source == "text"
    measured = curve.cost(depth + 1) if curve else None
    if measured is not None:
        verify = measured + depth * drafting_share(load, speculation.source)
    else:
        verify = 1 + depth * _slope(load, speculation.source, machine)
    if text:
        verify = 1 + accepted * (verify - 1)
    replays = load.target.recurrent and not load.setting.rollback_states
    replay = (1 - accepted**depth) * (accepted if text else 1.0) if replays else 0.0
    return verify + replay


def drafting_share(load: LoadPlan, source: DraftSource) -> float:
    """The time to draft one token in plain steps: the share of the bytes that it reads."""
    target, draft = load.target, load.draft
    if source == "text":
        return 0.0
    if draft is not None:
        return min(1.0, weights_per_token(draft.facts) / weights_per_token(target))
    head = (
        layer.weight_bytes + layer.expert_bytes * target.used_share for layer in target.draft_layers
    )
    return (sum(head) + target.output_bytes) / weights_per_token(target)


def _slope(load: LoadPlan, source: DraftSource, machine: str) -> float:
    """The usual cost that each drafted token adds to a round, in plain steps."""
    if source == "text":
        return _SLOPE_TEXT
    usual = next((slope for kind, slope in _SLOPES if machine.startswith(kind)), _SLOPE)
    usual = _SLOPE_MIXTURE if load.target.mixture else usual
    return max(usual, drafting_share(load, source)) if source == "model" else usual


def highest(load: LoadPlan, speculation: Speculation, *, one_memory: bool) -> float:
    """The speedup if every drafted token is accepted and a round costs as little as possible.

    A round costs at least a plain step and, if both models are in `one_memory`, the time to read a
    draft model's weights for each drafted token.
    """
    depth, cost = speculation.depth, 1.0
    if speculation.source == "model" and one_memory:
        cost += depth * drafting_share(load, speculation.source)
    return (depth + 1) / cost


def chance_of_gain(estimate: float, low: float, high: float) -> float:
    """The chance that the speedup is above 1, if it is lognormal.

    Its spread is derived from the half of the interval on the side of 1.
    """
    end = low if estimate >= 1 else high
    spread = abs(math.log(end / estimate)) / _Z90
    if not spread:
        return float(estimate > 1)
    return 0.5 * (1 + math.erf(math.log(estimate) / spread / math.sqrt(2)))
