"""Compute a round's yield in tokens and its cost in plain steps; their ratio is the speedup.

A round is one step of the target over the drafted tokens, plus the drafting. It yields the accepted
tokens and one more. The cost of wider steps is the usual one, or that of a measured curve. With a
measured curve, the formulas replace the estimate from figures, and they limit every estimate.
"""

import math
from functools import lru_cache

import msgspec

from answers.placement import LoadPlan
from answers.speed import SpeedEstimate, weights_per_token
from answers.ways import DraftSource, OwnRounds, Way
from estimates.decomposition import step_ms
from schemas.submission import VerificationProbe

# The error of a curve's speedup against real rounds, as the 90 % half-width of a logarithm. The
# curve leaves out what a real round also does: sampling, copying and a growing context.
TRANSFER_ERROR = 0.15
CURVE_ARMS = 13, 14  # arms with probes in `results/`: the number within that error, and their total
# The chance that the first drafted token is accepted, from the tokens per round that 58 people
# published, each counted once: the range of nine in ten, and the median.
_LOW, _FIRST, _HIGH = 0.5, 0.86, 0.985
# Each further position is accepted less often: the chance of the n-th is the first one's to the
# power of 1 + 0.35 (n - 1). With it, people's first chances are alike (0.87 to 0.89) at all depths.
_LATER = 0.35
# The usual cost in plain steps that each drafted token adds to a round, its drafting by an own head
# included: medians over people of published figures with a stated acceptance. Mixtures read more
# experts in wider steps. Drafting with a separate model adds the share of the bytes that it reads.
_SLOPES = (("apple", 0.42), ("amd", 0.54), ("cpu", 0.42), ("nvidia old", 0.45))
_SLOPE, _SLOPE_MIXTURE = 0.23, 0.53
_Z90 = 1.6449


class Ranged(msgspec.Struct, frozen=True, kw_only=True):
    """An estimate with its 90 % interval."""

    estimate: float
    low: float
    high: float


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """A target's measured step time for each width of the step, and where it was measured.

    It depends on card, target and build but not on the text, so it can be measured without a draft.
    """

    probe: VerificationProbe
    source: str

    @property
    def step_ms(self) -> float:
        """The time of a one-token step in milliseconds."""
        return self.probe.step_ms_median[0]

    @property
    def deepest(self) -> int:
        """The longest draft whose verification the curve covers."""
        return self.probe.widths[-1] - 1

    def cost(self, tokens: int) -> float | None:
        """The cost of a step of this width, in one-token steps; `None` beyond the timed widths."""
        wider_ms = step_ms(self.probe, tokens)
        return None if wider_ms is None else wider_ms / self.step_ms

    def speedup(self, tokens: Ranged, depth: int, drafting_ms: float) -> Ranged | None:
        """The speedup of counted tokens a round; `None` beyond the timed widths."""
        wider_ms = step_ms(self.probe, depth + 1)
        if wider_ms is None:
            return None
        steps = (wider_ms + depth * drafting_ms) / self.step_ms
        return widened(
            tokens.low / steps, tokens.estimate / steps, tokens.high / steps, TRANSFER_ERROR
        )


def chance_of(tokens: float, depth: int) -> float:
    """The acceptance, equal for all drafted tokens, at which a round yields this many tokens."""
    return _chance(tokens, depth, 0.0)


def first_chance(tokens: float, depth: int) -> float:
    """The acceptance of the first drafted token at which a round yields this many tokens."""
    return _chance(tokens, depth, _LATER)


