"""Forecast the speedup at every depth from one run at the largest; choose the arms to certify.

The acceptance rate by position gives the tokens per round at a smaller depth. The probes, or the
rounds of two depths, give the cost of a round.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from estimates import decomposition as parts
from estimates.pairing import pair
from harness.tune.search import Family
from planner.rounds import chances as chances_of
from schemas.submission import Arm, Probes, Submission, Trial

# Candidates whose forecast is further than this behind the best forecast are not tried.
PLAUSIBLE = 0.10
# The depths at which a family without a forecast is tried.
_DEFAULT_DEPTHS = (2, 4, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A configuration that may be tried; `predicted` is `None` without a forecast."""

    id: str
    family: str
    depth: int
    predicted: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafts:
    """A run at the largest depth: its acceptance rate by position, its rounds by drafted length."""

    chances: Sequence[float]
    lengths: Sequence[int]


def of_family(submission: Submission, arms: Sequence[Arm]) -> tuple[float, ...] | None:
    """Return the speedup at depth 1, 2 … of a method that was measured at one or more depths.

    An arm counts if its rounds are known for all prompts that it shares with the baseline. The
    deepest such arm provides the acceptance rate. Returns `None` if there is no such arm, or if it
    has no depth.
    """
    costs: dict[int, float] = {}
    for arm in sorted(arms, key=lambda arm: arm.method.n_max or 0):
        pairs = [prompt for prompt in pair(submission, arm) if prompt.trials]
        measured = [cost for each in pairs if (cost := each.round_cost) is not None]
        if not measured or len(measured) < len(pairs):
            continue
        costs[arm.method.n_max or 0] = fmean(measured)
        deepest, deep = arm, pairs
    if not costs or not deepest.method.n_max:
        return None
    depth = deepest.method.n_max
    drafts = [_drafts(prompt.trials, depth) for prompt in deep]
    probed = _probed(deepest, submission.probes, depth)
    if probed is None:
        return over_prompts(drafts, costs_from_rounds(costs, depth))
    steps, draft_ms = probed
    lengths = _drafts([trial for prompt in deep for trial in prompt.trials], depth).lengths
    return over_prompts(
        drafts, costs_from_steps(steps, draft_ms, lengths=lengths, measured=costs[depth])
    )


def _drafts(trials: Sequence[Trial], depth: int) -> Drafts:
    """Return the drafts of trials at the largest depth, estimating what a server did not count."""
    lengths, chances = parts.drafted_lengths(trials), parts.position_acceptance(trials)
    if not chances:
        counted = parts.accepted_lengths(trials)
        yielded = parts.tokens_per_round(trials) or 1.0
        chances = chances_from(counted, depth) if counted else chances_of(yielded, depth)
    return Drafts(chances=chances, lengths=lengths or (*(0,) * depth, 1))


def _probed(arm: Arm, probes: Probes | None, depth: int) -> tuple[tuple[float, ...], float] | None:
    """Return the ms of steps over 1 to depth + 1 tokens, and the ms to draft a token, or `None`."""
    draft_ms = parts.draft_token_ms(arm.method, probes)
    if probes is None or probes.verification is None or draft_ms is None:
        return None
    steps = [parts.step_ms(probes.verification, width) for width in range(1, depth + 2)]
    known = tuple(step for step in steps if step is not None)
    return (known, draft_ms) if len(known) == len(steps) else None


def over_prompts(prompts: Sequence[Drafts], costs: Sequence[float]) -> tuple[float, ...]:
    """Return the speedup at depth 1, 2 …: the harmonic mean of the prompts' forecasts.

    That is 1 / the mean of the prompts' times, each as a share of its time without speculation.
    """
    shares = [
        [1 / each for each in forecast(prompt.chances, prompt.lengths, costs)] for prompt in prompts
    ]
    return tuple(1 / fmean(column) for column in zip(*shares, strict=True))


def forecast(
    chances: Sequence[float], lengths: Sequence[int], costs: Sequence[float]
) -> tuple[float, ...]:
    """Return the speedup at depth 1, 2 …, from one run at the largest depth.

    `chances` has the acceptance rate of each position, and `lengths` the number of rounds of each
    drafted length; `costs[d]` is the cost of a round with d drafted tokens, in multiples of a
    baseline token's time. A smaller depth cuts drafts short.
    """
    found: list[float] = []
    for depth in range(1, len(costs)):
        rounds = [(min(length, depth), count) for length, count in enumerate(lengths) if count]
        tokens = sum(count * parts.expected_tokens(chances, length) for length, count in rounds)
        found.append(tokens / sum(count * costs[length] for length, count in rounds))
    return tuple(found)


