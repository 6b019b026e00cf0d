"""Count the rounds in which a draft would have written a target's answers, at any depth.

A round drafts `depth` tokens after the text so far, and no more than are left up to the limit less
the one that the target adds. It keeps those up to the first that is not the target's choice, and
the next one begins after the target's own token. Greedy decoding accepts exactly the tokens that
the target would have chosen (Leviathan, Kalman and Matias 2023, section 2), so the text is the
target's whatever is drafted, and where a round begins depends on which tokens agree only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from answers.curves import AcceptedRounds, Curve, Ranged, speedup, tokens_by_depth
from estimates.intervals import residuals, spread_of_mean, time_ratio
from estimates.student_t import t_quantile

_UPPER_90 = 0.95  # the quantile at the upper end of a 90 % interval


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAnswer:
    """Whether the draft would have proposed each token of an answer after the first.

    `limit` is how many tokens the answer could have had.
    """

    task: str
    agrees: tuple[bool, ...]
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """Rounds at one depth. `reached[j - 1]` accepted at least j tokens.

    `tried[j - 1]` are those that drafted at least j and accepted the j - 1 before.
    """

    rounds: int
    tried: tuple[int, ...]
    reached: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AtDepth:
    """What rounds of one depth yield, over all answers, by task and by position.

    `acceptance[j - 1]` is the chance of the j-th token where all before it were accepted, `None`
    where no round came so far.
    """

    depth: int
    rounds: int
    tokens_per_round: Ranged
    by_task: dict[str, Ranged]
    tried: tuple[int, ...]
    acceptance: tuple[float | None, ...]
    speedup: Ranged | None = None


def rounds_of(answer: ReadAnswer, depth: int) -> Rounds:
    """The rounds of one answer. Its first token comes from reading the prompt."""
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
    *,
    curve: Curve | None = None,
    drafting: Ranged | None = None,
) -> AtDepth:
    """The figures of one depth, with its speedup where curve and drafting cost are known.

    Raises `ValueError` where no answer took a round.
    """
    by_task: dict[str, list[Rounds]] = {}
    for answer in answers:
        found = rounds_of(answer, depth)
        if found.rounds:
            by_task.setdefault(answer.task, []).append(found)
    rounds = [each for group in by_task.values() for each in group]
    tried, reached = (
        tuple(map(sum, zip(*columns, strict=True)))
        for columns in ([each.tried for each in rounds], [each.reached for each in rounds])
    )
    whole = tokens_of([*by_task.values()])
    cost = curve.cost(depth + 1) if curve else None
    return AtDepth(
        depth=depth,
        rounds=sum(each.rounds for each in rounds),
        tokens_per_round=whole,
        by_task={task: tokens_of([group]) for task, group in by_task.items()},
        tried=tried,
        acceptance=tuple(b / a if a else None for a, b in zip(tried, reached, strict=True)),
        speedup=speedup(whole, cost, depth, drafting) if cost and drafting else None,
    )


def tokens_of(tasks: Sequence[Sequence[Rounds]]) -> Ranged:
    """Tokens a round over the answers of each task, as a run states them, with 90 % bounds.

    One over the mean over tasks and answers of rounds for a token after the first. The interval is
    for other prompts of these tasks, and no narrower than that of as many independent rounds.
    Raises `ValueError` without a round.
    """
    listed = [each for group in tasks for each in group]
    of_rounds = tokens_by_depth(
        [
            AcceptedRounds(
                rounds=sum(each.rounds for each in listed),
                reached=tuple(map(sum, zip(*(each.reached for each in listed), strict=True))),
            )
        ]
    )[-1]
    strata = [[(1.0, each.rounds / (each.rounds + sum(each.reached))) for each in g] for g in tasks]
    estimate, spread = time_ratio(strata), spread_of_mean(residuals(strata))
    reach = spread[0] * t_quantile(spread[1], _UPPER_90) if spread else 0.0
    below = max(reach, math.log(of_rounds.estimate / of_rounds.low))
    above = max(reach, math.log(of_rounds.high / of_rounds.estimate))
    most = len(listed[0].reached) + 1.0
    return Ranged(
        estimate=estimate,
        low=max(1.0, estimate * math.exp(-below)),
        high=min(most, estimate * math.exp(above)),
    )
