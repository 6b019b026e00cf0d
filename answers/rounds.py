"""Compute a round's yield in tokens and its cost in plain steps; their ratio is the speedup.

A round is one step of the target over the drafted tokens, plus the drafting. It yields the accepted
tokens and one more. Acceptance and the cost of wider steps are ranges unless they were measured.
The interval of a speedup comes from these ranges.
"""

import math
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Literal

import msgspec

from answers import speed
from answers.curves import TRANSFER_ERROR, Curve
from answers.model import LayerPlacement
from answers.placement import LoadPlan
from answers.speed import MachineSpeed, RateOf, SpeedEstimate, StepBytes

# The source of proposed tokens: a second model, the target's own layers, a file of such layers, the
# text.
DraftSource = Literal["model", "own-head", "other-head", "text"]

_GB, _MS = 1e9, 1000.0
# Published yields are from coding prompts, sampled at a temperature; other texts yield less.
_CURVE_ERROR = 1.25
# The chance that the first drafted token is accepted: lowest, usual and highest, by draft source.
# These are assumptions; the usual value for heads agrees with 51.0 over 30.7 tokens/s of a 27B
# model on an RTX 3090.
ACCEPTANCE: Mapping[DraftSource, tuple[float, float, float]] = {
    "model": (0.38, 0.66, 0.84),
    "own-head": (0.48, 0.70, 0.86),
    "other-head": (0.38, 0.66, 0.84),
    "text": (0.0, 0.1, 0.6),
}
# Each further position is accepted less often: in public figures, acceptance falls from 70 to 38 %
# over five positions.
_NEXT_POSITION = 0.9
# The same chance for models and heads, from the tokens per round that 58 people published, each
# counted once: the median and the range of nine in ten. At the top of the range, all positions are
# accepted alike. The fit corrects the figures above; these apply to rounds of measured cost, which
# the fit does not correct.
PUBLISHED_LOW, PUBLISHED_FIRST, PUBLISHED_HIGH = 0.5, 0.86, 0.985
# Errors of the cost of a round, as 90 % half-widths of logarithms: for a wider step on a card, for
# a wider step on a processor or on graphics that share main memory, and for an unknown bandwidth.
_COST_ERROR, _SHARED_COST_ERROR, _BANDWIDTH_ERROR = 0.45, 0.5, 0.15
_TEXT_COST_ERROR = 0.1  # most rounds of text methods are plain steps
_Z90 = 1.6449


