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

from answers.estimate import ALL, Accuracy, Setup, Typical, displaced
from answers.kinds import Case, machine_kind
from answers.placement import LoadPlan, Projection
from answers.rounds import drafting_share, tokens_of, tokens_per_round, usual_cost
from answers.speed import SpeedEstimate
from answers.ways import DraftSource, Way

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

    def shares(self, depth: int) -> tuple[float, float]:
        """The lower and upper end, as shares of the drafted tokens in rounds of this depth."""
        low, high = (tokens_per_round(first, depth) - 1 for first in (self.low, self.high))
        return low / depth, high / depth


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
        tokens = tokens_per_round(self.usual_of(case).middle, depth)
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
    data = resources.files("answers").joinpath("accepted.json").read_bytes()
    return msgspec.json.decode(data, type=Fitted)


def drafted(source: DraftSource, depth: int) -> int:
    """The tokens that a round drafts: the depth, or fewer for draft models with a high limit.

    llama.cpp's former defaults are a limit of 16 and a least probability of 0.75, which ends drafts
    after about four tokens.
    """
    return STOPPED if source == "model" and depth > _HIGH_LIMIT else depth


def cost_here(
    setup: Setup, load: LoadPlan, found: Projection, way: Way, depth: int, gain: float
) -> float:
    """The cost of a round in plain steps of the target alone, if `gain` is the estimate."""
    depth = drafted(way.source, depth)
    case = setup.case(load, way)
    drafting = drafting_share(load, way.source) if way.source == "model" else 0.0
    usual = usual_cost(depth, machine_kind(case.rig), mixture=case.mixture, drafting=drafting)
    return fitted().implied(case, depth, usual / math.exp(displaced(setup, load, found)), gain)


def with_accepted(
    setup: Setup, load: LoadPlan, found: Projection, way: Way, depth: int, gain: SpeedEstimate
) -> SpeedEstimate:
    """The speedup with the asker's own acceptance, in place of the estimate `gain`.

    A round of drafts from the text costs more only for the tokens that it found.
    """
    tokens = min(tokens_of(way, drafted(way.source, depth)).estimate, depth + 1.0)
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
