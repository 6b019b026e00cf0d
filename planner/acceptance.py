"""Turn the share of drafted tokens that are accepted into a speedup, and back.

A round that drafts `depth` tokens yields 1 + acceptance * depth tokens, and its speedup is that
over its cost in plain steps. The cost here is that of such rounds elsewhere, combined with the cost
that the estimate implies at the usual acceptance. `accepted.json` has the usual costs and
acceptances over people, and the errors of speedups from a stated acceptance, tested on whole
sources left out; `make predictions` writes it.
"""

import math
from collections.abc import Mapping
from functools import cache
from importlib import resources

import msgspec
from msgspec.structs import replace

from planner.estimate import ALL, Accuracy, Setup, Typical, displaced, estimated
from planner.kinds import Case, machine_kind
from planner.placement import LoadPlan, Projection
from planner.rounds import drafting_share, speedup, tokens_at, tokens_per_round, usual_cost
from planner.speed import Ranged, SpeedEstimate
from planner.ways import DraftSource, Way

DIGITS = 2  # of a cost or speedup, so that pages, which have printed figures, compute the same
STOPPED = 4  # tokens that a round drafts where a least probability ends drafts early
_HIGH_LIMIT = 8
_FEW = 3  # people
_SLOPE_TEXT = 0.1  # plain steps that a token found in the text adds to a round


class Usual(msgspec.Struct, frozen=True, array_like=True):
    """The chance that a round's first token is accepted: median and 10 to 90 %, over people."""

    low: float
    middle: float
    high: float
    people: int

    def tokens(self, depth: int) -> Ranged:
        """The tokens of a round of this depth."""
        low, middle, high = (
            tokens_per_round(first, depth) for first in (self.low, self.middle, self.high)
        )
        return Ranged(estimate=middle, low=low, high=high)

    def shares(self, depth: int) -> tuple[float, float]:
        """The lower and upper end, as shares of the drafted tokens in rounds of this depth."""
        tokens = self.tokens(depth)
        return (tokens.low - 1) / depth, (tokens.high - 1) / depth


class Fitted(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The content of `accepted.json`.

    `costs` has, for each kind, the median over people of the cost of a round, divided by the usual
    cost on that kind of machine. `usual` has the acceptance by kind of method, also by task. The
    cost used is the usual one with `weight` and the implied one with 1 - `weight`. The half-width
    of an interval is reach * sqrt(spread**2 + (apart * log(speedup / estimate))**2), with the reach
    of the kind of machine in `costs`.
    """

    weight: float
    spread: float
    apart: float
    costs: Typical
    usual: Mapping[str, Usual]
    accuracy: Accuracy | None = None

    def log_cost(self, case: Case, usual: float) -> float:
        """The logarithm of a round's cost in plain steps; `usual` is that of its machine."""
        return max(0.0, self.costs.log_speedup(case) + math.log(usual))

    def implied(self, case: Case, depth: int, usual: float, gain: float) -> float:
        """The cost of a round if the estimate is `gain`, within what an acceptance can explain."""
        tokens = self.usual_of(case).tokens(depth).estimate
        both = self.weight * self.log_cost(case, usual)
        both += (1 - self.weight) * math.log(tokens / gain)
        return round(min(max(math.exp(both), 1.0, 1 / gain), (depth + 1) / gain), DIGITS)

    def usual_of(self, case: Case, task: str | None = None) -> Usual:
        """The acceptance of a case's kind and task, else of its kind, else of all kinds."""
        names = (f"{case.kind}, {task}", case.kind)
        known = (self.usual[name] for name in names if name in self.usual)
        return next((each for each in known if each.people >= _FEW), self.usual[ALL])

    def reach(self, machine: str) -> float:
        """The number of deviations in the half-width of a 90 % interval on a kind of machine."""
        return self.costs.reach.get(machine, self.costs.reach[ALL])

    def half_width(self, machine: str, gain: float, estimate: float) -> float:
        """The half-width of a 90 % interval, as a logarithm."""
        apart = self.apart * math.log(gain / estimate)
        return self.reach(machine) * math.hypot(self.spread, apart)


@cache
def fitted() -> Fitted:
    """The costs and acceptances that ship with the program."""
    data = resources.files("planner").joinpath("accepted.json").read_bytes()
    return msgspec.json.decode(data, type=Fitted)


def drafted(source: DraftSource, depth: int) -> int:
    """The tokens that a round drafts: the depth, or fewer for draft models with a high limit.

    llama.cpp's former defaults are a limit of 16 and a least probability of 0.75, which ends drafts
    after about four tokens.
    """
    return STOPPED if source == "model" and depth > _HIGH_LIMIT else depth


def tokens_of(setup: Setup, load: LoadPlan, way: Way, depth: int) -> Ranged:
    """The tokens of a round: with the asker's own acceptance, else the usual ones of its kind."""
    if way.accepted is not None:
        return tokens_at(way.accepted, depth)
    return fitted().usual_of(setup.case(load, way)).tokens(depth)


def cost_here(
    setup: Setup, load: LoadPlan, found: Projection, way: Way, depth: int, gain: float
) -> float:
    """The cost of a round in plain steps of the target alone, if `gain` is the estimate."""
    depth = drafted(way.source, depth)
    case = setup.case(load, way)
    drafting = drafting_share(load, way.source) if way.source == "model" else 0.0
    usual = usual_cost(depth, machine_kind(case.rig), mixture=case.mixture, drafting=drafting)
    return fitted().implied(case, depth, usual / math.exp(displaced(setup, load, found)), gain)


def gain_of(setup: Setup, load: LoadPlan, found: Projection, way: Way, depth: int) -> SpeedEstimate:
    """The predicted gain over the target alone in the same memory.

    If the cost of wider steps was measured, formulas replace the estimate. A curve is not used for
    text methods, whose rounds are mostly plain steps.
    """
    curve = None if way.source == "text" else setup.curve_for(depth)
    if curve is None:
        gain = estimated(setup, load, found, way, depth)
        return gain if way.accepted is None else _accepted(setup, load, found, way, depth, gain)
    gain = speedup(load, way, tokens_of(setup, load, way, depth), depth, curve)
    loss = math.exp(displaced(setup, load, found))
    return replace(gain, estimate=gain.estimate * loss, low=gain.low * loss, high=gain.high * loss)


def _accepted(
    setup: Setup, load: LoadPlan, found: Projection, way: Way, depth: int, gain: SpeedEstimate
) -> SpeedEstimate:
    """The speedup with the asker's own acceptance, in place of the estimate `gain`.

    A round of drafts from the text costs more only for the tokens that it found.
    """
    tokens = tokens_of(setup, load, way, drafted(way.source, depth)).estimate
    tokens = min(tokens, depth + 1.0)
    if way.source == "text":
        cost = 1 + _SLOPE_TEXT * (tokens - 1)
    else:
        cost = cost_here(setup, load, found, way, depth, gain.estimate)
    own = min(tokens / cost, depth + 1.0)
    kind = machine_kind(setup.question.rig)
    error = math.exp(fitted().half_width(kind, own, max(0.01, round(gain.estimate, DIGITS))))
    return SpeedEstimate(
        estimate=own, low=own / error, high=min(own * error, depth + 1.0), basis="acceptance"
    )