class YieldCurve(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens per round published for a method on a target, for depths from 1 upwards."""

    target: str
    method: str
    tokens: tuple[float, ...]
    source: str


class Speculation(msgspec.Struct, frozen=True, kw_only=True):
    """A method of speculation: its draft source, its id in the vocabulary, and the longest draft.

    `acceptance` is the measured chance that a drafted token is accepted. If it is `None`, the
    acceptance is derived from `curve` or, without a curve, assumed.
    """

    source: DraftSource
    method: str
    depth: int
    acceptance: float | None = None
    curve: YieldCurve | None = None

    def chances(self, *, known_cost: bool = False) -> tuple[float, float, float]:
        """The lowest, usual and highest acceptance, averaged over positions.

        With a `known_cost`, the fit does not correct an assumed acceptance, so the published
        acceptance replaces it, except for text methods.
        """
        if self.acceptance is not None:
            return (self.acceptance,) * 3
        if self.curve is None:
            if known_cost and self.source != "text":
                return published_chances(self.depth)
            return assumed_chances(self.source, self.depth)
        known = self.curve.tokens[min(self.depth, len(self.curve.tokens)) - 1]
        low, usual, high = (
            chance_of(tokens, self.depth)
            for tokens in (known / _CURVE_ERROR, known, known * _CURVE_ERROR)
        )
        return low, usual, high


class RoundParts(msgspec.Struct, frozen=True, kw_only=True):
    """The costs of a round on one machine: the target's step, and the time per drafted token.

    `replays`: after a rejection, the accepted tokens are computed again. `shared`: the target runs
    on the processor, or on graphics that share main memory. `curve`: measured step times.
    """

    step: StepBytes
    draft_ms: float
    replays: bool
    shared: bool
    curve: Curve | None = None


@cache
def assumed_chances(source: DraftSource, depth: int) -> tuple[float, float, float]:
    """The lowest, usual and highest acceptance, assumed without measured acceptance.

    Later positions are accepted less often; the values are averages over positions.
    """
    low, usual, high = (_averaged(first, depth) for first in ACCEPTANCE[source])
    return low, usual, high


@cache
def published_chances(depth: int) -> tuple[float, float, float]:
    """The lowest, usual and highest published acceptance of draft models and heads.

    The range contains the figures of nine in ten people.
    """
    low, usual = (_averaged(first, depth) for first in (PUBLISHED_LOW, PUBLISHED_FIRST))
    return low, usual, PUBLISHED_HIGH


def _averaged(first: float, depth: int) -> float:
    """The acceptance over all positions, from that of the first."""
    return chance_of(tokens_per_round(first, depth, _NEXT_POSITION), depth)


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


@lru_cache(maxsize=256)
def parts_of(
    load: LoadPlan,
    placement: LayerPlacement,
    machine: MachineSpeed,
    source: DraftSource,
    curve: Curve | None = None,
) -> RoundParts:
    """The costs of a round that drafts from this source, with this placement of the target."""
    return RoundParts(
        step=speed.step_bytes(load.target, placement, load.setting),
        draft_ms=_draft_ms(load, machine, source, placement),
        replays=load.target.recurrent and not load.setting.rollback_states,
        shared=load.unified or not placement.layers,
        curve=curve,
    )


def speedup(
    parts: RoundParts,
    baseline: SpeedEstimate,
    machine: MachineSpeed,
    speculation: Speculation,
    assumes: tuple[RateOf, ...] = (),
) -> SpeedEstimate:
    """The speedup over `baseline`, the target alone in the same memory, with 90 % bounds.

    The baseline may have more layers on the devices, because the draft's memory is part of the
    draft's cost.
    """
    low, usual, high = speculation.chances(known_cost=parts.curve is not None)
    fresh = speed.FRESH_EXPERTS

    def times(accepted: float, fresh: float) -> float:
        return speedup_at(parts, baseline.estimate, machine, speculation, accepted, fresh)

    estimate = times(usual, fresh)
    ends = [times(accepted, fresh) for accepted in (low, high)]
    by_text = speculation.source == "text"
    cost = _SHARED_COST_ERROR if parts.shared else _COST_ERROR
    cost = cost if parts.curve is None else TRANSFER_ERROR
    errors = [_TEXT_COST_ERROR if by_text else cost]
    if assumes and not by_text and parts.curve is None:
        errors.append(_BANDWIDTH_ERROR)
    if parts.step.used < 1 and parts.curve is None:
        fewest, most = (times(usual, each) for each in (speed.FRESH_LOW, speed.FRESH_HIGH))
        errors.append(max(abs(math.log(each / estimate)) for each in (fewest, most)))
    below = math.hypot(math.log(estimate / min(*ends, estimate)), *errors)
    above = math.hypot(math.log(max(*ends, estimate) / estimate), *errors)
    return SpeedEstimate(
        estimate=estimate,
        low=estimate * math.exp(-below),
        high=estimate * math.exp(above),
        basis="physics" if parts.curve is None else "curve",
        assumes=assumes,
    )


def speedup_at(
    parts: RoundParts,
    baseline_tps: float,
    machine: MachineSpeed,
    speculation: Speculation,
    accepted: float,
    fresh: float = speed.FRESH_EXPERTS,
) -> float:
    """The speedup over `baseline_tps` if a drafted token is accepted with the chance `accepted`."""
    tokens = tokens_per_round(accepted, speculation.depth)
    return tokens / round_time_ms(parts, machine, speculation, accepted, fresh) * _MS / baseline_tps


def limits_of(load: LoadPlan, speculation: Speculation, *, one_memory: bool) -> tuple[float, float]:
    """The highest possible speedups: at the usual acceptance, and if every token is accepted.

    They assume the lowest possible cost: a round costs at least a plain step and, if both models
    are in `one_memory`, the time to read the draft's weights for each drafted token.

    For text methods, both are depth + 1.
    """
    depth, draft = speculation.depth, load.draft
    cost = 1.0
    if draft is not None and speculation.source == "model" and one_memory:
        whole = speed.weights_per_token(load.target)
        cost += depth * min(1.0, speed.weights_per_token(draft.facts) / whole)
    if speculation.source == "text":
        return depth + 1.0, depth + 1.0
    usual = tokens_per_round(PUBLISHED_FIRST, depth, _NEXT_POSITION)
    return usual / cost, (depth + 1) / cost


def chance_of_gain(estimate: float, low: float, high: float) -> float:
    """The chance that the speedup is above 1, if it is lognormal.

    Its spread is derived from the half of the interval on the side of 1.
    """
    end = low if estimate >= 1 else high
    spread = abs(math.log(end / estimate)) / _Z90
    if not spread:
        return float(estimate > 1)
    return 0.5 * (1 + math.erf(math.log(estimate) / spread / math.sqrt(2)))


def round_time_ms(
    parts: RoundParts,
    machine: MachineSpeed,
    speculation: Speculation,
    accepted: float,
    fresh: float = speed.FRESH_EXPERTS,
) -> float:
    """Milliseconds of a round: the drafting, one step over the draft, and a replay where needed.

    Without copies of its recurrent state, a target returns to a checkpoint after a rejection and
    computes the accepted tokens again.
    """
    depth = speculation.depth
    verify = _step_ms(parts, machine, depth + 1, fresh)
    replay = 0.0
    if parts.replays:
        rejected = 1 - accepted**depth
        wide = max(1, round(tokens_per_round(accepted, depth)))
        replay = rejected * _step_ms(parts, machine, wide, fresh)
    if speculation.source == "text":
        # Most rounds find nothing to propose, so they are plain steps.
        plain_ms = speed.step_ms(parts.step, machine)
        verify = plain_ms + accepted * (verify - plain_ms)
        replay *= accepted
    return verify + depth * parts.draft_ms + replay


def _step_ms(parts: RoundParts, machine: MachineSpeed, tokens: int, fresh: float) -> float:
    """Milliseconds of a step over this many tokens, by the curve if it covers that width."""
    cost = parts.curve.cost(tokens) if parts.curve else None
    if cost is None:
        return speed.step_ms(parts.step, machine, tokens, fresh)
    return cost * speed.step_ms(parts.step, machine)


def _draft_ms(
    load: LoadPlan, machine: MachineSpeed, source: DraftSource, placement: LayerPlacement
) -> float:
    """Milliseconds to draft one token; the draft's weights are read at the target's bandwidths."""
    draft = load.draft
    if source == "text":
        return 0.0
    if draft is None:
        head = load.target.draft_layers
        used = load.target.used_share
        layers = (layer.weight_bytes + layer.expert_bytes * used for layer in head)
        read = sum(layers) + load.target.output_bytes
        launches = max(1, len(head))
        on_host = placement.layers == 0
    else:
        read = speed.weights_per_token(draft.facts)
        launches = len(draft.facts.layers)
        on_host = draft.on_host or not load.devices
    rate = speed.host_rate(machine) if on_host else speed.device_rate(machine)
    return read / (rate * _GB) * _MS + (0.0 if on_host else launches * speed.MS_PER_LAYER)
