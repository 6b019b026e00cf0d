"""Derive the cost of wider steps, and the speedup by depth, from a measured curve of step times.

A curve gives the time of one step of the target over 1, 2, … tokens. It depends on card, target and
build but not on the text, so it can be measured without a draft. If tokens(d) is the number of
tokens that a round yields at depth d, then

    speedup(d) = tokens(d) / (step(d + 1) / step(1) + d * drafting)

where `drafting` is the time to draft one token, in units of one plain step. The errors of the
yield, of the drafting time and of applying a curve to real rounds are combined as logarithms.
"""

import math
from collections.abc import Sequence

import msgspec

from estimates.decomposition import step_ms
from estimates.distributions import t_quantile
from estimates.intervals import deviation
from schemas.submission import VerificationProbe

# The error of a curve's speedup against real rounds, as the 90 % half-width of a logarithm. The
# curve leaves out what a real round also does: sampling, copying and a growing context.
TRANSFER_ERROR = 0.15
CURVE_ARMS = 13, 14  # arms with probes in `results/`: the number within that error, and their total
_UPPER_90 = 0.95  # the quantile at the upper end of a 90 % interval


class Ranged(msgspec.Struct, frozen=True, kw_only=True):
    """An estimate with its 90 % interval."""

    estimate: float
    low: float
    high: float


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """A target's measured step time for each width of the step, and where it was measured."""

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


class AcceptedRounds(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt's number of rounds; in `reached[j - 1]` of them, at least j tokens were accepted."""

    rounds: int
    reached: tuple[int, ...]


def tokens_of(prompts: Sequence[AcceptedRounds]) -> Ranged:
    """Tokens that a round yields at the prompts' common depth: one, plus the accepted tokens.

    The interval is meant for other prompts of the same kind. It is
    the interval of a ratio of sums, linearised (Cochran 1977, 6.4), and at least as wide as for the
    same number of independent rounds. Raises `ValueError` without a round.
    """
    rounds = sum(prompt.rounds for prompt in prompts)
    if not rounds:
        raise ValueError("no round was counted")
    depth = len(prompts[0].reached)
    shares = [
        sum(prompt.reached[position] for prompt in prompts) / rounds for position in range(depth)
    ]
    accepted = sum(shares)
    # The square of a count is the sum of the odd numbers up to it.
    squared = sum((2 * position + 1) * share for position, share in enumerate(shares))
    error = math.sqrt(max(0.0, squared - accepted**2) / rounds)
    reach = error * t_quantile(rounds, _UPPER_90)
    count = len(prompts)
    if count > 1:
        moved = [
            (sum(prompt.reached) - accepted * prompt.rounds) * count / rounds for prompt in prompts
        ]
        among = deviation(moved) / math.sqrt(count) * t_quantile(count - 1, _UPPER_90)
        reach = max(reach, among)
    most = depth + 1.0
    low, high = max(1.0, 1 + accepted - reach), min(most, 1 + accepted + reach)
    return Ranged(estimate=1 + accepted, low=low, high=high)


def speedup(tokens: Ranged, verify: float, depth: int, drafting: Ranged) -> Ranged:
    """The speedup at a depth with 90 % bounds: tokens per round over a round's cost in plain steps.

    `verify` is the curve's cost of a step over the draft plus one token. `drafting` is the time to
    draft one token, in plain steps of the target (0 for text methods).
    """
    cost = verify + depth * drafting.estimate
    estimate = tokens.estimate / cost
    fewer = math.log(tokens.estimate / tokens.low)
    more = math.log(tokens.high / tokens.estimate)
    dearer = math.log((verify + depth * drafting.high) / cost)
    cheaper = math.log(cost / (verify + depth * drafting.low))
    return Ranged(
        estimate=estimate,
        low=estimate * math.exp(-math.hypot(fewer, dearer, TRANSFER_ERROR)),
        high=estimate * math.exp(math.hypot(more, cheaper, TRANSFER_ERROR)),
    )