def chances_from(accepted: Sequence[int], depth: int) -> tuple[float, ...]:
    """Return the acceptance rate of each position, as if every round had drafted `depth` tokens."""
    chances = []
    for position in range(1, min(depth + 1, len(accepted))):
        at_risk = sum(accepted[position - 1 :])
        chances.append(sum(accepted[position:]) / at_risk if at_risk else 0.0)
    return (*chances, *(0.0,) * (depth - len(chances)))


def costs_from_steps(
    step_ms: Sequence[float], draft_ms: float, *, lengths: Sequence[int], measured: float
) -> tuple[float, ...]:
    """Return R, the cost of a round in baseline tokens, by drafted length, from probes.

    `step_ms[w - 1]` is the time of a step over w tokens. `measured` is the mean cost of the rounds
    counted in `lengths`; what the probes miss (a longer context, the loop itself) is spread over
    the drafted tokens.
    """
    plain = [(step + d * draft_ms) / step_ms[0] for d, step in enumerate(step_ms)]
    rounds, drafted = sum(lengths), sum(d * count for d, count in enumerate(lengths))
    expected = sum(plain[d] * count for d, count in enumerate(lengths)) / rounds
    missed = (measured - expected) * rounds / drafted if drafted else 0.0
    return tuple(cost + missed * d for d, cost in enumerate(plain))


def costs_from_rounds(measured: Mapping[int, float], deepest: int) -> tuple[float, ...]:
    """Return R, the cost of a round in baseline tokens, by drafted length, from measured depths.

    R is interpolated. Below the smallest measured depth, the line through the two smallest depths
    is continued, but starts at one token or more. A round without a draft costs exactly one token.
    """
    known = sorted(measured.items())
    slope = (known[1][1] - known[0][1]) / (known[1][0] - known[0][0]) if len(known) > 1 else 0.0
    start = max(1.0, known[0][1] - slope * known[0][0]) if len(known) > 1 else 1.0
    points = [(0, start), *known]
    costs = [1.0]
    for (left, low), (right, high) in pairwise(points):
        costs += [
            low + (high - low) * (d - left) / (right - left) for d in range(left + 1, right + 1)
        ]
    return tuple(costs[: deepest + 1])


def of_depths(
    family: Family, predicted: Sequence[float] | None, *, below: int | None
) -> list[Candidate]:
    """Return a family's depths with their forecasts; without forecasts, a few default depths.

    Depths beyond the forecast are left out, and so are depths that cannot run: `below` or more.
    """
    depths = [
        depth
        for depth in family.arms
        if (depth <= len(predicted) if predicted else depth in (*_DEFAULT_DEPTHS, 0))
        and (below is None or depth < below)
    ]
    return [
        Candidate(
            id=family.arms[depth].id,
            family=family.name,
            depth=depth,
            predicted=predicted[depth - 1] if predicted and depth else None,
        )
        for depth in depths or ([family.deepest] if below is None else [])
    ]


def shortlist(candidates: Sequence[Candidate], most: int) -> tuple[Candidate, ...]:
    """Return the candidates worth certifying, best forecast first.

    Candidates within `PLAUSIBLE` of the best are thinned evenly (neighbouring depths differ by less
    than the forecast's error); the best candidate of each family precedes the second of any family.
    Candidates without a forecast come last, up to `most` of them; the others get the remaining
    places, at least one.
    """

    def merit(candidate: Candidate) -> float:
        return candidate.predicted or 0.0

    unknown = [each for each in candidates if each.predicted is None]
    known = sorted((each for each in candidates if each.predicted), key=merit, reverse=True)
    room = max(1, most - len(unknown))
    rest = [each for each in known if merit(each) >= merit(known[0]) * (1 - PLAUSIBLE)]
    best_of = {each.family: each for each in reversed(rest)}
    chosen = [each for each in rest if best_of[each.family] is each][:room]
    rest = [each for each in rest if each not in chosen]

    def merit_apart(candidate: Candidate) -> tuple[int, float]:
        alike = (each for each in chosen if each.family == candidate.family)
        apart = min((abs(candidate.depth - each.depth) for each in alike), default=2)
        # Two depths away is far enough: beyond that distance the forecast decides.
        return min(apart, 2), merit(candidate)

    while rest and len(chosen) < room:
        chosen.append(max(rest, key=merit_apart))
        rest.remove(chosen[-1])
    return (*sorted(chosen, key=merit, reverse=True), *unknown[:most])
