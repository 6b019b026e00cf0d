"""Rules on counters: the counters of a trial agree with each other."""

from collections.abc import Iterator
from itertools import count
from operator import mul

from schemas.finding import Violation
from schemas.method import limit
from schemas.submission import Submission
from schemas.vocabulary import METHODS


def accepted_within_drafted(submission: Submission) -> Iterator[Violation]:
    """A token can be accepted only after it was drafted."""
    for index, trial in enumerate(submission.trials):
        if trial.accepted is None or trial.drafted is None:
            continue
        if trial.accepted > trial.drafted:
            message = (
                f"{trial.accepted} accepted of {trial.drafted} drafted tokens; only drafted tokens "
                "can be accepted, so correct the two counters"
            )
            yield f"$.trials[{index}].accepted", message


def full_rounds_within_rounds(submission: Submission) -> Iterator[Violation]:
    """The number of fully accepted rounds exceeds neither the rounds nor the accepted tokens."""
    for index, trial in enumerate(submission.trials):
        if not trial.full_rounds:
            continue
        limits = [limit for limit in (trial.rounds, trial.accepted) if limit is not None]
        if limits and trial.full_rounds > min(limits):
            message = (
                f"{trial.full_rounds} full rounds, but rounds and accepted tokens allow at most "
                f"{min(limits)}; count the rounds whose whole draft was accepted"
            )
            yield f"$.trials[{index}].full_rounds", message


def drafted_within_depth(submission: Submission) -> Iterator[Violation]:
    """No round drafts more tokens than the method's depth."""
    depths = {arm.id: limit(arm.method) for arm in submission.arms}
    for index, trial in enumerate(submission.trials):
        depth = depths.get(trial.arm)
        if depth is None or trial.rounds is None or trial.drafted is None:
            continue
        if trial.drafted > trial.rounds * depth:
            message = (
                f"{trial.drafted} tokens drafted in {trial.rounds} rounds, but a round drafts at "
                f"most {depth}; correct the counters, or the arm's n_max"
            )
            yield f"$.trials[{index}].drafted", message


def accepted_within_depth(submission: Submission) -> Iterator[Violation]:
    """No round yields more tokens than the method's depth plus the target's own token."""
    depths = {arm.id: limit(arm.method) for arm in submission.arms}
    for index, trial in enumerate(submission.trials):
        depth, tokens, rounds = depths.get(trial.arm), trial.output_tokens, trial.rounds
        if depth is None or tokens is None or tokens == 1:
            continue
        cut_short = 0
        if rounds is None and trial.accepted is not None:
            # A counter may include tokens of the last draft after the end of the output.
            rounds, cut_short = tokens - 1 - trial.accepted, depth
        if rounds is None or (rounds <= 0 and trial.rounds is None):
            continue
        if tokens - 1 > rounds * (depth + 1) + cut_short:
            message = (
                f"{tokens - 1} tokens after the first in {rounds} rounds, but a round yields at "
                f"most {depth} + 1; correct the counters, or the arm's n_max"
            )
            field = "accepted" if trial.rounds is None else "rounds"
            yield f"$.trials[{index}].{field}", message


def output_tokens_counted(submission: Submission) -> Iterator[Violation]:
    """output_tokens = 1 + accepted + rounds, which is how the schema defines the counters."""
    for index, trial in enumerate(submission.trials):
        if trial.output_tokens is None or trial.rounds is None or trial.accepted is None:
            continue
        expected = 1 + trial.accepted + trial.rounds
        if trial.output_tokens != expected:
            message = (
                f"{trial.output_tokens} tokens, but 1 + accepted + rounds is {expected}; "
                "this trial contradicts itself; if the harness wrote it, please report it"
            )
            yield f"$.trials[{index}].output_tokens", message


def output_within_limit(submission: Submission) -> Iterator[Violation]:
    """No output is longer than `settings.max_output_tokens` allows."""
    limit = submission.settings.max_output_tokens
    for index, trial in enumerate(submission.trials):
        if limit is not None and trial.output_tokens is not None and trial.output_tokens > limit:
            message = (
                f"{trial.output_tokens} tokens, but settings.max_output_tokens is {limit}; set "
                "max_output_tokens to the run's limit"
            )
            yield f"$.trials[{index}].output_tokens", message


def context_large_enough(submission: Submission) -> Iterator[Violation]:
    """Prompt and output fit into the context."""
    context = submission.settings.context_tokens
    prompts = {prompt.id: prompt.tokens for prompt in submission.suite.prompts}
    for index, trial in enumerate(submission.trials):
        prompt_tokens = prompts.get(trial.prompt)
        if context is None or prompt_tokens is None or trial.output_tokens is None:
            continue
        total = prompt_tokens + trial.output_tokens
        if total > context:
            message = (
                f"prompt and output take {total} tokens, but the context has room for {context}; "
                "correct settings.context_tokens"
            )
            yield f"$.trials[{index}].output_tokens", message


def histograms_agree(submission: Submission) -> Iterator[Violation]:
    """Each histogram counts every round once, and its tokens add up to the counter."""
    for index, trial in enumerate(submission.trials):
        for field, histogram, total in (
            ("accepted_histogram", trial.accepted_histogram, trial.accepted),
            ("drafted_histogram", trial.drafted_histogram, trial.drafted),
        ):
            if histogram is None:
                continue
            rounds, tokens = sum(histogram), sum(map(mul, count(), histogram))
            if rounds != trial.rounds or tokens != total:
                message = (
                    f"counts {rounds} rounds and {tokens} tokens, but the counters have "
                    f"{trial.rounds} and {total}; correct the numbers, or leave the histogram out"
                )
                yield f"$.trials[{index}].{field}", message


def medians_agree(submission: Submission) -> Iterator[Violation]:
    """Each list of medians has one entry for each drafted length that occurred."""
    for index, trial in enumerate(submission.trials):
        lengths = sum(map(bool, trial.drafted_histogram or ()))
        for field, medians in (
            ("round_ms_median", trial.round_ms_median),
            ("round_cpu_ms_median", trial.round_cpu_ms_median),
        ):
            if medians is not None and len(medians) != lengths:
                message = (
                    f"{len(medians)} medians for {lengths} drafted lengths with rounds; give one "
                    "median for each entry of drafted_histogram above 0, or leave the list out"
                )
                yield f"$.trials[{index}].{field}", message


def no_speculation_drafts_nothing(submission: Submission) -> Iterator[Violation]:
    """An arm without speculation cannot have drafted tokens."""
    plain = {arm.id for arm in submission.arms if not METHODS[arm.method.type].drafts}
    for index, trial in enumerate(submission.trials):
        if trial.arm in plain and trial.drafted:
            message = (
                f"{trial.drafted} tokens drafted by an arm whose method drafts nothing; write 0, "
                "or correct the arm's method"
            )
            yield f"$.trials[{index}].drafted", message


def divergence_within_compared(submission: Submission) -> Iterator[Violation]:
    """The first divergence is within the compared tokens; a margin requires a divergence."""
    for index, trial in enumerate(submission.trials):
        first = trial.first_divergence
        if first is None and trial.divergence_margin is not None:
            message = "a margin is given without first_divergence; give both or neither"
            yield f"$.trials[{index}].divergence_margin", message
        if first is not None and first >= (trial.compared_tokens or 0):
            message = (
                f"differs at token {first} (counted from 0), but only {trial.compared_tokens or 0} "
                "tokens were compared; correct one of the two numbers"
            )
            yield f"$.trials[{index}].first_divergence", message