@lru_cache(maxsize=4096)
def _chance(tokens: float, depth: int, later: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        below = tokens_per_round(middle, depth, later) < tokens
        low, high = (middle, high) if below else (low, middle)
    return (low + high) / 2


def usual_tokens(depth: int) -> tuple[float, float, float]:
    """The tokens of a round: the lowest of nine in ten people, the usual ones, the highest."""
    return yielded(_LOW, depth), yielded(_FIRST, depth), yielded(_HIGH, depth)


def yielded(first: float, depth: int) -> float:
    """The tokens of a round whose first drafted token has this chance, and later ones less."""
    return tokens_per_round(first, depth, _LATER)


def tokens_per_round(accepted: float, depth: int, later: float = 0.0) -> float:
    """The tokens that a round yields on average: 1 + a + a^2 + ... (Leviathan et al. 2023).

    The chance of the n-th position is the first one's to the power of 1 + `later` * (n - 1).
    """
    powers = (n + later * n * (n - 1) / 2 for n in range(1, depth + 1))
    return 1.0 + sum(math.pow(accepted, power) for power in powers)


def speedup(load: LoadPlan, way: Way, depth: int, curve: Curve) -> SpeedEstimate:
    """The speedup with a measured curve, at the usual acceptance or the asker's."""
    own = None if way.accepted is None else tokens_of(way.accepted, depth)
    tokens = usual_tokens(depth) if own is None else (own,) * 3
    low, middle, high = (each / round_cost(load, way, depth, each, curve) for each in tokens)
    found = widened(low, middle, high, TRANSFER_ERROR)
    return SpeedEstimate(
        estimate=found.estimate, low=found.low, high=min(found.high, depth + 1.0), basis="curve"
    )


def tokens_of(accepted: OwnRounds, depth: int) -> float:
    """The tokens of a round of this depth, from an acceptance at the depth of its measurement."""
    measured = accepted.depth or depth
    tokens = accepted.tokens or 1 + (accepted.share or 0.0) * measured
    return tokens if measured == depth else yielded(first_chance(tokens, measured), depth)


def widened(low: float, estimate: float, high: float, error: float) -> Ranged:
    """A range with a further `error`, the half-width of a logarithm, added to each side."""
    below = math.hypot(math.log(estimate / min(low, estimate)), error)
    above = math.hypot(math.log(max(high, estimate) / estimate), error)
    return Ranged(
        estimate=estimate, low=estimate * math.exp(-below), high=estimate * math.exp(above)
    )


def round_cost(load: LoadPlan, way: Way, depth: int, tokens: float, curve: Curve) -> float:
    """The cost of a round in plain steps: one step over the draft, the drafting, and a replay.

    Without copies of its recurrent state, a target returns to a checkpoint after a rejection and
    computes the accepted tokens again. Raises `ValueError` beyond the timed widths.
    """
    verify = curve.cost(depth + 1)
    if verify is None:
        raise ValueError(f"the curve has no step of {depth + 1} tokens")
    replays = load.target.recurrent and not load.setting.rollback_states
    replay = 1 - chance_of(tokens, depth) ** depth if replays else 0.0
    return verify + depth * drafting_share(load, way.source) + replay


def usual_cost(depth: int, machine: str, *, mixture: bool, drafting: float = 0.0) -> float:
    """The usual cost of a round in plain steps on a kind of machine, such as `nvidia old`.

    `drafting` is the share of the target's bytes that a separate draft model reads.
    """
    slope = next((slope for kind, slope in _SLOPES if machine.startswith(kind)), _SLOPE)
    return 1 + depth * ((_SLOPE_MIXTURE if mixture else slope) + drafting)


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


def highest(load: LoadPlan, source: DraftSource, depth: int, *, one_memory: bool) -> float:
    """The speedup if every drafted token is accepted and a round costs as little as possible.

    A round costs at least a plain step and, if both models are in `one_memory`, the time to read a
    draft model's weights for each drafted token.
    """
    reads = source == "model" and one_memory
    return (depth + 1) / (1 + (depth * drafting_share(load, source) if reads else 0.0))


def chance_of_gain(estimate: float, low: float, high: float) -> float:
    """The chance that the speedup is above 1, if it is lognormal.

    Its spread is derived from the half of the interval on the side of 1.
    """
    end = low if estimate >= 1 else high
    spread = abs(math.log(end / estimate)) / _Z90
    if not spread:
        return float(estimate > 1)
    return 0.5 * (1 + math.erf(math.log(estimate) / spread / math.sqrt(2)))
