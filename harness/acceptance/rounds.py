"""Count the rounds that a target with this draft would have needed for its answers, at any depth.

A round drafts `depth` tokens after the text so far, or fewer near the length limit, which must
leave room for the token that the target adds. The target accepts the drafted tokens before the
first that differs from its own choice, then adds one token, and the next round begins. Greedy
decoding accepts exactly what the target would have chosen (Leviathan, Kalman and Matias 2023,
section 2): the text is unchanged.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from estimates.distributions import t_quantile
from estimates.intervals import deviation, time_ratio
from planner.rounds import Curve
from planner.speed import Ranged

_UPPER_90 = 0.95  # the quantile at the upper end of a 90 % interval


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAnswer:
    """Whether the draft would have proposed each token of an answer, beginning with the second.

    `limit` is the maximum length of the answer in tokens.
    """

    task: str
    agrees: tuple[bool, ...]
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """The rounds at one depth: `reached[j - 1]` of them accepted at least j tokens.

    `tried[j - 1]` drafted at least j tokens and accepted j - 1.
    """

    rounds: int
    reached: tuple[int, ...]
    tried: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AtDepth:
    """Tokens per round at one depth with 90 % bounds, and the acceptance rate of each position.

    A position that no round tried has the acceptance rate `None`.
    """

    depth: int
    rounds: int
    tokens_per_round: Ranged
    by_task: dict[str, Ranged]
    tried: tuple[int, ...]
    acceptance: tuple[float | None, ...]
    speedup: Ranged | None = None


def rounds_of(answer: ReadAnswer, depth: int) -> Rounds:
    """Count the rounds of one answer. Its first token needs none, because prefill yields it."""
    tried, reached = [0] * depth, [0] * depth
    written, rounds = 1, 0
    while written <= len(answer.agrees):
        accepted, drafted = 0, min(depth, answer.limit - written - 1)
        while accepted < drafted:
            tried[accepted] += 1
            if not answer.agrees[written - 1 + accepted]:
                break
            reached[accepted] += 1
            accepted += 1
        written += accepted + 1
        rounds += 1
    return Rounds(rounds=rounds, tried=tuple(tried), reached=tuple(reached))


def at_depth(
    answers: Sequence[ReadAnswer],
    depth: int,
    curve: Curve | None = None,
    drafting_ms: float | None = None,
) -> AtDepth:
    """Return tokens per round and acceptance at a depth; the speedup needs curve and drafting time.

    `drafting_ms` is the time to draft one token. Raises `ValueError` if no answer took a round.
    """
    tasks: dict[str, list[Rounds]] = {}
    for answer in answers:
        if (found := rounds_of(answer, depth)).rounds:
            tasks.setdefault(answer.task, []).append(found)
    rounds = [each for group in tasks.values() for each in group]
    tried = tuple(map(sum, zip(*(each.tried for each in rounds), strict=True)))
    reached = map(sum, zip(*(each.reached for each in rounds), strict=True))
    tokens = _tokens([*tasks.values()])
    return AtDepth(
        depth=depth,
        rounds=sum(each.rounds for each in rounds),
        tokens_per_round=tokens,
        by_task={task: _tokens([group]) for task, group in tasks.items()},
        tried=tried,
        acceptance=tuple(b / a if a else None for a, b in zip(tried, reached, strict=True)),
        speedup=curve.speedup(tokens, depth, drafting_ms / curve.step_ms)
        if curve and drafting_ms is not None
        else None,
    )


def _tokens(tasks: Sequence[Sequence[Rounds]]) -> Ranged:
    """Return the tokens per round, as in a measured run: 1 / the mean rounds per token.

    The mean of the rounds per token is taken over each task's answers, then over tasks.
    """
    shares = [[(1.0, r.rounds / (r.rounds + sum(r.reached))) for r in group] for group in tasks]
    counts = [each for group in tasks for each in group]
    pooled, estimate = tokens_of(counts), time_ratio(shares)
    low, high = (estimate * end / pooled.estimate for end in (pooled.low, pooled.high))
    return Ranged(
        estimate=estimate, low=max(1.0, low), high=min(len(counts[0].reached) + 1.0, high)
    )


def tokens_of(prompts: Sequence[Rounds]) -> Ranged:
    """Return the tokens of a round at the prompts' common depth: one, plus the accepted tokens.

    The interval is meant for other prompts of the same kind. It is the interval of a ratio of sums,
    linearised (Cochran 1977, 6.4), and at least as wide as for the same number of independent
    rounds. Raises `ValueError` without a round.
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
