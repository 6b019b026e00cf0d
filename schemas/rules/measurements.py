"""Rules on measured numbers: a trial's counters and times agree, and probes are in order."""

from collections.abc import Iterator
from datetime import datetime
from itertools import count, pairwise
from operator import mul

from schemas.finding import Violation
from schemas.method import limit
from schemas.submission import Submission
from schemas.vocabulary import METHODS

# Clocks are read at slightly different moments, and figures are rounded.
_TOLERANCE = 1.001
_SLACK_MS = 1.0
# measured_from and measured_until are whole seconds, so the window may be short by almost two
# seconds.
_WINDOW_SLACK_MS = 2000.0


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


def parts_within_decode(submission: Submission) -> Iterator[Violation]:
    """The times for drafting and verification are parts of the decode time."""
    for index, trial in enumerate(submission.trials):
        if trial.decode_ms is None:
            continue
        parts_ms = (trial.draft_ms or 0.0) + (trial.verify_ms or 0.0)
        if parts_ms > trial.decode_ms * _TOLERANCE + _SLACK_MS:
            message = (
                f"draft_ms + verify_ms is {parts_ms:.1f}, more than {trial.decode_ms:.1f}; the "
                "two are parts of decode_ms, so leave them out or correct them"
            )
            yield f"$.trials[{index}].decode_ms", message


def decode_within_wall(submission: Submission) -> Iterator[Violation]:
    """Prompt processing and decoding happen between the request and the last token."""
    for index, trial in enumerate(submission.trials):
        if trial.decode_ms is None or trial.wall_ms is None:
            continue
        parts_ms = trial.decode_ms + (trial.prompt_ms or 0.0)
        if parts_ms > trial.wall_ms * _TOLERANCE + _SLACK_MS:
            message = (
                f"prompt_ms + decode_ms is {parts_ms:.1f}, more than {trial.wall_ms:.1f}; "
                "wall_ms includes both, so leave wall_ms out or correct it"
            )
            yield f"$.trials[{index}].wall_ms", message


def trials_within_window(submission: Submission) -> Iterator[Violation]:
    """The trials cannot take longer than the campaign (concurrent requests overlap)."""
    start = datetime.fromisoformat(submission.measured_from)
    end = datetime.fromisoformat(submission.measured_until)
    window_ms = (end - start).total_seconds() * 1000
    spent_ms = least_window_ms(submission)
    if window_ms < 0 or spent_ms > window_ms * _TOLERANCE + _WINDOW_SLACK_MS:
        message = (
            f"trials take {spent_ms / 1000:.1f} s, but measured_from and measured_until are only "
            f"{window_ms / 1000:.1f} s apart; give the time at which the run ended"
        )
        yield "$.measured_until", message


def least_window_ms(submission: Submission) -> float:
    """The shortest time that the trials can have taken, if concurrent requests overlapped fully."""
    concurrency = {arm.id: arm.concurrency or 1 for arm in submission.arms}
    return sum(
        (trial.decode_ms or 0.0) / concurrency.get(trial.arm, 1) for trial in submission.trials
    )


def decode_takes_time(submission: Submission) -> Iterator[Violation]:
    """Decoding more than one token cannot take zero time."""
    for index, trial in enumerate(submission.trials):
        if trial.output_tokens is not None and trial.output_tokens > 1 and trial.decode_ms == 0:
            message = (
                f"0 ms for {trial.output_tokens} tokens; give the time, or leave the trial out"
            )
            yield f"$.trials[{index}].decode_ms", message


def probe_widths_ascend(submission: Submission) -> Iterator[Violation]:
    """The verification curve has one time per width, in ascending order of width."""
    curve = submission.probes.verification if submission.probes else None
    if curve is None:
        return
    ascending = all(narrow < wide for narrow, wide in pairwise(curve.widths))
    if not ascending or len(curve.widths) != len(curve.step_ms_median):
        message = (
            f"{len(curve.widths)} widths and {len(curve.step_ms_median)} times; "
            "give the widths in ascending order and one time for each width"
        )
        yield "$.probes.verification", message
