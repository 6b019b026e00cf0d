"""Count the rounds that a target with this draft would have needed for its answers, at any depth.

A round drafts `depth` tokens after the text so far, or fewer near the length limit, which must
leave room for the token that the target adds. The target accepts the drafted tokens before the
first that differs from its own choice, then adds one token, and the next round begins. Greedy
decoding accepts exactly what the target would have chosen (Leviathan, Kalman and Matias 2023,
section 2): the text is unchanged.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from answers.curves import AcceptedRounds, Curve, Ranged, speedup, tokens_of
from estimates.intervals import time_ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAnswer:
    """Whether the draft would have proposed each token of an answer, beginning with the second.

    `limit` is the maximum length of the answer in tokens.
    """

    task: str
    agrees: tuple[bool, ...]
    limit: int


class Rounds(AcceptedRounds, frozen=True, kw_only=True):
    """The rounds at one depth: `tried[j - 1]` drafted at least j tokens and accepted j - 1."""

    tried: tuple[int, ...]


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
    drafting: Ranged | None = None,
) -> AtDepth:
    """Return tokens per round and acceptance at a depth; the speedup needs curve and drafting cost.

    Raises `ValueError` if no answer took a round.
    """
    tasks: dict[str, list[Rounds]] = {}
    for answer in answers:
        if (found := rounds_of(answer, depth)).rounds:
            tasks.setdefault(answer.task, []).append(found)
    rounds = [each for group in tasks.values() for each in group]
    tried = tuple(map(sum, zip(*(each.tried for each in rounds), strict=True)))
    reached = map(sum, zip(*(each.reached for each in rounds), strict=True))
    tokens, cost = _tokens([*tasks.values()]), curve.cost(depth + 1) if curve else None
    return AtDepth(
        depth=depth,
        rounds=sum(each.rounds for each in rounds),
        tokens_per_round=tokens,
        by_task={task: _tokens([group]) for task, group in tasks.items()},
        tried=tried,
        acceptance=tuple(b / a if a else None for a, b in zip(tried, reached, strict=True)),
        speedup=speedup(tokens, cost, depth, drafting) if cost and drafting else None,
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
