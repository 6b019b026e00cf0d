"""Count the rounds in which a draft would have written a target's answers, at any depth.

A round drafts `depth` tokens after the text so far, and no more than are left up to the limit less
the one that the target adds. It keeps those up to the first that is not the target's choice, and
the next one begins after the target's own token. Greedy decoding accepts exactly the tokens that
the target would have chosen (Leviathan, Kalman and Matias 2023, section 2), so the text is the
target's whatever is drafted, and where a round begins depends on which tokens agree only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from answers.curves import AcceptedRounds, Curve, Ranged, speedup, tokens_by_depth


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
    counted = [(answer.task, rounds_of(answer, depth)) for answer in answers]
    rounds = [each for _, each in counted if each.rounds]
    tasks = dict.fromkeys(task for task, each in counted if each.rounds)
    tried, reached = (
        tuple(map(sum, zip(*columns, strict=True)))
        for columns in ([each.tried for each in rounds], [each.reached for each in rounds])
    )
    whole = _tokens(rounds)
    cost = curve.cost(depth + 1) if curve else None
    return AtDepth(
        depth=depth,
        rounds=sum(each.rounds for each in rounds),
        tokens_per_round=whole,
        by_task={
            task: _tokens([each for name, each in counted if name == task and each.rounds])
            for task in tasks
        },
        tried=tried,
        acceptance=tuple(b / a if a else None for a, b in zip(tried, reached, strict=True)),
        speedup=speedup(whole, cost, depth, drafting) if cost and drafting else None,
    )


def _tokens(rounds: Sequence[Rounds]) -> Ranged:
    listed = [AcceptedRounds(rounds=each.rounds, reached=each.reached) for each in rounds]
    return tokens_by_depth(listed)[-1]
