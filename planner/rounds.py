"""Compute a round's yield in tokens and its cost in plain steps; their ratio is the speedup.

A round is one step of the target over the drafted tokens, plus the drafting. It yields the accepted
tokens and one more. The cost of wider steps is the usual one, or that of a measured curve. With a
measured curve, the formulas replace the estimate from figures, and they limit every estimate.
"""

import math
from functools import lru_cache

import msgspec

from estimates.decomposition import step_ms
from planner.placement import LoadPlan
from planner.speed import Ranged, SpeedEstimate, weights_per_token
from planner.ways import DraftSource, OwnRounds, Way
from schemas.submission import VerificationProbe

# The error of a curve's speedup against real rounds, as the 90 % half-width of a logarithm. The
# curve leaves out what a real round also does: sampling, copying and a growing context.
TRANSFER_ERROR = 0.15
CURVE_ARMS = 13, 14  # arms with probes in `results/`: the number within that error, and their total
# Each further position is accepted less often: the chance of the n-th is the first one's to the
# power of 1 + 0.35 (n - 1). With it, people's first chances are alike (0.87 to 0.89) at all depths.
_LATER = 0.35
# The usual cost in plain steps that each drafted token adds to a round, its drafting by an own head
# included: medians over people of published figures with a stated acceptance. Mixtures read more
# experts in wider steps. Drafting with a separate model adds the share of the bytes that it reads.
_SLOPES = (("apple", 0.42), ("amd", 0.54), ("cpu", 0.42), ("nvidia old", 0.45))
_SLOPE, _SLOPE_MIXTURE = 0.23, 0.53
_Z90 = 1.6449


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

    def speedup(
        self, tokens: Ranged, depth: int, drafting: float, *, replays: bool = False
    ) -> Ranged | None:
        """The speedup of rounds with these tokens; `None` beyond the timed widths.

        `drafting` is the time to draft a token in plain steps. A target that `replays` returns to
        a checkpoint after a rejection and computes the accepted tokens again.
        """
        verify = self.cost(depth + 1)
        if verify is None:
            return None
        low, middle, high = (
            each / (verify + depth * drafting + replays * _rejecting(each, depth))
            for each in (tokens.low, tokens.estimate, tokens.high)
        )
        return widened(low, middle, high, TRANSFER_ERROR)


def tokens_per_round(first: float, depth: int) -> float:
    """The tokens that a round yields on average: one, and those accepted (Leviathan et al. 2023).

    `first` is the chance that the first drafted token is accepted.
    """
    reached = (n + _LATER * n * (n - 1) / 2 for n in range(1, depth + 1))
    return 1.0 + sum(math.pow(first, power) for power in reached)


@lru_cache(maxsize=4096)
def first_chance(tokens: float, depth: int) -> float:
    """The acceptance of the first drafted token at which a round yields this many tokens."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        below = tokens_per_round(middle, depth) < tokens
        low, high = (middle, high) if below else (low, middle)
    return (low + high) / 2


def chances(tokens: float, depth: int) -> tuple[float, ...]:
    """The acceptance of each position of a round that yields this many tokens."""
    first = first_chance(tokens, depth)
    return tuple(math.pow(first, 1 + _LATER * n) for n in range(depth))


def _rejecting(tokens: float, depth: int) -> float:
    """The share of the rounds whose draft is not accepted entirely."""
    return 1 - math.prod(chances(tokens, depth))


def tokens_at(own: OwnRounds, depth: int) -> Ranged:
    """The tokens of a round of this depth with the asker's own acceptance."""
    nearest = min(own.tokens, key=lambda each: abs(each - depth))
    known = own.tokens[nearest]
    if nearest == depth:
        return known
    low, middle, high = (
        tokens_per_round(first_chance(each, nearest), depth)
        for each in (known.low, known.estimate, known.high)
    )
    return Ranged(estimate=middle, low=low, high=high)


def speedup(load: LoadPlan, way: Way, tokens: Ranged, depth: int, curve: Curve) -> SpeedEstimate:
    """The speedup with a measured curve of rounds with these tokens.

    Raises `ValueError` beyond the timed widths.
    """
    own = way.accepted
    timed_ms = None if own is None else own.drafting_ms
    drafting = drafting_share(load, way.source) if timed_ms is None else timed_ms / curve.step_ms
    # Copies of the recurrent state make a replay unnecessary.
    replays = load.target.recurrent and not load.setting.rollback_states
    found = curve.speedup(tokens, depth, drafting, replays=replays)
    if found is None:
        raise ValueError(f"the curve has no step of {depth + 1} tokens")
    high = min(found.high, depth + 1.0)
    return SpeedEstimate(estimate=found.estimate, low=found.low, high=high, basis="curve")


def widened(low: float, estimate: float, high: float, error: float) -> Ranged:
    """A range with a further `error`, the half-width of a logarithm, added to each side."""
    below = math.hypot(math.log(estimate / min(low, estimate)), error)
    above = math.hypot(math.log(max(high, estimate) / estimate), error)
    return Ranged(
        estimate=estimate, low=estimate * math.exp(-below), high=estimate * math.exp(above)
    )


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
        return min(1.0, weights_per_token(draft) / weights_per_token(target))
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
