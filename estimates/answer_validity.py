"""Compare two arms' shares of invalid answers: answers that loop or fail their prompt's check."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from estimates.distributions import p_of_sign
from schemas.submission import Trial
from schemas.vocabulary.flags import FLAGS

# The tasks that demand an answer of a certain form; other answers are only checked for loops.
_FORMAL = ("json", "tools")
_BOUNDS = FLAGS["invalid-answers"].bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidAnswers:
    """The numbers of faulty answers and of all answers, from an arm and from its comparison arm."""

    faulty: int
    answers: int
    base_faulty: int
    base_answers: int


def worse(
    trials: Sequence[Trial], base: Sequence[Trial], tasks: Mapping[str, str]
) -> InvalidAnswers | None:
    """The faulty answers of an arm if it is clearly worse than `base`, else `None`.

    The two arms are compared first on JSON answers and tool calls, then on all other answers.
    `tasks` maps a prompt to its task.
    """
    for formal in (True, False):
        ours, theirs = (
            [t for t in answers if t.answer and (tasks.get(t.prompt) in _FORMAL) == formal]
            for answers in (trials, base)
        )
        if _clearly_worse(_faulty_share(ours), _faulty_share(theirs)):
            return InvalidAnswers(
                faulty=_faulty(ours),
                answers=len(ours),
                base_faulty=_faulty(theirs),
                base_answers=len(theirs),
            )
    return None


def _faulty(trials: Sequence[Trial]) -> int:
    return sum(each.answer != "valid" for each in trials)


def _faulty_share(trials: Sequence[Trial]) -> dict[str, float]:
    """The share of faulty answers for each prompt."""
    ran, faulty = Counter(t.prompt for t in trials), Counter[str]()
    faulty.update(each.prompt for each in trials if each.answer != "valid")
    return {prompt: faulty[prompt] / times for prompt, times in ran.items()}


def _clearly_worse(own: Mapping[str, float], base: Mapping[str, float]) -> bool:
    """Whether an arm's share of faulty answers is clearly higher, by the sign test and in size."""
    more = [own[each] - base[each] for each in own.keys() & base.keys()]
    lost, won = sum(each > 0 for each in more), sum(each < 0 for each in more)
    clear = lost > won and p_of_sign(lost, won) <= _BOUNDS["p"]
    return clear and sum(more) >= _BOUNDS["share"] * len(more)
