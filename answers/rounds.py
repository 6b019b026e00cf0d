"""Predicts the speedup of speculation: what a round yields over what it costs."""

from dataclasses import dataclass
from typing import Literal

from answers import speed
from answers.measured import nearest
from answers.model import LayerPlacement
from answers.placement import LoadPlan, Projection

# What proposes tokens: a second model, the target's own layers, a file of such layers, the text.
DraftSource = Literal["model", "own-head", "other-head", "text"]

_GB, _MS = 1e9, 1000.0
# Curves were taken from coding prompts, drawn at a temperature: other texts yield less.
_CURVE_ERROR = 1.25
# The chance that a drafted token is accepted: least, usual and most, by the source of the draft.
# Assumed; the head's usual one agrees with 51.0 over 30.7 tokens/s of a 27B model on an RTX 3090.
ACCEPTANCE: dict[DraftSource, tuple[float, float, float]] = {
    "model": (0.45, 0.62, 0.80),
    "own-head": (0.50, 0.68, 0.85),
    "other-head": (0.45, 0.65, 0.80),
    "text": (0.05, 0.15, 0.60),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class YieldCurve:
    """Tokens that a round of a method yields for a model at depth 1, 2 …, as published."""

    target: str
    method: str
    tokens: tuple[float, ...]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """What rounds of a method at a depth yielded and cost in published pairs, in plain steps."""

    method: str
    depth: int
    pairs: int
    tokens: float
    cost: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculation:
    """The source of drafts, its method's id in the vocabulary, and the longest draft.

    `acceptance` is a measured chance of a drafted token; `None` takes that of `curve`, else the
    usual ones.
    """

    source: DraftSource
    method: str
    depth: int
    acceptance: float | None = None
    curve: YieldCurve | None = None

    @property
    def assumed(self) -> bool:
        """Whether nobody measured or published the acceptance with this target."""
        return self.acceptance is None and self.curve is None

    def chances(self) -> tuple[float, float, float]:
        """The chance that a drafted token is accepted: least, usual and most."""
        if self.acceptance is not None:
            return (self.acceptance,) * 3
        if self.curve is None:
            return ACCEPTANCE[self.source]
        yielded = self.curve.tokens[min(self.depth, len(self.curve.tokens)) - 1]
        low, usual, high = (
            chance_of(yielded * by, self.depth) for by in (1 / _CURVE_ERROR, 1, _CURVE_ERROR)
        )
        return low, usual, high


def chance_of(tokens: float, depth: int) -> float:
    """The chance of a drafted token, the same for all, with which a round yields so many tokens."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        below = tokens_per_round(middle, depth) < tokens
        low, high = (middle, high) if below else (low, middle)
    return (low + high) / 2


def speedup(
    case: LoadPlan,
    found: Projection,
    baseline: speed.SpeedEstimate,
    machine: speed.MachineSpeed,
    speculation: Speculation,
) -> speed.SpeedEstimate:
    """How many times faster than `baseline`, the target alone in the same memory.

    The baseline may have more layers on the devices: what the draft takes is part of its price.
    What was measured on this device with this model takes precedence.
    """
    known = nearest(machine.measured, speculation.method, speculation.depth)
    if known is not None:
        return speed.SpeedEstimate(
            estimate=known.speedup,
            low=known.low,
            high=known.high,
            basis="nearest",
            loses=not known.recommended,
        )
    low, usual, high = speculation.chances()
    alone = speed.plain(case, found, machine)
    scale = (_MS / alone.estimate) / speed.reading(case, found.placement, machine).total_ms
    speeds = []
    for accepted in (low, usual, high):
        round_ms = round_time_ms(case, found, machine, speculation, accepted) * scale
        speeds.append(tokens_per_round(accepted, speculation.depth) / round_ms * _MS)
    return speed.SpeedEstimate(
        estimate=speeds[1] / baseline.estimate,
        # Of a mixture more acceptance can be slower: more tokens in a step touch more experts.
        low=min(speeds) / baseline.estimate,
        high=max(speeds) / baseline.estimate,
        basis="physics",
        assumes=(*alone.assumes, *(("acceptance",) if speculation.assumed else ())),
    )


def tokens_per_round(accepted: float, depth: int) -> float:
    """Tokens that a round yields on average: 1 + a + a^2 + ... (Leviathan et al. 2023)."""
    return sum(accepted**position for position in range(depth + 1))


def round_time_ms(
    case: LoadPlan,
    found: Projection,
    machine: speed.MachineSpeed,
    speculation: Speculation,
    accepted: float,
) -> float:
    """Milliseconds of a round: drafting, one step over the draft, and a replay where needed.

    A target with a recurrent state that keeps no copies of it goes back to a checkpoint after a
    rejection, and reads the accepted tokens again.
    """
    depth = speculation.depth
    verify = speed.step_ms(case, found.placement, machine, depth + 1)
    drafting = depth * _draft_ms(case, machine, speculation, found.placement)
    replay = 0.0
    if case.target.recurrent and not case.setting.rollback_states:
        rejected = 1 - accepted**depth
        wide = max(1, round(tokens_per_round(accepted, depth)))
        replay = rejected * speed.step_ms(case, found.placement, machine, wide)
    if speculation.source == "text":
        # Most rounds find nothing to propose and are plain steps.
        plain_ms = speed.step_ms(case, found.placement, machine, 1)
        verify = plain_ms + accepted * (verify - plain_ms)
        replay *= accepted
    return verify + drafting + replay


def _draft_ms(
    case: LoadPlan, machine: speed.MachineSpeed, speculation: Speculation, placement: LayerPlacement
) -> float:
    """Milliseconds of one drafted token."""
    draft = case.draft
    if speculation.source == "text":
        return 0.0
    if draft is None:
        head = case.target.draft_layers
        read = sum(layer.weight_bytes for layer in head) + case.target.output_bytes
        launches = max(1, len(head))
        on_host = placement.layers == 0
    else:
        read, _ = speed.bytes_per_step(
            draft.facts, LayerPlacement(layers=draft.facts.placed_layers), 1
        )
        launches = len(draft.facts.layers)
        on_host = draft.on_host or not case.devices
    rate = machine.host_gb_per_s if on_host else machine.device_gb_per_s
    assumed = speed.ASSUMED_HOST_GB_PER_S if on_host else speed.ASSUMED_GB_PER_S
    efficiency = speed.EFFICIENCY * (speed.HOST_EFFICIENCY if on_host else 1.0)
    overhead = 0.0 if on_host else launches * speed.MS_PER_LAYER
    return read / ((rate or assumed) * efficiency * _GB) * _MS + overhead
