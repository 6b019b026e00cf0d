"""Compare the answers of two arms to the same prompts, and the arms' numbers of rounds.

Greedy answers and their counters depend on the weights and the prompt, not on the machine. Results
from different machines and builds agree in nearly all answers and counters.
"""

import zlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimates.trial_times import rounds
from schemas.submission import Submission

# Columns: the arm's position, the rendered prompt, the answer, its tokens and its rounds.
Outputs = NDArray[np.uint32]
_COLUMNS = 5


class OutputAgreement(NamedTuple):
    """The number of prompts that two arms share, and how many of their answers are equal.

    `factor_equal` is the factor (at least 1) by which the arms' tokens per round differ over the
    equal answers; `factor_all` is the same over all answers.
    """

    prompts: int
    equal: int
    factor_equal: float
    factor_all: float


def outputs_of(submission: Submission) -> Outputs:
    """A row for each arm and prompt of a greedy campaign, with counts summed over blocks."""
    return np.array(list(_rows(submission)), np.uint32).reshape(-1, _COLUMNS)


def _rows(submission: Submission) -> Iterator[tuple[int, ...]]:
    rendered = {each.id: each.rendered_sha256 for each in submission.suite.prompts}
    places = {
        arm.id: place
        for place, arm in enumerate(submission.arms)
        if submission.settings.sampling == "greedy" and (arm.concurrency or 1) == 1
    }
    found: dict[tuple[int, str], list[int]] = {}
    for trial in submission.trials:
        prompt, answer = rendered.get(trial.prompt), trial.output_sha256
        if trial.arm in places and prompt and answer:
            row = found.setdefault((places[trial.arm], prompt), [zlib.crc32(answer.encode()), 0, 0])
            row[1] += (trial.output_tokens or 1) - 1
            row[2] += rounds(trial) or 0
    for (place, prompt), row in found.items():
        yield place, zlib.crc32(prompt.encode()), *row


class ArmOutputs(NamedTuple):
    """An arm's prompts in ascending order, with the answer, tokens and rounds of each."""

    prompts: NDArray[np.uint32]
    answers: NDArray[np.uint32]
    counts: NDArray[np.float64]


def by_arm(outputs: Outputs) -> dict[int, ArmOutputs]:
    """The outputs of each arm, by the arm's position."""
    rows = outputs.reshape(-1, _COLUMNS)
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    places, starts = np.unique(rows[:, 0], return_index=True)
    parts = np.split(rows, starts[1:])
    return {
        int(place): ArmOutputs(part[:, 1], part[:, 2], part[:, 3:].astype(np.float64))
        for place, part in zip(places, parts, strict=len(places) > 0)
    }


def agreement(own: ArmOutputs, other: ArmOutputs) -> OutputAgreement | None:
    """The agreement between two arms' outputs; `None` if they have no prompt in common."""
    if not np.array_equal(own.prompts, other.prompts):
        _, here, there = np.intersect1d(own.prompts, other.prompts, return_indices=True)
        own = ArmOutputs(own.prompts[here], own.answers[here], own.counts[here])
        other = ArmOutputs(other.prompts[there], other.answers[there], other.counts[there])
    if not len(own.prompts):
        return None
    same = own.answers == other.answers
    return OutputAgreement(
        len(same),
        int(np.count_nonzero(same)),
        _factor(same @ own.counts, same @ other.counts),
        _factor(own.counts.sum(axis=0), other.counts.sum(axis=0)),
    )


def _factor(mine: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """The factor (at least 1) by which two arms' tokens per round differ; 1 if unknown."""
    (tokens, rounds_), (their_tokens, their_rounds) = mine.tolist(), theirs.tolist()
    if not (tokens and rounds_ and their_tokens and their_rounds):
        return 1.0
    ratio = float(tokens / rounds_ / (their_tokens / their_rounds))
    return max(ratio, 1 / ratio)
